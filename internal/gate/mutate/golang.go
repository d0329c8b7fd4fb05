package mutate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// golang makes all mutants of a Go file; one that does not parse has none. Some
// do not compile, which only the compiler knows.
func golang(src []byte) []Mutant {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	g := &goFile{fset: fset, src: src}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && !goQuietFunc(f) {
			g.results = append(g.results, f.Type.Results)
			ast.Walk(g, f.Body)
			g.results = g.results[:0]
		}
	}
	return g.found
}

// goQuietFunc matches functions that only serve logs and debuggers.
func goQuietFunc(f *ast.FuncDecl) bool {
	return f.Recv != nil && (f.Name.Name == "GoString" || f.Name.Name == "LogValue")
}

// goFile walks through functions and collects mutants.
type goFile struct {
	fset    *token.FileSet
	src     []byte
	found   []Mutant
	results []*ast.FieldList // of the functions that are open, the innermost last
	quiet   map[ast.Node]bool
	equal   map[*ast.BinaryExpr]bool // whose boundary makes no difference
}

func (g *goFile) offset(p token.Pos) int { return g.fset.Position(p).Offset }

func (g *goFile) text(n ast.Node) string {
	return string(g.src[g.offset(n.Pos()):g.offset(n.End())])
}

func (g *goFile) add(from, to token.Pos, op, now string, weak bool) {
	at, end := g.offset(from), g.offset(to)
	g.found = append(g.found, Mutant{
		Line: g.fset.Position(from).Line, Op: op, Was: string(g.src[at:end]), Now: now, Weak: weak, at: at,
	})
}

func (g *goFile) skip(nodes ...ast.Node) {
	if g.quiet == nil {
		g.quiet = map[ast.Node]bool{}
	}
	for _, n := range nodes {
		if n != nil {
			g.quiet[n] = true
		}
	}
}

// Visit implements [ast.Visitor].
func (g *goFile) Visit(n ast.Node) ast.Visitor {
	if n == nil || g.quiet[n] {
		return nil
	}
	switch n := n.(type) {
	case *ast.FuncLit:
		inner := &goFile{fset: g.fset, src: g.src, results: []*ast.FieldList{n.Type.Results}}
		ast.Walk(inner, n.Body)
		g.found = append(g.found, inner.found...)
		return nil
	case *ast.BlockStmt:
		g.block(n.List)
	case *ast.CaseClause:
		g.block(n.Body)
	case *ast.CommClause:
		g.block(n.Body)
	case *ast.ForStmt:
		g.skip(n.Post) // it would never end
		if n.Cond == nil {
			g.skip(n.Init)
		}
	case *ast.IfStmt:
		g.condition(n.Cond)
	case *ast.CallExpr:
		return g.call(n)
	case *ast.BinaryExpr:
		g.binary(n)
	case *ast.IncDecStmt:
		to := "--"
		if n.Tok == token.DEC {
			to = "++"
		}
		g.add(n.TokPos, n.TokPos+2, "counts the other way", to, false)
	case *ast.AssignStmt:
		g.assign(n)
	case *ast.ReturnStmt:
		g.returns(n)
	case *ast.BranchStmt:
		g.branch(n)
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			g.add(n.Pos(), n.End(), "another truth value", strconv.FormatBool(n.Name == "false"), false)
		}
	case *ast.BasicLit:
		g.literal(n)
	case *ast.CompositeLit:
		g.data(n)
	case *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.FuncType:
		return nil
	}
	return g
}

// goLogged are names by which calls that only write for people are known.
var goLogged = []string{"log", "slog", "logger", "logf", "debug", "debugf", "trace", "tracef", "glog", "klog", "zap", "logrus", "telemetry", "metrics"}

// goPrints are the methods of such things, and of package fmt.
var goPrints = []string{"print", "printf", "println", "debug", "debugf", "info", "infof", "warn", "warnf", "warning", "warningf", "log", "logf", "trace", "tracef"}

// goQuietCall matches calls whose effect no test is expected to look at.
func goQuietCall(c *ast.CallExpr) bool {
	has := func(list []string, name string) bool {
		for _, l := range list {
			if strings.EqualFold(l, name) {
				return true
			}
		}
		return false
	}
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return has(goLogged, f.Name) || f.Name == "print" || f.Name == "println" || f.Name == "panic"
	case *ast.SelectorExpr:
		switch x := f.X.(type) {
		case *ast.Ident:
			return has(goLogged, x.Name) || x.Name == "fmt" && has(goPrints, f.Sel.Name) || x.Name == "runtime"
		case *ast.SelectorExpr:
			return has(goLogged, x.Sel.Name)
		case *ast.CallExpr:
			return goQuietCall(x)
		}
	}
	return false
}

// call looks into the arguments of a call, unless it only writes for people or
// its numbers are sizes that make no difference.
func (g *goFile) call(c *ast.CallExpr) ast.Visitor {
	if goQuietCall(c) {
		return nil
	}
	if f, ok := c.Fun.(*ast.Ident); ok && f.Name == "make" {
		if _, isSlice := first(c.Args).(*ast.ArrayType); !isSlice || len(c.Args) > 2 {
			return nil // a capacity, or the room of a map or a channel
		}
	}
	return g
}

func first(list []ast.Expr) ast.Expr {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// condition negates a condition that has no comparison to be changed.
func (g *goFile) condition(cond ast.Expr) {
	switch c := cond.(type) {
	case *ast.BinaryExpr, *ast.ParenExpr:
		return
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			g.add(c.Pos(), c.End(), "negated condition", g.text(c.X), false)
			return
		}
	case *ast.Ident:
		if c.Name == "true" || c.Name == "false" {
			return
		}
	}
	g.add(cond.Pos(), cond.End(), "negated condition", "!("+g.text(cond)+")", false)
}

