package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
)

// snapshots are the trees of both sides after setup and build, which nothing changes.
type snapshots struct{ base, head *workspace.Tree }

// gate builds, tests and compares both sides. Where agents follow, or checks of the
// last run, it leaves the prepared trees of both in sides.
func (p *prepared) gate(ctx context.Context, sides *snapshots) (*gate.Result, error) {
	in, err := p.gateInput(ctx)
	if err != nil {
		return nil, err
	}
	if job := p.begun.job; job.Models != nil || job.Previous != nil {
		in.Prepared = p.snapshot(sides)
	}
	b := p.begun
	if text := b.estimates.begin(b.progress.now(), in.UntilFirst); text != "" {
		b.progress.note(agent.Event{Type: agent.EventNote, Text: text})
	}
	result, err := p.newGate(b.dir.Evidence).Run(ctx, in)
	if err == nil {
		key := wholeGate
		if in.UntilFirst {
			key = firstVerdict
		}
		b.estimates.reached(key, b.progress.now())
	}
	if result != nil {
		if err := p.history.failure(ctx); err != nil {
			p.runner.Log.WarnContext(ctx, "mirror lacks history", "repo", p.source.Change.Repo, "error", err)
			result.Notes = append(result.Notes, fmt.Sprintf("commands found old commits without the contents of their files: %v", err))
		}
	}
	return result, err
}

// refusal is the gate's result where nothing may be executed.
func refusal(why string) *gate.Result {
	return &gate.Result{
		Verdict: gate.Verdict(report.Partial), Reasons: []string{why},
		NotCovered: []string{"build, tests and probes: nothing was executed"},
	}
}

// newGate makes the gate of this run, which records in log.
func (p *prepared) newGate(log *evidence.Log) *gate.Gate {
	r, l := p.runner, p.begun.layout
	var setupEnv []string
	if p.begun.job.Trust != untrusted {
		setupEnv = r.SetupEnv
	}
	return &gate.Gate{
		Machine: gate.Machine{
			Sandbox: r.Sandbox, Log: log, Mirror: p.mirror, Tools: r.Tools, Now: r.Now,
			Network: gateNetwork(p.begun.job.Trust, r.Network), Services: p.services, SetupEnv: setupEnv,
			CacheDir: filepath.Join(l.Project(), "cache"), Shared: filepath.Join(r.Home, "cache"), Scratch: filepath.Join(l.Trees, scratch),
			Progress: p.begun.gateProgress, Whole: p.history.wait,
		},
		Version: r.Version, First: p.first,
		Results: r.baseResults(p.begun), Flakes: r.flakes(p.begun),
	}
}

// gateNetwork is what the gate's commands get: setup of a head that is not trusted
// reaches registries alone, unless the operator gives all commands the network.
func gateNetwork(trust string, n rundir.Network) gate.Network {
	if trust == untrusted && cmp.Or(n, rundir.NetworkSetup) == rundir.NetworkSetup {
		return gate.NetworkRegistries
	}
	return gate.Network(n)
}

// gateInput makes a worktree of each side.
func (p *prepared) gateInput(ctx context.Context) (gate.Input, error) {
	var base, head *workspace.Tree
	c := p.source.Change
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { base, err = p.worktree(groupCtx, "base", c.MergeBase); return err })
	group.Go(func() (err error) { head, err = p.worktree(groupCtx, "head", c.HeadSHA); return err })
	if err := group.Wait(); err != nil {
		return gate.Input{}, err
	}
	job := p.begun.job
	policy, why := expectations(compare.Policy(p.config.values.Expectations), job, c.Title)
	return gate.Input{
		Change: c, Base: base, Head: head,
		Commands:     gate.Commands(p.config.values.Commands),
		Env:          p.config.env(p.begun.job.Trust),
		RequireRepro: p.config.values.RequireFailToPass,
		Expectations: policy, PolicyWhy: why,
		UntilFirst: job.UntilFirst,
		Untrusted:  job.Trust == untrusted,

		AgentsFollow: p.agents != nil && !job.UntilFirst,
	}, nil
}

