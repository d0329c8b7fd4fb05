// Package behave finds out what functions return on both sides of a change for the same
// inputs: it writes the file that calls them, and reads what that printed.
//
// Nothing is executed here. The file is the same for both sides. For Go it is a test: a
// table of the functions whose body changed and whose signature did not, made of the
// sources of one package on both sides ([Compare]), and a driver (driver_test.go) that
// makes inputs by the types of the parameters, calls each function in processes of their
// own and prints what can be seen of the results. For languages that are parsed in their
// own programs it is a driver that finds the functions itself ([Script]).
package behave

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

// Planned are calls of what a change alters in one place, the same ones on both sides.
type Planned interface {
	// File is the text that makes the calls, as it is laid under the name of a test.
	File(test string) string
	// Compare holds the answers of both sides against each other; without any, it says
	// what is not even called.
	Compare(base, head Answers) Comparison
	// Test is a test that passes on the base and fails on the head, to be pasted; empty:
	// none can be written.
	Test(f Function, was Call) string
}

// MaxFunctions bounds how many functions of a package are called.
const MaxFunctions = 20

// A Function is one that a change alters, and that can be called on both sides.
type Function struct {
	Name   string // as an expression of its package: "Round", "(*Quota).Take"
	Path   string // of its file on the head
	Line   int    // there
	Method bool
	// Tested are the tests of the head that mention it, or what calls it in its package.
	Tested []string
	// Touched are those of them that the change alters or brings.
	Touched []string
	// Panics says that what the change adds to it can end a call on purpose, and Awaited
	// that a test of the head expects a panic.
	Panics, Awaited bool
	// Through is the changed function that it calls, directly or not, where its own body is
	// as it was; empty: the change alters it.
	Through string

	plain    string // name without a receiver
	owner    string // type of the receiver
	given    []given
	recorded []recorded
	lost     map[string]bool // tests of the base in which it may have been called with what no test has any more
	words    literals
}

// A Plan is what is called in a package.
type Plan struct {
	Functions []Function
	Left      int      // functions above MaxFunctions
	Resigned  []string // changed functions that cannot be compared: their signatures changed

	clause  string // of the package
	ctors   []string
	types   []string
	errs    []string
	altered []altered
	imports map[string]bool // of the package, on both sides
	record  Recording

	gone      []string // what the base alone exports
	goneFrom  string
	goneTypes map[string]bool
}

// A side is one package as parsed.
type side struct {
	fset    *token.FileSet
	src     map[string][]byte
	funcs   map[string]*declared         // by expression
	named   map[string][]*declared       // by the name without a receiver
	names   []string                     // of these, sorted
	types   map[string]string            // text of declarations, by name
	shapes  map[string]string            // of these and of those with type parameters
	fields  map[string]map[string]string // the types of their fields that are not embedded
	values  map[string]string            // of variables and constants
	specs   map[string]ast.Node          // their declarations
	errs    map[string]bool
	imports map[string]bool
	tests   map[string]*declared
	units   map[string]map[string]bool // what each declaration of a test file mentions, by its name
	texts   map[string][]string        // the words of these declarations
	expects []map[string]bool          // what those mention, and what they use, that have to do with panics
	clause  string
}

// A declared is a function of a side.
type declared struct {
	name, file     string
	decl           *ast.FuncDecl
	line           int
	text, sign     string
	mentions       map[string]bool
	external, test bool // of the package for tests
}

