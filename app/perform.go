package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/telemetry"
)

// perform has a run done and says how it ended.
func (w *Worker) perform(ctx context.Context, h Host, run store.Run, a Assignment) error {
	var err error
	if a.Previous, err = w.previous(ctx, a); err != nil && a.Job.Accept { // which is all that there is to do
		return err
	} else if err != nil {
		w.Log.WarnContext(ctx, "cannot look at the last run again", "error", err)
		a.Previous = ""
	}
	if a.Accepted, err = w.accepted(ctx, a); err != nil {
		w.Log.WarnContext(ctx, "cannot read what was accepted before", "error", err)
	}
	if err := h.Begin(ctx, a); err != nil {
		return err
	}
	var mirror *store.Mirror
	err = w.insist(ctx, blobsAway, func() (err error) {
		mirror, err = w.DB.Mirror(ctx, run.ID, a.Dir)
		return err
	})
	if err != nil {
		return err
	}
	rep, err := w.guarded(ctx, h, a, mirror)
	e, cancelled := endOf(ctx)
	switch {
	case err != nil && (errors.Is(err, errLetGo) || errors.Is(err, store.ErrDiverged)):
		return err // the mirror stays open: what was begun may go on writing until the process ends
	case err != nil && !cancelled:
		return errors.Join(err, mirror.Close())
	}
	slow := func(err error) bool { return blobsAway(err) || errors.Is(err, context.DeadlineExceeded) } // each time less is left to do
	err = w.insist(ctx, slow, func() error {
		end, cancel := after(ctx)
		defer cancel()
		end, stop := w.soon(end, ctx)
		defer stop()
		return mirror.Finish(end)
	})
	if err = errors.Join(err, mirror.Close()); err != nil {
		return err
	}
	end, cancel := after(ctx)
	defer cancel()
	if !cancelled { // from here on a stop comes too late
		var c *queue.Cancelled
		switch err := w.Queue.Conclude(end, a.Job.ID); {
		case errors.As(err, &c):
			e = Ending{Kind: c.Reason, Failure: c}
		case err != nil:
			return err
		}
	}
	return w.finish(ctx, h, run, a, rep, e)
}

// endOf is how a run whose context has ended so shall end; false where the job is not
// cancelled.
func endOf(ctx context.Context) (Ending, bool) {
	var c *queue.Cancelled
	if errors.As(context.Cause(ctx), &c) {
		return Ending{Kind: c.Reason, Failure: c}, true
	}
	return Ending{}, false
}

// errLetGo says that a run was left as it is.
var errLetGo = errors.New("the run is left to the worker that continues it")

// guarded verifies while the job is ours. Where it is cancelled the run is asked to end,
// and has its say. Where it must be handed over, the run is left as a crash would leave
// it, because what ends properly is not gone on with: the process is about to end.
func (w *Worker) guarded(ctx context.Context, h Host, a Assignment, mirror *store.Mirror) (*report.Report, error) {
	type result struct {
		rep *report.Report
		err error
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx)) // also of a run that was asked to end
	inner, cancel := context.WithCancelCause(life)
	copied := &copier{w: w, mirror: mirror, end: end, asked: inner}
	copied.ended.Go(func() { copied.late(life) })
	words := make(chan string)
	copied.ended.Go(func() { w.listen(life, a, words) })
	link := Link{
		Wrote: func() error { return copied.wrote(life) }, Kept: func() error { return copied.kept(life) }, Words: words,
	}
	done := make(chan result, 1)
	go func() {
		defer cancel(nil)
		defer func() {
			if p := recover(); p != nil {
				done <- result{nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
			}
		}()
		rep, err := h.Verify(inner, a, link)
		done <- result{rep, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		if _, cancelled := endOf(ctx); !cancelled {
			return nil, fmt.Errorf("%w: %w", errLetGo, context.Cause(ctx))
		}
		cancel(context.Cause(ctx))
		r = <-done
	}
	diverged := errors.Is(context.Cause(life), store.ErrDiverged)
	end(nil)
	copied.ended.Wait()
	if diverged {
		return nil, context.Cause(life)
	}
	return r.rep, r.err
}

// copyEvery is how often a run is copied into the database, for those who watch. What it
// goes on from, if it must, is its journal: on PostgreSQL, where that may be on any
// machine, an entry is in the database before the run relies on it ([copier.kept]); the
// SQLite file lies on the same disk as the directory.
const copyEvery = time.Second

// A copier copies the run's directory while the run writes to it.
type copier struct {
	w      *Worker
	mirror *store.Mirror
	end    context.CancelCauseFunc // of the run
	ended  sync.WaitGroup
	asked  context.Context //nolint:containedctx // ends when the run is asked to end

	mu   sync.Mutex
	last time.Time
	more bool // was written since
}

// wrote is called when there is more in the directory.
func (c *copier) wrote(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.w.Now()
	if c.more = now.Sub(c.last) < copyEvery; c.more {
		return nil
	}
	c.last = now
	return c.copy(ctx)
}

// The first wait and the longest between tries of a database that does not answer.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
)

// kept copies what the journal has more. While the database does not answer, or blobs cannot
// be stored, the run waits: what it did is not lost, and a worker that is taken for dead is
// asked to end.
func (c *copier) kept(ctx context.Context) error {
	if c.w.DB.Postgres() == nil {
		return nil
	}
	return c.w.insist(ctx, func(error) bool { return c.asked.Err() == nil }, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.copy(ctx)
	})
}

