package app

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/ycbot/ycbot/internal/job"
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

// recorded is the newest run of the head of j that came to a verdict.
func (w *Worker) recorded(ctx context.Context, j job.Job) (store.Run, bool, error) {
	f := ofPull(j, j.Number)
	f.State = store.Finished
	runs, err := w.DB.Runs(ctx, f)
	if err != nil {
		return store.Run{}, false, err
	}
	for _, r := range runs {
		if r.HeadSHA == j.HeadSHA {
			return r, true, nil
		}
	}
	return store.Run{}, false, nil
}

// accepted are what people accepted on the pull request of a run: of a job that
// accepts, its own; else what the last run has.
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
	if err := w.export(ctx, last[0]); err != nil {
		return nil, err
	}
	return report.AcceptedIn(w.dir(last[0]))
}

// previous is the directory of the last run of the same pull request, whose checks are
// run again; empty where there is none, or it does not count.
func (w *Worker) previous(ctx context.Context, a Assignment) (string, error) {
	if a.Job.Accept {
		run, ok, err := w.recorded(ctx, a.Job)
		if err != nil || !ok {
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
