// Package arms lays files of one side of a change over the prepared tree of the other, and runs
// tests there: the change's tests over the base's sources, and the base's tests over the head's.
package arms

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/gate/tester"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/workspace"
)

// An Arm is the prepared tree of one side with files of the other laid over it, in
// the side's own folder: what was built, and tests that are tied to a place, find
// what they name. It begins and ends with what setup and build left.
type Arm struct {
	on     Maker
	Side   results.Side // whose sources
	Stage  results.Stage
	commit string              // has the files that are laid over; empty: there are none
	Files  []string            // that are laid over
	Tests  []ecosystem.Command // that it can run
	// left are files that were left out because they do not compile, and why.
	Left map[string]string
	// Apart says that of a file of the change's tests only those are left out that do not
	// compile, as of the base's in any case. What stands around them goes with them.
	Apart bool
	// cut are files of which only tests were left out that do not compile, with what is laid
	// of them, and why each of these tests was.
	Cut map[string]cutFile
	// unimported are the names that files were run without, as they are not there, and what
	// was said of each.
	Unimported map[string]map[string]string
	Evidence   []string
}

// A Maker makes arms of the sides of a change.
type Maker struct {
	Executor *execution.Executor
	Sides    *sides.Reader
	Tests    *tester.Tester
	Mirror   *workspace.Mirror
}

// New composes what lies over a side's tree: puts, over which tests can be run. The name of
// its steps in the log is stage.
func (m Maker) New(ctx context.Context, side results.Side, stage results.Stage, puts []workspace.Put, tests []ecosystem.Command) (*Arm, error) {
	a := m.Plain(side, stage, tests)
	for _, p := range puts {
		a.Files = append(a.Files, p.Path)
	}
	var err error
	a.commit, err = m.Mirror.Compose(ctx, m.Executor.Tree(side).Commit, puts)
	return a, err
}

// Plain is a side as it is, with nothing over it.
func (m Maker) Plain(side results.Side, stage results.Stage, tests []ecosystem.Command) *Arm {
	return &Arm{on: m, Side: side, Stage: stage, Tests: tests, Left: map[string]string{}, Cut: map[string]cutFile{}, Unimported: map[string]map[string]string{}}
}

// Lay makes the tree what the arm is.
func (a *Arm) Lay(ctx context.Context) error {
	if err := a.on.Executor.Reset(ctx, a.Side); err != nil {
		return err
	}
	if a.commit == "" {
		return nil // the side as it is
	}
	tree := a.on.Executor.Tree(a.Side)
	if err := tree.Overlay(ctx, a.commit, a.Files); err != nil {
		return err
	}
	if slices.ContainsFunc(a.Files, languages.KeepsMade) {
		if err := a.renew(tree.Dir); err != nil {
			return err
		}
	}
	if err := a.layCut(ctx); err != nil || len(a.Left) == 0 {
		return err
	}
	return a.takeOut(ctx, slices.Sorted(maps.Keys(a.Left)))
}

// Close leaves the side as it was prepared.
func (a *Arm) Close(ctx context.Context) error { return a.on.Executor.Reset(ctx, a.Side) }

// leave takes files out that do not compile.
func (a *Arm) leave(ctx context.Context, files []string, why string) error {
	for _, f := range files {
		a.Left[f] = why
	}
	return a.takeOut(ctx, files)
}

// A Selection is what an arm runs of the tests of one folder of commands.
type Selection struct {
	Eco, Unit string
	Command   string          // one that counts as one test
	Places    []string        // folders of packages, else files; nil: all that its commands run
	Tests     map[string]bool // top-level tests of packages; nil: all
}

// Run lays the arm out and runs the selected tests. What is not there is left out.
func (a *Arm) Run(ctx context.Context, selected []Selection) (results.Suite, error) {
	out := results.Suite{}
	if err := a.Lay(ctx); err != nil {
		return out, err
	}
	for _, s := range selected {
		var suite results.Suite
		var err error
		if by := languages.PackagesOf(s.Eco); by != nil && s.Command == "" {
			suite, err = a.runPackages(ctx, s, by)
		} else {
			suite, err = a.runOthers(ctx, s)
		}
		out.Add(suite)
		if err != nil {
			return out, err
		}
	}
	if a.Stage != results.StageKept {
		a.forgetOwn(out)
	}
	return out, nil
}

// maxDrops bounds how often files that do not compile are taken out: the
// compiler names at most ten errors at a time.
const maxDrops = 5

