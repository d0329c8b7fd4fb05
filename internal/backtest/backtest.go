// Package backtest is past changes chosen by a rule, their arms, and what ycbot says of
// each.
//
// [Backtest.Run] is the whole of it: a [Plan] is written, the cases of each planned
// change are made and proven in a scratch repository, the gate judges them, and each
// leaves one [Line] in results.jsonl. It knows no project: what it has of one is its
// history. The repositories that it is given are only read.
package backtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// An Engine is what a backtest needs of ycbot: all that it knows of the gate.
type Engine interface {
	// Verify runs the gate, without a model, on what head changes since base in the
	// repository at dir, and leaves the run in the folder out.
	Verify(ctx context.Context, v Verification) (*report.Report, error)
	// Outside is run.Outside of the run in the folder out.
	Outside(out string) (verdict report.Verdict, causes []string, err error)
	// Suite runs the tests of one commit, once.
	Suite(ctx context.Context, job run.SuiteJob) (*run.SuiteResult, error)
	// Class says what a file is for, as run.ClassOf does.
	Class(path string) string
}

// A Verification is one run of the gate.
type Verification struct {
	Dir, Base, Head, Out string
	Timeout              time.Duration
	UntilFirst           bool // the decisive part alone, as "ycbot run --until first"
}

// A Source is a repository whose history is read.
type Source struct {
	Name   string // "owner/name" where its origin says so
	GitDir string
	Format string // of its objects
}

// Settings are what a person chooses of a backtest.
type Settings struct {
	Sources []Source
	Last    int // changes of each repository
	Arms    []Arm
	Seed    uint64
	Jobs    int           // cases side by side
	Timeout time.Duration // of a run, and of a suite
	Out     string        // folder of the plan and the results
	Resume  string        // results file to continue; empty: a new backtest
	First   bool          // judge by the first verdict: no probes
	Plan    bool          // write the plan and run nothing
}

// A Backtest holds what is needed of this machine.
type Backtest struct {
	Engine   Engine
	Git      *git.Git
	Version  string               // of ycbot
	CPU      func() time.Duration // of this process and its children so far; nil: not measured
	Now      func() time.Time
	Progress io.Writer // a line for each case; nil: none
	Log      *slog.Logger
}

func (b *Backtest) cpu() time.Duration {
	if b.CPU == nil {
		return 0
	}
	return b.CPU()
}

// Run does a backtest, or what is left of one. It returns when all cases have their
// line, or ctx ends.
func (b *Backtest) Run(ctx context.Context, s Settings) error {
	plan, earlier, err := b.plan(ctx, s)
	if err != nil || s.Plan {
		return err
	}
	l, err := openLedger(s.Out, earlier)
	if err != nil {
		return err
	}
	defer l.close()
	if s.Jobs > 1 {
		b.CPU = nil // times of one case cannot be separated from those of another
	}
	honest, err := b.honest(ctx, plan, s.Out)
	if err != nil {
		return err
	}
	arms := slices.DeleteFunc(slices.Clone(plan.Arms), func(a Arm) bool { return a == Honest })
	order := plan.order()
	p := &progress{w: b.Progress, now: b.Now, began: b.Now(), all: len(order)*len(arms) + len(honest), before: len(l.done)}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, s.Jobs))
	for i := range max(len(order), len(honest)) {
		if i < len(order) {
			group.Go(func() error { return b.work(ctx, l, p, plan, s, order[i], arms) })
		}
		if i < len(honest) {
			group.Go(func() error { return b.change(ctx, l, p, plan, honest[i], []Arm{Honest}) })
		}
	}
	return group.Wait()
}