// noChange is a title that promises that nothing behaves otherwise: a type of
// Conventional Commits (https://www.conventionalcommits.org) that stands for that, or
// the words for it.
var noChange = pattern.New(`(?i)^\s*(?:refactor|style|docs?|chore|test|tests|ci|build|perf)(?:\([^)]*\))?:|` +
	`\b(?:refactor(?:s|ed|ing)?|clean\s?-?up|no functional changes?|nfc|no behaviou?r(?:al)? changes?|rename[sd]?|renaming|reformat(?:s|ted|ting)?|typo)\b`)

// promisesNoChange is the word by which a title promises that nothing behaves otherwise;
// empty: it does not. Conventional Commits mark a breaking change with "!" before the colon.
func promisesNoChange(title string) string {
	kind, _, _ := strings.Cut(title, ":")
	m := noChange.FindStringSubmatch(title)
	if m == nil || strings.HasSuffix(kind, "!") {
		return ""
	}
	return strings.TrimSpace(m[0])
}

// expectations are what given-up expectations come to in a job, and why it is not just to
// be listed, for people.
func expectations(configured compare.Policy, job Job, title string) (policy compare.Policy, why string) {
	promise := promisesNoChange(title)
	policy = compare.Floor(configured, job.Trust == untrusted || job.Machine, promise != "")
	switch {
	case policy == compare.Report:
	case policy == configured:
		why = fmt.Sprintf("the configuration has \"expectations: %s\"", configured)
	case job.Trust == untrusted:
		why = "the head is untrusted"
	case job.Machine:
		why = "its author is a machine"
	default:
		why = fmt.Sprintf("the title promises no change of behaviour (%q)", promise)
	}
	return policy, why
}

// snapshot keeps the prepared trees, for agents and for what is run again.
func (p *prepared) snapshot(sides *snapshots) func(context.Context, gate.Side, *workspace.Tree) error {
	return func(_ context.Context, side gate.Side, t *workspace.Tree) error {
		p.keepTree(t)
		if side == gate.Base {
			sides.base = t
		} else {
			sides.head = t
		}
		return nil
	}
}

// worktree makes a worktree of a commit in a folder of the run, which goes with it. It
// is laid out when its files are needed.
func (p *prepared) worktree(ctx context.Context, name, commit string) (*workspace.Tree, error) {
	why, err := p.bringContents(ctx, commit)
	if err != nil {
		return nil, err
	}
	t, err := p.mirror.WorktreeLater(ctx, filepath.Join(p.begun.layout.Trees, name), commit)
	if err != nil {
		return nil, err
	}
	t.PointersStay(why)
	p.keepTree(t)
	if err := p.bringSubmodules(ctx, t, commit); err != nil {
		return nil, err
	}
	return t, nil
}

// sides are both sides as commands are run on copies of them. In a run that is
// continued after the gate the snapshots are made again, without a trace in the log:
// it has those commands already.
func (p *prepared) sides(ctx context.Context, s *snapshots) (*reproduce.Sides, error) {
	if s.base == nil || s.head == nil {
		if err := p.prepareAgain(ctx, s); err != nil {
			return nil, err
		}
	}
	return p.sidesOf(s), nil
}

func (p *prepared) sidesOf(s *snapshots) *reproduce.Sides {
	return &reproduce.Sides{
		Base: s.base, Head: s.head, Shell: p.newGate(p.begun.dir.Evidence), Env: p.config.env(p.begun.job.Trust), Layout: p.begun.layout,
		Sandbox: p.runner.Sandbox, Log: p.begun.dir.Evidence, Pool: &p.pool, Now: p.runner.Now,
	}
}

func (p *prepared) prepareAgain(ctx context.Context, s *snapshots) error {
	dir, err := os.MkdirTemp(p.begun.layout.Trees, "prepare-")
	if err != nil {
		return err
	}
	log, err := evidence.Open(dir, p.begun.dir.ID, evidence.Options{Now: p.runner.Now}) // it goes with the run
	if err != nil {
		return err
	}
	defer log.Close()
	g := p.newGate(log)
	g.Progress = nil
	in, err := p.gateInput(ctx)
	if err != nil {
		return err
	}
	in.Prepared = p.snapshot(s)
	if err := g.Prepare(ctx, in); err != nil {
		return fmt.Errorf("prepare again: %w", err)
	}
	if s.base == nil || s.head == nil {
		return errors.New("prepared snapshots are missing")
	}
	return nil
}
