package evidence

import (
	"fmt"
	"strings"
	"unicode"
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
	switch {
	case r == '\n', r == '\t', r == '\r', r == '\ufe0f':
		return false
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Noncharacter_Code_Point):
		return true
	case r >= 0xe0000 && r <= 0xe0fff, r >= 0xfe00 && r <= 0xfe0f:
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x034f, r == 0x17b4, r == 0x17b5, r == 0x180b, r == 0x180c, r == 0x180d:
		return true
	}
	return false
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