// plan makes the plan, or reads that of the backtest to continue with its results.
func (b *Backtest) plan(ctx context.Context, s Settings) (*Plan, []Line, error) {
	var names []string
	for _, src := range s.Sources {
		names = append(names, src.Name)
	}
	from := s.Out
	if s.Resume != "" {
		from = filepath.Dir(s.Resume)
	}
	have, err := ReadPlan(from)
	switch {
	case err == nil && s.Resume == "":
		if lines, _ := ReadResults(filepath.Join(s.Out, resultsFile)); len(lines) > 0 {
			return nil, nil, fmt.Errorf("%s holds an earlier backtest: continue it with --resume %s, or name another folder with --out", s.Out, filepath.Join(s.Out, resultsFile))
		}
	case err != nil && s.Resume != "":
		return nil, nil, fmt.Errorf("--resume %s: %w: name DIR/%s of the backtest to continue", s.Resume, err, resultsFile)
	case err != nil && !missing(err):
		return nil, nil, err
	}
	if s.Resume != "" {
		if err := have.fits(s, names); err != nil {
			return nil, nil, err
		}
		lines, err := ReadResults(s.Resume)
		if err != nil {
			return nil, nil, err
		}
		return have, lines, have.write(s.Out)
	}
	plan := newPlan(s)
	for _, src := range s.Sources {
		r, err := b.planRepo(ctx, s, src)
		if err != nil && (len(s.Sources) == 1 || ctx.Err() != nil) {
			return nil, nil, fmt.Errorf("%s: %w", src.Name, err)
		}
		if err != nil {
			r = PlannedRepo{Name: src.Name, Changes: []PlannedChange{}, Excluded: map[string]int{}, Unusable: cut(strings.ReplaceAll(err.Error(), src.GitDir, src.Name), 200)}
		}
		plan.Repos = append(plan.Repos, r)
	}
	return plan, nil, plan.write(s.Out)
}

func (b *Backtest) planRepo(ctx context.Context, s Settings, src Source) (PlannedRepo, error) {
	scratch, err := b.scratch(ctx, s.Out, src)
	if err != nil {
		return PlannedRepo{}, err
	}
	head, err := scratch.Fetch(ctx, src.GitDir, "HEAD", "refs/heads/history")
	if err != nil {
		return PlannedRepo{}, err
	}
	r := PlannedRepo{Name: src.Name, Head: head}
	r.Changes, r.Excluded, err = choose(ctx, scratch, b.Engine.Class, head, s.Last)
	return r, err
}

// scratch is the repository of a backtest's own in which cases of src are made.
func (b *Backtest) scratch(ctx context.Context, out string, src Source) (*workspace.Scratch, error) {
	return workspace.OpenScratch(ctx, b.Git, filepath.Join(out, "work", slug(src.Name)), src.Format)
}

// work does one planned change of one of the repositories.
func (b *Backtest) work(ctx context.Context, l *ledger, p *progress, plan *Plan, s Settings, c planned, arms []Arm) error {
	i := slices.IndexFunc(s.Sources, func(src Source) bool { return src.Name == c.repo })
	if i < 0 {
		return fmt.Errorf("no repository %s, which the plan names", c.repo)
	}
	scratch, err := b.scratch(ctx, s.Out, s.Sources[i])
	if err == nil {
		_, err = scratch.Fetch(ctx, s.Sources[i].GitDir, c.change.Commit, "refs/heads/planned/"+c.change.Commit)
	}
	if err != nil {
		return err
	}
	return b.change(ctx, l, p, plan, made{scratch, c.repo, c.change, ""}, arms)
}

// A made is a change in a scratch repository.
type made struct {
	scratch *workspace.Scratch
	repo    string
	change  PlannedChange
	edit    string // what it is, of an honest edit
}

// change does the cases of one change that have no line yet.
func (b *Backtest) change(ctx context.Context, l *ledger, p *progress, plan *Plan, m made, arms []Arm) error {
	var s *subject
	for _, arm := range arms {
		id := caseID(m.repo, m.change.Commit, arm)
		if l.has(id) {
			continue
		}
		if s == nil {
			var err error
			if s, err = newSubject(ctx, b, forge{m.scratch}, m.change, plan); err != nil {
				return err
			}
		}
		line, err := b.one(ctx, s, m, arm)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if err := l.add(line); err != nil {
			return err
		}
		p.done(line)
	}
	return nil
}

