package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Everything that a change, its tests or a model can write is untrusted: titles,
// names, paths, commands, outputs. It reaches a reader only through this file.

// ansi matches the escape sequences of terminals: CSI, the string sequences
// (OSC, DCS, APC, PM, SOS) and the short ones. A string sequence counts as one
// only where it ends on its own line, so that an open one hides nothing.
var ansi = pattern.New(
	"\x1b\\[[0-?]*[ -/]*[@-~]" +
		"|\x1b[\\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\\\)" +
		"|\x1b[ -/]*[0-~]",
)

// Hidden says whether r is invisible or changes how its neighbours are shown:
// bidirectional controls, zero-width and tag characters, variation selectors,
// line and paragraph separators, letters and symbols that have no ink, such as the
// fillers of Hangul and the blank of Braille, and what is no character at all, such as
// U+FFFE, some of which XML has no way to write.
func Hidden(r rune) bool {
	return r == '\u2800' || r == '\U0001D159' || r >= '\u00ad' && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

func escaped(r rune) string { return fmt.Sprintf("<U+%04X>", r) }

// Visible shows the hidden characters of s as escapes such as <U+202E>; control
// characters stay.
func Visible(s string) string {
	return visible(s, func(r rune) string { return string(r) })
}

// visible shows the hidden characters of s as escapes such as <U+202E>, and of
// control characters what control makes of them.
func visible(s string, control func(rune) string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case unicode.IsControl(r):
			b.WriteString(control(r))
		case Hidden(r):
			b.WriteString(escaped(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain makes one line of s: white space becomes spaces, other hidden and
// control characters become visible.
func plain(s string) string {
	return strings.TrimSpace(visible(s, func(r rune) string {
		if unicode.IsSpace(r) {
			return " "
		}
		return escaped(r)
	}))
}

// commandLines makes the lines of a text that must read exactly as it is:
// nothing is dropped, hidden and control characters become visible.
func commandLines(s string) []string {
	s = visible(strings.ReplaceAll(s, "\r\n", "\n"), func(r rune) string {
		switch r {
		case '\n':
			return "\n"
		case '\t':
			return "    "
		}
		return escaped(r)
	})
	return nonBlank(s)
}

// outputLines makes the lines of what a command wrote: escape sequences and
// control characters are gone, a carriage return ends a line (on a terminal it
// would overwrite it), hidden characters become visible.
func outputLines(s string) []string {
	s = strings.ReplaceAll(ansi.ReplaceAllString(s, ""), "\r\n", "\n")
	s = visible(s, func(r rune) string {
		switch r {
		case '\n', '\r':
			return "\n"
		case '\t':
			return "    "
		}
		return ""
	})
	return nonBlank(s)
}

// nonBlank splits s into lines, nil where there is nothing to see.
func nonBlank(s string) []string {
	s = strings.TrimRight(strings.TrimLeft(s, "\n"), " \n")
	if strings.TrimSpace(s) == "" {
		return nil
	}
	out := strings.Split(s, "\n")
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return out
}

// clip cuts s after n characters and says so with an ellipsis.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

// leadingMark matches what would begin a list, a heading or a rule if it stood
// at the beginning of a line; the group is what a backslash takes the meaning from.
var leadingMark = pattern.New(`^(?:\d{1,9})?([-+=#]+|[.)])(?: |$)`)

// mdText makes untrusted text inert in Markdown: one line of at most about limit
// characters in which nothing is a link, an image, a mention, a reference, HTML, an
// emphasis or the end of a table cell. Of nothing it makes a dash, as Markdown has no
// empty items.
func mdText(s string, limit int) string {
	if s = plain(s); s == "" {
		return "–"
	}
	mark := -1
	if m := leadingMark.FindStringSubmatchIndex(s); m != nil {
		mark = m[2] // all before it is ASCII, so that bytes and characters agree
	}
	rs := []rune(s)
	var b strings.Builder
	n := 0
	for i := range rs {
		e := mdRune(rs, i)
		if i == mark {
			e = `\` + e
		}
		if n += utf8.RuneCountInString(e); n > limit {
			b.WriteString("…")
			break
		}
		b.WriteString(e)
	}
	return b.String()
}

// mdRune escapes rs[i]. Backslashes are preferred where they do, as the text is
// also read as it is; mentions and references survive every escape, so that they are
// parted by an invisible space, as other bots do.
func mdRune(rs []rune, i int) string {
	switch r := rs[i]; r {
	case '\\', '`', '*', '[', ']', '~':
		return `\` + string(r)
	case '_': // within a word it is no emphasis
		if i > 0 && i+1 < len(rs) && wordRune(rs[i-1]) && wordRune(rs[i+1]) {
			return "_"
		}
		return `\_`
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '&':
		return "&amp;"
	case '|':
		return "&#124;"
	case '$': // GitHub's mathematics
		return "<span>$</span>"
	case '@':
		return "@&#8203;"
	case '#', '-': // #123 and GH-123 link there, and that page back to this one
		if i+1 < len(rs) && unicode.IsDigit(rs[i+1]) && (r == '#' || i >= 2 && strings.EqualFold(string(rs[i-2:i]), "gh")) {
			return string(r) + "&#8203;"
		}
	case ':', '.': // http://, www., :emoji:
		if r == ':' && emoji(rs[i+1:]) {
			return ":&#8203;"
		}
		if i+1 < len(rs) && rs[i+1] == '/' && r == ':' || i >= 3 && strings.EqualFold(string(rs[i-3:i]), "www") {
			return fmt.Sprintf("&#%d;", r)
		}
	}
	return string(rs[i])
}

// emoji says whether what follows a colon may make a picture of it, as in
// :white_check_mark:, which GitHub does after all escapes. The numbers of lines
// and columns do not.
func emoji(rs []rune) bool {
	n := slices.Index(rs[:min(len(rs), 64)], ':')
	if n < 1 {
		return false
	}
	name := string(rs[:n])
	if slices.Contains([]string{"+1", "-1", "100", "1234"}, name) {
		return true
	}
	letter := false
	for _, r := range name {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			letter = true
		} else if !strings.ContainsRune("0123456789_+-", r) {
			return false
		}
	}
	return letter
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// mdCode makes a code span of untrusted text, cut after limit characters. Where
// there is HTML in it, which the span would show as it is, the span is HTML itself:
// so that outside of fences every tag of the text is one of ours.
func mdCode(s string, limit int) string {
	s = clip(plain(s), limit)
	if s == "" {
		return ""
	}
	if strings.Contains(s, "<") {
		return "<code>" + mdText(s, 4*limit) + "</code>"
	}
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if len(ticks) > 1 || strings.HasPrefix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// mdCell is mdCode in a table, where a bar ends a cell in a code span too.
func mdCell(s string, limit int) string {
	code := mdCode(s, limit)
	if strings.HasPrefix(code, "<") { // escaped already
		return code
	}
	return strings.ReplaceAll(code, "|", `\|`)
}

// mdFence makes a code block of ls that no content can close.
func mdFence(info string, ls []string) string {
	body := deadComment(strings.Join(ls, "\n"))
	ticks := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	return ticks + info + "\n" + body + "\n" + ticks + "\n"
}

// deadComment breaks the beginnings of HTML comments. In code they are inert,
// but a comment of ours is found again by such a mark, and no one else may set it.
func deadComment(s string) string { return strings.ReplaceAll(s, "<!--", "<! --") }

func longestRun(s string, of rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