// blobsAway says whether it helps to wait for the bucket.
func blobsAway(err error) bool { return errors.Is(err, store.ErrBlobsAway) }

// insist does something until it is done, fails for a reason that does not pass, or ctx has ended.
func (w *Worker) insist(ctx context.Context, passes func(error) bool, do func() error) error {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		err := do()
		if err == nil || ctx.Err() != nil || !passes(err) {
			return err
		}
		w.Log.WarnContext(ctx, "run waits for the database or for blobs", "error", err)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// lastCopy is how long a copy may take when the run was asked to end.
const lastCopy = 20 * time.Second

// leftTime is how long it may take to have on this machine what another has of a run with a result.
const leftTime = 5 * time.Minute

// soon is ctx, which ends a while after asked has: no stop waits for a bucket that does not answer.
func (w *Worker) soon(ctx, asked context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(asked, func() {
		t := time.AfterFunc(w.lastCopy, cancel)
		context.AfterFunc(ctx, func() { t.Stop() })
	})
	return ctx, func() { stop(); cancel() }
}

// copy copies. That another worker goes on with the run ends it here.
func (c *copier) copy(ctx context.Context) error {
	ctx, cancel := c.w.soon(ctx, c.asked)
	defer cancel()
	err := c.mirror.Sync(ctx)
	if errors.Is(err, store.ErrDiverged) {
		c.end(err)
	}
	return err
}

// late copies what came too soon after the copy before, so that people who watch see
// what is done now, however long it takes.
func (c *copier) late(ctx context.Context) {
	tick := time.NewTicker(copyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		if c.more {
			c.more, c.last = false, c.w.Now()
			if err := c.copy(ctx); err != nil && ctx.Err() == nil {
				c.w.Log.WarnContext(ctx, "cannot copy the run", "error", err)
			}
		}
		c.mu.Unlock()
	}
}

// finish says how a run ended, and then keeps that it did.
func (w *Worker) finish(ctx context.Context, h Host, run store.Run, a Assignment, rep *report.Report, e Ending) error {
	if rep == nil && !e.Unseen {
		var err error
		if e, err = w.left(context.WithoutCancel(ctx), run, a, e); err != nil {
			return err
		}
	}
	ctx, cancel := after(ctx)
	defer cancel()
	published, err := h.Finish(ctx, a, rep, e)
	if published != nil && published.Verdict != report.Error && e.Kind == "" { // it had come to its end
		e.Failure = nil
	}
	var permanent *Permanent
	switch {
	case errors.As(err, &permanent):
		w.Log.WarnContext(ctx, "cannot publish the run's result", "run", run.ID, "repo", run.Repo, "error", err)
		e.Failure = errors.Join(e.Failure, err)
		run.Untold = !e.Unseen
	case err != nil:
		return err
	}
	if published != nil {
		rep = published
	}
	return w.end(ctx, run, rep, e)
}

// left has on this machine what a run left, which another may have had it, and returns how the run
// ends: a stop came too late where its result stands.
func (w *Worker) left(ctx context.Context, run store.Run, a Assignment, e Ending) (Ending, error) {
	if e.Kind != "" {
		over, err := w.Queue.Concluded(ctx, a.Job.ID)
		if err != nil {
			return e, err
		}
		if over {
			e.Kind, e.Failure = "", nil
		}
	}
	within := leftTime
	if e.Kind != "" {
		within = w.lastCopy
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	mirror, err := w.DB.Mirror(ctx, run.ID, a.Dir)
	if err == nil {
		err = mirror.Close()
	}
	if err != nil {
		if e.Kind == "" && (blobsAway(err) || ctx.Err() != nil) { // its result may be there
			return e, err
		}
		w.Log.WarnContext(ctx, "what the run left cannot be read", "run", run.ID, "error", err)
	}
	return e, nil
}

// end keeps that a run ended.
func (w *Worker) end(ctx context.Context, run store.Run, rep *report.Report, e Ending) error {
	run.State, run.Ended, run.Reason = stateOf(rep, e), w.Now(), ""
	if e.Failure != nil {
		run.Reason = report.Line(e.Failure.Error(), 1000)
	}
	if rep != nil {
		if title := report.Line(rep.Subject, 300); title != "" {
			run.Title = title
		}
		if run.Reason == "" {
			run.Reason = rep.Headline(300)
		}
		run.Verdict, run.Tokens = string(rep.Verdict), int64(rep.Usage.InputTokens+rep.Usage.OutputTokens)
		if rep.Usage.CostUSD != nil {
			run.CostUSD = *rep.Usage.CostUSD
		}
	}
	if err := w.DB.SaveRun(ctx, run); err != nil {
		return err
	}
	if err := w.index(ctx, run); err != nil { // a chore does it then
		w.Log.WarnContext(ctx, "a run cannot be searched by its tests yet", "run", run.ID, "error", err)
	}
	w.Metrics.Run(telemetry.RunEnd{State: string(run.State), Verdict: run.Verdict, Duration: run.Ended.Sub(run.Started), CostUSD: run.CostUSD})
	w.Log.InfoContext(ctx, "run has ended", "run", run.ID, "state", run.State, "verdict", run.Verdict)
	return nil
}
