package cmdline

import (
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// An Output is what a command says each time: what differs between its runs, such as
// times, ports and names of temporary files, stands for anything.
type Output [][]token

type token struct {
	text string
	any  bool
}

var tokens = pattern.New(`[\p{L}\p{N}_]+(?:\.\p{N}[\p{L}\p{N}]*)*|\s+|.`)

// Read makes an output of what the runs of one side said; false where they differ in more
// than parts of lines.
func Read(runs ...string) (Output, bool) {
	var out Output
	for i, run := range runs {
		lines := split(run)
		if i == 0 {
			out = lines
			continue
		}
		if len(lines) != len(out) {
			return nil, false
		}
		for n, line := range lines {
			if len(line) != len(out[n]) {
				return nil, false
			}
			for k, t := range line {
				out[n][k].any = out[n][k].any || t.text != out[n][k].text
			}
		}
	}
	return out, true
}

func split(text string) Output {
	var out Output
	for line := range strings.Lines(text) {
		var list []token
		for _, t := range tokens.FindAllString(strings.TrimRight(line, "\r\n"), -1) {
			list = append(list, token{text: t})
		}
		out = append(out, list)
	}
	return out
}

// same says whether two lines are, but for what stands for anything on either side.
func same(a, b []token) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].text != b[i].text && !a[i].any && !b[i].any {
			return false
		}
	}
	return true
}

// Differs returns the first lines in which an output differs from that of the base.
func (base Output) Differs(head Output) (was, is string, differs bool) {
	for i := range max(len(base), len(head)) {
		switch {
		case i >= len(base):
			return "", words(head[i]), true
		case i >= len(head):
			return words(base[i]), "", true
		case !same(base[i], head[i]):
			return words(base[i]), words(head[i]), true
		}
	}
	return "", "", false
}

// Gains says whether the head says all that the base says, in its order, and more between.
func (base Output) Gains(head Output) bool {
	n := 0
	for _, line := range head {
		if n < len(base) && same(base[n], line) {
			n++
		}
	}
	return n == len(base) && len(head) > len(base)
}

func words(line []token) string {
	var b strings.Builder
	for _, t := range line {
		b.WriteString(t.text)
	}
	return b.String()
}
