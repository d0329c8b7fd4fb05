package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// A Chore is something that is looked after at the start and then from time to time.
type Chore struct {
	Name string
	Do   func(context.Context) error
}

// Keep does chores at once, and again each time that every has passed, until ctx ends.
// What fails is logged, and done again the next time.
func Keep(ctx context.Context, every time.Duration, log *slog.Logger, chores ...Chore) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for _, c := range chores {
			if err := c.Do(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "periodic task failed", "chore", c.Name, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ownTime is how long the process that ended a job may take to end its run.
const ownTime = 2 * endTime

// Orphans ends the runs that count as running though their job is over: their worker
// died between the two, or GitHub could not be reached when they were given up. Processes that were
// started together do it one after another: each would find the same runs, and post what became of them.
func (w *Worker) Orphans(ctx context.Context) error {
	return w.DB.Exclusively(ctx, "announce", w.orphans)
}

func (w *Worker) orphans(ctx context.Context) error {
	running, err := w.DB.Runs(ctx, store.RunFilter{State: store.Running, Limit: manyRuns})
	if err != nil {
		return err
	}
	var errs []error
	for _, run := range running {
		entry, err := w.Queue.Get(ctx, run.Job)
		unknown := errors.Is(err, queue.ErrUnknown)
		switch {
		case err != nil && !unknown:
			errs = append(errs, err)
		case !unknown && (entry.State == queue.Waiting || entry.State == queue.Working) || w.Now().Sub(run.Started) < ownTime:
		default:
			if err := w.orphan(ctx, run, entry); err != nil {
				errs = append(errs, fmt.Errorf("run %s: %w", run.ID, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (w *Worker) orphan(ctx context.Context, run store.Run, entry queue.Entry) error {
	a, err := w.assignment(ctx, run, entry.Job)
	if err != nil {
		return err
	}
	ctx = about(ctx, a.Job)
	if run.Reason != "" && a.Job.ID != "" {
		return w.givenUp(ctx, run, a, Ending{Kind: entry.Cancel, Failure: errors.New(run.Reason)})
	}
	e := Ending{Kind: entry.Cancel, Failure: errors.New("ycbot was restarted while the run went on: ask for it again with /verify")}
	h, err := w.Hosts(ctx, a.Job)
	var permanent *Permanent
	if errors.As(err, &permanent) || a.Job.ID == "" {
		run.Untold = a.Job.ID != ""
		return w.end(ctx, run, nil, e)
	}
	if err != nil {
		return err
	}
	defer w.close(ctx, h)
	return w.finish(ctx, h, run, a, nil, e)
}

// A Delivery is an attempt of GitHub's to deliver an event.
type Delivery struct {
	ID     int64
	GUID   string // of the event
	Status int    // that was answered; 0: none
}

// Hooks knows what GitHub tried to deliver.
type Hooks interface {
	// Deliveries lists attempts since a time, the newest first.
	Deliveries(ctx context.Context, since time.Time) ([]Delivery, error)
	// Redeliver asks for one more attempt at the event of this one.
	Redeliver(ctx context.Context, id int64) error
}

const (
	missedSince  = 3 * 24 * time.Hour // GitHub forgets deliveries after that
	missedTries  = 6                  // attempts at an event, after which it is left alone
	missedAtOnce = 500                // events that are asked for at a time
)

// A Missed asks for events again that GitHub could not deliver, as it does not repeat
// them by itself.
type Missed struct {
	Hooks Hooks
	Known func(ctx context.Context, guid string) (bool, error) // says what was stored, whatever the answer was
	Now   func() time.Time
	Log   *slog.Logger
}

// Ask does so once for each event.
func (m *Missed) Ask(ctx context.Context) error {
	attempts, err := m.Hooks.Deliveries(ctx, m.Now().Add(-missedSince))
	if err != nil {
		return err
	}
	tries, delivered := map[string]int{}, map[string]bool{}
	for _, d := range attempts {
		tries[d.GUID]++
		delivered[d.GUID] = delivered[d.GUID] || d.Status >= 200 && d.Status < 300
	}
	asked := 0
	var errs []error
	for i := len(attempts) - 1; i >= 0 && asked < missedAtOnce; i-- { // in the order of events
		d := attempts[i]
		if delivered[d.GUID] || tries[d.GUID] >= missedTries {
			continue
		}
		delivered[d.GUID] = true // once
		known, err := m.Known(ctx, d.GUID)
		if err == nil && !known {
			asked++
			err = m.Hooks.Redeliver(ctx, d.ID)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if asked > 0 {
		m.Log.InfoContext(ctx, "requested missed deliveries again", "events", asked)
	}
	return errors.Join(errs...)
}

// sweepStep is how many runs are deleted at once.
const sweepStep = 50

// Sweep forgets what is older than before: jobs, deliveries and runs.
func (w *Worker) Sweep(ctx context.Context, before time.Time) error {
	runs, err := w.DB.Sweep(ctx, before, sweepStep)
	if err != nil {
		return err
	}
	jobs, err := w.Queue.Sweep(ctx, before)
	if runs+jobs > 0 {
		w.Log.InfoContext(ctx, "expired runs deleted", "runs", runs, "jobs", jobs)
	}
	return err
}

var _ Queue = (*queue.Queue)(nil)