// Compare plans the calls for a package: its files on both sides by their names, tests
// among them, without those that are not compiled here.
func Compare(base, head map[string][]byte) (Plan, bool) {
	was, ok1 := parse(base)
	now, ok2 := parse(head)
	if !ok1 || !ok2 || was.clause != now.clause {
		return Plan{}, false
	}
	p := Plan{clause: now.clause, imports: map[string]bool{}}
	for name := range now.imports {
		p.imports[name] = was.imports[name]
	}
	changed := map[string]bool{}
	for name, text := range now.values {
		changed[name] = was.values[name] != "" && was.values[name] != text
	}
	var gone []string // changed functions that cannot be called on both sides, by their names without receivers
	for _, name := range slices.Sorted(maps.Keys(was.funcs)) {
		if now.funcs[name] == nil {
			gone = append(gone, was.funcs[name].decl.Name.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.funcs)) {
		f, old := now.funcs[name], was.funcs[name]
		if old == nil || name == "main" || name == "init" || f.decl.Body == nil || old.decl.Body == nil {
			continue
		}
		if f.sign != old.sign {
			p.Resigned, gone = append(p.Resigned, name), append(gone, f.decl.Name.Name)
			continue
		}
		if f.text == old.text && !slices.ContainsFunc(slices.Collect(maps.Keys(f.mentions)), func(m string) bool { return changed[m] }) {
			continue
		}
		if f.decl.Type.TypeParams != nil || generic(f.decl) {
			p.Resigned, gone = append(p.Resigned, name), append(gone, f.decl.Name.Name)
			continue
		}
		p.Functions = append(p.Functions, function(was, now, f, old))
	}
	sorted.By(p.Functions, func(a, b Function) int { return cmp.Or(cmp.Compare(a.Path, b.Path), a.Line-b.Line) })
	if n := len(p.Functions) - MaxFunctions; n > 0 {
		p.Left, p.Functions = n, p.Functions[:MaxFunctions]
	}
	p.Functions = append(p.Functions, through(was, now, p.Functions, gone)...)
	lost := was.lost(now)
	for i := range p.Functions {
		p.Functions[i].lost = lost
	}
	p.record = recording(was, p.Functions)
	for name, f := range now.funcs {
		if constructs(f) && was.funcs[name] != nil && was.funcs[name].sign == f.sign {
			p.ctors = append(p.ctors, name)
		}
	}
	for name, text := range now.types {
		if was.types[name] == text && hasMethods(now, name) && hasMethods(was, name) {
			p.types = append(p.types, name)
		}
	}
	p.altered = reshaped(was, now, "")
	for name := range now.errs {
		if was.errs[name] {
			p.errs = append(p.errs, name)
		}
	}
	for _, list := range []*[]string{&p.ctors, &p.types, &p.errs} {
		slices.Sort(*list)
	}
	p.surface(was, now)
	return p, len(p.Functions)+len(p.gone) > 0
}

// An altered is a type that both sides declare, each in its own way.
type altered struct {
	name   string
	fields []string // the exported ones that are the same on both sides, sorted
}

// reshaped are the types that both sides declare otherwise, by their names with a prefix.
func reshaped(was, now *side, prefix string) []altered {
	var out []altered
	for _, name := range slices.Sorted(maps.Keys(now.shapes)) {
		if old := was.shapes[name]; old != "" && old != now.shapes[name] {
			a := altered{name: prefix + name}
			for _, field := range slices.Sorted(maps.Keys(now.fields[name])) {
				if ast.IsExported(field) && was.fields[name][field] == now.fields[name][field] {
					a.fields = append(a.fields, field)
				}
			}
			out = append(out, a)
		}
	}
	return out
}

// Beside takes the files of another package that the change alters, on both sides: of types
// that it declares otherwise what is the same on both is compared.
func (p *Plan) Beside(importPath string, base, head map[string][]byte) {
	was, ok1 := parse(base)
	now, ok2 := parse(head)
	if !ok1 || !ok2 {
		return
	}
	p.altered = append(p.altered, reshaped(was, now, importPath+".")...)
}

// function is what is known of one that changed.
func function(was, now *side, f, old *declared) Function {
	out := Function{
		Name: f.name, Path: f.file, Line: f.line, Method: f.decl.Recv != nil,
		plain: f.decl.Name.Name, owner: strings.Trim(strings.TrimSuffix(f.name, "."+f.decl.Name.Name), "(*)"),
	}
	if out.owner == out.Name {
		out.owner = ""
	}
	reach := callers(now, out.plain)
	for _, name := range slices.Sorted(maps.Keys(now.tests)) {
		t := now.tests[name]
		if !slices.ContainsFunc(reach, func(r string) bool { return t.mentions[r] }) {
			continue
		}
		out.Tested = append(out.Tested, name)
		if old := was.tests[name]; old == nil || old.text != t.text {
			out.Touched = append(out.Touched, name)
		}
	}
	out.Awaited = slices.ContainsFunc(now.expects, func(unit map[string]bool) bool {
		return slices.ContainsFunc(reach, func(r string) bool { return unit[r] })
	})
	had := ends(was, old)
	for text, n := range ends(now, f) {
		out.Panics = out.Panics || n > had[text]
	}
	out.words.differing(was, now, f, old)
	out.words.of(f.decl.Body)
	out.words.of(old.decl.Body)
	for _, s := range []*side{was, now} {
		for _, name := range slices.Sorted(maps.Keys(s.tests)) {
			if t := s.tests[name]; t.mentions[out.plain] {
				out.words.of(t.decl.Body)
				if !out.Method {
					out.given = append(out.given, givenIn(s, t, out.plain, f.decl.Type, s == was)...)
				}
			}
		}
	}
	tests := map[string][]string{} // what the base's test has and the head's has not stands in none
	for _, g := range out.given {
		if !g.base {
			tests[g.text()] = append(tests[g.text()], g.tests...)
		}
	}
	seen := map[string]bool{}
	out.given = slices.DeleteFunc(out.given, func(g given) bool {
		had := seen[g.text()]
		seen[g.text()] = true
		return had
	})
	for i := range out.given {
		out.given[i].tests = tests[out.given[i].text()]
	}
	out.given = out.given[:min(len(out.given), maxGiven)]
	return out
}

// ends are the statements by which a function, or what it uses of its package, ends calls
// on purpose, and how often each stands there.
func ends(s *side, f *declared) map[string]int {
	out, seen := map[string]int{}, map[*declared]bool{f: true}
	for list := []*declared{f}; len(list) > 0; list = list[1:] {
		if list[0].decl.Body == nil {
			continue
		}
		ast.Inspect(list[0].decl.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && ending.MatchString(string(s.text(call.Fun))) {
				out[s.tokens(call)]++
			}
			return true
		})
		for name := range list[0].mentions {
			for _, by := range s.named[name] {
				if !seen[by] && len(seen) < maxUsed {
					seen[by], list = true, append(list, by)
				}
			}
		}
	}
	return out
}

