package evidence

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ycbot/ycbot/internal/report"
)

// Visible is s as a model and the audit see it: without colours, valid UTF-8,
// and with characters that are hidden or that turn the reading direction shown
// as escapes such as <U+202E>. Line ends and tabs stay.
func Visible(s string) string {
	s = strings.ToValidUTF8(ansiCodes.ReplaceAllString(s, ""), "\ufffd")
	if strings.IndexFunc(s, hiddenRune) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hiddenRune(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hiddenRune reports whether a reader would not see r. The variation selector
// that merely colours an emoji is let through.
func hiddenRune(r rune) bool {
	switch r {
	case '\n', '\t', '\r', '\ufe0f':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Co) || report.Hidden(r)
}

// Fence puts a text that someone else wrote into a Markdown code fence that is longer
// than any in it.
func Fence(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "text\n" + strings.TrimRight(text, "\n") + "\n" + mark + "\n"
}