// runPackages runs packages. Files that do not compile are taken out, so that those
// that do still say something.
func (a *Arm) runPackages(ctx context.Context, s Selection, by *ecosystem.Packages) (results.Suite, error) {
	over := results.Suite{}
	for _, below := range a.modulesBelow(&s) {
		suite, err := a.runPackages(ctx, below, by)
		maps.Copy(over, suite)
		if err != nil {
			return over, err
		}
	}
	rest := slices.DeleteFunc(slices.Clone(s.Places), func(dir string) bool { return !by.Has(a.on.Executor.Tree(a.Side).Dir, dir) })
	for round := 0; len(rest) > 0 && round <= maxDrops; round++ {
		suite, err := a.packagesOnce(ctx, s, rest)
		if err != nil {
			return over, err
		}
		maps.Copy(over, suite)
		rest = nil
		for id, t := range suite {
			if id.Test != "" || !t.Broken || t.Status != results.Failed {
				continue
			}
			dir := a.on.Sides.PackageDir(a.Side, id)
			if bad, places := a.uncompilable(by.Complaint, t.Output, s.Unit, dir); len(bad) > 0 {
				if bad, err = a.cutTests(ctx, by.Cutting, bad, places, t.Output); err != nil {
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

// modulesBelow takes out of a selection the packages that are in a module of their own there, and
// were none where the selection comes from; they are run in it.
func (a *Arm) modulesBelow(s *Selection) []Selection {
	byUnit := map[string]*Selection{}
	s.Places = slices.DeleteFunc(slices.Clone(s.Places), func(dir string) bool {
		unit := s.Unit
		for _, c := range a.on.Sides.Plans[a.Side].Test {
			if c.Eco == s.Eco && c.Results != nil && len(c.Unit) > len(unit) && ecosystem.Inside(c.Unit, dir) {
				unit = c.Unit
			}
		}
		if unit == s.Unit || slices.ContainsFunc(a.Tests, func(c ecosystem.Command) bool { return c.Eco == s.Eco && c.Unit == unit }) {
			return false
		}
		if byUnit[unit] == nil {
			byUnit[unit] = &Selection{Eco: s.Eco, Unit: unit, Tests: s.Tests}
		}
		byUnit[unit].Places = append(byUnit[unit].Places, dir)
		return true
	})
	var out []Selection
	for _, unit := range sorted.Keys(byUnit, strings.Compare) {
		out = append(out, *byUnit[unit])
	}
	return out
}

// testsIn are the commands that run tests in a folder: of the arm, else of a module that is new there.
func (a *Arm) testsIn(unit string) []ecosystem.Command {
	in := func(c ecosystem.Command) bool { return c.Unit == unit }
	if slices.ContainsFunc(a.Tests, in) {
		return a.Tests
	}
	return a.on.Sides.Plans[a.Side].Test
}

func (a *Arm) packagesOnce(ctx context.Context, s Selection, dirs []string) (results.Suite, error) {
	some := ecosystem.Part{Tests: s.Tests}
	for _, dir := range dirs {
		some.Packages = append(some.Packages, "./"+strings.TrimPrefix(strings.TrimPrefix(dir, s.Unit), "/"))
	}
	out := results.Suite{}
	var done []string
	for _, c := range a.testsIn(s.Unit) {
		if c.Eco != s.Eco || c.Results == nil || c.Unit != s.Unit {
			continue
		}
		c, _ = c.Results.Narrow(c, some)
		c.Stage, c.Timeout = a.Stage, a.on.Tests.Limits.Step
		if c = a.on.Tests.Hanging(c); slices.Contains(done, c.Text) {
			continue
		}
		done = append(done, c.Text)
		stream := c.Results.Collect(c.Unit)
		step, err := a.on.Executor.Run(ctx, a.Side, a.on.Executor.Tree(a.Side), c, stream)
		if err != nil {
			return out, err
		}
		a.Evidence = append(a.Evidence, step.Evidence)
		suite := stream.Suite(step.Evidence, a.on.Executor.Tree(a.Side).Dir)
		suite.SetEcosystem(c.Eco)
		a.on.Tests.Phantoms.ForgiveIn(suite)
		out.Add(suite)
	}
	return out, nil
}

// runOthers runs commands whose tests belong to files, built again where they need it.
func (a *Arm) runOthers(ctx context.Context, s Selection) (results.Suite, error) {
	out := results.Suite{}
	for _, c := range a.Tests {
		if c.Unit != s.Unit || s.Command != "" && c.Text != s.Command || s.Command == "" && (c.Eco != s.Eco || c.Results == nil) {
			continue
		}
		broken, err := a.rebuild(ctx, c)
		if err != nil {
			return out, err
		}
		if broken.Evidence != "" {
			out[results.ID{Unit: c.Unit, Package: broken.Command}] = results.Test{
				Status: results.Failed, Broken: true, Output: broken.Output, Evidence: broken.Evidence, Eco: c.Eco,
			}
			continue
		}
		c = a.limited(c)
		there := slices.DeleteFunc(slices.Clone(s.Places), func(f string) bool {
			_, err := ecosystem.ReadInTree(a.on.Executor.Tree(a.Side).Dir, f)
			return err != nil
		})
		if len(s.Places) > 0 && len(there) == 0 {
			continue // its tests are not there
		}
		if len(there) > 0 && c.Results != nil {
			if less, ok := c.Results.Narrow(c, ecosystem.Part{Packages: there}); ok {
				less.Name = c.Label()
				c = less
			}
		}
		c.Stage = a.Stage
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
func (a *Arm) limited(c ecosystem.Command) ecosystem.Command {
	c.Stage = results.StageTest
	if c.Results != nil && c.Results.Hang != nil {
		return a.on.Tests.Hanging(c)
	}
	return a.on.Tests.Limited(results.Head, c)
}

// runOther runs a command. Where it could run no test, or none of a module, tests that do not compile, or
// files of the arm that the runner names, are taken out, so that the others say something.
func (a *Arm) runOther(ctx context.Context, c ecosystem.Command) (results.Suite, error) {
	for round := 0; ; round++ {
		suite, step, err := a.on.Tests.RunTests(ctx, a.Side, c)
		if err != nil {
			return nil, err
		}
		suite.SetEcosystem(c.Eco)
		a.Evidence = append(a.Evidence, step.Evidence)
		whole := suite[results.ID{Unit: c.Unit, Command: c.Label()}]
		if !results.AnyRan(suite) && whole.Cut && round < maxDrops {
			if fewer, err := a.cutOther(ctx, c, whole.Output); err != nil {
				return nil, err
			} else if fewer {
				continue
			}
		}
		bad, said := a.namedIn(whole.Output, c.Unit), whole.Output
		switch {
		case results.AnyRan(suite) && step.Failed():
			said = results.JoinOutput(whole.Output, step.Output)
			bad = a.uncompiled(suite, said, c.Unit)
		case results.AnyRan(suite), !whole.Cut, len(bad)+len(a.Left) == len(a.Files):
			bad = nil
		}
		if c.Results == nil || len(bad) == 0 || round == maxDrops {
			return suite, nil
		}
		if err := a.leave(ctx, bad, said); err != nil {
			return nil, err
		}
	}
}

// compileError is a line by which a compiler of Java, Kotlin, Scala or .NET names what it cannot compile.
var compileError = pattern.New(`(?i)^e: |\.\w+:\d+: error\b|^\[ERROR\].*\.\w+:(?:\[\d+,\d+\]|\d+:)|\(\d+,\d+\): error\b`)

// uncompiled are the files that do not compile where others ran: those of a build of several modules whose
// tests are reported by their classes. None of theirs was reported.
func (a *Arm) uncompiled(suite results.Suite, output, unit string) []string {
	var errors strings.Builder
	for line := range strings.Lines(output) {
		if compileError.MatchString(line) {
			errors.WriteString(line)
		}
	}
	return slices.DeleteFunc(a.namedIn(errors.String(), unit), func(f string) bool {
		for id := range suite {
			class, _, _ := strings.Cut(id.Package[strings.LastIndexByte(id.Package, '.')+1:], "$")
			if path.Ext(id.Package) == path.Ext(f) || class == strings.TrimSuffix(path.Base(f), path.Ext(f)) {
				return true
			}
		}
		return false
	})
}

// rebuild builds the arm again for a command that needs it, without the files
// that do not compile. It returns the step that failed where that does not help.
func (a *Arm) rebuild(ctx context.Context, c ecosystem.Command) (ecosystem.Step, error) {
	if !a.compiled(c) {
		return ecosystem.Step{}, nil
	}
	for range maxDrops {
		failed, err := a.build(ctx, c)
		if err != nil || failed.Evidence == "" {
			return ecosystem.Step{}, err
		}
		bad := a.namedIn(failed.Output, c.Unit)
		if len(bad) == 0 || len(bad)+len(a.Left) == len(a.Files) {
			return failed, nil
		}
		if err := a.leave(ctx, bad, failed.Output); err != nil {
			return ecosystem.Step{}, err
		}
	}
	return ecosystem.Step{}, nil
}

// compiled says whether a command runs what the build commands of its project make
// of files of the arm.
func (a *Arm) compiled(c ecosystem.Command) bool {
	if c.Results != nil && c.Results.Rebuild {
		return true
	}
	if c.Results != nil && c.Results.Compiles {
		return false
	}
	e := languages.Named(c.Eco)
	return e != nil && e.Compiled != nil && slices.ContainsFunc(a.Files, func(f string) bool {
		return ecosystem.Inside(c.Unit, f) && e.Compiled(f)
	})
}

// build runs the build commands of c's project, and returns the one that failed.
func (a *Arm) build(ctx context.Context, c ecosystem.Command) (ecosystem.Step, error) {
	for _, b := range a.on.Sides.Plans[a.Side].Build {
		if b.Unit != c.Unit || b.Eco != c.Eco && b.Eco != "" {
			continue
		}
		b = a.on.Tests.Limited(a.Side, b)
		b.Stage = a.Stage
		step, err := a.on.Executor.Run(ctx, a.Side, a.on.Executor.Tree(a.Side), b, nil)
		if err != nil {
			return step, err
		}
		a.Evidence = append(a.Evidence, step.Evidence)
		if step.Failed() {
			return step, nil
		}
	}
	return ecosystem.Step{}, nil
}
