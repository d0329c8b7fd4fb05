package redact

import (
	"bytes"
	"regexp"

	"github.com/ycbot/ycbot/internal/pattern"
)

var mark = []byte("[redacted:token]")

// A shape is a kind of token that is known by its look. The literal is searched
// for first, which is much faster than the expression; the expression matches
// from there. If it has a group, only that is replaced.
type shape struct {
	literal []byte
	anchor  bool // the literal begins a word
	expr    *pattern.Pattern
	accept  func(token []byte) bool // nil: whatever matches
}

func word(literal, rest string) shape {
	return shape{[]byte(literal), true, pattern.New(`^` + regexp.QuoteMeta(literal) + rest), nil}
}

// shapes is in the order of application: a block before what it may contain.
var shapes = []shape{
	{
		[]byte("-----BEGIN "), false,
		// Without its end (a log that was cut) up to what no key contains.
		pattern.New(`^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,]|\\+[nrt]|-[A-Za-z0-9])*` +
			`(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`), nil,
	},
	authorization("uthorization"),
	authorization("UTHORIZATION"),
	word("eyJ", `[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
	word("ghp_", `[A-Za-z0-9]{30,}`),
	word("gho_", `[A-Za-z0-9]{30,}`),
	word("ghu_", `[A-Za-z0-9]{30,}`),
	word("ghs_", `[A-Za-z0-9]{30,}`),
	word("ghr_", `[A-Za-z0-9]{30,}`),
	word("github_pat_", `[A-Za-z0-9_]{22,}`),
	word("glpat-", `[A-Za-z0-9_-]{20,}`),
	word("AKIA", `[0-9A-Z]{16}\b`),
	word("ASIA", `[0-9A-Z]{16}\b`),
	word("xox", `[a-z]-[A-Za-z0-9-]{10,}`),
	{[]byte("sk-"), true, pattern.New(`^sk-[A-Za-z0-9_-]{20,}`), looksRandom},
}

// authorization is the header with its value, in HTTP, JSON and Go's %v.
func authorization(literal string) shape {
	return shape{
		[]byte(literal), false,
		pattern.New(`^(?i:uthorization)["']?\s{0,4}[:=]\s{0,4}[\["']{0,2}(?i:bearer|basic|token)\s{1,4}([A-Za-z0-9._~+/=-]{8,})`), nil,
	}
}

// looksRandom tells a key from words with hyphens between them: it has a long
// run of letters and digits with a digit in it.
func looksRandom(token []byte) bool {
	run, digit := 0, false
	for _, c := range token {
		switch {
		case c == '-' || c == '_':
			run, digit = 0, false
			continue
		case c >= '0' && c <= '9':
			digit = true
		}
		if run++; run >= 16 && digit {
			return true
		}
	}
	return false
}

// tokens replaces everything that has the shape of a token.
func tokens(b []byte) []byte {
	for _, s := range shapes {
		b = s.replace(b)
	}
	return b
}

func (s shape) replace(b []byte) []byte {
	var out []byte
	done := 0 // b[:done] is in out
	for at := 0; ; {
		i := bytes.Index(b[at:], s.literal)
		if i < 0 {
			break
		}
		i += at
		at = i + len(s.literal)
		if s.anchor && i > 0 && isWord(b[i-1]) && !escaped(b[:i]) {
			continue
		}
		m := s.expr.FindSubmatchIndex(b[i:])
		if m == nil || s.accept != nil && !s.accept(b[i:i+m[1]]) {
			continue
		}
		from, to := i+m[0], i+m[1]
		if len(m) > 2 {
			from, to = i+m[2], i+m[3]
		}
		out = append(append(out, b[done:from]...), mark...)
		done, at = to, to
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}

// escaped says whether text ends in an escape such as JSON's \n, whose letter is
// no part of the word that follows.
func escaped(text []byte) bool {
	n := len(text)
	return n > 1 && text[n-2] == '\\' && bytes.IndexByte([]byte("nrtbf"), text[n-1]) >= 0
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
