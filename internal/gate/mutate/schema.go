package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A Schema is sources of Go that hold all of their mutants: the function around a mutant
// has one body for each, and does the one whose number the program is started with. So
// one program is compiled for all of them.
//
// Each body is the text that the function has with its mutant and nothing else, so that a
// mutant compiles here where it does by itself.
type Schema struct {
	Variable string // of the environment, with "M" and a number; nothing is mutated without
	files    map[string]*schemaFile
}

// A schemaFile is a source with the functions that have mutants.
type schemaFile struct {
	src       []byte
	afterName int // offset behind the package clause
	functions []*schemaFunc
}

// A schemaFunc is a function with its mutants, by their numbers.
type schemaFunc struct {
	open, end   int // offsets of its braces
	first, last int // lines
	mutants     map[int]Mutant
}

// NewSchema is one without mutants.
func NewSchema(variable string) *Schema {
	return &Schema{Variable: variable, files: map[string]*schemaFile{}}
}

// Add takes a mutant in by its number, and says whether it can: else it has to be compiled
// by itself.
func (s *Schema) Add(n int, m Mutant, src []byte) bool {
	if path.Ext(m.Path) != ".go" {
		return false
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || !schemable(file) {
		return false
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || m.at <= at(f.Body.Lbrace) || m.at >= at(f.Body.Rbrace) {
			continue
		}
		if !schemableFunc(f) || losesImport(file, m.Apply(src)) {
			return false
		}
		sf := s.files[m.Path]
		if sf == nil {
			sf = &schemaFile{src: src, afterName: at(file.Name.End())}
			s.files[m.Path] = sf
		}
		i := slices.IndexFunc(sf.functions, func(have *schemaFunc) bool { return have.open == at(f.Body.Lbrace) })
		if i < 0 {
			i = len(sf.functions)
			sf.functions = append(sf.functions, &schemaFunc{
				open: at(f.Body.Lbrace), end: at(f.Body.Rbrace), mutants: map[int]Mutant{},
				first: fset.Position(f.Pos()).Line, last: fset.Position(f.End()).Line,
			})
		}
		sf.functions[i].mutants[n] = m
		return true
	}
	return false
}

// Has says whether the mutant of a number is in it.
func (s *Schema) Has(n int) bool {
	for _, f := range s.files {
		for _, fn := range f.functions {
			if _, ok := fn.mutants[n]; ok {
				return true
			}
		}
	}
	return false
}

// Drop takes mutants out.
func (s *Schema) Drop(numbers ...int) {
	for name, f := range s.files {
		for _, fn := range f.functions {
			for _, n := range numbers {
				delete(fn.mutants, n)
			}
		}
		f.functions = slices.DeleteFunc(f.functions, func(fn *schemaFunc) bool { return len(fn.mutants) == 0 })
		if len(f.functions) == 0 {
			delete(s.files, name)
		}
	}
}

// schemable says whether a file compiles with other things in it: what cgo writes again
// has no place for them.
func schemable(file *ast.File) bool {
	return !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// schemableFunc says whether a function can have several bodies: labels stand once in a
// function, what asks who called it would be answered with another file, and some may not
// use more of the stack.
func schemableFunc(f *ast.FuncDecl) bool {
	if f.Doc != nil && slices.ContainsFunc(f.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:") }) {
		return false
	}
	can := true
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			can = false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "runtime" && strings.HasPrefix(n.Sel.Name, "Caller") {
				can = false
			}
		}
		return can
	})
	return can
}

// losesImport says whether a mutant takes away the last use of an import: by itself it
// does not compile, while another body of its function would still use the import.
func losesImport(file *ast.File, mutated []byte) bool {
	after, err := parser.ParseFile(token.NewFileSet(), "", mutated, parser.SkipObjectResolution)
	if err != nil {
		return true // it compiles nowhere
	}
	was, is := qualifiers(file), qualifiers(after)
	for _, i := range file.Imports {
		for name := range was {
			if !is[name] && (i.Name != nil && i.Name.Name == name || i.Name == nil && strings.Contains(i.Path.Value, name)) {
				return true
			}
		}
	}
	return false
}

// qualifiers are the names before a dot.
func qualifiers(file *ast.File) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				out[x.Name] = true
			}
		}
		return true
	})
	return out
}

// schemaName is the name that a package has for the number of its mutant.
const schemaName = "chosenVariant"

// bodyFolder begins the folder that a body of a mutant says it is in, which is how the
// compiler names its errors.
const bodyFolder = "variant-"

