package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/riverqueue/river"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// errDied says that no worker survived a job.
var errDied = errors.New("the worker died each time the job was begun")

// errAway says that an attempt failed because the database was away, which uses up none.
var errAway = errors.New("the database was away")

// ErrLater is what work returns of a job whose time has not come: nothing was begun, and
// it is asked again in a while. It keeps its place under the caps.
var ErrLater = errors.New("not yet")

// later is that while.
const later = 2 * time.Second

// An Outside says that work cannot be done now because what it depends on outside of ycbot is away, or
// wants to be asked later. No attempt is used up.
type Outside struct {
	Err   error
	Until time.Time // when to try again; zero: in a while
}

// Error implements error.
func (e *Outside) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *Outside) Unwrap() error { return e.Err }

const (
	outsideWait = 30 * time.Second // that while
	outsideMost = 2 * time.Hour    // how long at most it waits for the time that is named
	outsideFor  = 6 * time.Hour    // how old a job is for which what is away counts as what fails
)

// putOff is how long a job waits that could not be read.
const putOff = 5 * time.Second

// worker is what River calls.
type worker struct {
	river.WorkerDefaults[work]
	q *Queue
}

// Work does one attempt at a job.
func (w *worker) Work(ctx context.Context, r *river.Job[work]) error {
	q := w.q
	ctx, end := q.enter(ctx, r.Args.ID)
	defer end()
	outages, away := q.outage()
	if away {
		q.await(ctx)
	}
	j, starts, why, err := q.begin(ctx, r.Args.ID)
	if errors.Is(err, errLost) {
		return q.settle(ctx, j, r.Attempt, err)
	}
	if err != nil {
		q.await(ctx)
		q.o.Log.WarnContext(ctx, "job rescheduled", "job", r.Args.ID, "error", err)
		return river.JobSnooze(putOff) // the work was not tried, so no attempt is used up
	}
	if why != "" {
		q.cancelHere([]string{j.ID}, why)
	}
	switch {
	case why != "" && starts == 1: // nothing of it was visible
		return river.JobCancel(&Cancelled{Reason: why})
	case starts > q.o.Starts:
		q.giveUp(ctx, j, errDied)
		return river.JobCancel(errDied)
	}
	err = q.attempt(ctx, j)
	if err != nil && ctx.Err() == nil && q.failed(ctx, outages) {
		q.o.Log.WarnContext(ctx, "job is begun again when the database answers", "job", j.ID, "error", err)
		q.await(ctx)
		err = errAway
	} else if _, away := q.outage(); away {
		q.await(ctx)
	}
	return q.settle(ctx, j, r.Attempt, err)
}

// settle reports to River what an attempt that ended so means.
func (q *Queue) settle(ctx context.Context, j job.Job, attempt int, err error) error {
	cause := context.Cause(ctx)
	var cancelled *Cancelled
	var outside *Outside
	switch {
	case errors.Is(cause, errLost):
		select {} // River must hear nothing of a job that is another worker's now; the process ends
	case errors.As(cause, &cancelled):
		return river.JobCancel(cancelled)
	case err == nil:
		return nil
	case errors.Is(err, ErrLater):
		if err := q.notBegun(ctx, j); err != nil {
			q.o.Log.WarnContext(ctx, "job rescheduled", "job", j.ID, "error", err)
		}
		return river.JobSnooze(later)
	case errors.Is(cause, ErrHandBack), errors.Is(err, errAway), q.ending(): // what fails at the end is not the job's fault
		return river.JobSnooze(0)
	case errors.As(err, &outside) && q.waitsOutside(ctx, j):
		wait := outsideWait
		if !outside.Until.IsZero() {
			wait = min(max(outside.Until.Sub(q.db.Now()), time.Second), outsideMost)
		}
		q.o.Log.WarnContext(ctx, "job waits for what it depends on", "job", j.ID, "wait", wait, "error", err)
		return river.JobSnooze(wait)
	case attempt >= q.o.Attempts:
		q.giveUp(ctx, j, err)
		return river.JobCancel(err)
	}
	q.o.Log.WarnContext(ctx, "job has failed and is tried again", "job", j.ID, "attempt", attempt, "error", err)
	return err
}

// ending says whether this process is about to end.
func (q *Queue) ending() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.draining
}

// waitsOutside says whether a job is young enough to wait for what is away. No worker died of it, so
// it does not count as begun more than once.
func (q *Queue) waitsOutside(ctx context.Context, j job.Job) bool {
	var created int64
	ctx = context.WithoutCancel(ctx)
	err := q.db.Write(ctx, func(tx *store.Tx) error {
		return tx.Each(ctx, func(scan store.Scan) error { return scan(&created) },
			`update jobs set starts = case when starts > 1 then starts - 1 else starts end where id = $1 returning created`, j.ID)
	})
	if err != nil {
		q.o.Log.WarnContext(ctx, "how old a job is cannot be read", "job", j.ID, "error", err)
		return true
	}
	return q.db.Now().Sub(store.FromMicros(created)) < outsideFor
}

// notBegun takes back that a job was begun.
func (q *Queue) notBegun(ctx context.Context, j job.Job) error {
	ctx = context.WithoutCancel(ctx)
	return q.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `update jobs set starts = starts - 1, queued_check = `+checkNotBegun+` where id = $1`, j.ID)
		return err
	})
}

func (q *Queue) giveUp(ctx context.Context, j job.Job, err error) {
	if q.o.GaveUp != nil {
		q.o.GaveUp(ctx, j, err)
	}
}

// enter makes the context that a job runs in. Only the queue cancels it, never River,
// so that its cause is always one of this package's.
func (q *Queue) enter(ctx context.Context, id string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(q.fenced(context.WithoutCancel(ctx)))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running[id] = cancel
	if q.lost {
		cancel(errLost)
	}
	return ctx, func() {
		q.mu.Lock()
		delete(q.running, id)
		q.mu.Unlock()
		cancel(nil)
	}
}

// begin reads a job and counts that it is begun. A job that is stopped meanwhile is begun all the same:
// it could have been counted already.
func (q *Queue) begin(ctx context.Context, id string) (j job.Job, starts int, why Reason, err error) {
	ctx = context.WithoutCancel(ctx)
	var body []byte
	err = q.db.Write(ctx, func(tx *store.Tx) error {
		return tx.Each(ctx, func(scan store.Scan) error { return scan(&body, &starts, &why) },
			`update jobs set starts = starts + 1, queued_check = `+checkBegun+` where id = $1 returning body, starts, cancel`, id)
	})
	if err == nil && body == nil {
		err = ErrUnknown
	}
	if err == nil {
		err = json.Unmarshal(body, &j)
	}
	if err != nil {
		return j, 0, "", fmt.Errorf("begin job %s: %w", id, err)
	}
	return j, starts, why, nil
}

// attempt calls the work; a panic is an error of it.
func (q *Queue) attempt(ctx context.Context, j job.Job) (err error) {
	q.busy.Add(1)
	defer q.busy.Done()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if errors.Is(context.Cause(ctx), errLost) {
		return errLost
	}
	return q.work(ctx, j)
}
