package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/conclude"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// previousDiff bounds, in bytes, what is shown of the difference to the last run's head.
const previousDiff = 64 << 10

// lookBack is the stage "takeover": it says what becomes of the last run. nil: there
// is none, or the time ended before that was known.
func (p *prepared) lookBack(ctx context.Context) (*rundir.Reuse, error) {
	if p.begun.job.Previous == nil {
		return nil, nil
	}
	reuse, err := stage(ctx, p.begun.progress, "takeover", p.reuse)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	return reuse, nil
}

// reuse keeps the last run, and looks whether it verified the very same: the
// same files at head, merge base and configuration, the same task, model and
// program. Then its verdict is this run's. Nothing but PASS and FAIL is reused:
// the rest may have been the fault of that day.
func (p *prepared) reuse(ctx context.Context) (*rundir.Reuse, error) {
	last := p.begun.job.Previous
	switch {
	case last.Err != nil:
		return &rundir.Reuse{Why: last.Err.Error()}, nil
	case last.Problem != "":
		return &rundir.Reuse{Why: fmt.Sprintf("%s is not intact: %s", last.Name, last.Problem)}, nil
	}
	if was := last.Report; p.begun.job.Trigger == "cli" && p.begun.repeats == nil && was.Repo != p.source.Change.Repo { // hosts know whose run it is
		if _, err := p.mirror.TreeOf(ctx, was.BaseSHA); err != nil && ctx.Err() == nil {
			return nil, &rundir.UsageError{Err: fmt.Errorf("--previous %s: it is a run of %s, whose base %s is not in this repository", last.Name, was.Repo, change.Short(was.BaseSHA))}
		}
	}
	if err := p.begun.dir.Keep(last.Dir); err != nil {
		return nil, fmt.Errorf("keep the last run: %w", err)
	}
	out := &rundir.Reuse{Digest: last.Digest}
	if p.begun.repeats != nil {
		return out, nil // the run that is done again went on, or there would be nothing to compare
	}
	same, err := p.sameWork(ctx, last)
	if err != nil {
		return nil, err
	}
	if same {
		out.RunID, out.Head = last.Report.RunID, last.Report.HeadSHA
	}
	return out, nil
}

// sameWork compares what the last run did with what this one would do.
func (p *prepared) sameWork(ctx context.Context, last *Previous) (bool, error) {
	c, was, now := p.source.Change, last.Report, p.begun.settings
	if was.Verdict != report.Pass && was.Verdict != report.Fail || was.Outcome != report.Completed ||
		was.Repo != c.Repo || was.PR != c.PR || was.Trust != now.Trust || was.Versions.Ycbot != now.Versions.Ycbot {
		return false, nil
	}
	old, err := rundir.Read(last.Dir, nil)
	if errors.Is(err, rundir.ErrNothing) {
		return false, nil // it is no run that can be compared
	}
	if err != nil {
		return false, err
	}
	id, mine := old.Begun.Identity, p.begun.identity
	if id.Model != mine.Model || id.Config != mine.Config || id.Where != mine.Where || old.Begun.Source.Change.Task != c.Task {
		return false, nil
	}
	for _, pair := range [][2]string{{was.HeadSHA, c.HeadSHA}, {was.MergeBase, c.MergeBase}} {
		if same, err := sameTree(ctx, p.mirror, pair[0], pair[1]); err != nil || !same {
			return false, nil //nolint:nilerr // the mirror has not got that commit any more
		}
	}
	a, errA := p.mirror.ReadFile(ctx, was.BaseSHA, configFile)
	b, errB := p.mirror.ReadFile(ctx, c.BaseSHA, configFile)
	return bytes.Equal(a, b) && (errA == nil) == (errB == nil), nil
}

// sameTree says whether two commits have the same files.
func sameTree(ctx context.Context, m *workspace.Mirror, a, b string) (bool, error) {
	if a == b {
		return true, nil
	}
	var trees [2]string
	for i, oid := range []string{a, b} {
		var err error
		if trees[i], err = m.TreeOf(ctx, oid); err != nil {
			return false, err
		}
	}
	return trees[0] == trees[1], nil
}

// reused is the report of a run that reuses the verdict of the last one.
func (p *prepared) reused(ctx context.Context) (*report.Report, error) {
	return p.withoutRunning(ctx, Reused)
}

// withoutRunning makes the report of a run that runs nothing.
func (p *prepared) withoutRunning(ctx context.Context, conclude func(rundir.Begun) (*report.Report, error)) (*report.Report, error) {
	b := p.begun
	return stage(context.WithoutCancel(ctx), b.progress, "report", func(context.Context) (*report.Report, error) {
		rep, err := conclude(b.recorded(p.source))
		if err != nil {
			return nil, err
		}
		b.finish(p.runner)(rep)
		return rep, nil
	})
}

