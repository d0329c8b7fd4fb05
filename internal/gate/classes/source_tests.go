package classes

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/golang"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A TestText is what a source says of its tests, by their own names.
type TestText struct {
	Funcs    map[string]string // the text of each test that is a function, by name
	literals map[string]bool   // strings, which name tests, subtests and rows
	defined  map[string]bool   // names of functions, methods and classes
	named    map[naming]int    // where these stand
	headers  map[string]string // what stands behind the name of a class in its line
	ext      string            // of its file
}

func newTestText() TestText {
	return TestText{
		Funcs: map[string]string{}, literals: map[string]bool{}, defined: map[string]bool{},
		named: map[naming]int{}, headers: map[string]string{},
	}
}

// ReadTests tokenises a source: what stands in comments is not there.
func ReadTests(name string, src []byte) TestText {
	if path.Ext(name) == ".go" || bytes.Contains(src, []byte("package ")) && bytes.Contains(src, []byte("func Test")) {
		if t, ok := readGoTests(src); ok {
			return t
		}
	}
	t := newTestText()
	t.ext = path.Ext(name)
	hash := slices.Contains([]string{".py", ".rb", ".sh", ".bash", ".ex", ".exs", ".bats"}, path.Ext(name))
	code, literals := withoutStrings(string(src), hash)
	for _, l := range literals {
		t.literals[l.text] = true
	}
	for _, m := range definition.FindAllStringSubmatch(code, -1) {
		t.defined[m[2]] = true
	}
	t.place(code, literals)
	switch t.ext {
	case ".py":
		t.Funcs = pythonFuncs(string(src))
	case ".rs":
		t.Funcs = rust.TestFuncs(string(src))
	case ".php":
		if !strings.Contains(code, "class ") { // Pest makes one, by the name of the file
			t.defined[strings.TrimSuffix(path.Base(name), t.ext)] = true
		}
	}
	return t
}

var definition = pattern.New(`\b((?:def|class|fn|fun|func|function|void|(?:def)?module|object)\b|describe\b\(?)\s*(?:\w+(?:::|\.))*(\w+)`)

func readGoTests(src []byte) (TestText, bool) {
	t := newTestText()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return t, false
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			t.defined[f.Name.Name] = true
			t.named[naming{kind: "func", name: f.Name.Name}]++
			if f.Recv == nil && golang.IsTestName(f.Name.Name) {
				t.Funcs[f.Name.Name] = string(src[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset])
			}
			t.readGoNames(f, f.Name.Name)
			continue
		}
		for _, s := range d.(*ast.GenDecl).Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				t.readGoNames(v, v.Names[0].Name)
			} else {
				t.readGoNames(s, "")
			}
		}
	}
	return t, true
}

// readGoNames reads what names tests in a declaration.
func (t TestText) readGoNames(in ast.Node, scope string) {
	ast.Inspect(in, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil {
				t.literals[s] = true
				t.named[naming{name: s, scope: scope}]++
			}
		}
		if k, ok := n.(*ast.KeyValueExpr); ok { // rows of a map can be named by identifiers
			if i, ok := k.Key.(*ast.Ident); ok {
				t.literals[i.Name] = t.literals[i.Name] || false
				t.named[naming{name: i.Name, scope: scope}]++
			}
		}
		return true
	})
}

// pythonDef is the head of a function, with its decorators before it.
var pythonDef = pattern.New(`(?m)^([ \t]*)(?:async )?def (\w+)\(`)

// pythonFuncs returns the text of each function, decorators included.
func pythonFuncs(src string) map[string]string {
	out := map[string]string{}
	for _, m := range pythonDef.FindAllStringSubmatchIndex(src, -1) {
		indent := m[3] - m[2]
		start := m[0]
		for start > 0 { // decorators and what they go on with stand above, as deep
			at := strings.LastIndexByte(src[:start-1], '\n') + 1
			line := src[at : start-1]
			if strings.TrimSpace(line) == "" || depthOf(line) < indent || depthOf(line) == indent && !strings.ContainsAny(strings.TrimSpace(line)[:1], "@)]}") {
				break
			}
			start = at
		}
		end := m[1] + len(src[m[1]:])
		pos := m[1]
		for line := range strings.Lines(src[m[1]:]) {
			if pos > m[1] && strings.TrimSpace(line) != "" && depthOf(line) <= indent && !strings.HasPrefix(strings.TrimSpace(line), ")") {
				end = pos
				break
			}
			pos += len(line)
		}
		out[src[m[4]:m[5]]] += strings.TrimRight(src[start:end], " \t\n")
	}
	return out
}

