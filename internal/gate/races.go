package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
)

// raceRuns is how often each side is run under the race detector before a race is
// said to be the change's.
const raceRuns = 3

// Bounds for what is kept of reports of the race detector.
const (
	maxRaces     = 50
	maxRaceLines = 400
)

// A raceReport is one report of Go's race detector
// (https://go.dev/doc/articles/race_detector, "Report format").
type raceReport struct {
	id     ID // the test that ran
	text   string
	frames []raceFrame
}

// A raceFrame is one line of code in a stack of a report.
type raceFrame struct {
	file string // as it was compiled; in the repository, once its tree is known
	line int
	// access says that the stack is that of one of the two accesses; the others say
	// where their goroutines began.
	access bool
	stack  int  // of the report
	top    bool // the first of its stack that is in the repository
}

// A raceWatch passes results on and keeps the reports of the race detector.
type raceWatch struct {
	collector
	part    []byte
	open    map[string]*raceReport // being put together, by package
	reports []raceReport
	unit    string
}

// watchRaces is c with its output watched. The watch is filled when c has run once.
func watchRaces(c command) (command, *raceWatch) {
	w := &raceWatch{open: map[string]*raceReport{}, unit: c.unit}
	how := *c.results
	collect := how.collect
	how.collect = func(unit string) collector {
		w.collector = collect(unit)
		return w
	}
	c.results = &how
	return c, w
}

// Write implements io.Writer.
func (w *raceWatch) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if len(w.part)+len(line) <= maxLine {
			w.part = append(w.part, line...)
		}
		if strings.HasSuffix(line, "\n") {
			w.line(w.part)
			w.part = w.part[:0]
		}
	}
	return w.collector.Write(p)
}

const (
	raceBegins = "WARNING: DATA RACE\n"
	raceEnds   = "==================\n"
)

var (
	raceAt     = pattern.New(`^\s+(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?\s*$`)
	raceAccess = pattern.New(`^(?:Previous )?(?:atomic )?(?:[Rr]ead|[Ww]rite) (?:at|of|by) `)
)

// line takes an event of "go test -json".
func (w *raceWatch) line(line []byte) {
	var e goEvent
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Action != "output" {
		return
	}
	now := w.open[e.Package]
	switch {
	case strings.HasSuffix(e.Output, raceBegins): // what the test printed without ending its line is before it
		if len(w.reports) < maxRaces {
			w.open[e.Package] = &raceReport{id: ID{Unit: w.unit, Package: e.Package, Test: e.Test}, text: raceBegins}
		}
	case now == nil:
	case e.Output == raceEnds || strings.Count(now.text, "\n") > maxRaceLines:
		now.read()
		w.reports = append(w.reports, *now)
		delete(w.open, e.Package)
	default:
		now.text += e.Output
	}
}

// read finds the lines of code in a report. Each of its stacks has a line above it that
// is not indented.
func (r *raceReport) read() {
	access, stack := false, 0
	for line := range strings.Lines(r.text) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, " ") {
			access, stack = raceAccess.MatchString(line), stack+1
		}
		if m := raceAt.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			r.frames = append(r.frames, raceFrame{file: m[1], line: n, access: access, stack: stack})
		}
	}
}

// in names the files of reports from the top of the tree in which they were compiled,
// and finds the first line of each stack that lies in it.
func (w *raceWatch) in(dir string) {
	for i := range w.reports {
		r := &w.reports[i]
		r.text = clean(r.text, dir)
		found := map[int]bool{} // by stack
		for j := range r.frames {
			f := &r.frames[j]
			rel, err := filepath.Rel(dir, f.file)
			if err != nil || !filepath.IsLocal(rel) {
				f.file = ""
				continue
			}
			f.file, f.top = filepath.ToSlash(rel), !found[f.stack]
			found[f.stack] = true
		}
	}
}

// A codeRange is the lines of one function of a file.
type codeRange struct {
	name     string // with the folder and the receiver
	text     string
	from, to int
}

