package classes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A naming is a definition or a literal of a source where it stands: kind is the word that defines
// it, or the function that it is the first argument of, and scope what stands around it (functions,
// classes, groups, tables) from the outside in, each with a zero byte behind it.
type naming struct{ kind, name, scope string }

// variable is a name that gets a value, such as a table of rows.
var variable = pattern.New(`(?m)^[ \t]*(?:(?:export|public|private|protected|internal|static|final|readonly|const|let|var|val|auto)[ \t]+)*(?:[\w<>\[\],]+[ \t]+)?(\w+)[ \t]*(?::[^=\n]*)?=[^=]`)

// place says where the definitions and literals of a source stand: a line that names something stands
// around the lines behind it that are indented deeper.
func (t TestText) place(code string, literals []literal) {
	type mention struct {
		naming
		at    int
		opens bool
	}
	var all []mention
	for _, m := range definition.FindAllStringSubmatchIndex(code, -1) {
		word, name := code[m[2]:m[3]], code[m[4]:m[5]]
		all = append(all, mention{naming{kind: word, name: name}, m[4], true})
		if word == "class" {
			rest, _, _ := strings.Cut(code[m[5]:], "\n")
			t.headers[name] = strings.TrimSpace(rest)
		}
	}
	for _, m := range variable.FindAllStringSubmatchIndex(code, -1) {
		all = append(all, mention{naming{kind: "=", name: code[m[2]:m[3]]}, m[2], true})
	}
	for _, l := range literals {
		at, by := callBefore(code, l.at)
		all = append(all, mention{naming{kind: by, name: l.text}, at, by != ""})
	}
	slices.SortStableFunc(all, func(a, b mention) int { return cmp.Compare(a.at, b.at) })
	type open struct {
		line, depth int
		name        string
	}
	var around []open
	for _, m := range all {
		line := strings.LastIndexByte(code[:m.at], '\n') + 1
		depth := depthOf(code[line:])
		for len(around) > 0 && around[len(around)-1].line != line && around[len(around)-1].depth >= depth {
			around = around[:len(around)-1]
		}
		for _, o := range around {
			m.scope += o.name + "\x00"
		}
		if m.kind != "=" {
			t.named[m.naming]++
		}
		if m.opens {
			around = append(around, open{line, depth, m.name})
		}
	}
}

// callBefore is the function that what stands at a place is the first argument of, where its line
// begins with the call, and where that is; no function: the place itself.
func callBefore(code string, at int) (int, string) {
	before := strings.TrimRight(code[:at], " \t\n")
	if paren, ok := strings.CutSuffix(before, "("); ok {
		before = strings.TrimRight(paren, " \t")
	} else if strings.Contains(code[len(before):at], "\n") || len(before) == at {
		return at, ""
	}
	start := len(before)
	for start > 0 && (isWord(before[start-1]) || before[start-1] == '.' || before[start-1] == '$') {
		start--
	}
	line := strings.TrimSpace(before[strings.LastIndexByte(before[:start], '\n')+1 : start])
	if start == len(before) || line != "" && line != "await" && line != "return" {
		return at, ""
	}
	return start, before[start:]
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// Keeps says whether a source has a test, as [TestText.Has] does, and names it as often and in the
// same places as another one, in which it stood before: what another test is called by is none of it.
func (t TestText) Keeps(was TestText, test string) bool {
	test = was.spelled(test)
	if !t.has(test) {
		return false
	}
	name, _, _ := strings.Cut(test, "[")
	for _, of := range []string{test, name} {
		if by, outer, within := was.namedBy(of); len(by) > 0 {
			for n := range by {
				if t.named[n] < was.named[n] {
					return false
				}
			}
			if within {
				return true
			}
			for class, rest := range was.headers { // it has it of another one
				if holdsWord(outer, class) && t.headers[class] != rest {
					return false
				}
			}
			return true
		}
	}
	return true
}

// Displaced is the name of the last part of a test that a source has as often as another one, in which it
// stood before, but in other places, such as in a class or a function around it; empty: it has not.
func (t TestText) Displaced(was TestText, test string) string {
	count := func(t TestText, of naming) (n int) {
		for have, times := range t.named {
			if have.kind == of.kind && have.name == of.name {
				n += times
			}
		}
		return n
	}
	name, _, _ := strings.Cut(was.spelled(test), "[")
	by, _, _ := was.namedBy(name)
	for of := range by {
		if t.named[of] < was.named[of] && count(t, of) >= count(was, of) {
			return of.name
		}
	}
	return ""
}

// namedBy returns what names the last part of a test: of all that does, that which stands in most of
// what the parts before it name, and in the least beside that. within says that it stands in any of it.
func (t TestText) namedBy(test string) (by map[naming]bool, outer string, within bool) {
	for i := range test {
		if i > 0 && !strings.ContainsRune("/ .:", rune(test[i-1])) {
			continue
		}
		best, beside := -1, 0
		by, outer = map[naming]bool{}, test[:i]
		for n := range t.named {
			if n.name == "" || !calledSo(n.name, test[i:]) {
				continue
			}
			fits, other := 0, 0
			for scope := range strings.SplitSeq(strings.TrimSuffix(n.scope, "\x00"), "\x00") {
				switch {
				case scope == "":
				case holdsWord(outer, scope):
					fits += len(scope)
				default:
					other++
				}
			}
			switch {
			case fits < best || fits == best && other > beside:
				continue
			case fits > best || other < beside:
				clear(by)
				best, beside = fits, other
			}
			by[n] = true
		}
		if len(by) > 0 {
			return by, outer, best > 0
		}
	}
	return nil, "", false
}

// holdsWord says whether a text has a name between what is no part of a word.
func holdsWord(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(name)
		if (i == 0 || !isWord(text[i-1]) || !isWord(name[0])) && (end == len(text) || !isWord(text[end]) || !isWord(name[len(name)-1])) {
			return true
		}
		from = i + 1
	}
}

// TextAt is, each line without spaces around it, what a test is where its title stands in a line: that
// and the lines behind it that are indented deeper. Empty: no line has its title.
func TextAt(src, test string) string {
	title := results.LastName(test)
	var out []string
	depth := 0
	for line := range strings.Lines(src) {
		text := strings.TrimSpace(line)
		switch {
		case out == nil && title != "" && strings.Contains(text, title):
			out, depth = []string{text}, depthOf(line)
		case out == nil || text == "":
		case depthOf(line) <= depth:
			return strings.Join(out, "\n")
		default:
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

// Flat is a source without the spaces around its lines, and without empty ones.
func Flat(src string) string {
	var out []string
	for line := range strings.Lines(src) {
		if text := strings.TrimSpace(line); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}
