package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// publishWithin is how long publishing the result of a run is retried. GitHub itself ends a check
// run that was left unfinished for longer.
const publishWithin = 14 * 24 * time.Hour

// PublishEnded posts the ends of runs that ended while GitHub did not let the App post, because it
// was removed from the repository or suspended, as far as it lets now: those of an
// account's repositories, or of all where account is empty.
func (w *Worker) PublishEnded(ctx context.Context, account string) error {
	return w.DB.Exclusively(ctx, "announce", func(ctx context.Context) error {
		runs, err := w.DB.Runs(ctx, store.RunFilter{Untold: true, Limit: manyRuns})
		if err != nil {
			return err
		}
		var errs []error
		for _, run := range slices.Backward(runs) { // the oldest first
			owner, _, _ := strings.Cut(run.Repo, "/")
			if account != "" && !strings.EqualFold(owner, account) {
				continue
			}
			if err := w.publishEnded(ctx, run); err != nil {
				errs = append(errs, fmt.Errorf("run %s: %w", run.ID, err))
			}
		}
		return errors.Join(errs...)
	})
}

// publishEnded does so for one run. Where GitHub lets the App in again and still refuses this, it
// is not tried any more.
func (w *Worker) publishEnded(ctx context.Context, run store.Run) error {
	entry, err := w.Queue.Get(ctx, run.Job)
	if err != nil && !errors.Is(err, queue.ErrUnknown) {
		return err
	}
	a, err := w.assignment(ctx, run, entry.Job)
	if err != nil {
		return err
	}
	if a.Job.ID == "" || w.Now().Sub(run.Ended) > publishWithin {
		run.Untold = false
		return w.DB.SaveRun(ctx, run)
	}
	ctx = about(ctx, a.Job)
	repo, installation, err := w.Installed(ctx, a.Job.Repo)
	if err != nil || installation == 0 {
		return err
	}
	a.Job.Repo, a.Job.Installation = repo, installation
	var permanent *Permanent
	err = w.tellNow(ctx, run, a, entry.Cancel)
	switch {
	case errors.As(err, &permanent):
		w.Log.WarnContext(ctx, "cannot publish the run's result", "run", run.ID, "error", err)
	case err != nil:
		return err
	default:
		w.Log.InfoContext(ctx, "published the run's result", "run", run.ID, "installation", installation)
	}
	run.Untold, run.Installation = false, installation
	return w.DB.SaveRun(ctx, run)
}

func (w *Worker) tellNow(ctx context.Context, run store.Run, a Assignment, why queue.Reason) error {
	h, err := w.Hosts(ctx, a.Job)
	if err != nil {
		return err
	}
	defer w.close(ctx, h)
	if err := w.export(ctx, run); err != nil {
		if run.Verdict != "" && (blobsAway(err) || ctx.Err() != nil) { // its report is there later
			return err
		}
		w.Log.WarnContext(ctx, "published without the report", "run", run.ID, "error", err)
	}
	e := Ending{Kind: why, Failure: errors.New(run.Reason)}
	if run.Number != 0 {
		of := ofRepo(run.Repo, run.RepoID)
		of.Number = run.Number
		last, err := w.finished(ctx, of)
		if err != nil {
			return err
		}
		e.Late = len(last) > 0 && last[0].Created.After(run.Created)
	}
	ctx, cancel := after(ctx)
	defer cancel()
	_, err = h.Finish(ctx, a, nil, e)
	return err
}
