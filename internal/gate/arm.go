package gate

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// An arm is the prepared tree of one side with files of the other laid over it, in
// the side's own folder: what was built, and tests that are tied to a place, find
// what they name. It begins and ends with what setup and build left.
type arm struct {
	r      *runner
	side   Side // whose sources
	stage  Stage
	commit string              // has the files that are laid over; empty: there are none
	files  []string            // that are laid over
	tests  []ecosystem.Command // that it can run
	// left are files that were left out because they do not compile, and why.
	left map[string]string
	// cut are files of which only tests were left out that do not compile, with what is laid
	// of them, and why each of these tests was.
	cut map[string]cutFile
	// unimported are the names that files were run without, as they are not there, and what
	// was said of each.
	unimported map[string]map[string]string
	evidence   []string
}

// newArm composes what lies over a side's tree.
func (r *runner) newArm(ctx context.Context, side Side, stage Stage, puts []workspace.Put, tests []ecosystem.Command) (*arm, error) {
	a := &arm{r: r, side: side, stage: stage, tests: tests, left: map[string]string{}, cut: map[string]cutFile{}, unimported: map[string]map[string]string{}}
	for _, p := range puts {
		a.files = append(a.files, p.Path)
	}
	var err error
	a.commit, err = r.Mirror.Compose(ctx, r.executor.Tree(side).Commit, puts)
	return a, err
}

// lay makes the tree what the arm is.
func (a *arm) lay(ctx context.Context) error {
	if err := a.r.executor.Reset(ctx, a.side); err != nil {
		return err
	}
	if a.commit == "" {
		return nil // the side as it is
	}
	tree := a.r.executor.Tree(a.side)
	if err := tree.Overlay(ctx, a.commit, a.files); err != nil {
		return err
	}
	if err := a.layCut(ctx); err != nil || len(a.left) == 0 {
		return err
	}
	return a.takeOut(ctx, slices.Sorted(maps.Keys(a.left)))
}

// close leaves the side as it was prepared.
func (a *arm) close(ctx context.Context) error { return a.r.executor.Reset(ctx, a.side) }

// leave takes files out that do not compile.
func (a *arm) leave(ctx context.Context, files []string, why string) error {
	for _, f := range files {
		a.left[f] = why
	}
	return a.takeOut(ctx, files)
}

// A selection is what an arm runs of the tests of one folder of commands.
type selection struct {
	eco, unit string
	command   string          // one that counts as one test
	places    []string        // folders of packages, else files; nil: all that its commands run
	tests     map[string]bool // top-level tests of packages; nil: all
}