// maxUsed bounds the functions that are looked at for what one of them uses.
const maxUsed = 200

// ending is the name of a function that ends a call.
var ending = pattern.New(`^panic$|\.(?:Go)?[eE]xit$|Fatal|Panic|Must`)

// expected finds what tests, and what they use in their files, mention where they have to
// do with panics: a suite's methods and variables that hold specifications among them.
func (s *side) expected() {
	for _, name := range slices.Sorted(maps.Keys(s.units)) {
		all := s.uses(name)
		if slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(m string) bool {
			return m == "recover" || m != "panic" && strings.Contains(strings.ToLower(m), "panic") && !strings.HasPrefix(m, "NotPanic")
		}) {
			s.expects = append(s.expects, all)
		}
	}
}

// generic says whether the receiver of a method has parameters.
func generic(d *ast.FuncDecl) bool {
	found := false
	if d.Recv != nil {
		ast.Inspect(d.Recv, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.IndexExpr, *ast.IndexListExpr:
				found = true
			}
			return true
		})
	}
	return found
}

// constructs says whether a function makes values of a type of its package.
func constructs(f *declared) bool {
	d := f.decl
	if d.Recv != nil || d.Type.TypeParams != nil || d.Type.Results == nil || d.Body == nil {
		return false
	}
	r := d.Type.Results.List
	n := 0
	for _, field := range r {
		n += max(1, len(field.Names))
	}
	if n > 2 || n == 2 && exprName(r[len(r)-1].Type) != "error" {
		return false
	}
	lower := strings.ToLower(d.Name.Name)
	return slices.ContainsFunc([]string{"new", "make", "parse", "must", "from", "open", "default", "empty"}, func(p string) bool { return strings.HasPrefix(lower, p) })
}

func hasMethods(s *side, name string) bool {
	for expr, f := range s.funcs {
		if f.decl.Recv != nil && !generic(f.decl) && (strings.HasPrefix(expr, name+".") || strings.HasPrefix(expr, "(*"+name+").")) {
			return true
		}
	}
	return false
}

func parse(files map[string][]byte) (*side, bool) {
	s := &side{
		fset: token.NewFileSet(), src: map[string][]byte{}, funcs: map[string]*declared{}, named: map[string][]*declared{}, units: map[string]map[string]bool{}, texts: map[string][]string{}, types: map[string]string{}, shapes: map[string]string{}, fields: map[string]map[string]string{},
		values: map[string]string{}, specs: map[string]ast.Node{}, errs: map[string]bool{}, imports: map[string]bool{}, tests: map[string]*declared{},
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := parser.ParseFile(s.fset, name, files[name], parser.SkipObjectResolution)
		if err != nil {
			return nil, false
		}
		s.src[name] = files[name]
		test := strings.HasSuffix(name, "_test.go")
		if !test {
			s.clause = file.Name.Name
			for _, i := range file.Imports {
				s.imports[strings.Trim(i.Path.Value, `"`)] = true
			}
		}
		for _, d := range file.Decls {
			s.declare(name, d, test, strings.HasSuffix(file.Name.Name, "_test"))
		}
	}
	s.names = slices.Sorted(maps.Keys(s.funcs))
	for _, name := range s.names {
		f := s.funcs[name]
		s.named[f.decl.Name.Name] = append(s.named[f.decl.Name.Name], f)
	}
	s.expected()
	return s, s.clause != ""
}

