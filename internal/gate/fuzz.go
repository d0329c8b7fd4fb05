package gate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/compare"
)

// Bounds for existing fuzz targets. What has to be compiled for them comes on top.
const (
	fuzzBudget  = 30 * time.Second // for all targets together
	fuzzEach    = 10 * time.Second // for one at most
	maxTargets  = 6
	fuzzShare   = 8 // of the run's time that is left: an eighth
	fuzzCompile = 2 * time.Minute
	maxInput    = 16 << 10 // bytes of an input that is worth a command
)

func (l Limits) fuzz() time.Duration { return cmp.Or(l.Fuzz, fuzzBudget) }

// A fuzzTarget is a fuzz test of the head that passes with the inputs it comes with.
type fuzzTarget struct {
	ID
	dir string // of its package, in the repository
}

// fuzz gives the fuzz targets of what the change affects their share of time. An
// input that fails on the head is tried by itself, there and at base. It is left
// out where the change fails anyway.
func (r *runner) fuzz(ctx context.Context) error {
	targets := r.fuzzTargets()
	if !r.res.Runnable || len(targets) == 0 || r.fails() || r.Limits.fuzz() < 0 {
		return nil
	}
	budget := r.Limits.fuzz()
	if deadline, ok := ctx.Deadline(); ok {
		budget = min(budget, deadline.Sub(r.Now())/fuzzShare)
	}
	if left := len(targets) - maxTargets; left > 0 {
		r.notCovered("fuzzing: %s, of which %d had their turn", count(len(targets), "target", "targets"), maxTargets)
		targets = targets[:maxTargets]
	}
	each := min(fuzzEach, budget/time.Duration(len(targets))).Truncate(time.Second)
	if each <= 0 {
		r.notCovered("fuzzing: no time is left for it")
		return nil
	}
	if err := r.warmLate(ctx, r.fuzzWarm()); err != nil {
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
func (r *runner) fuzzWarm() []command {
	root, err := os.OpenRoot(r.in.Base.Dir)
	if err != nil || r.goTools() == nil || r.Limits.fuzz() < 0 {
		return nil
	}
	defer root.Close()
	var out []command
	var done []string
	for _, f := range r.in.Change.Files {
		dir := path.Dir(f.Path)
		if !isGoSource(f.Path) || isTestFile(f.Path) || ignoredDir(dir) || slices.Contains(done, dir) || !fuzzed(root.FS(), dir) {
			continue
		}
		done = append(done, dir)
		if m, ok := r.moduleOf(dir); ok && len(done) <= maxTargets {
			out = append(out, m.command(StageWarm, "test", "-c", "-vet=off", "-fuzz=^$", "-o", "/dev/null", fromModule(fuzzTarget{ID: ID{Unit: m.dir}, dir: dir})))
		}
	}
	return out
}

// moduleOf is the innermost of the base's modules around a folder.
func (r *runner) moduleOf(dir string) (goModule, bool) {
	var out goModule
	found := false
	for _, p := range r.plan[Base].projects {
		if p.eco.name == "Go" && p.missing == "" && inside(p.dir, dir) && (!found || len(p.dir) > len(out.dir)) {
			out, found = p.module(), true
		}
	}
	return out, found
}

// fuzzed says whether a folder's tests mention a fuzz target.
func fuzzed(tree fs.FS, dir string) bool {
	entries, _ := fs.ReadDir(tree, dir) // a folder that is not there has none
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if src, err := fs.ReadFile(tree, path.Join(dir, e.Name())); err == nil && bytes.Contains(src, []byte("*testing.F)")) {
			return true
		}
	}
	return false
}

// fuzzTargets are those of the changed packages, then those of packages that use
// them. "go test" runs each as a test of the inputs that it comes with.
func (r *runner) fuzzTargets() []fuzzTarget {
	inside := touched(r.packages, r.in.Change.Paths())
	var own, users []fuzzTarget
	for _, p := range r.packages {
		if !p.hasTests() || !r.affected[p.ImportPath] && !inside[p.ImportPath] {
			continue
		}
		var here []fuzzTarget
		for id, t := range r.suites[Head] {
			if id.Unit == p.unit && id.Package == p.ImportPath && t.Status == Passed && strings.HasPrefix(id.Test, "Fuzz") && !strings.Contains(id.Test, "/") {
				here = append(here, fuzzTarget{ID: id, dir: p.Dir})
			}
		}
		slices.SortFunc(here, func(a, b fuzzTarget) int { return strings.Compare(a.Test, b.Test) })
		if inside[p.ImportPath] {
			own = append(own, here...)
		} else {
			users = append(users, here...)
		}
	}
	return append(own, users...)
}

// fuzzOne fuzzes one target on the head.
func (r *runner) fuzzOne(ctx context.Context, t fuzzTarget, each time.Duration) error {
	commands := r.goTests(Head, t.Unit, StageProbe, "-vet=off", "-count=1", "-run=^$", "-fuzz=^"+t.Test+"$",
		"-fuzztime="+each.String(), "-fuzzminimizetime=5s", "-parallel=4", t.Package)
	if len(commands) == 0 {
		return nil
	}
	c := withInput(commands[0], t)
	c.timeout = each + fuzzCompile
	if err := r.reset(ctx, Head); err != nil {
		return err
	}
	stream := c.results.collect(c.unit)
	step, err := r.exec(ctx, Head, r.in.Head, c, stream)
	if err != nil {
		return err
	}
	found := r.collected(Head, r.in.Head, c, stream, step)
	_, ran := found[t.ID]
	p := Probe{
		Title: "fuzzing " + t.Test + " for " + each.String(), Target: t.String(), Command: commands[0].text,
		Evidence: []string{step.Evidence}, Ran: ran && !step.TimedOut, Note: "no input failed",
	}
	switch input := fuzzInput(stream.rest()); {
	case step.TimedOut:
		p.Note = "it did not end in its time"
	case !ran:
		p.Note = "it could not be fuzzed: " + cmp.Or(firstLine(joinOutput(step.Output, stream.rest())), "nothing was said")
	case found[t.ID].Status != Failed && step.Failed(), found[t.ID].Status == Failed && input == "":
		p.Ran, p.Note = false, "fuzzing ended badly, and left no input that could be tried again"
	case found[t.ID].Status == Failed:
		failed := found[t.ID]
		failed.Output = fuzzFailure(failed.Output)
		if err := r.judgeInput(ctx, &p, t, input, failed); err != nil {
			return err
		}
	}
	r.res.Probes = append(r.res.Probes, p)
	return nil
}

// withInput prints the input that failed behind the results, so that it is in
// the evidence.
func withInput(c command, t fuzzTarget) command {
	began, inputs := `"$HOME/fuzz-began"`, quoted(fromModule(t)+"/testdata/fuzz/"+t.Test)
	c.text = "touch " + began + "; " + shellWords(c) + "; code=$?; [ $code = 0 ] || find " + inputs +
		" -type f -newer " + began + " -exec cat {} +; exit $code"
	c.argv = []string{"bash", "--noprofile", "--norc", "-c", c.text}
	return c
}

// fromModule is the folder of a target's package, from where its tests are run.
func fromModule(t fuzzTarget) string {
	dir := t.dir
	if t.Unit != "." {
		dir = strings.TrimPrefix(strings.TrimPrefix(dir, t.Unit), "/")
	}
	if dir == "." || dir == "" {
		return "."
	}
	return "./" + dir
}

// fuzzVersion begins the file of an input (https://go.dev/doc/security/fuzz/).
const fuzzVersion = "go test fuzz v1\n"

// fuzzInput is the file of the input that failed, from what the command printed
// beside its results; empty where there is none, or one too large for a command.
func fuzzInput(printed string) string {
	_, input, ok := strings.Cut(printed, fuzzVersion)
	if input, _, _ = strings.Cut(input, fuzzVersion); !ok || input == "" || len(input) > maxInput {
		return ""
	}
	return fuzzVersion + strings.TrimRight(input, "\n")
}

// fuzzFailure is what a target said of the input that failed, without the news of
// the search and the name of a file that is gone.
func fuzzFailure(output string) string {
	if i := strings.Index(output, "--- FAIL: "); i > 0 {
		output = output[i:]
	}
	output, _, _ = strings.Cut(output, "\n    Failing input written to ")
	return strings.TrimSpace(output)
}

// judgeInput runs an input that fuzzing found as a test, on both sides.
func (r *runner) judgeInput(ctx context.Context, p *Probe, t fuzzTarget, input string, failed Test) error {
	p.Input = input
	k := newCase(t.ID, failed)
	d := &dispute{runs: history{}, rule: compare.Usual}
	if _, onBase := r.suites[Base][t.ID]; onBase {
		d.cases.Regressed = []Case{k}
	} else {
		d.cases.NewFailing = []Case{k}
	}
	d.once = func(ctx context.Context, side Side, _ []ID) (Suite, error) {
		commands := r.goTests(side, t.Unit, StageProbe, "-vet=off", "-count=1", "-run=^"+t.Test+"$/^"+inputName+"$", t.Package)
		if len(commands) == 0 || !r.has(side, ID{Unit: t.Unit, Package: t.Package}) {
			return Suite{}, nil
		}
		c := layInput(commands[0], t, input)
		if side == Head {
			p.Command = c.text
		}
		suite, _, err := r.runFresh(ctx, side, c)
		switch one, there := suite[ID{Unit: t.Unit, Package: t.Package, Test: t.Test + "/" + inputName}]; {
		case !there: // a target that the side does not have, or that takes something else
			delete(suite, t.ID)
		case one.Status == NotRun: // the program ended in it
			one.Status, one.Output = Failed, suite[ID{Unit: t.Unit, Package: t.Package}].Output
			suite[t.ID] = one
		}
		return suite, err
	}
	if err := r.rounds(ctx, d, []ID{t.ID}); err != nil {
		return err
	}
	r.state(d, []ID{t.ID})
	s := d.settle(func(ID) bool { return true })
	p.Regressed, p.NewFlaky = s.Regressed, slices.Concat(s.NewFailing, s.FlakyNew)
	p.Flaky = slices.Concat(s.Flaky, s.PreExisting, s.Unsettled, s.Unknown)
	for _, list := range [][]Case{p.Regressed, p.NewFlaky, p.Flaky} {
		for _, k := range list {
			p.Evidence = append(p.Evidence, k.Evidence...)
		}
	}
	switch {
	case len(p.Regressed) > 0:
		p.Note = "fuzzing found an input that fails with the change and passes without it"
	case len(p.NewFlaky) > 0:
		p.Note = "fuzzing found an input that fails a target that only the change has"
	default:
		p.Note = "fuzzing found an input that fails on base as well, or not each time"
	}
	return nil
}

// inputName is the file of an input that is tried again.
const inputName = "found"

// layInput writes an input where the target looks for what it has to try first.
func layInput(c command, t fuzzTarget, input string) command {
	dir := fromModule(t) + "/testdata/fuzz/" + t.Test
	c.text = fmt.Sprintf("mkdir -p %s && printf '%%s\\n' %s > %s && %s", quoted(dir), quoted(input), quoted(dir+"/"+inputName), shellWords(c))
	c.argv = []string{"bash", "--noprofile", "--norc", "-c", c.text}
	return c
}