// run lays the arm out and runs the selected tests. What is not there is left out.
func (a *arm) run(ctx context.Context, selected []selection) (Suite, error) {
	out := Suite{}
	if err := a.lay(ctx); err != nil {
		return out, err
	}
	for _, s := range selected {
		var suite Suite
		var err error
		if by := languages.PackagesOf(s.eco); by != nil && s.command == "" {
			suite, err = a.runPackages(ctx, s, by)
		} else {
			suite, err = a.runOthers(ctx, s)
		}
		out.Add(suite)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// maxDrops bounds how often files that do not compile are taken out: the
// compiler names at most ten errors at a time.
const maxDrops = 5

// runPackages runs packages. Files that do not compile are taken out, so that those
// that do still say something.
func (a *arm) runPackages(ctx context.Context, s selection, by *ecosystem.Packages) (Suite, error) {
	over := Suite{}
	rest := slices.DeleteFunc(slices.Clone(s.places), func(dir string) bool { return !by.Has(a.r.executor.Tree(a.side).Dir, dir) })
	for round := 0; len(rest) > 0 && round <= maxDrops; round++ {
		suite, err := a.packagesOnce(ctx, s, rest)
		if err != nil {
			return over, err
		}
		maps.Copy(over, suite)
		rest = nil
		for id, t := range suite {
			if id.Test != "" || !t.Broken || t.Status != Failed {
				continue
			}
			dir := a.r.sides.PackageDir(a.side, id)
			if bad, places := a.uncompilable(by.Complaint, t.Output, s.unit, dir); len(bad) > 0 {
				if bad, err = a.cutTests(ctx, by, bad, places, t.Output); err != nil {
					return over, err
				}
				if err := a.leave(ctx, bad, t.Output); err != nil {
					return over, err
				}
				rest = append(rest, dir)
			}
		}
		slices.Sort(rest)
	}
	return over, nil
}

func (a *arm) packagesOnce(ctx context.Context, s selection, dirs []string) (Suite, error) {
	some := ecosystem.Part{Tests: s.tests}
	for _, dir := range dirs {
		some.Packages = append(some.Packages, "./"+strings.TrimPrefix(strings.TrimPrefix(dir, s.unit), "/"))
	}
	out := Suite{}
	var done []string
	for _, c := range a.tests {
		if c.Eco != s.eco || c.Results == nil || c.Unit != s.unit {
			continue
		}
		c, _ = c.Results.Narrow(c, some)
		c.Stage, c.Timeout = a.stage, a.r.Limits.Step
		if c = a.r.tests.Hanging(c); slices.Contains(done, c.Text) {
			continue
		}
		done = append(done, c.Text)
		stream := c.Results.Collect(c.Unit)
		step, err := a.r.executor.Run(ctx, a.side, a.r.executor.Tree(a.side), c, stream)
		if err != nil {
			return out, err
		}
		a.evidence = append(a.evidence, step.Evidence)
		suite := stream.Suite(step.Evidence, a.r.executor.Tree(a.side).Dir)
		suite.SetEcosystem(c.Eco)
		out.Add(suite)
	}
	return out, nil
}

// runOthers runs commands whose tests belong to files, built again where they need it.
func (a *arm) runOthers(ctx context.Context, s selection) (Suite, error) {
	out := Suite{}
	for _, c := range a.tests {
		if c.Unit != s.unit || s.command != "" && c.Text != s.command || s.command == "" && (c.Eco != s.eco || c.Results == nil) {
			continue
		}
		broken, err := a.rebuild(ctx, c)
		if err != nil {
			return out, err
		}
		if broken.Evidence != "" {
			out[ID{Unit: c.Unit, Package: broken.Command}] = Test{
				Status: Failed, Broken: true, Output: broken.Output, Evidence: broken.Evidence, Eco: c.Eco,
			}
			continue
		}
		c = a.limited(c)
		there := slices.DeleteFunc(slices.Clone(s.places), func(f string) bool {
			_, err := ecosystem.ReadInTree(a.r.executor.Tree(a.side).Dir, f)
			return err != nil
		})
		if len(s.places) > 0 && len(there) == 0 {
			continue // its tests are not there
		}
		if len(there) > 0 && c.Results != nil {
			if less, ok := c.Results.Narrow(c, ecosystem.Part{Packages: there}); ok {
				less.Name = c.Label()
				c = less
			}
		}
		c.Stage = a.stage
		suite, err := a.runOther(ctx, c)
		if err == nil {
			err = a.unimport(ctx, c, suite)
		}
		if err != nil {
			return out, err
		}
		out.Add(suite)
	}
	return out, nil
}

// limited gives c the time that the head's tests get.
func (a *arm) limited(c ecosystem.Command) ecosystem.Command {
	c.Stage = StageTest
	if c.Results != nil && c.Results.Hang != nil {
		return a.r.tests.Hanging(c)
	}
	return a.r.tests.Limited(Head, c)
}

// runOther runs a command. Where it could run no test, files of the arm that the
// runner names are taken out, so that the others say something.
func (a *arm) runOther(ctx context.Context, c ecosystem.Command) (Suite, error) {
	for round := 0; ; round++ {
		suite, step, err := a.r.tests.RunTests(ctx, a.side, c)
		if err != nil {
			return nil, err
		}
		suite.SetEcosystem(c.Eco)
		a.evidence = append(a.evidence, step.Evidence)
		whole := suite[ID{Unit: c.Unit, Command: c.Label()}]
		bad := a.namedIn(whole.Output, c.Unit)
		if c.Results == nil || !whole.Cut || results.AnyRan(suite) || len(bad) == 0 || round == maxDrops || len(bad)+len(a.left) == len(a.files) {
			return suite, nil
		}
		if err := a.leave(ctx, bad, whole.Output); err != nil {
			return nil, err
		}
	}
}

// rebuild builds the arm again for a command that needs it, without the files
// that do not compile. It returns the step that failed where that does not help.
func (a *arm) rebuild(ctx context.Context, c ecosystem.Command) (Step, error) {
	if !a.compiled(c) {
		return Step{}, nil
	}
	for range maxDrops {
		failed, err := a.build(ctx, c)
		if err != nil || failed.Evidence == "" {
			return Step{}, err
		}
		bad := a.namedIn(failed.Output, c.Unit)
		if len(bad) == 0 || len(bad)+len(a.left) == len(a.files) {
			return failed, nil
		}
		if err := a.leave(ctx, bad, failed.Output); err != nil {
			return Step{}, err
		}
	}
	return Step{}, nil
}

// compiled says whether a command runs what the build commands of its project make
// of files of the arm.
func (a *arm) compiled(c ecosystem.Command) bool {
	if c.Results != nil && c.Results.Rebuild {
		return true
	}
	if c.Results != nil && c.Results.Compiles {
		return false
	}
	e := languages.Named(c.Eco)
	return e != nil && e.Compiled != nil && slices.ContainsFunc(a.files, func(f string) bool {
		return ecosystem.Inside(c.Unit, f) && e.Compiled(f)
	})
}

// build runs the build commands of c's project, and returns the one that failed.
func (a *arm) build(ctx context.Context, c ecosystem.Command) (Step, error) {
	for _, b := range a.r.sides.Plans[a.side].Build {
		if b.Unit != c.Unit || b.Eco != c.Eco && b.Eco != "" {
			continue
		}
		b = a.r.tests.Limited(a.side, b)
		b.Stage = a.stage
		step, err := a.r.executor.Run(ctx, a.side, a.r.executor.Tree(a.side), b, nil)
		if err != nil {
			return step, err
		}
		a.evidence = append(a.evidence, step.Evidence)
		if step.Failed() {
			return step, nil
		}
	}
	return Step{}, nil
}