// withoutStrings splits a source of most languages into its code and its string
// literals, without comments.
func withoutStrings(src string, hash bool) (code string, literals []literal) {
	var out strings.Builder
	for i := 0; i < len(src); i++ {
		rest := src[i:]
		switch c := src[i]; {
		case hash && c == '#', !hash && strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				return out.String(), literals
			}
			i += end - 1
		case !hash && strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return out.String(), literals
			}
			i += end + 1
		case c == '"' || c == '\'' || c == '`':
			quote := rest[:1]
			if strings.HasPrefix(rest, strings.Repeat(quote, 3)) {
				quote = rest[:3]
			}
			text, n := readLiteral(rest[len(quote):], quote)
			literals = append(literals, literal{text, out.Len()})
			i += len(quote) + n - 1
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), literals
}

// A literal is a string of a source, and where it stood in the code without it.
type literal struct {
	text string
	at   int
}

// readLiteral reads up to the closing quote. n counts it.
func readLiteral(src, quote string) (text string, n int) {
	var out strings.Builder
	for i := 0; i < len(src); i++ {
		switch {
		case strings.HasPrefix(src[i:], quote):
			return out.String(), i + len(quote)
		case src[i] == '\\' && i+1 < len(src):
			i++
			out.WriteByte(src[i])
		case src[i] == '\n' && len(quote) == 1 && quote != "`":
			return out.String(), i // no literal after all, such as an apostrophe
		default:
			out.WriteByte(src[i])
		}
	}
	return out.String(), len(src)
}

// has says whether a source has a test by its own name: all parts of it, each as
// a definition or a literal. Names that are put together when the tests run are
// not found.
func (t TestText) has(test string) bool {
	if sub := strings.Split(test, "/"); len(t.Funcs) > 0 && t.Funcs[sub[0]] != "" {
		for _, s := range sub[1:] {
			if !t.names(s) {
				return false
			}
		}
		return true
	}
	name, _, _ := strings.Cut(test, "[")
	for _, sep := range []string{results.NameSep, "::", "."} { // the last one where classes and methods are put together
		if strings.Contains(name, sep) && !t.names(test) {
			return !slices.ContainsFunc(strings.Split(name, sep), func(p string) bool { return !t.names(p) }) || (sep == "." || t.ext == ".rb") && t.joined(name)
		}
	}
	return t.names(test) || t.names(name) || t.joined(name)
}

// names says whether a part of a name is there, also as the go command writes it.
func (t TestText) names(part string) bool {
	if t.defined[part] || t.literals[part] {
		return true
	}
	for l := range t.literals {
		if calledSo(l, part) {
			return true
		}
	}
	return false
}

// calledSo says whether a part of a name is a literal, as it is or as the go command writes it.
func calledSo(l, part string) bool {
	return l == part || strings.ContainsAny(l, " \t\n") && strings.Join(strings.Fields(l), "_") == part || strings.ReplaceAll(l, " ", "_") == part
}

// joined says whether a name is literals with spaces between them, under RSpec also constants.
func (t TestText) joined(name string) bool {
	reach := make([]bool, len(name)+1)
	reach[0] = true
	for i := range name {
		if !reach[i] {
			continue
		}
		if n := t.past(name[i:]); n > 0 {
			reach[i+n] = true
		}
		for l := range t.literals {
			if l != "" && strings.HasPrefix(name[i:], l) {
				if end := i + len(l); end == len(name) || name[end] == ' ' {
					reach[min(end+1, len(name))] = true
				}
			}
		}
	}
	return reach[len(name)]
}

// Helpers are the functions in a source of tests that are no tests by their name.
func Helpers(name string, src []byte) map[string]bool {
	code, _ := withoutStrings(string(src), slices.Contains([]string{".py", ".rb", ".ex", ".exs"}, path.Ext(name)))
	out := map[string]bool{}
	for _, m := range function.FindAllStringSubmatch(code, -1) {
		if f := m[1] + m[2]; !runnable.MatchString(f) {
			out[f] = true
		}
	}
	return out
}

var (
	function = pattern.New(`(?m)\b(?:def|fn|fun|func|function)[ \t]+(?:\([^()\n]*\)[ \t]*)?(\w+)|^(?:const|let|var)[ \t]+(\w+)[ \t]*=[ \t]*(?:async[ \t]*)?(?:\([^()\n]*\)|\w+)[ \t]*=>`)
	runnable = pattern.New(`(?i)^(?:test|benchmark|example|fuzz|set_?up|tear_?down)`)
)

// Text is that of the function that a test is, where it is one.
func (t TestText) Text(test string) string {
	top, _, _ := strings.Cut(test, "/")
	if f := t.Funcs[top]; f != "" {
		return f
	}
	if f := t.Funcs[results.LastName(test)]; f != "" {
		return f
	}
	name, _, _ := strings.Cut(test, "[")
	return t.Funcs[name[strings.LastIndexByte(name, '.')+1:]]
}

// depthOf is how deep a line is indented.
func depthOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
