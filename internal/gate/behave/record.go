package behave

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
)

// A Recorder is a plan whose functions can be called with what the tests of the base call
// them with.
type Recorder interface {
	Planned
	// Recording is what is run for that; without tests there is nothing to run.
	Recording() Recording
	// Recorded is the plan with the inputs that its output has.
	Recorded(output string) Planned
}

// Record, in place of calls, lets tests run in which functions say what they are called with.
const Record = "record"

// A Recording is a run of tests in which functions say what they are called with: the
// sources of the base with a statement more at the beginning of each function, laid over
// it beside the plan's file.
type Recording struct {
	Files map[string]string // by their names in the folder of the package
	Tests []string          // that reach one of the functions
}

// A recorded is an input that was recorded.
type recorded struct {
	code string
	base bool   // of an exported function, and nothing but basic values
	test string // in which it was; empty: it is not known
}

// Recording implements [Recorder].
func (p Plan) Recording() Recording { return p.record }

// recording prepares the sources of the base.
func recording(was *side, functions []Function) Recording {
	edits := map[string][]edit{}
	tests := map[string]bool{}
	for i, f := range functions {
		old := was.funcs[f.Name]
		if old == nil {
			continue
		}
		reach, found := callers(was, f.plain), false
		for name, t := range was.tests {
			if slices.ContainsFunc(reach, func(r string) bool { return t.mentions[r] }) {
				tests[name], found = true, true
			}
		}
		if found {
			edits[old.file] = append(edits[old.file], was.notes(old.decl, i)...)
		}
	}
	r := Recording{Files: map[string]string{}, Tests: slices.Sorted(maps.Keys(tests))}
	for name, list := range edits {
		r.Files[name] = apply(was.src[name], list)
	}
	return r
}

// An edit puts a text in place of some bytes of a file.
type edit struct {
	at, length int
	text       string
}

// apply makes edits, which do not overlap.
func apply(src []byte, list []edit) string {
	sorted.By(list, func(a, b edit) int { return a.at - b.at })
	var b strings.Builder
	from := 0
	for _, e := range list {
		b.Write(src[from:e.at])
		b.WriteString(e.text)
		from = e.at + e.length
	}
	b.Write(src[from:])
	return b.String()
}

// notes makes a function say what it is called with, under its number. What has no name
// gets one. No line moves.
func (s *side) notes(d *ast.FuncDecl, number int) []edit {
	var out []edit
	text := fmt.Sprintf(" zzNote(%d", number)
	offset := func(n ast.Node) int { return s.fset.Position(n.Pos()).Offset }
	for _, list := range []*ast.FieldList{d.Recv, d.Type.Params} {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			if len(f.Names) == 0 {
				name := fmt.Sprintf("zzArg%d", len(out))
				out = append(out, edit{offset(f.Type), 0, name + " "})
				text += ", " + name
			}
			for _, id := range f.Names {
				name := id.Name
				if name == "_" {
					name = fmt.Sprintf("zzArg%d", len(out))
					out = append(out, edit{offset(id), 1, name})
				}
				text += ", " + name
			}
		}
	}
	return append(out, edit{offset(d.Body) + 1, 0, text + ");"})
}

// Recorded implements [Recorder].
func (p Plan) Recorded(output string) Planned {
	p.Functions = slices.Clone(p.Functions)
	for _, a := range read(output) {
		if a.Code == "" {
			continue
		}
		for i := range p.Functions {
			if f := &p.Functions[i]; f.Name == a.Name {
				f.recorded = append(slices.Clip(f.recorded), recorded{a.Code, a.Base && ast.IsExported(f.plain) && !f.Method, a.Test})
			}
		}
	}
	return p
}
