package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/columns"
)

// A screen keeps a few lines at the end of a terminal that are written over while
// something goes on; what has come to an end is written above them and stays. Each
// change is one write, and lines that would be the same are not written, so that
// nothing flickers. It is not safe for concurrent use.
type screen struct {
	out   io.Writer
	size  func() (width, height int)
	shown []string // as they stand on the terminal
	width int      // of the terminal when they were written
}

// draw puts lines in the place of those that are shown.
func (s *screen) draw(lines []string) {
	lines, width := s.fit(lines)
	if width == s.width && slices.Equal(lines, s.shown) {
		return
	}
	io.WriteString(s.out, s.erased(width)+strings.Join(lines, "\n")) //nolint:errcheck // a terminal that went away ends nothing
	s.shown, s.width = lines, width
}

// above writes a line that stays, and the shown ones after it.
func (s *screen) above(line string) {
	lines, width := s.fit(s.shown)
	io.WriteString(s.out, s.erased(width)+line+"\n"+strings.Join(lines, "\n")) //nolint:errcheck // as in draw
	s.shown, s.width = lines, width
}

// erased goes back to where the shown lines begin and clears from there. A terminal
// that became narrower has broken them into more rows.
func (s *screen) erased(width int) string {
	if len(s.shown) == 0 {
		return ""
	}
	rows := len(s.shown)
	if width > 0 && width < s.width {
		rows = 0
		for _, l := range s.shown {
			rows += max(1, (visible(l)+width-1)/width)
		}
	}
	if rows == 1 {
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows-1)
}

// fit cuts lines to what the terminal has room for.
func (s *screen) fit(lines []string) (fitting []string, width int) {
	width, height := s.size()
	if height > 1 && len(lines) > height-1 {
		lines = lines[:height-1]
	}
	for _, l := range lines {
		fitting = append(fitting, cutTo(l, width-1))
	}
	return fitting, width
}

// cutTo shortens a line to so many columns, escape sequences of colours left whole.
// No limit below 1.
func cutTo(line string, width int) string {
	if width < 1 || visible(line) <= width {
		return line
	}
	var b strings.Builder
	used, coloured := 0, false
	for rest := line; rest != ""; {
		if seq := colourSequence(rest); seq != "" {
			b.WriteString(seq)
			rest, coloured = rest[len(seq):], seq != colourEnd
			continue
		}
		first, n := columns.First(rest)
		if used+n > width-1 {
			break
		}
		used += n
		b.WriteString(first)
		rest = rest[len(first):]
	}
	b.WriteString("…")
	if coloured {
		b.WriteString(colourEnd)
	}
	return b.String()
}

// visible is how many columns a line takes.
func visible(line string) int {
	var b strings.Builder
	for rest := line; rest != ""; {
		seq := colourSequence(rest)
		if seq == "" {
			next := strings.IndexByte(rest[1:], '\x1b') + 1
			if next == 0 {
				next = len(rest)
			}
			b.WriteString(rest[:next])
			rest = rest[next:]
			continue
		}
		rest = rest[len(seq):]
	}
	return columns.Of(b.String())
}

// colourEnd ends what a colour sequence began.
const colourEnd = "\x1b[0m"

// colourSequence is the colour sequence that a text begins with.
func colourSequence(s string) string {
	if !strings.HasPrefix(s, "\x1b[") {
		return ""
	}
	end := strings.IndexByte(s, 'm')
	if end < 0 || strings.Trim(s[2:end], "0123456789;") != "" {
		return ""
	}
	return s[:end+1]
}
