package gate

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A testText is what a source says of its tests, by their own names.
type testText struct {
	funcs    map[string]string // the text of each test that is a function, by name
	literals map[string]bool   // strings, which name tests, subtests and rows
	defined  map[string]bool   // names of functions, methods and classes
}

// readTests tokenises a source: what stands in comments is not there.
func readTests(name string, src []byte) testText {
	if path.Ext(name) == ".go" || bytes.Contains(src, []byte("package ")) && bytes.Contains(src, []byte("func Test")) {
		if t, ok := readGoTests(src); ok {
			return t
		}
	}
	t := testText{funcs: map[string]string{}, literals: map[string]bool{}, defined: map[string]bool{}}
	hash := slices.Contains([]string{".py", ".rb", ".sh", ".bash", ".ex", ".exs", ".bats"}, path.Ext(name))
	code, literals := withoutStrings(string(src), hash)
	for _, l := range literals {
		t.literals[l] = true
	}
	for _, m := range definition.FindAllStringSubmatch(code, -1) {
		t.defined[m[1]] = true
	}
	if path.Ext(name) == ".py" {
		t.funcs = pythonFuncs(string(src))
	}
	return t
}

var definition = pattern.New(`\b(?:def|class|fn|fun|func|function|void|module|describe|object)\s+(\w+)`)

func readGoTests(src []byte) (testText, bool) {
	t := testText{funcs: map[string]string{}, literals: map[string]bool{}, defined: map[string]bool{}}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return t, false
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			t.defined[f.Name.Name] = true
			if f.Recv == nil && testName(f.Name.Name) {
				t.funcs[f.Name.Name] = string(src[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset])
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil {
				t.literals[s] = true
			}
		}
		if k, ok := n.(*ast.KeyValueExpr); ok { // rows of a map can be named by identifiers
			if i, ok := k.Key.(*ast.Ident); ok {
				t.literals[i.Name] = t.literals[i.Name] || false
			}
		}
		return true
	})
	return t, true
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

func depthOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// withoutStrings splits a source of most languages into its code and its string
// literals, without comments.
func withoutStrings(src string, hash bool) (code string, literals []string) {
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
			text, n := literal(rest[len(quote):], quote)
			literals = append(literals, text)
			i += len(quote) + n - 1
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), literals
}

