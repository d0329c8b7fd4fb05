package ecosystem

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// goRace is the race detector of the go command.
func goRace() *Race {
	return &Race{
		Missing: func(t *Toolchains) string {
			if t == nil || t.Go == nil {
				return "there is no go command"
			}
			return t.NoRace()
		},
		Watch: watchRaces, Functions: functions,
	}
}

// watchRaces is c with its output watched. The watch is filled when c has run once.
func watchRaces(c Command) (Command, *RaceWatch) {
	w := newRaceWatch(c.Unit)
	how := *c.Results
	collect := how.Collect
	how.Collect = func(unit string) Collector {
		w.Collector = collect(unit)
		return w
	}
	c.Results = &how
	return c, w
}

// functions are those of a file of Go; none where it does not parse.
func functions(name string, src []byte) []CodeRange {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var out []CodeRange
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, to := fset.Position(f.Pos()), fset.Position(f.End())
		c := CodeRange{Name: path.Dir(name) + " " + f.Name.Name, From: from.Line, To: to.Line}
		if f.Recv != nil && len(f.Recv.List) == 1 {
			at := f.Recv.List[0].Type
			c.Name += " " + strings.TrimPrefix(string(src[fset.Position(at.Pos()).Offset:fset.Position(at.End()).Offset]), "*")
		}
		words, _ := tokens(src[from.Offset:to.Offset])
		c.Text = strings.Join(words, " ")
		out = append(out, c)
	}
	return out
}
