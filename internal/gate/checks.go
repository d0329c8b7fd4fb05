package gate

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/workspace"
)

// check makes a check, and keeps what it found out.
func (r *runner) check(ctx context.Context, c checks.Check) error {
	found, err := c.Run(ctx, r.subject())
	r.keepFindings(found)
	return err
}

// keepFindings puts all that a check found out where the report and the verdict look for it.
func (r *runner) keepFindings(found checks.Findings) {
	r.res.Probes = append(r.res.Probes, found.Probes...)
	r.res.Tests.NewFlakiness = append(r.res.Tests.NewFlakiness, found.NewFlakiness...)
	r.facts.Unbelieved = append(r.facts.Unbelieved, found.Unbelieved...)
	r.res.Remarks = append(r.res.Remarks, found.Remarks...)
	if found.Mutation != nil {
		r.res.Mutation = found.Mutation
	}
	if found.Behaviour != nil {
		r.res.Behaviour = found.Behaviour
	}
	if found.Programs != nil {
		r.res.Programs = found.Programs
	}
	if found.Believed != nil {
		r.res.Believed = found.Believed
	}
}

// subject is the change as a check sees it.
func (r *runner) subject() *checks.Subject {
	tests, files := map[Side][]ecosystem.Command{}, map[Side][]string{}
	for side, p := range r.sides.Plans {
		tests[side], files[side] = p.Test, p.Files
	}
	return &checks.Subject{
		Change: r.in.Change, Base: r.in.Base, Head: r.in.Head,
		Suites: r.sides.Suites, Files: files, Packages: r.sides.Packages, Affected: r.sides.Affected,
		Candidates: r.candidates,
		Tests:      tests, Build: r.sides.Plans[Head].Build, Projects: r.sides.Plans[Base].Projects, Tools: r.Tools,
		Runnable: r.res.Runnable, Unprepared: r.prep.Unprepared() != "", Fails: r.fails(), Failed: r.failed, Apart: r.Apart(), MutantsAlone: r.MutantsAlone,
		StepLimit: r.Limits.Step, MutationTime: r.Limits.Mutation, FuzzTime: r.Limits.Fuzz,
		BehaviourTime: r.behaviourTime(), Proven: r.res.FailToPass.Proven,
		Now:   r.Now,
		Steps: func() []Step { return r.executor.Steps },
		Note:  r.note, NotCovered: r.notCovered, NotCoveredOnce: r.notCoveredOnce,
		Runs:   r.testRuns(),
		Copies: r.copiesOfHead(),
	}
}

// fails says whether the change's build or tests fail, so that attacks on them show
// nothing more.
func (r *runner) fails() bool {
	t := r.res.Tests
	if slices.ContainsFunc(r.res.Probes, func(p Probe) bool { return len(p.Regressed) > 0 }) {
		return true
	}
	return len(r.res.Broken)+len(r.res.BrokenBoth)+len(t.Regressed)+len(t.NewFailing)+len(t.Unknown)+len(t.Unsettled) > 0
}

func (r *runner) testRuns() checks.Runs {
	return checks.Runs{
		Reset: r.executor.Reset, Home: r.executor.HomeOf,
		Exec: func(ctx context.Context, side Side, c ecosystem.Command, stdout io.Writer) (Step, error) {
			return r.executor.Run(ctx, side, r.executor.Tree(side), c, stdout)
		},
		AsLaid: func(ctx context.Context, side Side, c ecosystem.Command, stdout io.Writer) (Step, error) {
			return r.executor.RunAsLaid(ctx, side, r.executor.Tree(side), c, stdout)
		},
		Run: r.tests.RunTests, RunFresh: r.tests.RunFresh, Collect: r.tests.Collected, PackageTests: r.tests.PackageTests, OfOthers: r.tests.OfOthers,
		Warm: r.prep.WarmLate, Warming: r.prep.Warming(true),
		Alone: r.tests.Alone, Parted: r.tests.Parted, Settle: r.answer,
		ReadFile: func(ctx context.Context, side Side, name string) ([]byte, error) {
			return r.Mirror.ReadFile(ctx, r.executor.Tree(side).Commit, name)
		},
		Added: r.sides.Added,
	}
}