// one makes a case, runs it and says what came of it.
func (b *Backtest) one(ctx context.Context, s *subject, m made, arm Arm) (Line, error) {
	line := Line{Case: caseID(m.repo, m.change.Commit, arm), Repo: m.repo, Change: short(m.change.Commit, 12), Arm: arm, Operator: m.edit, Ycbot: b.Version}
	sp, err := s.spec(ctx, arm)
	if e := (*exclusion)(nil); errors.As(err, &e) {
		line.Excluded = cut(e.why, 100)
		return line, nil
	}
	if ctx.Err() != nil {
		return line, context.Cause(ctx)
	}
	if err != nil {
		b.Log.WarnContext(ctx, "case could not be made", "case", line.Case, "error", err)
		line.Excluded = cut(whyUnfit+": "+err.Error(), 100)
		return line, nil
	}
	if line.Operator == "" {
		line.Operator = sp.operator
	}
	line.Base, line.Head, line.Tests = short(sp.base, 12), short(sp.head, 12), sp.tests
	line.First = s.first
	line.Plain, line.PlainCPU, line.Part = seconds(s.good.Took), seconds(s.goodCPU), !s.good.Whole
	out, err := os.MkdirTemp(filepath.Dir(m.scratch.Dir), ".run-")
	if err != nil {
		return line, err
	}
	defer func() {
		if err := folder.RemoveAll(context.WithoutCancel(ctx), out); err != nil {
			b.Log.WarnContext(ctx, "the directory of a run could not be removed", "dir", out, "error", err)
		}
	}()
	began, before := b.Now(), b.cpu()
	rep, err := b.Engine.Verify(ctx, Verification{Dir: m.scratch.Dir, Base: sp.base, Head: sp.head, Out: filepath.Join(out, "run"), Timeout: s.limit, UntilFirst: s.first})
	line.Seconds, line.CPU = seconds(b.Now().Sub(began)), seconds(b.cpu()-before)
	if err != nil {
		line.Verdict, line.Reasons = "ERROR", []string{err.Error()}
		return line, nil
	}
	line.judged(rep)
	if arm == Good {
		verdict, causes, err := b.Engine.Outside(filepath.Join(out, "run"))
		if err != nil {
			return line, err
		}
		line.Outside, line.OutsideFor = string(verdict), causes
	}
	data, err := os.ReadFile(filepath.Join(out, "run", "report.json"))
	if err == nil {
		sum := sha256.Sum256(data)
		line.Digest = hex.EncodeToString(sum[:8])
	}
	return line, nil
}

// judged takes over what a report says.
func (l *Line) judged(rep *report.Report) {
	l.Verdict, l.Reasons = string(rep.Verdict), rep.Reasons
	if t := rep.Tests; t != nil {
		l.Names = slices.Concat(t.Regressed, t.NewFailing)
		if len(l.Names) == 0 && l.Verdict == string(report.Pass) {
			l.Names = t.FailToPass
		}
	}
	if !l.First {
		l.Shown = new(int)
	}
	for _, d := range rep.Behaviour {
		if d.Expected {
			l.Folded++
		} else if l.Shown != nil {
			*l.Shown++
		}
	}
	if rep.Expectations == nil {
		return
	}
	var gone []string
	for class, tests := range rep.Expectations.ByClass() {
		if l.Given == nil {
			l.Given = map[string]int{}
		}
		l.Given[class] = len(tests)
		for _, e := range tests {
			gone = append(gone, e.Test)
		}
	}
	// What decides may be a package, or a test with subtests.
	named := func(test string) bool {
		return slices.ContainsFunc(gone, func(g string) bool {
			return g == test || strings.HasPrefix(g, test+" ") || strings.HasPrefix(g, test+"/")
		})
	}
	l.Named = len(l.Tests) > 0 && !slices.ContainsFunc(l.Tests, func(test string) bool { return !named(test) })
}