// Files are the sources of packages with all mutants in them, by path. There are none of a
// folder that has the name in which the number is kept.
func (s *Schema) Files() map[string][]byte {
	out := map[string][]byte{}
	declared := map[string]bool{}
	names := make([]string, 0, len(s.files))
	for name := range s.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f, dir := s.files[name], path.Dir(name)
		out[name] = f.text(path.Base(name), s.Variable, !declared[dir])
		declared[dir] = true
	}
	return out
}

// text is the file with its mutants. Lines keep their numbers, in each body.
func (f *schemaFile) text(base, variable string, declares bool) []byte {
	var b strings.Builder
	from := 0
	if declares {
		fmt.Fprintf(&b, "%s; import %sOS \"os\"", f.src[:f.afterName], schemaName)
		from = f.afterName
	}
	slices.SortFunc(f.functions, func(a, b *schemaFunc) int { return a.open - b.open })
	for _, fn := range f.functions {
		fmt.Fprintf(&b, "%s switch %s { default:%s", f.src[from:fn.open+1], schemaName, f.src[fn.open+1:fn.end])
		for _, n := range sortedNumbers(fn.mutants) {
			m := fn.mutants[n]
			fmt.Fprintf(&b, "\ncase %d: /*line %s%d/%s:%s*/", n, bodyFolder, n, base, place(f.src, fn.open+1))
			fmt.Fprintf(&b, "%s%s%s", f.src[fn.open+1:m.at], m.Now, f.src[m.at+len(m.Was):fn.end])
		}
		fmt.Fprintf(&b, "\n}\n/*line %s:%s*/", base, place(f.src, fn.end))
		from = fn.end
	}
	b.Write(f.src[from:])
	if declares {
		fmt.Fprintf(&b, "\n\nvar %[1]s = func() (n int) {\n\tfor _, c := range %[1]sOS.Getenv(%[2]q) {\n\t\tif '0' <= c && c <= '9' {\n\t\t\tn = 10*n + int(c-'0')\n\t\t}\n\t}\n\treturn n\n}()\n", schemaName, variable)
	}
	return []byte(b.String())
}

func sortedNumbers(m map[int]Mutant) []int {
	var out []int
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// place is the line and the column of an offset.
func place(src []byte, at int) string {
	before := string(src[:at])
	return fmt.Sprintf("%d:%d", strings.Count(before, "\n")+1, at-strings.LastIndexByte(before, '\n'))
}

// Clashes says whether a package's source already has the name that a schema adds.
func Clashes(src []byte) bool { return strings.Contains(string(src), schemaName) }

// inBody is an error of the compiler in the body of a mutant, elsewhere one in a file.
var (
	inBody    = pattern.New(regexp.QuoteMeta(bodyFolder) + `(\d+)/[^\s:]+\.go:\d+`)
	elsewhere = pattern.New(`(?m)^(?:vet: )?(?:\./)?([^\s:]+\.go):(\d+)`)
)

// Failing reads which mutants a compiler complains of: none of these compiles by itself.
// Of others it only says that they stand in a function with an error, as one that does not
// end in a return; those have to be compiled by themselves. dir is where paths in the
// output begin.
func (s *Schema) Failing(output, dir string) (broken, doubtful []int) {
	for _, m := range inBody.FindAllStringSubmatch(output, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && s.Has(n) && !slices.Contains(broken, n) {
			broken = append(broken, n)
		}
	}
	for _, m := range elsewhere.FindAllStringSubmatch(output, -1) {
		line, err := strconv.Atoi(m[2])
		if err != nil || strings.Contains(m[1], bodyFolder) {
			continue
		}
		f := s.files[path.Join(dir, m[1])]
		if f == nil {
			continue
		}
		for _, fn := range f.functions {
			if fn.first <= line && line <= fn.last {
				doubtful = append(doubtful, fn.endless()...)
			}
		}
	}
	return broken, slices.DeleteFunc(doubtful, func(n int) bool { return slices.Contains(broken, n) })
}

// endless are the mutants after which a function may not end in a return: those that leave
// a loop in another way or remove a statement; all of them where there are none.
func (fn *schemaFunc) endless() []int {
	var out []int
	for n, m := range fn.mutants {
		if m.Now == "break" || m.Now == "continue" || strings.HasPrefix(m.Op, "removed ") {
			out = append(out, n)
		}
	}
	if out == nil {
		out = sortedNumbers(fn.mutants)
	}
	slices.Sort(out)
	return out
}