// goNegated and goBoundary are what a comparison becomes.
var (
	goNegated = map[token.Token]string{
		token.EQL: "!=", token.NEQ: "==", token.LSS: ">=", token.LEQ: ">", token.GTR: "<=", token.GEQ: "<",
	}
	goBoundary = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	goLogic    = map[token.Token]string{token.LAND: "||", token.LOR: "&&"}
	goArith    = map[token.Token]string{
		token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*",
		token.AND: "|", token.OR: "&", token.SHL: ">>", token.SHR: "<<", token.XOR: "&", token.AND_NOT: "&",
	}
)

func (g *goFile) binary(b *ast.BinaryExpr) {
	if goDuration(b.X) || goDuration(b.Y) { // 5 * time.Second: how long to wait
		g.skip(b.X, b.Y)
		return
	}
	if g.equal[b] {
		g.skip(b.X, b.Y)
	}
	end := b.OpPos + token.Pos(len(b.Op.String()))
	if now, ok := goBoundary[b.Op]; ok && !g.equal[b] {
		g.add(b.OpPos, end, "moved boundary", now, true)
	}
	if now, ok := goNegated[b.Op]; ok {
		g.add(b.OpPos, end, "negated condition", now, false)
	}
	if now, ok := goLogic[b.Op]; ok {
		g.add(b.OpPos, end, "other logic", now, false)
	}
	if now, ok := goArith[b.Op]; ok && !goString(b) {
		g.add(b.OpPos, end, "other arithmetic", now, false)
	}
}

// goString matches sums of text as far as literals show it.
func goString(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (goString(e.X) || goString(e.Y))
	case *ast.ParenExpr:
		return goString(e.X)
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.Ident)
		return ok && f.Name == "string"
	}
	return false
}

// goDuration matches time's units.
func goDuration(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "time"
}

// goAssigned are what an operation with an assignment becomes.
var goAssigned = map[token.Token]string{
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=", token.REM_ASSIGN: "*=",
	token.AND_ASSIGN: "|=", token.OR_ASSIGN: "&=", token.SHL_ASSIGN: ">>=", token.SHR_ASSIGN: "<<=", token.XOR_ASSIGN: "&=",
}

func (g *goFile) assign(a *ast.AssignStmt) {
	now, ok := goAssigned[a.Tok]
	if !ok || a.Tok == token.ADD_ASSIGN && goString(a.Rhs[0]) {
		return
	}
	g.add(a.TokPos, a.TokPos+token.Pos(len(a.Tok.String())), "other arithmetic", now, false)
}

// branch swaps break and continue in loops; which of both is meant in a switch
// the compiler says.
func (g *goFile) branch(b *ast.BranchStmt) {
	if b.Label != nil {
		return
	}
	switch b.Tok {
	case token.BREAK:
		g.add(b.Pos(), b.End(), "goes on in place of leaving", "continue", false)
	case token.CONTINUE:
		g.add(b.Pos(), b.End(), "leaves in place of going on", "break", false)
	}
}

// literal moves a whole number by one.
func (g *goFile) literal(l *ast.BasicLit) {
	if l.Kind != token.INT {
		return
	}
	n, err := strconv.ParseInt(l.Value, 0, 64)
	if err != nil || len(l.Value) > 9 || l.Value != strconv.FormatInt(n, 10) {
		return // bit patterns and permissions are no amounts
	}
	g.add(l.Pos(), l.End(), "off by one", strconv.FormatInt(n+1, 10), true)
}

// data leaves the plain numbers of a table alone.
func (g *goFile) data(c *ast.CompositeLit) {
	for _, e := range c.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			g.skip(kv.Key)
			e = kv.Value
		}
		if l, ok := e.(*ast.BasicLit); ok {
			g.skip(l)
		}
	}
}

// block removes statements that are there for their effect.
func (g *goFile) block(list []ast.Stmt) {
	for i, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if c, ok := s.X.(*ast.CallExpr); ok && !goQuietCall(c) && !goCleanup(c) {
				g.add(s.Pos(), s.End(), "removed statement", goUses(c, g), false)
			}
		case *ast.AssignStmt:
			if s.Tok == token.ASSIGN && len(s.Lhs) == 1 && len(s.Rhs) == 1 && g.text(s.Lhs[0]) != "_" {
				g.add(s.Pos(), s.End(), "removed assignment", "_ = "+g.text(s.Rhs[0]), false)
			}
		case *ast.IfStmt:
			g.minimum(s, list[i+1:])
		}
	}
}

// goUses keeps what a removed call names in use, so that the rest compiles.
func goUses(c *ast.CallExpr, g *goFile) string {
	var parts []string
	for _, a := range c.Args {
		switch a.(type) {
		case *ast.Ident, *ast.SelectorExpr:
			if text := g.text(a); text != "nil" && text != "_" {
				parts = append(parts, "_ = "+text)
			}
		}
	}
	return strings.Join(parts, "; ")
}

// goCleanup matches calls that give something back, which tests seldom see.
func goCleanup(c *ast.CallExpr) bool {
	name := ""
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	switch name {
	case "Close", "Unlock", "RUnlock", "Lock", "RLock", "Done", "Wait", "Stop", "Release", "cancel", "close", "Sleep", "Helper", "Grow", "clear", "Flush":
		return true
	}
	return false
}
