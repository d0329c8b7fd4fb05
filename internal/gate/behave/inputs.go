package behave

import (
	"bytes"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of what inputs are made of.
const (
	maxGiven    = 30
	maxLiterals = 24   // of one kind
	maxAll      = 2000 // of one kind, where those of both sides are held against each other
	maxText     = 2000 // of an input that stands in the tree
)

// A given is an input that stands in a tree: arguments as Go expressions that need nothing
// of any package.
type given struct {
	args  []string
	base  bool     // in the tree of the base
	tests []string // of the head in which it stands
}

func (g given) text() string { return strings.Join(g.args, ", ") }

// literals are those of code that has to do with a function.
type literals struct {
	ints    []int64
	floats  []float64
	strings []string
	all     bool // maxAll of a kind, in place of maxLiterals
}

// differing are those that one side alone has, in the function itself and in the variables
// that it mentions: they come first, as what the change is about.
func (l *literals) differing(was, now *side, f, old *declared) {
	only := func(a, b *side, in, other *declared) {
		var mine, theirs literals
		mine.all, theirs.all = true, true
		for _, at := range []struct {
			to *literals
			s  *side
			f  *declared
		}{{&mine, a, in}, {&theirs, b, other}} {
			at.to.of(at.f.decl.Body)
			for _, name := range slices.Sorted(maps.Keys(at.f.mentions)) {
				if was.values[name] != now.values[name] && at.s.specs[name] != nil {
					at.to.of(at.s.specs[name])
				}
			}
		}
		l.add(mine.without(theirs))
	}
	only(was, now, old, f)
	only(now, was, f, old)
	whole := literals{all: true}
	whole.of(f.decl.Body)
	whole.of(old.decl.Body)
	l.add(l.pairs(whole))
}

// Bounds of the texts that are put behind one another.
const (
	maxPaired = 4
	maxSigns  = 6
)

// pairs are texts behind single characters that the function knows: a parser often looks at
// one and then at what follows.
func (l *literals) pairs(of literals) literals {
	var out literals
	signs := slices.DeleteFunc(slices.Clone(of.strings), func(s string) bool { return utf8.RuneCountInString(s) != 1 })
	for _, sign := range signs[:min(len(signs), maxSigns)] {
		for _, s := range l.strings[:min(len(l.strings), maxPaired)] {
			if s != sign && s != "" {
				out.strings = append(out.strings, sign+s)
			}
		}
	}
	return out
}

// without are the literals that others do not have.
func (l *literals) without(o literals) literals {
	return literals{
		ints:    slices.DeleteFunc(l.ints, func(n int64) bool { return slices.Contains(o.ints, n) }),
		floats:  slices.DeleteFunc(l.floats, func(n float64) bool { return slices.Contains(o.floats, n) }),
		strings: slices.DeleteFunc(l.strings, func(s string) bool { return slices.Contains(o.strings, s) }),
	}
}

// and are these literals and behind them others.
func (l literals) and(o literals) literals {
	out := literals{ints: slices.Clone(l.ints), floats: slices.Clone(l.floats), strings: slices.Clone(l.strings)}
	out.add(o)
	return out
}

func (l *literals) most() int {
	if l.all {
		return maxAll
	}
	return maxLiterals
}

// add takes up literals as far as there is room.
func (l *literals) add(o literals) {
	for _, n := range o.ints {
		if len(l.ints) < l.most() && !slices.Contains(l.ints, n) {
			l.ints = append(l.ints, n)
		}
	}
	for _, n := range o.floats {
		if len(l.floats) < l.most() && !slices.Contains(l.floats, n) {
			l.floats = append(l.floats, n)
		}
	}
	for _, s := range o.strings {
		if len(l.strings) < l.most() && len(s) < 200 && !slices.Contains(l.strings, s) {
			l.strings = append(l.strings, s)
		}
	}
}

func (l *literals) of(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok {
			return true
		}
		switch v := constant.MakeFromLiteral(lit.Value, lit.Kind, 0); v.Kind() {
		case constant.Int:
			if i, ok := constant.Int64Val(v); ok {
				l.add(literals{ints: []int64{i}})
				if lit.Kind == token.CHAR {
					l.add(literals{strings: []string{string(rune(i))}})
				}
			}
		case constant.Float:
			f, _ := constant.Float64Val(v)
			l.add(literals{floats: []float64{f}})
		case constant.String:
			l.add(literals{strings: []string{constant.StringVal(v)}})
		case constant.Bool, constant.Complex, constant.Unknown:
		}
		return true
	})
}

// givenIn are the inputs that a test has for a function: calls with literals, and the
// seeds of a fuzz target that hands what it gets to the function as it is.
func givenIn(s *side, t *declared, name string, sign *ast.FuncType, base bool) []given {
	var out []given
	add := func(args []ast.Expr) {
		var texts []string
		for _, a := range args {
			text := string(s.text(a))
			if !plain(a) || len(text) > maxText {
				return
			}
			texts = append(texts, text)
		}
		if len(texts) > 0 {
			out = append(out, given{texts, base, []string{t.name}})
		}
	}
	fuzzed := fuzzes(s, t, name, sign)
	ast.Inspect(t.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Ellipsis.IsValid() {
			return true
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			if f.Name == name && !t.external {
				add(call.Args)
			}
		case *ast.SelectorExpr:
			if exprName(f.X) == s.clause && t.external && f.Sel.Name == name || fuzzed && f.Sel.Name == "Add" {
				add(call.Args)
			}
		}
		return true
	})
	return out
}

