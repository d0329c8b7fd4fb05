package redact

import (
	"bytes"
	"slices"

	"github.com/ycbot/ycbot/internal/pattern"
)

// unseen is what a terminal or a page does not show as a character: escape sequences (ECMA-48),
// control characters but line ends and tabs, and characters of Unicode without a width. A secret
// with such a thing in it is whole again for one who looks at it, or takes these out.
var unseen = pattern.New("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\\\)|[ -/]*[0-~])?" +
	`|\x{9b}[0-?]*[ -/]*[@-~]` +
	`|[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f\x{80}-\x{9f}\x{ad}\x{34f}\x{61c}\x{180e}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{fe00}-\x{fe0f}\x{feff}\x{e0000}-\x{e01ef}]`)

// mayBeUnseen says whether b has a byte by which something in it may not be seen.
func mayBeUnseen(b []byte) bool {
	return slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f })
}

// throughUnseen takes out secrets that what is not seen parts. Lines in which there is one, or
// all of b where one stands on several, are then without what is not seen.
func (r *Redactor) throughUnseen(b []byte) []byte {
	plain := unseen.ReplaceAll(b, nil)
	clean := r.seen(plain)
	if bytes.Equal(clean, plain) {
		return b
	}
	var out []byte
	for _, line := range bytes.SplitAfter(b, []byte("\n")) {
		plain := unseen.ReplaceAll(line, nil)
		if clean := r.seen(plain); !bytes.Equal(clean, plain) {
			line = clean
		}
		out = append(out, line...)
	}
	if !bytes.Equal(unseen.ReplaceAll(out, nil), clean) {
		return clean
	}
	return out
}