// Reused is the report of a run that ran nothing and keeps the last run, whose verdict
// it reuses.
func Reused(b rundir.Begun) (*report.Report, error) {
	last, err := rundir.ReadReport(filepath.Join(b.Dir, rundir.Previous))
	if err != nil {
		return nil, err
	}
	return conclude.Reused(b.Header(nil), last, rundir.Previous), nil
}

// acceptance concludes the recorded run of this head again, with what a person
// accepted. Nothing is run.
func (p *prepared) acceptance(ctx context.Context) (*report.Report, error) {
	if _, err := stage(ctx, p.begun.progress, "takeover", p.keepRecord); err != nil {
		return nil, err
	}
	return p.withoutRunning(ctx, Accepted)
}

// keepRecord keeps the run that is concluded again.
func (p *prepared) keepRecord(context.Context) (*rundir.Reuse, error) {
	last, c := p.begun.job.Previous, p.source.Change
	var err error
	switch {
	case last == nil:
		err = errors.New("there is no recorded run of this commit: ask for one with /verify")
	case last.Err != nil:
		err = last.Err
	case last.Problem != "":
		err = fmt.Errorf("the recorded run is not intact: %s", last.Problem)
	case last.Report.HeadSHA != c.HeadSHA || last.Report.PR != c.PR: // whose it is the host knows: the repository may have had another name
		err = fmt.Errorf("the recorded run is of %s, and not of %s", change.Short(last.Report.HeadSHA), change.Short(c.HeadSHA))
	case last.Report.Outcome != report.Completed:
		err = errors.New("the recorded run did not complete: ask for another with /verify")
	}
	if err != nil {
		return nil, &rundir.UsageError{Err: err}
	}
	if err := p.begun.dir.Keep(last.Dir); err != nil {
		return nil, fmt.Errorf("keep the recorded run: %w", err)
	}
	return &rundir.Reuse{RunID: last.Report.RunID, Head: last.Report.HeadSHA, Digest: last.Digest, Accepted: true}, nil
}

// Accepted is the report of a run that ran nothing and keeps the last run, which it
// concludes again with what people accepted.
func Accepted(b rundir.Begun) (*report.Report, error) {
	dir := filepath.Join(b.Dir, rundir.Previous)
	last, err := rundir.ReadReport(dir)
	if err != nil {
		return nil, err
	}
	old, err := rundir.Read(dir, nil)
	if err != nil {
		return nil, err
	}
	f := FoundIn(old.Journal)
	if f.Gate == nil {
		return nil, fmt.Errorf("%s has no result of the gate", dir)
	}
	in := f.Input(old.Begun, old.Journal, nil, report.Completed, nil)
	in.Accepted = append(last.Accepted[:len(last.Accepted):len(last.Accepted)], b.Settings.Accepted...)
	return conclude.Accepted(b.Header(nil), last, rundir.Previous, in), nil
}

// previous runs the checks of the last run's agents again. What the gate found there
// the gate looks at in this run, too. A last run that cannot be used is said and is no
// error.
func (p *prepared) previous(ctx context.Context, reuse *rundir.Reuse, s *snapshots) (*reproduce.Previous, error) {
	none := func(format string, args ...any) (*reproduce.Previous, error) {
		return &reproduce.Previous{Notes: []string{"the last run was not looked at again: " + fmt.Sprintf(format, args...)}}, nil
	}
	if reuse == nil || reuse.Digest == "" {
		why := "it was not kept"
		if reuse != nil && reuse.Why != "" {
			why = reuse.Why
		}
		return none("%s", why)
	}
	last, err := reproduce.ReadLast(filepath.Join(p.begun.dir.Path, rundir.Previous))
	if err != nil {
		return none("%v", err)
	}
	rep := last.Report
	if rep.PR != p.source.Change.PR || rep.Repo != p.source.Change.Repo && p.begun.job.Trigger == "cli" { // hosts know whose run it is
		return none("it is of %s#%d", rep.Repo, rep.PR)
	}
	sides, err := p.sides(ctx, s)
	if err != nil {
		return none("%v", err)
	}
	out := &reproduce.Previous{RunID: rep.RunID, Head: rep.HeadSHA, Verdict: rep.Verdict, Diff: since(ctx, p.mirror, rep.HeadSHA, p.source.Change.HeadSHA)}
	judge := reproduce.Judge{Dir: p.begun.dir.Path, Source: p.source}
	out.Checks, out.Missing, err = last.Again(ctx, sides, judge, reproduce.Share(ctx, p.runner.Now(), reproduce.ShareOfHeld), p.runner.Now)
	return out, err
}

// since is what differs from an earlier head to this one; "" where the mirror has
// not got that head.
func since(ctx context.Context, m *workspace.Mirror, head, now string) string {
	if head == now {
		return ""
	}
	patch, err := m.Patch(ctx, head, now, previousDiff)
	if err != nil && !errors.Is(err, git.ErrTooLarge) {
		return ""
	}
	return string(patch)
}