// fuzzes says whether a test is a fuzz target that calls the function with what it gets.
func fuzzes(s *side, t *declared, name string, sign *ast.FuncType) bool {
	if !strings.HasPrefix(t.decl.Name.Name, "Fuzz") {
		return false
	}
	found := false
	ast.Inspect(t.decl.Body, func(n ast.Node) bool {
		body, ok := n.(*ast.FuncLit)
		if !ok || body.Type.Params == nil || len(body.Type.Params.List) == 0 {
			return true
		}
		var names, types, wants []string
		for _, f := range body.Type.Params.List[1:] {
			for _, id := range f.Names {
				names, types = append(names, id.Name), append(types, typeText(f.Type))
			}
		}
		if sign.Params != nil {
			for _, f := range sign.Params.List {
				for range max(1, len(f.Names)) {
					wants = append(wants, typeText(f.Type))
				}
			}
		}
		ast.Inspect(body.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || exprName(call.Fun) != name && !isSelector(call.Fun, name) {
				return true
			}
			var args []string
			for _, a := range call.Args {
				args = append(args, exprName(a))
			}
			found = found || len(args) > 0 && slices.Equal(args, names) && slices.Equal(types, wants)
			return true
		})
		return true
	})
	return found
}

func isSelector(e ast.Expr, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == name
}

// typeText is a type that a fuzz target's argument can have.
func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.ArrayType:
		if e.Len == nil {
			return "[ ] " + typeText(e.Elt)
		}
	}
	return "?"
}

// plain says whether an expression needs nothing but the language.
func plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.INT {
			return true
		}
		_, fits := constant.Int64Val(constant.MakeFromLiteral(e.Value, e.Kind, 0))
		return fits
	case *ast.Ident:
		return e.Name == "true" || e.Name == "false" || e.Name == "nil"
	case *ast.UnaryExpr:
		return (e.Op == token.SUB || e.Op == token.ADD) && plain(e.X)
	case *ast.ParenExpr:
		return plain(e.X)
	case *ast.CallExpr: // a conversion
		return len(e.Args) == 1 && plainType(e.Fun) && plain(e.Args[0])
	case *ast.CompositeLit:
		if e.Type == nil || !plainType(e.Type) {
			return false
		}
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				if !plain(kv.Key) || !plain(kv.Value) {
					return false
				}
			} else if !plain(x) {
				return false
			}
		}
		return true
	}
	return false
}

var basic = strings.Fields("bool string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 byte rune")

func plainType(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return slices.Contains(basic, e.Name)
	case *ast.ArrayType:
		return e.Len == nil && plainType(e.Elt)
	case *ast.MapType:
		return plainType(e.Key) && plainType(e.Value)
	case *ast.ParenExpr:
		return plainType(e.X)
	}
	return false
}

// Corpus adds the files of a fuzz target's folder in the base's tree (testdata/fuzz), by
// the name of the target. Kept are those that the head has as well.
func (p *Plan) Corpus(base, head map[string][]byte, target string, files, kept [][]byte) {
	was, ok1 := parse(base)
	now, ok2 := parse(head)
	if !ok1 || !ok2 || was.tests[target] == nil {
		return
	}
	hands := func(s *side, f *Function) bool {
		d := s.funcs[f.Name]
		return d != nil && s.tests[target] != nil && fuzzes(s, s.tests[target], f.plain, d.decl.Type)
	}
	for i := range p.Functions {
		f := &p.Functions[i]
		if f.Method || !hands(was, f) {
			continue
		}
		for _, file := range files {
			args, ok := corpusInput(file)
			if !ok || len(f.given) == maxGiven {
				continue
			}
			g := given{args: args, base: true}
			if hands(now, f) && slices.ContainsFunc(kept, func(k []byte) bool { return bytes.Equal(k, file) }) {
				g.tests = []string{target}
			}
			f.given = append(f.given, g)
		}
	}
}

// corpusInput reads a file of the form that https://go.dev/doc/security/fuzz/ describes.
func corpusInput(file []byte) ([]string, bool) {
	head, rest, _ := strings.Cut(string(file), "\n")
	if strings.TrimSpace(head) != "go test fuzz v1" || len(file) > maxText {
		return nil, false
	}
	var out []string
	for line := range strings.Lines(strings.TrimSpace(rest)) {
		e, err := parser.ParseExpr(line)
		if err != nil || !plain(e) {
			return nil, false
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out, len(out) > 0
}

// tokens are the words of a piece of source, without comments.
func tokens(src []byte) []string {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, nil, 0)
	var out []string
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return out
		case tok == token.SEMICOLON && lit == "\n":
			out = append(out, ";")
		case lit != "":
			out = append(out, lit)
		default:
			out = append(out, tok.String())
		}
	}
}

func quoteAll(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, strconv.Quote(s))
	}
	return strings.Join(out, ", ")
}
