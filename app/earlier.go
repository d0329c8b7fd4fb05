package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// ofRepo selects the runs of a repository, by its number: a name can become another's. By the name where
// the number is not known.
func ofRepo(name string, id int64) store.RunFilter {
	if id == 0 {
		return store.RunFilter{Repo: name}
	}
	return store.RunFilter{RepoIDs: []int64{id}}
}

// ofPull selects the runs of a pull request of the repository of j.
func ofPull(j job.Job, number int) store.RunFilter {
	f := ofRepo(j.Repo.FullName(), j.Repo.ID)
	f.Number = number
	return f
}

// finished returns the newest run that f selects and that came to a verdict; none: an empty list.
func (w *Worker) finished(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	f.State, f.Limit = store.Finished, 1
	return w.DB.Runs(ctx, f)
}

// recorded is the run whose verdict j, which accepts, has concluded again: the newest of its head that came
// to one. There is none where that run did not come to its own end, was about another base than the pull
// request has now, or cannot be read by this version of the program.
func (w *Worker) recorded(ctx context.Context, h Host, j job.Job) (run string, ok bool, err error) {
	of := ofPull(j, j.Number)
	of.Commit = j.HeadSHA
	runs, err := w.finished(ctx, of)
	if err != nil || len(runs) == 0 {
		return "", false, err
	}
	last := runs[0]
	if same, err := w.into(ctx, last, j); err != nil || !same {
		return "", false, err
	}
	body, err := w.DB.File(ctx, last.ID, "report.json")
	if errors.Is(err, store.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if rep, err := report.Parse(body); err != nil || rep.Outcome != report.Completed {
		return "", false, nil //nolint:nilerr // one of another version cannot be concluded again
	}
	if err := w.export(ctx, last); err != nil {
		return "", false, err
	}
	return last.ID, h.Readable(w.dir(last)), nil
}

// into reports whether a run was about the base that j is for. What another base lets count, or has accepted by
// whom, says nothing of this one.
func (w *Worker) into(ctx context.Context, run store.Run, j job.Job) (bool, error) {
	a, err := w.assignment(ctx, run, job.Job{})
	if err != nil {
		return false, err
	}
	if a.Job.Base == "" { // earlier versions kept no branch
		return run.BaseSHA == j.BaseSHA, nil
	}
	base := j.Base
	if j.Number == 0 {
		base = job.QueuedBase(j.Ref)
	}
	return a.Job.Base == base, nil
}

// settled reports whether nothing is to come that says more of the pull request of j, which accepts: a later
// check run must not cover it. [queue.ErrLater]: it is being posted.
func (w *Worker) settled(ctx context.Context, j job.Job) (bool, error) {
	active, err := w.active(ctx, j)
	if err != nil {
		return false, err
	}
	var later error
	for _, e := range active {
		if e.Job.ID == j.ID || e.Job.Accept {
			continue
		}
		posting, err := w.Queue.Concluded(ctx, e.Job.ID)
		if err != nil || !posting {
			return false, err
		}
		later = queue.ErrLater
	}
	return true, later
}

// accepted are what people accepted on the pull request of a run: of a job that
// accepts, its own; else what the last run has, where that was for the same base: who may accept, and
// what, is for each base to say.
func (w *Worker) accepted(ctx context.Context, a Assignment) ([]report.Acceptance, error) {
	if a.Job.Accept {
		at := a.Job.At
		if at.IsZero() {
			at = w.Now()
		}
		return []report.Acceptance{{By: a.Job.Actor.Login, At: at.UTC().Format(time.RFC3339), Reason: a.Job.Words}}, nil
	}
	number := a.Job.Number
	if number == 0 {
		number = job.QueuedPull(a.Job.Ref)
	}
	if number == 0 {
		return nil, nil
	}
	last, err := w.finished(ctx, ofPull(a.Job, number))
	if err != nil || len(last) == 0 {
		return nil, err
	}
	if same, err := w.into(ctx, last[0], a.Job); err != nil || !same {
		return nil, err
	}
	if err := w.export(ctx, last[0]); err != nil {
		return nil, err
	}
	return report.AcceptedIn(w.dir(last[0]))
}

// previous is the directory of the last run of the same pull request, whose checks are
// run again; empty where there is none, or it does not count. Of a job that accepts it is
// the run that is concluded again.
func (w *Worker) previous(ctx context.Context, a Assignment) (string, error) {
	if a.Job.Accept {
		run, err := w.DB.Run(ctx, a.Job.Record)
		if err != nil {
			return "", err
		}
		return w.dir(run), w.export(ctx, run)
	}
	if a.Job.Number == 0 || a.Job.Full || a.Job.Trust != job.Trusted {
		return "", nil
	}
	last, err := w.finished(ctx, ofPull(a.Job, a.Job.Number))
	if err != nil || len(last) == 0 {
		return "", err
	}
	return w.dir(last[0]), w.export(ctx, last[0])
}

// export has the directory of a run that ended be whole on this machine.
func (w *Worker) export(ctx context.Context, run store.Run) error {
	dir := w.dir(run)
	if _, err := os.Stat(filepath.Join(dir, "SHA256SUMS")); err == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return w.DB.Restore(ctx, run.ID, dir)
}
