package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// goRace is the race detector of the go command.
func goRace() *ecosystem.Race {
	return &ecosystem.Race{
		Missing: func(t *ecosystem.Toolchains) string {
			if t == nil || t.Go == nil {
				return "there is no go command"
			}
			return t.NoRace()
		},
		Watch: watchRaces, Functions: functions,
	}
}

// watchRaces is c with its output watched. The watch is filled when c has run once.
func watchRaces(c ecosystem.Command) (ecosystem.Command, *results.RaceWatch) {
	w := results.NewRaceWatch(c.Unit)
	how := *c.Results
	collect := how.Collect
	how.Collect = func(unit string) results.Collector {
		w.Collector = collect(unit)
		return w
	}
	c.Results = &how
	return c, w
}

// functions are those of a file of Go; none where it does not parse.
func functions(name string, src []byte) []ecosystem.CodeRange {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var out []ecosystem.CodeRange
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, to := fset.Position(f.Pos()), fset.Position(f.End())
		c := ecosystem.CodeRange{Name: path.Dir(name) + " " + f.Name.Name, From: from.Line, To: to.Line}
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