func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*10) / 10 }

// Show makes the run directory of a case again in the folder out, and returns its line
// and the report.
func (b *Backtest) Show(ctx context.Context, s Settings, id, out string) (Line, *report.Report, error) {
	plan, err := ReadPlan(s.Out)
	if err != nil {
		return Line{}, nil, err
	}
	lines, err := ReadResults(filepath.Join(s.Out, resultsFile))
	if err != nil {
		return Line{}, nil, err
	}
	i := slices.IndexFunc(lines, func(l Line) bool { return l.Case == id })
	if i < 0 {
		return Line{}, nil, fmt.Errorf("no case %q in %s", id, filepath.Join(s.Out, resultsFile))
	}
	line := lines[i]
	if line.Excluded != "" {
		return line, nil, fmt.Errorf("%s was not run: %s", id, line.Excluded)
	}
	m, err := b.find(ctx, plan, s, line)
	if err != nil {
		return line, nil, err
	}
	sp, err := b.again(ctx, plan, m, line)
	if err != nil {
		return line, nil, err
	}
	rep, err := b.Engine.Verify(ctx, Verification{Dir: m.scratch.Dir, Base: sp.base, Head: sp.head, Out: out, Timeout: plan.timeout(), UntilFirst: line.First})
	return line, rep, err
}

// find is the change that a line is about.
func (b *Backtest) find(ctx context.Context, plan *Plan, s Settings, line Line) (made, error) {
	if line.Arm == Honest {
		all, err := b.honest(ctx, plan, s.Out)
		if i := slices.IndexFunc(all, func(m made) bool { return caseID(m.repo, m.change.Commit, Honest) == line.Case }); i >= 0 {
			return all[i], err
		}
		return made{}, errors.Join(err, fmt.Errorf("no sample repository for %s", line.Case))
	}
	for _, c := range plan.order() {
		if caseID(c.repo, c.change.Commit, line.Arm) != line.Case {
			continue
		}
		for _, src := range s.Sources {
			if src.Name != c.repo {
				continue
			}
			scratch, err := b.scratch(ctx, s.Out, src)
			if err == nil {
				_, err = scratch.Fetch(ctx, src.GitDir, c.change.Commit, "refs/heads/planned/"+c.change.Commit)
			}
			return made{scratch, c.repo, c.change, ""}, err
		}
		return made{}, fmt.Errorf("%s is a case of %s, which is not among the repositories here: name them as for the backtest, with -C or --repos", line.Case, c.repo)
	}
	return made{}, fmt.Errorf("the plan has no change for %s", line.Case)
}

// again are the commits of a case: those in the scratch repository, else they are made
// and proven once more.
func (b *Backtest) again(ctx context.Context, plan *Plan, m made, line Line) (spec, error) {
	base, missingBase := m.scratch.Git(ctx, nil, nil, "rev-parse", "--verify", line.Base+"^{commit}")
	head, missingHead := m.scratch.Git(ctx, nil, nil, "rev-parse", "--verify", line.Head+"^{commit}")
	if missingBase == nil && missingHead == nil {
		return spec{base: strings.TrimSpace(string(base)), head: strings.TrimSpace(string(head))}, nil
	}
	s, err := newSubject(ctx, b, forge{m.scratch}, m.change, plan)
	if err != nil {
		return spec{}, err
	}
	sp, err := s.spec(ctx, line.Arm)
	if err == nil && short(sp.head, 12) != line.Head {
		err = fmt.Errorf("%s: this machine makes commit %s of it and not %s: its tests differ here", line.Case, short(sp.head, 12), line.Head)
	}
	return sp, err
}
