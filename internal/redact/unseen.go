package redact

import (
	"bytes"
	"slices"

	"github.com/ycbot/ycbot/internal/pattern"
)

// What a terminal or a page does not show as a character: escape sequences (ECMA-48), control
// characters but line ends and tabs, and characters of Unicode without a width.
const (
	escapes   = "\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\\\)|[ -/]*[0-~])?|"
	shortCSI  = `\x{9b}[0-?]*[ -/]*[@-~]|`
	unseenOne = `[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f\x{80}-\x{9f}\x{ad}\x{34f}\x{61c}\x{180e}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{fe00}-\x{fe0f}\x{feff}\x{e0000}-\x{e01ef}]`
)

// unseen are the ways in which one who looks takes these out: a terminal, a report and a page
// differ in how far a sequence goes. A secret with such a thing in it is whole again in one of them.
var unseen = [...]*pattern.Pattern{pattern.New(escapes + shortCSI + unseenOne), pattern.New(escapes + unseenOne), pattern.New(unseenOne)}

// mayBeUnseen says whether b has a byte by which something in it may not be seen.
func mayBeUnseen(b []byte) bool {
	return slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f })
}

// throughUnseen takes out secrets that what is not seen parts. Lines in which there is one, or
// all of b where one stands on several, are then without what is not seen, in the way in which
// most is found.
func (r *Redactor) throughUnseen(b []byte, ways []*pattern.Pattern) []byte {
	var found []*pattern.Pattern
	var several []byte
	for _, way := range ways {
		plain := way.ReplaceAll(b, nil)
		clean := r.seen(plain)
		if bytes.Equal(clean, plain) {
			continue
		}
		found = append(found, way)
		var lines []byte
		for line := range bytes.Lines(plain) {
			lines = append(lines, r.seen(line)...)
		}
		if !bytes.Equal(lines, clean) && marks(clean) > marks(several) {
			several = clean
		}
	}
	if several != nil {
		return several
	}
	if found == nil {
		return b
	}
	var out []byte
	for line := range bytes.Lines(b) {
		best := line
		for _, way := range found {
			plain := way.ReplaceAll(line, nil)
			if clean := r.seen(plain); !bytes.Equal(clean, plain) && marks(clean) > marks(best) {
				best = clean
			}
		}
		out = append(out, best...)
	}
	return out
}

// marks counts what was taken out.
func marks(b []byte) int { return bytes.Count(b, []byte(Mark)) }