// literal reads up to the closing quote. n counts it.
func literal(src, quote string) (text string, n int) {
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
func (t testText) has(test string) bool {
	if sub := strings.Split(test, "/"); len(t.funcs) > 0 && t.funcs[sub[0]] != "" {
		for _, s := range sub[1:] {
			if !t.names(s) {
				return false
			}
		}
		return true
	}
	name, _, _ := strings.Cut(test, "[")
	for _, sep := range []string{nameSep, "::", "."} { // the last one where classes and methods are put together
		if strings.Contains(name, sep) && !t.names(test) {
			return !slices.ContainsFunc(strings.Split(name, sep), func(p string) bool { return !t.names(p) }) || sep == "." && t.joined(name)
		}
	}
	return t.names(test) || t.names(name) || t.joined(name)
}

// names says whether a part of a name is there, also as the go command writes it.
func (t testText) names(part string) bool {
	if t.defined[part] || t.literals[part] {
		return true
	}
	for l := range t.literals {
		if strings.ContainsAny(l, " \t\n") && strings.Join(strings.Fields(l), "_") == part || strings.ReplaceAll(l, " ", "_") == part {
			return true
		}
	}
	return false
}

// joined says whether a name is literals with spaces between them.
func (t testText) joined(name string) bool {
	reach := make([]bool, len(name)+1)
	reach[0] = true
	for i := range name {
		if !reach[i] {
			continue
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

// text is that of the function that a test is, where it is one.
func (t testText) text(test string) string {
	top, _, _ := strings.Cut(test, "/")
	if f := t.funcs[top]; f != "" {
		return f
	}
	if f := t.funcs[lastName(test)]; f != "" {
		return f
	}
	name, _, _ := strings.Cut(test, "[")
	return t.funcs[name[strings.LastIndexByte(name, '.')+1:]]
}

// stands says whether a test of the base still stands in the head's tree by its own
// name, whatever its file is called, however it is tagged and wherever it is.
func (r *runner) stands(id ID) bool {
	file, src := r.testFileOf(id)
	if src == nil {
		return r.projectStands(id)
	}
	base := readTests(file, src)
	known := base.has(id.Test)
	params := strings.Contains(id.Test, "[") && base.text(id.Test) != ""
	for name, head := range r.headTests(file) {
		t := readTests(name, head)
		if name != file && name != r.movedTo(file) && (readTests(name, r.texts[name].base).has(id.Test) || r.reported(name, id.Test)) {
			continue // it is another test of that name, or this one where it ran
		}
		switch {
		case known && !params && t.has(id.Test):
			return true
		case params && t.text(id.Test) == base.text(id.Test):
			return true // its parameter is put together by what did not change
		case !known && base.text(id.Test) != "" && t.text(id.Test) == base.text(id.Test):
			return true
		case !known && bytes.Equal(head, src):
			return true
		}
	}
	return false
}

// reported says whether the head's run has a test of a name in a file.
func (r *runner) reported(file, test string) bool {
	for id, t := range r.suites[Head] {
		if id.Test == test && t.Status != NotRun && (id.Package == file || t.Eco == "Go" && r.goDir(Head, id) == path.Dir(file)) {
			return true
		}
	}
	return false
}

// headTests are the head's contents of the file of a test, wherever it is, and of
// all that the change brings.
func (r *runner) headTests(file string) map[string][]byte {
	out := map[string][]byte{}
	for name, v := range r.texts {
		if v.head != nil {
			out[name] = v.head
		}
	}
	if src, err := readInTree(r.in.Head.Dir, file); err == nil {
		out[file] = src
	}
	return out
}

// testFileOf is the base's file that a test is in, with its content; no content
// where that is not known.
func (r *runner) testFileOf(id ID) (string, []byte) {
	if id.Command != "" {
		return "", nil
	}
	if r.ecoOf(id) != "Go" {
		src, err := readInTree(r.in.Base.Dir, id.Package)
		if err != nil {
			return "", nil
		}
		return id.Package, src
	}
	dir := r.goDir(Base, id)
	if r.goFiles == nil {
		r.goFiles = map[string]map[string]testFile{}
	}
	if r.goFiles[dir] == nil {
		r.goFiles[dir] = r.readGoDir(dir)
	}
	f := r.goFiles[dir][id.Top()]
	return f.name, f.src
}

// A testFile is a file of the base that has a test.
type testFile struct {
	name string
	src  []byte
}

// readGoDir returns the base's test files in a folder by the tests in them.
func (r *runner) readGoDir(dir string) map[string]testFile {
	out := map[string]testFile{}
	for _, f := range r.plan[Base].files {
		if path.Dir(f) != dir || !strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := readInTree(r.in.Base.Dir, f)
		if err != nil {
			continue
		}
		t, _ := readGoTests(src)
		for name := range t.funcs {
			out[name] = testFile{f, src}
		}
	}
	return out
}

// projectStands says of a test without a file whether what runs it is still there.
func (r *runner) projectStands(id ID) bool {
	for _, p := range r.allProjects(Base) {
		if p.dir != id.Unit {
			continue
		}
		for _, w := range p.why {
			if _, gone := slices.BinarySearch(r.plan[Head].files, r.movedTo(w)); gone {
				return true
			}
		}
	}
	return len(r.allProjects(Base)) == 0 || r.configured(StageTest)
}

var (
	skipMark    = pattern.New(`(?i)skip|\btodo\b|\bxit\b|\bxtest\b|\bxdescribe\b|pending|@ignore|\bignore\b|disabled|xfail|expectedFailure`)
	lenientMark = pattern.New(`(?i)xfail|expectedFailure|\.failing\b|\.fails\b|\bretry|\bretries|flaky`)
)

// marked says whether an edit of the test itself brings a mark.
func (r *runner) marked(id ID, mark *pattern.Pattern) bool {
	file, src := r.testFileOf(id)
	if src == nil {
		return false
	}
	base := readTests(file, src)
	for name, head := range r.headTests(file) {
		t := readTests(name, head)
		before, after := base.text(id.Test), t.text(id.Test)
		if before == "" && (name == file || name == r.movedTo(file)) {
			before, after = string(src), string(head)
		}
		if after == "" || after == before {
			continue
		}
		was := map[string]bool{}
		for line := range strings.Lines(before) {
			was[strings.TrimSpace(line)] = true
		}
		for line := range strings.Lines(after) {
			if !was[strings.TrimSpace(line)] && mark.MatchString(line) {
				return true
			}
		}
	}
	return false
}

// removedNames are the names that the change takes out of the sources that a test
// can mean: those of its files on the base that none of the same folder has on the
// head, in the test's own folder and in files and folders that it names.
func (r *runner) removedNames(id ID) map[string]bool {
	file, src := r.testFileOf(id)
	about := words(src)
	before, after := map[string]map[string]bool{}, map[string]map[string]bool{}
	add := func(to map[string]map[string]bool, dir string, names map[string]bool) {
		if to[dir] == nil {
			to[dir] = map[string]bool{}
		}
		maps.Copy(to[dir], names)
	}
	for name, v := range r.texts {
		apart := slices.ContainsFunc(r.touched, func(t touch) bool { return t.path == name && !t.mixed })
		if apart || isDoc(name) || !isSource(name) {
			continue
		}
		dir, stem := path.Dir(name), strings.TrimSuffix(path.Base(name), path.Ext(name))
		add(after, dir, words(v.head))
		if src != nil && dir != path.Dir(file) && !about[path.Base(dir)] && !about[stem] {
			continue
		}
		add(before, dir, words(v.base))
		if v.head == nil { // a module is called by the name of its file
			add(before, dir, map[string]bool{stem: true})
		}
	}
	out := map[string]bool{}
	for dir, names := range before {
		for w := range names {
			if !after[dir][w] {
				out[w] = true
			}
		}
	}
	return out
}

// subjectStands says whether nothing that a test names was taken out of the sources.
func (r *runner) subjectStands(id ID) bool {
	file, src := r.testFileOf(id)
	if src == nil {
		return true
	}
	if text := readTests(file, src).text(id.Test); text != "" {
		src = []byte(text)
	}
	removed := r.removedNames(id)
	for w := range words(src) {
		if removed[w] {
			return false
		}
	}
	return true
}