func (s *side) declare(file string, d ast.Decl, test, external bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		f := &declared{name: d.Name.Name, file: file, decl: d, line: s.fset.Position(d.Pos()).Line, mentions: map[string]bool{}, external: external, test: test}
		if d.Recv != nil && len(d.Recv.List) == 1 {
			of := string(s.text(d.Recv.List[0].Type))
			if strings.HasPrefix(of, "*") {
				of = "(" + of + ")"
			}
			f.name = of + "." + f.name
		}
		if d.Body != nil {
			f.text = s.tokens(d.Body)
			f.mentions = mentioned(d.Body)
		}
		if test {
			s.unit(d.Name.Name, d, f.mentions)
		}
		f.sign = s.signature(d)
		switch {
		case !test:
			s.funcs[f.name] = f
		case d.Recv == nil && d.Body != nil && (strings.HasPrefix(d.Name.Name, "Test") || strings.HasPrefix(d.Name.Name, "Fuzz") || strings.HasPrefix(d.Name.Name, "Example")):
			s.tests[d.Name.Name] = f
		}
	case *ast.GenDecl:
		if test {
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, id := range v.Names { // specifications are variables without a name
						s.unit(strings.Replace(id.Name, "_", "_"+strconv.Itoa(int(id.Pos())), 1), v, mentioned(v))
					}
				}
			}
			return
		}
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.shapes[spec.Name.Name], s.fields[spec.Name.Name] = s.tokens(spec), s.fieldsOf(spec.Type)
				if spec.TypeParams == nil {
					s.types[spec.Name.Name] = s.shapes[spec.Name.Name]
				}
			case *ast.ValueSpec:
				for i, id := range spec.Names {
					s.values[id.Name], s.specs[id.Name] = s.tokens(spec), spec
					if i < len(spec.Values) && isError(id.Name, string(s.text(spec.Values[i]))) {
						s.errs[id.Name] = true
					}
				}
			}
		}
	}
}

// fieldsOf are the types of a structure's fields by their names.
func (s *side) fieldsOf(t ast.Expr) map[string]string {
	out := map[string]string{}
	if t, ok := t.(*ast.StructType); ok {
		for _, f := range t.Fields.List {
			for _, id := range f.Names {
				out[id.Name] = s.tokens(f.Type)
			}
		}
	}
	return out
}

// unit keeps what a declaration of a test file mentions, and its words; methods of several
// types can have one name.
func (s *side) unit(name string, n ast.Node, mentions map[string]bool) {
	if s.units[name] == nil {
		s.units[name] = map[string]bool{}
	}
	maps.Copy(s.units[name], mentions)
	s.texts[name] = append(s.texts[name], tokens(s.text(n))...)
}

// lost are the tests in which, or in what they use of their files, the other side lacks
// words: inputs may be among them. What only gained some has all inputs that it had.
func (s *side) lost(now *side) map[string]bool {
	less := map[string]bool{}
	for name, words := range s.texts {
		left := words
		for _, w := range now.texts[name] {
			if len(left) > 0 && w == left[0] {
				left = left[1:]
			}
		}
		less[name] = len(left) > 0
	}
	out := map[string]bool{}
	for name := range s.texts {
		if strings.HasPrefix(name, "Test") {
			out[name] = less[name] || slices.ContainsFunc(slices.Collect(maps.Keys(s.uses(name))), func(m string) bool { return less[m] })
		}
	}
	return out
}

// uses are all names that a declaration of a test file, or what it uses of these files, mentions.
func (s *side) uses(name string) map[string]bool {
	all := map[string]bool{}
	for list := []string{name}; len(list) > 0; list = list[1:] {
		for m := range s.units[list[0]] {
			if !all[m] {
				all[m], list = true, append(list, m)
			}
		}
	}
	return all
}

// mentioned are the names in a piece of source.
func mentioned(n ast.Node) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			out[id.Name] = true
		}
		return true
	})
	return out
}

// isError recognises errors that are made to be looked for.
func isError(name, value string) bool {
	return strings.HasPrefix(strings.ToLower(name), "err") && (strings.HasPrefix(value, "errors.New(") || strings.HasPrefix(value, "fmt.Errorf("))
}

// signature are the types of a function's parameters and results, without their names.
func (s *side) signature(d *ast.FuncDecl) string {
	var b strings.Builder
	for _, list := range []*ast.FieldList{d.Type.TypeParams, d.Type.Params, d.Type.Results} {
		b.WriteString("(")
		if list != nil {
			for _, f := range list.List {
				for range max(1, len(f.Names)) {
					b.WriteString(s.tokens(f.Type) + ",")
				}
			}
		}
		b.WriteString(")")
	}
	return b.String()
}

func (s *side) text(n ast.Node) []byte {
	from, to := s.fset.Position(n.Pos()), s.fset.Position(n.End())
	return s.src[from.Filename][from.Offset:to.Offset]
}

// tokens is a piece of source without comments and layout.
func (s *side) tokens(n ast.Node) string { return strings.Join(tokens(s.text(n)), " ") }

func exprName(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// In names the paths of a plan's functions from the top of the repository.
func (p Plan) In(dir string) Plan {
	p.Functions = slices.Clone(p.Functions)
	for i := range p.Functions {
		p.Functions[i].Path = path.Join(dir, p.Functions[i].Path)
	}
	if p.goneFrom != "" {
		p.goneFrom = path.Join(dir, p.goneFrom)
	}
	return p
}