// copiesOfHead are places for mutants.
func (r *runner) copiesOfHead() checks.Copies {
	trees := new(workspace.Pool)
	return checks.Copies{
		InHead: func() checks.Place { return checks.Place{Tree: r.in.Head, Home: r.executor.HomeOf(Head)} },
		CopyOf: func(ctx context.Context, n int) (checks.Place, error) {
			name := "mutant-" + strconv.Itoa(n)
			tree, err := trees.Copy(ctx, r.executor.Prepared(Head).Tree, filepath.Join(filepath.Dir(r.in.Head.Dir), name))
			if err != nil {
				return checks.Place{}, err
			}
			p := checks.Place{Tree: tree, Home: filepath.Join(r.Scratch, string(Head), name)}
			return p, r.executor.HomeAt(ctx, Head, p.Home)
		},
		GiveBack: func(p checks.Place) { trees.Put(p.Tree, r.executor.Prepared(Head).Tree) },
		Close:    trees.Close,
		At: func(ctx context.Context, at checks.Place, c ecosystem.Command, stdout io.Writer) (Step, error) {
			return r.executor.RunAt(ctx, Head, execution.Place(at), c, stdout)
		},
		Record: func(s Step) { r.executor.Steps = append(r.executor.Steps, s) },
		Begin: func(stage Stage, unit, command string) {
			r.executor.Show(Progress{Stage: stage, Side: Head, Unit: unit, Command: command})
		},
		End: func(stage Stage, unit, command string, s Step) {
			r.executor.Show(Progress{Stage: stage, Side: Head, Unit: unit, Command: command, Done: true, Step: s})
		},
	}
}

// answer runs tests that a check failed again, each side by the same rule as tests that
// disagree.
func (r *runner) answer(ctx context.Context, q checks.Question) (checks.Answer, error) {
	d := &runs.Dispute{Once: q.Once, Runs: runs.History{}, Rule: compare.Usual}
	d.Cases.Regressed, d.Cases.NewFailing = q.Regressed, q.NewFailing
	ids := runs.Disagreeing(d.Cases)
	if err := r.tests.Rounds(ctx, d, ids); err != nil {
		return checks.Answer{}, err
	}
	excused := func(ID) bool { return true }
	if !q.Single {
		excused = r.tests.Excused
		var more []ID
		d.Cases.Each(func(k Case, l runs.Disputed) {
			despite := l == runs.IsRegressed && compare.Despite(d.Runs.Count(Head, k.ID), d.Runs.Count(Base, k.ID)) == compare.Open
			if despite || d.Stand(k, l) == compare.Conflict && (l == runs.IsNew || !r.tests.Excused(k.ID)) {
				more = append(more, k.ID)
			}
		})
		if err := r.tests.MoreRounds(ctx, d, more); err != nil {
			return checks.Answer{}, err
		}
		r.tests.Flipped(d.Runs)
	}
	r.tests.State(d, ids)
	c := d.Settle(excused)
	return checks.Answer{
		Regressed: c.Regressed, NewFailing: c.NewFailing, NewFlakiness: c.NewFlakiness, FlakyNew: c.FlakyNew,
		Flaky: c.Flaky, PreExisting: c.PreExisting, Unsettled: c.Unsettled, Unknown: c.Unknown,
	}, nil
}

// behaviourTime is how long calls of changed functions may take.
func (r *runner) behaviourTime() time.Duration {
	if r.Limits.Behaviour != 0 {
		return r.Limits.Behaviour
	}
	var suite time.Duration
	for _, s := range r.executor.Steps {
		if s.Side == Head && s.Stage == StageTest {
			suite += s.Duration
		}
	}
	return max(suite, time.Minute)
}
