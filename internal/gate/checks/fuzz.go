package checks

import (
	"cmp"
	"context"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/sorted"
)

// Bounds for existing fuzz targets. What has to be compiled for them comes on top.
const (
	fuzzEach    = 10 * time.Second // for one at most
	maxTargets  = 6
	fuzzShare   = 8 // of the run's time that is left: an eighth
	fuzzCompile = 2 * time.Minute
)

// A fuzzTarget is one with the tests that it is among.
type fuzzTarget struct {
	ecosystem.FuzzTarget
	group ecosystem.Group
	by    *ecosystem.Fuzz
}

// Fuzz gives the fuzz targets of what the change affects their share of time. An
// input that fails on the head is tried by itself, there and at base. It is left
// out where the change fails anyway.
func Fuzz(ctx context.Context, s *Subject) (Findings, error) {
	r := &check{in: s}
	err := r.fuzz(ctx)
	return r.found, err
}

func (r *check) fuzz(ctx context.Context) error {
	targets := r.fuzzTargets()
	if !r.in.Runnable || len(targets) == 0 || r.in.Fails || r.in.FuzzTime < 0 {
		return nil
	}
	budget := r.in.FuzzTime
	if deadline, ok := ctx.Deadline(); ok {
		budget = min(budget, deadline.Sub(r.in.Now())/fuzzShare)
	}
	if left := len(targets) - maxTargets; left > 0 {
		r.in.NotCovered("fuzzing: %s, of which %d had their turn", results.Count(len(targets), "target", "targets"), maxTargets)
		targets = targets[:maxTargets]
	}
	each := min(fuzzEach, budget/time.Duration(len(targets))).Truncate(time.Second)
	if each <= 0 {
		r.in.NotCovered("fuzzing: no time is left for it")
		return nil
	}
	if err := r.in.Warm(ctx, r.fuzzWarm()); err != nil {
		return err
	}
	for _, t := range targets {
		if err := r.fuzzOne(ctx, t, each); err != nil {
			return err
		}
	}
	return nil
}

// fuzzWarm are commands that compile what the fuzz targets beside the changed
// sources need, standard library and all: fuzzing has builds of its own.
func (r *check) fuzzWarm() []ecosystem.Command {
	root, err := os.OpenRoot(r.in.Base.Dir)
	if err != nil || r.in.FuzzTime < 0 {
		return nil
	}
	defer root.Close()
	var out []ecosystem.Command
	var done []string
	for _, f := range r.in.Change.Files {
		dir, eco := path.Dir(f.Path), languages.Of(f.Path)
		if eco == nil || eco.Fuzz == nil || languages.IsTestFile(f.Path) || ecosystem.IgnoredDir(dir) || slices.Contains(done, dir) || !eco.Fuzz.In(regular.FS(root), dir) {
			continue
		}
		done = append(done, dir)
		if p, ok := ecosystem.ModuleAround(r.in.Projects, dir); ok && len(done) <= maxTargets {
			out = append(out, eco.Fuzz.Compile(p, dir))
		}
	}
	return out
}

// fuzzTargets are those of the changed packages, then those of packages that use
// them. Each runs as a test of the inputs that it comes with.
func (r *check) fuzzTargets() []fuzzTarget {
	inside := ecosystem.Touched(r.in.Packages, r.in.Change.Paths())
	var own, users []fuzzTarget
	for _, p := range r.in.Packages {
		eco := languages.Named(p.Eco)
		if eco.Fuzz == nil || !p.HasTests() || !r.in.Affected[p.ImportPath] && !inside[p.ImportPath] {
			continue
		}
		var here []fuzzTarget
		for id, t := range r.in.Suites[Head] {
			if id.Unit == p.Unit && id.Package == p.ImportPath && t.Status == Passed && strings.HasPrefix(id.Test, eco.Fuzz.Prefix) && !strings.Contains(id.Test, "/") {
				here = append(here, fuzzTarget{ecosystem.FuzzTarget{ID: id, Dir: p.Dir}, ecosystem.GroupOf(p), eco.Fuzz})
			}
		}
		sorted.By(here, func(a, b fuzzTarget) int { return strings.Compare(a.Test, b.Test) })
		if inside[p.ImportPath] {
			own = append(own, here...)
		} else {
			users = append(users, here...)
		}
	}
	return append(own, users...)
}

