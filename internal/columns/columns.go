// Package columns counts the columns that text takes on a terminal: two for the wide
// characters of Unicode's Standard Annex 11 (https://www.unicode.org/reports/tr11/), none
// for marks and what is not shown, one for all others. Characters whose width depends on
// the font count as narrow. A group that some terminals join into one picture (with
// U+200D) counts as its parts: lines end early rather than late.
package columns

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Of is the number of columns of s, which holds no escape sequence.
func Of(s string) int {
	n := 0
	for _, c := range s {
		n += of(c)
	}
	return n
}

// First is the first character of s with the marks that follow it, as they are shown
// together, and its columns. An empty text has none.
func First(s string) (first string, columns int) {
	for i, c := range s {
		if i > 0 && !mark(c) {
			return s[:i], columns
		}
		columns += of(c)
	}
	return s, columns
}

func of(c rune) int {
	switch {
	case c < ' ' || c >= 0x7f && c < 0xa0:
		return 0
	case c < utf8.RuneSelf:
		return 1
	case mark(c):
		return 0
	}
	switch width.LookupRune(c).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

func mark(c rune) bool { return unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf) }