// changedCode are the functions that the change alters or brings, on each side by
// file. Those of tests are not among them: a race in them is not one of the program.
func (r *runner) changedCode(ctx context.Context) (map[Side]map[string][]codeRange, error) {
	all := map[Side]map[string][]codeRange{Base: {}, Head: {}}
	texts := map[Side]map[string]string{Base: {}, Head: {}}
	for _, f := range r.in.Change.Files {
		for side, name := range map[Side]string{Base: f.OldPath, Head: f.Path} {
			if side == Base && name == "" {
				name = f.Path
			}
			if path.Ext(name) != ".go" || isTestFile(name) || side == Base && f.Status == change.Added || side == Head && f.Status == change.Deleted {
				continue
			}
			src, err := r.Mirror.ReadFile(ctx, r.tree(side).Commit, name)
			if err != nil {
				if ctx.Err() != nil {
					return nil, fmt.Errorf("functions of %s: %w", name, err)
				}
				continue // a submodule, or retyped
			}
			all[side][name] = functions(name, src)
			for _, c := range all[side][name] {
				texts[side][c.name] = c.text
			}
		}
	}
	for side, files := range all {
		other := texts[Base]
		if side == Base {
			other = texts[Head]
		}
		for name, list := range files {
			files[name] = slices.DeleteFunc(list, func(c codeRange) bool { return other[c.name] == c.text })
		}
	}
	return all, nil
}

// functions are those of a file of Go; none where it does not parse.
func functions(name string, src []byte) []codeRange {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var out []codeRange
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, to := fset.Position(f.Pos()), fset.Position(f.End())
		c := codeRange{name: path.Dir(name) + " " + f.Name.Name, from: from.Line, to: to.Line}
		if f.Recv != nil && len(f.Recv.List) == 1 {
			at := f.Recv.List[0].Type
			c.name += " " + strings.TrimPrefix(string(src[fset.Position(at.Pos()).Offset:fset.Position(at.End()).Offset]), "*")
		}
		words, _ := tokens(src[from.Offset:to.Offset])
		c.text = strings.Join(words, " ")
		out = append(out, c)
	}
	return out
}

// blames are the reports with a changed function in their stacks. Of a test that only
// the head has it must be the one that the race is in: its old code can have raced
// before, where no test looked.
func (r *runner) blames(w *raceWatch, side Side, code map[string][]codeRange) []raceReport {
	var out []raceReport
	for _, rep := range w.reports {
		top := ID{Unit: rep.id.Unit, Package: rep.id.Package, Test: rep.id.Top()}
		_, old := r.suites[Base][top]
		if slices.ContainsFunc(rep.frames, func(f raceFrame) bool {
			return (side == Base || old || f.access && f.top) &&
				slices.ContainsFunc(code[f.file], func(c codeRange) bool { return c.from <= f.line && f.line <= c.to })
		}) {
			out = append(out, rep)
		}
	}
	return out
}

// judgeRaces decides about reports of the race detector: the change's are those with
// a changed function in their stacks that the base shows in none of as many runs. It
// returns the tests in which races were reported, whosever they are.
func (r *runner) judgeRaces(ctx context.Context, p *Probe, head, base *raceWatch, run func(Side) (*raceWatch, Suite, Step, error)) ([]Case, error) {
	if len(head.reports) == 0 {
		return nil, nil
	}
	code, err := r.changedCode(ctx)
	if err != nil {
		return nil, err
	}
	found := r.blames(head, Head, code[Head])
	if len(found) == 0 {
		out := casesOfRaces(head.reports, p.Evidence)
		p.Flaky = append(p.Flaky, out...)
		return out, nil
	}
	runs := 1
	for ; runs < raceRuns && len(r.blames(base, Base, code[Base])) == 0; runs++ {
		var step Step
		if base, _, step, err = run(Base); err != nil {
			return nil, err
		}
		if step.Evidence == "" {
			break // the base has none of these packages
		}
		p.Evidence = append(p.Evidence, step.Evidence)
	}
	old := len(r.blames(base, Base, code[Base])) > 0
	out := casesOfRaces(found, p.Evidence)
	if old {
		p.Flaky = append(p.Flaky, out...)
		return out, nil
	}
	for _, k := range out {
		p.Races = append(p.Races, k.Output)
	}
	p.Regressed = append(p.Regressed, out...)
	return out, nil
}

// casesOfRaces are the tests in which races were reported, with the first report of each.
func casesOfRaces(reports []raceReport, evidence []string) []Case {
	var out []Case
	for _, rep := range reports {
		if !slices.ContainsFunc(out, func(have Case) bool { return have.ID == rep.id }) {
			out = append(out, Case{ID: rep.id, Output: rep.text, Evidence: slices.Clone(evidence)})
		}
	}
	return out
}