// fuzzOne fuzzes one target on the head.
func (r *check) fuzzOne(ctx context.Context, t fuzzTarget, each time.Duration) error {
	commands := r.in.PackageTests(Head, t.group, StageProbe, func(c ecosystem.Command) ecosystem.Command {
		return t.by.Search(c, t.FuzzTarget, each)
	})
	if len(commands) == 0 {
		return nil
	}
	c := t.by.Record(commands[0], t.FuzzTarget)
	c.Timeout = each + fuzzCompile
	if err := r.in.Reset(ctx, Head); err != nil {
		return err
	}
	stream := c.Results.Collect(c.Unit)
	step, err := r.in.Exec(ctx, Head, c, stream)
	if err != nil {
		return err
	}
	found := r.in.Collect(Head, r.in.Head, c, stream, step)
	_, ran := found[t.ID]
	p := Probe{
		Title: "fuzzing " + t.Test, Target: t.String(), Command: commands[0].Text,
		Evidence: []string{step.Evidence}, Ran: ran && !step.Stopped(), Note: "no input failed in " + each.String(), // not in the title, which names the probe from run to run
	}
	switch input := t.by.Input(stream.Rest()); {
	case step.Stopped():
		p.Note = "it " + step.Ending()
	case !ran:
		p.Note = "it could not be fuzzed: " + cmp.Or(results.FirstLine(results.JoinOutput(step.Output, stream.Rest())), "no output")
	case found[t.ID].Status == Failed && input == "" && t.by.TimeEnded(t.by.Failure(found[t.ID].Output)): // as where none failed
	case found[t.ID].Status != Failed && step.Failed(), found[t.ID].Status == Failed && input == "":
		p.Ran, p.Note = false, "fuzzing failed and left no input to try again"
	case found[t.ID].Status == Failed:
		failed := found[t.ID]
		failed.Output = t.by.Failure(failed.Output)
		if err := r.judgeInput(ctx, &p, t, input, failed); err != nil {
			return err
		}
	}
	r.found.Probes = append(r.found.Probes, p)
	return nil
}

// judgeInput runs an input that fuzzing found as a test, on both sides.
func (r *check) judgeInput(ctx context.Context, p *Probe, t fuzzTarget, input string, failed Test) error {
	p.Input = input
	k := results.NewCase(t.ID, failed)
	q := Question{Single: true}
	_, onBase := r.in.Suites[Base][t.ID]
	alters := onBase && r.alters(ctx, t)
	if onBase && !alters {
		q.Regressed = []Case{k}
	} else {
		q.NewFailing = []Case{k}
	}
	q.Once = func(ctx context.Context, side Side, _ []ID) (Suite, error) {
		commands := r.in.PackageTests(side, t.group, StageProbe, func(c ecosystem.Command) ecosystem.Command { return t.by.Try(c, t.FuzzTarget) })
		if len(commands) == 0 || alters && side == Base || !r.in.has(side, ID{Unit: t.Unit, Package: t.Package}) {
			return Suite{}, nil
		}
		c := t.by.Lay(commands[0], t.FuzzTarget, input)
		if side == Head {
			p.Command = c.Text
		}
		suite, _, err := r.in.RunFresh(ctx, side, c)
		switch one, there := suite[ID{Unit: t.Unit, Package: t.Package, Test: t.Test + "/" + ecosystem.InputName}]; {
		case !there: // a target that the side does not have, or that takes something else
			delete(suite, t.ID)
		case one.Status == NotRun: // the program ended in it
			one.Status, one.Output = Failed, suite[ID{Unit: t.Unit, Package: t.Package}].Output
			suite[t.ID] = one
		}
		return suite, err
	}
	a, err := r.in.Settle(ctx, q)
	if err != nil {
		return err
	}
	p.Regressed, p.NewFlaky = a.Regressed, slices.Concat(a.NewFailing, a.FlakyNew)
	p.Flaky = slices.Concat(a.Flaky, a.PreExisting, a.Unsettled, a.Unknown)
	for _, list := range [][]Case{p.Regressed, p.NewFlaky, p.Flaky} {
		for _, k := range list {
			p.Evidence = append(p.Evidence, k.Evidence...)
		}
	}
	switch {
	case len(p.Regressed) > 0:
		p.Note = "fuzzing found an input that fails with the change and passes without it"
	case len(p.NewFlaky) > 0 && alters:
		p.Note = "fuzzing found an input that fails a target that the change alters"
	case len(p.NewFlaky) > 0:
		p.Note = "fuzzing found an input that fails a target that only the change has"
	default:
		p.Note = "fuzzing found an input that fails on base as well, or not each time"
	}
	return nil
}

// alters says whether the change makes another target of one that the base has, too: what that
// finds may be as old as the base.
func (r *check) alters(ctx context.Context, t fuzzTarget) bool {
	read := func(side Side) map[string][]byte {
		out := map[string][]byte{}
		for _, name := range r.in.Files[side] {
			if path.Dir(name) != t.Dir || !languages.IsTestFile(name) {
				continue
			}
			if src, err := r.in.ReadFile(ctx, side, name); err == nil { // no link
				out[name] = src
			}
		}
		return out
	}
	return t.by.Alters(read(Base), read(Head), t.FuzzTarget)
}
