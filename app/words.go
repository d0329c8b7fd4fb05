package app

import (
	"context"
	"errors"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// hasWords reports whether j has words that a run which is under way can be given.
func hasWords(j job.Job) bool {
	return j.Verb == event.VerbVerify && j.Trigger == job.TriggerComment && j.Words != "" && !j.Full && !j.Accept
}

// passed reports whether the words of j went to a run that was under way on the same
// commit, so that no other is begun for them. [queue.ErrLater] says that this run has
// them before it but has not taken them yet: should it end first, j is a run of its own.
func (w *Worker) passed(ctx context.Context, j job.Job) (bool, error) {
	run, offered, err := w.DB.Lookup(ctx, "words/"+j.ID)
	if err != nil {
		return false, err
	}
	if !offered {
		err := w.alone(ctx, j, func(ctx context.Context) (err error) {
			run, offered, err = w.offer(ctx, j)
			return err
		})
		if err != nil || !offered {
			return false, err
		}
	}
	if _, heard, err := w.DB.Lookup(ctx, "heard/"+j.ID); err != nil || heard {
		return heard, err
	}
	of, err := w.DB.Run(ctx, run)
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && of.State != store.Running:
		return false, nil
	case err != nil:
		return false, err
	}
	return false, queue.ErrLater
}

// offer puts the words of j before the run that is under way on the commit which j is
// about, and says so, if there is one and their author may.
func (w *Worker) offer(ctx context.Context, j job.Job) (run string, offered bool, err error) {
	if run, offered, err = w.DB.Lookup(ctx, "words/"+j.ID); err != nil || offered {
		return run, offered, err // meanwhile, by another
	}
	active, err := w.active(ctx, j)
	if err != nil || len(active) < 2 { // j is one of them
		return "", false, err
	}
	h, err := w.Hosts(ctx, j)
	if err != nil {
		return "", false, err
	}
	defer w.close(ctx, h)
	facts, c, err := h.Learn(ctx, j)
	if err != nil {
		return "", false, err
	}
	facts.Usage = &job.Usage{} // words begin no run, so no limit counts
	d := job.Authorize(j, facts, c, w.Rules)
	if !d.Run {
		return "", false, nil // the queue's turn comes, and says why
	}
	run, err = w.underWay(ctx, active, d.Job)
	if err != nil || run == "" {
		return "", false, err
	}
	if err := w.DB.Record(ctx, "words/"+j.ID, run); err != nil {
		return "", false, err
	}
	w.seen(ctx, h, j)
	text := "A run of `" + change.Short(d.Job.HeadSHA) + "` is running and will receive this; if it ends first, a new run starts."
	return run, true, h.Reply(ctx, j, job.Skip{Code: "passed", Text: text, Notify: job.NotifyComment, Number: j.Number})
}

// underWay is the run among active that an agent takes part in and that is of the commit
// of j; empty where there is none.
func (w *Worker) underWay(ctx context.Context, active []queue.Entry, j job.Job) (string, error) {
	for _, e := range active {
		if e.Job.ID == j.ID || e.State != queue.Working {
			continue
		}
		run, err := w.DB.RunOfJob(ctx, e.Job.ID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		a, err := w.assignment(ctx, run, e.Job)
		if err != nil {
			return "", err
		}
		if run.State == store.Running && !a.Job.GateOnly && a.Job.HeadSHA == j.HeadSHA {
			return run.ID, nil
		}
	}
	return "", nil
}

// listenEvery is how often a run looks for what was said to it.
const listenEvery = time.Second

// listen hands the run of a what people say to it, until ctx ends. A run that has no one
// who listens does not take it.
func (w *Worker) listen(ctx context.Context, a Assignment, words chan<- string) {
	if a.Job.Number == 0 {
		return
	}
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	for {
		if err := w.hand(ctx, a, words); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "what was said to a run cannot be read", "run", a.Run, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Worker) hand(ctx context.Context, a Assignment, words chan<- string) error {
	active, err := w.active(ctx, a.Job)
	if err != nil {
		return err
	}
	for _, e := range active {
		if !hasWords(e.Job) {
			continue
		}
		run, _, err := w.DB.Lookup(ctx, "words/"+e.Job.ID)
		if err != nil {
			return err
		}
		_, heard, err := w.DB.Lookup(ctx, "heard/"+e.Job.ID)
		if err != nil {
			return err
		}
		if run != a.Run || heard {
			continue
		}
		select {
		case words <- e.Job.Words:
			if err := w.DB.Record(ctx, "heard/"+e.Job.ID, run); err != nil {
				return err
			}
		default:
		}
	}
	return nil
}
