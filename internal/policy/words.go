package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// dynamic stands for a word that is computed at run time.
const dynamic = "\x00"

// Bounds of the words that braces stand for: of a command, where those behind are as if computed,
// and of all commands of a script.
const (
	maxWords    = 1000
	maxExpanded = 20000
)

// expanded are the words of a command after bash has expanded braces, as in {git,commit}: the
// values of literal ones. Of the others only the forms of the home directory are distinguished,
// since those are what rm is feared for.
func (c *checker) expanded(ws []*syntax.Word) []string {
	var out []string
	for _, w := range ws {
		split := *w // what is walked through stays as it was parsed
		split.Parts = slices.Clone(w.Parts)
		if !syntax.SplitBraces(&split) {
			out = append(out, value(w))
			continue
		}
		for one, err := range expand.BracesSeq(nil, &split) {
			if c.braced++; c.braced > maxExpanded {
				c.tooMany("words in braces")
				return append(out, dynamic)
			}
			if err != nil || len(out) > maxWords {
				out = append(out, dynamic)
				break
			}
			out = append(out, value(one))
		}
	}
	return out
}

func value(w *syntax.Word) string {
	var b strings.Builder
	if !parts(&b, w.Parts, false) {
		return dynamic
	}
	return b.String()
}

func parts(b *strings.Builder, ps []syntax.WordPart, quoted bool) bool {
	for _, p := range ps {
		switch x := p.(type) {
		case *syntax.Lit:
			unescape(b, x.Value, quoted)
		case *syntax.SglQuoted:
			text := x.Value
			if x.Dollar {
				var err error
				if text, err = expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{x}}); err != nil {
					return false
				}
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			if !parts(b, x.Parts, true) {
				return false
			}
		case *syntax.ParamExp:
			if x.Param == nil || x.Param.Value != "HOME" || x.Exp != nil || x.Repl != nil || x.Slice != nil || x.Index != nil {
				return false
			}
			b.WriteString("~")
		default:
			return false
		}
	}
	return true
}

// unescape resolves backslashes: s\udo is sudo.
func unescape(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case s[i] == '\n':
		case quoted && !strings.ContainsRune("$`\"\\", rune(s[i])):
			b.WriteByte('\\')
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
}
