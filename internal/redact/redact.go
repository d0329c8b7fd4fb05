// Package redact takes secrets out of text before it is stored, shown or sent.
//
// It knows the values that it is given, in the forms that programs print them
// in (as they are, base32, base64, hex, URL and JSON, each from its end, and broken into
// lines), and the shapes of the tokens that
// everybody uses. It works on whole texts: a value that is spread over two
// calls is not found. What is left is text for people, so a replaced value
// keeps its name: [redacted:NAME], or [redacted:token] for a shape.
package redact

import (
	"bytes"
	"cmp"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
)

// minSecret is the shortest value that is looked for; shorter ones would eat
// ordinary words.
const minSecret = 8

// minLine is the shortest line of a value of several lines that is looked for
// by itself.
const minLine = 16

// Mark begins what stands for a secret.
const Mark = "[redacted:"

// A Redactor replaces secrets. It is safe for concurrent use; a nil Redactor
// knows the shapes of tokens only.
type Redactor struct {
	values *strings.Replacer // nil: no values
}

// New makes a Redactor for the values of secrets, by name. Values of less than
// eight bytes are left out.
func New(secrets map[string]string) *Redactor {
	type form struct{ text, name string }
	var all []form
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		for _, text := range forms(secrets[name]) {
			all = append(all, form{text, name})
		}
	}
	if len(all) == 0 {
		return &Redactor{}
	}
	// At one place the first that matches wins; that has to be the longest.
	sorted.By(all, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
	pairs := make([]string, 0, 2*len(all))
	for _, f := range all {
		pairs = append(pairs, f.text, Mark+f.name+"]")
	}
	return &Redactor{values: strings.NewReplacer(pairs...)}
}

// String returns s without its secrets.
func (r *Redactor) String(s string) string { return string(r.Bytes([]byte(s))) }

// Bytes returns b without its secrets. It does not change b, which may be what
// it returns.
func (r *Redactor) Bytes(b []byte) []byte {
	if mayBeUnseen(b) && unseen[len(unseen)-1].Match(b) {
		ways := unseen[:]
		if bytes.IndexByte(b, 0x1b) < 0 && !bytes.Contains(b, []byte("\u009b")) {
			ways = ways[len(ways)-1:] // there is no sequence
		}
		b = r.throughUnseen(b, ways)
	}
	return r.seen(b)
}

// seen is b without the secrets that stand in it in one piece.
func (r *Redactor) seen(b []byte) []byte {
	if r != nil && r.values != nil {
		if s := r.values.Replace(string(b)); s != string(b) {
			b = []byte(s)
		}
		b = r.wrapped(b)
	}
	return tokens(b)
}

// forms returns how value may stand in a text.
func forms(value string) []string {
	value = strings.TrimSpace(value)
	if len(value) < minSecret {
		return nil
	}
	out := encodings(value)
	if strings.ContainsAny(value, "\r\n") {
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= minLine && !strings.HasPrefix(line, "-----") {
				out = append(out, line)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func encodings(value string) []string {
	out := []string{
		value,
		hex.EncodeToString([]byte(value)),
		strings.ToUpper(hex.EncodeToString([]byte(value))),
		url.QueryEscape(value),
		url.PathEscape(value),
		strings.ReplaceAll(url.QueryEscape(value), "+", "%20"),
		bytewise(value, "%", ""), strings.ToLower(bytewise(value, "%", "")),
	}
	for _, sep := range []string{":", " "} {
		out = append(out, bytewise(value, "", sep), strings.ToLower(bytewise(value, "", sep)))
	}
	for _, escaped := range out[3:6] {
		out = append(out, lowerPercent(escaped))
	}
	out = append(out, jsonForms(value)...)
	out = append(out, base32.StdEncoding.EncodeToString([]byte(value)), strings.TrimRight(base32.StdEncoding.EncodeToString([]byte(value)), "="))
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		out = append(out, enc.EncodeToString([]byte(value)))
		for shift := range 3 {
			out = append(out, inBase64(enc, value, shift))
		}
	}
	for _, text := range slices.Clone(out) {
		out = append(out, reversed(text))
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) < minSecret })
}

// reversed is s from its end to its beginning.
func reversed(s string) string {
	rs := []rune(s)
	slices.Reverse(rs)
	return string(rs)
}

// inBase64 is what value looks like inside the base64 of a longer text in which
// it begins shift bytes after a multiple of three: without the characters at
// both ends that depend on its neighbours.
func inBase64(enc *base64.Encoding, value string, shift int) string {
	text := enc.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("\x00", shift) + value))
	first := (shift*8 + 5) / 6
	return text[first : (shift+len(value))*8/6]
}

func jsonForms(value string) []string {
	var out []string
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(value) != nil {
			continue // a string can always be encoded
		}
		text := strings.Trim(strings.TrimSpace(b.String()), `"`)
		out = append(out, text, strings.ReplaceAll(text, "/", `\/`))
	}
	return out
}

// bytewise is each byte of s in hex, behind a text and with another between them.
func bytewise(s, front, between string) string {
	var b strings.Builder
	for i := range len(s) {
		if i > 0 {
			b.WriteString(between)
		}
		fmt.Fprintf(&b, "%s%02X", front, s[i])
	}
	return b.String()
}

// lowerPercent spells the %XX of a URL in lower case.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}
