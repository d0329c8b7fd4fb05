package mutate

import (
	"go/ast"
	"go/token"
)

// returns changes what a function gives back, by the types that it declares.
func (g *goFile) returns(r *ast.ReturnStmt) {
	if len(g.results) == 0 || len(r.Results) == 0 {
		return
	}
	types := resultTypes(g.results[len(g.results)-1])
	if len(types) != len(r.Results) {
		return // return f()
	}
	last := len(types) - 1
	failing := g.text(types[last]) == "error" && g.text(r.Results[last]) != "nil"
	for i, e := range r.Results {
		if failing && i < last {
			g.skip(e) // what comes beside an error is no one's to look at
			continue
		}
		now := g.otherValue(types[i], e)
		if now == "" {
			continue
		}
		g.add(e.Pos(), e.End(), "another return value", now, false)
	}
}

// resultTypes lists the type of each result.
func resultTypes(list *ast.FieldList) []ast.Expr {
	var out []ast.Expr
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		for range max(len(f.Names), 1) {
			out = append(out, f.Type)
		}
	}
	return out
}

// otherValue is what is returned in place of e, or "" where nothing is sure to
// be of its type and another value. What it names stays in use, where dropping
// it would keep the rest from compiling.
func (g *goFile) otherValue(typ, e ast.Expr) string {
	text := g.text(e)
	switch t := typ.(type) {
	case *ast.Ident:
		switch t.Name {
		case "bool":
			return g.otherBool(e)
		case "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "byte", "rune", "float32", "float64":
			if text == "0" || isLiteral(e) {
				return "" // off by one is tried
			}
			return "0"
		case "string":
			if text == `""` {
				return `"mutated"`
			}
			return `""`
		case "error", "any":
			if text == "nil" {
				return ""
			}
			return "nil"
		}
	case *ast.StarExpr, *ast.MapType, *ast.FuncType, *ast.ChanType, *ast.InterfaceType:
		if text != "nil" {
			return "nil"
		}
	case *ast.ArrayType:
		if t.Len == nil && text != "nil" {
			return "nil"
		}
	}
	return ""
}

func isLiteral(e ast.Expr) bool {
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.SUB {
		e = u.X
	}
	_, ok := e.(*ast.BasicLit)
	return ok
}

// otherBool negates what is not negated by one of its own operators.
func (g *goFile) otherBool(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr, *ast.ParenExpr:
		return ""
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			return ""
		}
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return g.text(e.X)
		}
	}
	return "!(" + g.text(e) + ")"
}

// minimum marks the comparison of "if a < b { a = b }", of "if a < b { return a };
// return b", and of "if n < 0 { return -n }; return n", whose boundary is no one's
// to test.
func (g *goFile) minimum(s *ast.IfStmt, rest []ast.Stmt) {
	b, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || len(s.Body.List) != 1 || s.Else != nil {
		return
	}
	x, y := g.text(b.X), g.text(b.Y)
	pair := func(a, c string) bool { return a == x && c == y || a == y && c == x }
	switch then := s.Body.List[0].(type) {
	case *ast.AssignStmt:
		if len(then.Lhs) == 1 && len(then.Rhs) == 1 && then.Tok == token.ASSIGN {
			g.mark(b, pair(g.text(then.Lhs[0]), g.text(then.Rhs[0])) || g.negates(then.Rhs[0], g.text(then.Lhs[0]), x, y))
		}
	case *ast.ReturnStmt:
		if len(rest) == 0 || len(then.Results) != 1 {
			return
		}
		if last, ok := rest[0].(*ast.ReturnStmt); ok && len(last.Results) == 1 {
			g.mark(b, pair(g.text(then.Results[0]), g.text(last.Results[0])) || g.negates(then.Results[0], g.text(last.Results[0]), x, y))
		}
	}
}

// negates says whether e is -n where n, one side of the comparison, meets 0.
func (g *goFile) negates(e ast.Expr, n, x, y string) bool {
	u, ok := e.(*ast.UnaryExpr)
	return ok && u.Op == token.SUB && g.text(u.X) == n && (x == n && y == "0" || x == "0" && y == n)
}

func (g *goFile) mark(b *ast.BinaryExpr, equal bool) {
	if !equal {
		return
	}
	if g.equal == nil {
		g.equal = map[*ast.BinaryExpr]bool{}
	}
	g.equal[b] = true
}
