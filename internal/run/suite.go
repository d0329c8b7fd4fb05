package run

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/sorted"
)

// A SuiteJob asks for the tests of one commit, run once, without a verdict.
type SuiteJob struct {
	Dir    string // a folder in the repository
	Commit string // whose tests are run
	// Paths are the files that count as changed: what they cannot affect is left out.
	Paths []string
	Only  []SuiteTest // no more than these, where their runner can choose; nil: all
	Rest  bool        // run what Paths cannot affect, too
}

// A SuiteTest is what a run said of one test. Without a Test it is a package that did
// not compile or ended outside of a test; without a Package, a command that does not
// list its tests.
type SuiteTest struct {
	Unit, Package, Test, Command string

	Passed, Failed bool   // neither: skipped, or not reached
	Group          bool   // it has subtests, which are listed too
	Broken         bool   // it is a package that did not compile
	Output         string // of a failed test, cut
}

// Name is how reports write the test.
func (t SuiteTest) Name() string { return t.id().String() }

func (t SuiteTest) id() gate.ID {
	return gate.ID{Unit: t.Unit, Package: t.Package, Test: t.Test, Command: t.Command}
}

// A SuiteResult is what the tests of one commit gave.
type SuiteResult struct {
	Tests   []SuiteTest // sorted by name
	Refused string      // why nothing could be run, such as a missing toolchain; empty: it could
	Took    time.Duration
	Late    bool // a command was ended by its time limit
	Whole   bool // nothing was left out
}

// Suite runs the tests of one commit in the sandbox, by the commands that a run of the
// gate would use. It leaves no run behind.
func (r *Runner) Suite(ctx context.Context, job SuiteJob) (_ *SuiteResult, err error) {
	temp := filepath.Join(r.Home, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	out, err := os.MkdirTemp(temp, "suite-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.RemoveAll(context.WithoutCancel(ctx), out)) }()
	p, done, err := r.open(ctx, Job{Dir: job.Dir, Base: job.Commit, Head: job.Commit, Out: out, Trust: "local", Trigger: "cli"})
	if err != nil {
		return nil, err
	}
	defer done()
	if why := p.begun.settings.Refused(); why != "" {
		return &SuiteResult{Refused: why}, nil
	}
	tree, err := p.worktree(ctx, "base", p.source.Change.HeadSHA)
	if err != nil {
		return nil, err
	}
	c := p.source.Change
	for _, p := range job.Paths {
		c.Files = append(c.Files, change.File{Path: p, Status: change.Modified})
	}
	g := p.newGate(p.begun.dir.Evidence)
	g.Results = nil
	var only []gate.ID
	for _, t := range job.Only {
		only = append(only, t.id())
	}
	single, err := g.Single(ctx, gate.Input{Change: c, Base: tree, Head: tree, Commands: gate.Commands(p.config.values.Commands), Env: p.config.env(p.begun.job.Trust)}, only, job.Rest)
	if err != nil {
		return nil, err
	}
	return suiteResult(single), nil
}

func suiteResult(from *gate.Single) *SuiteResult {
	out := &SuiteResult{Refused: cmp.Or(from.Nothing, from.Unprepared), Took: from.Took, Late: from.TimedOut, Whole: from.Rested}
	for id, t := range from.Suite {
		if t.Status == gate.Passed && id.Test == "" && id.Command == "" {
			continue // a package that compiled is no test
		}
		out.Tests = append(out.Tests, SuiteTest{
			Unit: id.Unit, Package: id.Package, Test: id.Test, Command: id.Command,
			Passed: t.Status == gate.Passed, Failed: t.Status == gate.Failed, Group: !t.Leaf, Broken: t.Broken, Output: t.Output,
		})
	}
	sorted.By(out.Tests, func(a, b SuiteTest) int { return cmp.Compare(a.Name(), b.Name()) })
	return out
}

// ClassOf says what the file with this path is for: "test", "data", "steering",
// "source", "doc" or "other", as the gate takes it.
func ClassOf(path string) string { return string(gate.Classify(path)) }
