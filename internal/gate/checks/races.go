package checks

import (
	"context"
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// raceRuns is how often each side is run under the race detector before a race is
// said to be the change's.
const raceRuns = 3

// changedCode are the functions that the change alters or brings, on each side by
// file. Those of tests are not among them: a race in them is not one of the program.
func (r *check) changedCode(ctx context.Context) (map[Side]map[string][]ecosystem.CodeRange, error) {
	all := map[Side]map[string][]ecosystem.CodeRange{Base: {}, Head: {}}
	texts := map[Side]map[string]string{Base: {}, Head: {}}
	for _, f := range r.in.Change.Files {
		for side, name := range map[Side]string{Base: f.OldPath, Head: f.Path} {
			if side == Base && name == "" {
				name = f.Path
			}
			eco := languages.Of(name)
			if eco == nil || eco.Race == nil || languages.IsTestFile(name) || side == Base && f.Status == change.Added || side == Head && f.Status == change.Deleted {
				continue
			}
			src, err := r.in.ReadFile(ctx, side, name)
			if err != nil {
				if ctx.Err() != nil {
					return nil, fmt.Errorf("functions of %s: %w", name, err)
				}
				continue // a submodule, or retyped
			}
			all[side][name] = eco.Race.Functions(name, src)
			for _, c := range all[side][name] {
				texts[side][c.Name] = c.Text
			}
		}
	}
	for side, files := range all {
		other := texts[Base]
		if side == Base {
			other = texts[Head]
		}
		for name, list := range files {
			files[name] = slices.DeleteFunc(list, func(c ecosystem.CodeRange) bool { return other[c.Name] == c.Text })
		}
	}
	return all, nil
}

// blames are the reports with a changed function in their stacks: on the head where one of
// the accesses is, where that is called, or where a goroutine of the race was started, because
// farther away there is a changed function in the stacks of many an old race. Of a test that
// only the head has it must be the one that the race is in: its old code can have raced before,
// where no test looked.
func (r *check) blames(w *results.RaceWatch, side Side, code map[string][]ecosystem.CodeRange) []results.RaceReport {
	var out []results.RaceReport
	for _, rep := range w.Reports {
		top := ID{Unit: rep.Id.Unit, Package: rep.Id.Package, Test: rep.Id.Top()}
		_, old := r.in.Suites[Base][top]
		caller := false // of the access
		for _, f := range rep.Frames {
			near := f.Top || caller
			if f.File != "" {
				caller = f.Access && f.Top
			}
			if (side == Base || old && near || f.Access && f.Top) &&
				slices.ContainsFunc(code[f.File], func(c ecosystem.CodeRange) bool { return c.From <= f.Line && f.Line <= c.To }) {
				out = append(out, rep)
				break
			}
		}
	}
	return out
}

// judgeRaces decides about reports of the race detector: the change's are those with
// a changed function in their stacks that the head shows in another of as many runs and the
// base in none of them, each of which ended by itself: cut says whether the first one did not. It returns the tests
// in which races were reported, whosever they are.
func (r *check) judgeRaces(ctx context.Context, p *Probe, head, base *results.RaceWatch, cut bool, run func(Side) (*results.RaceWatch, Suite, Step, error)) ([]Case, error) {
	if len(head.Reports) == 0 {
		return nil, nil
	}
	code, err := r.changedCode(ctx)
	if err != nil {
		return nil, err
	}
	found := r.blames(head, Head, code[Head])
	if len(found) == 0 {
		out := casesOfRaces(head.Reports, p.Evidence)
		p.Flaky = append(p.Flaky, out...)
		return out, nil
	}
	again := cut || len(r.blames(base, Base, code[Base])) > 0 // it is not the change's anyway
	for n := 1; n < raceRuns && !again; n++ {
		w, _, step, err := run(Head)
		if err != nil {
			return nil, err
		}
		p.Evidence = append(p.Evidence, step.Evidence)
		again = len(r.blames(w, Head, code[Head])) > 0
	}
	for runs := 1; again && runs < raceRuns && !cut && len(r.blames(base, Base, code[Base])) == 0; runs++ {
		var step Step
		if base, _, step, err = run(Base); err != nil {
			return nil, err
		}
		if step.Evidence == "" {
			break // the base has none of these packages
		}
		p.Evidence, cut = append(p.Evidence, step.Evidence), step.Stopped()
	}
	old := cut || !again || len(r.blames(base, Base, code[Base])) > 0
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
func casesOfRaces(reports []results.RaceReport, evidence []string) []Case {
	var out []Case
	for _, rep := range reports {
		if !slices.ContainsFunc(out, func(have Case) bool { return have.ID == rep.Id }) {
			out = append(out, Case{ID: rep.Id, Output: rep.Text, Evidence: slices.Clone(evidence)})
		}
	}
	return out
}
