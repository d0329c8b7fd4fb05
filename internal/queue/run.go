package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// ErrBusy says that another process works on the SQLite file.
var ErrBusy = errors.New("another process works on this database; use PostgreSQL for more than one")

// letGo is how long jobs that are handed back have to notice.
const letGo = 10 * time.Second

// Run works on jobs until ctx ends, then drains: no job is begun any more, those that
// run may go on for Options.Drain, and then are handed back. It also keeps house, which
// a process without workers does too (work is nil then). It is called once.
//
// A PostgreSQL that goes away is waited for. After an error the process must end: another
// worker was given jobs that are at work here.
func (q *Queue) Run(ctx context.Context, work func(context.Context, job.Job) error) error {
	q.work = work
	if q.o.Workers == 0 {
		q.keep(ctx)
		return nil
	}
	release, err := q.alive(ctx)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	events, done := q.engine.ended()
	defer done()
	if err := q.engine.start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(fmt.Errorf("queue: start: %w", err), release())
	}
	go func() {
		for range events { // a place became free
			q.signal()
		}
	}()
	// The house is kept while jobs drain as well, and the lease held to the end.
	house, closeHouse := context.WithCancel(context.WithoutCancel(ctx))
	var keeping sync.WaitGroup
	defer keeping.Wait()
	defer closeHouse()
	keeping.Go(func() { q.keep(house) })
	lost := make(chan error, 1)
	if q.db.Postgres() != nil { // its own, as looking after the queue takes a while where very many jobs wait
		keeping.Go(func() {
			if err := q.hold(house); err != nil {
				lost <- err
			}
		})
	}
	select {
	case err := <-lost:
		q.abandon()
		return fmt.Errorf("queue: %w", err)
	case <-ctx.Done():
	}
	drained := make(chan error, 1)
	go func() { drained <- q.drain(context.WithoutCancel(ctx)) }()
	select {
	case err := <-lost:
		q.abandon()
		return fmt.Errorf("queue: %w", err)
	case err := <-drained:
		return errors.Join(err, release())
	}
}

func (q *Queue) drain(ctx context.Context) error {
	q.mu.Lock()
	q.draining = true
	q.mu.Unlock()
	soft, cancel := context.WithTimeout(ctx, q.o.Drain)
	defer cancel()
	if err := q.engine.stop(soft); err == nil {
		return nil
	}
	q.cancelAll(ErrHandBack)
	hard, cancel := context.WithTimeout(ctx, letGo)
	defer cancel()
	if err := q.engine.stop(hard); err != nil {
		return fmt.Errorf("queue: jobs do not let go: %w", err)
	}
	return nil
}

// abandon waits a while for what was ended here because it is not this worker's any more.
func (q *Queue) abandon() {
	ended := make(chan struct{})
	go func() { q.busy.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(letGo):
	}
}

func (q *Queue) cancelAll(cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, cancel := range q.running {
		cancel(cause)
	}
}

// calm is how many times as long as it took a turn is over for: where very many jobs wait
// it takes a while, in which nothing can be stored.
const calm = 4

// askAgain is after what time a process asks again whether it may hand jobs over, where another
// one was at it when a place became free here.
const askAgain = 50 * time.Millisecond

// keep does what has to be done from time to time, until ctx ends. Errors are logged: the
// database will be there again.
func (q *Queue) keep(ctx context.Context) {
	tick := time.NewTicker(q.o.Watch)
	defer tick.Stop()
	wake, rested := q.wake, (<-chan time.Time)(nil)
	troubled := false
	for {
		house, woken := []func(context.Context) error{q.turn}, true
		select {
		case <-ctx.Done():
			return
		case <-rested:
			wake, rested = q.wake, nil
			continue
		case <-wake:
		case <-tick.C:
			house, woken = []func(context.Context) error{q.watch, q.turn}, false
		}
		if _, away := q.outage(); away {
			continue
		}
		began, failed, rest := q.db.Now(), error(nil), time.Duration(0)
		for _, f := range house {
			switch err := f(ctx); {
			case err == nil || ctx.Err() != nil:
			case errors.Is(err, errTaken): // to stand behind it would keep a connection that work needs
				if woken {
					q.signal()
					rest = askAgain
				}
			default:
				failed = err
			}
		}
		switch {
		case failed != nil && !troubled: // once, not at every tick
			q.o.Log.WarnContext(ctx, "queue is not looked after", "error", failed)
		case failed == nil && troubled:
			q.o.Log.InfoContext(ctx, "queue is looked after again")
		}
		troubled = failed != nil
		wake, rested = nil, time.After(max(calm*q.db.Now().Sub(began), rest))
	}
}

// turn lets those begin whose turn it is.
func (q *Queue) turn(ctx context.Context) error {
	return q.db.Write(ctx, func(tx *store.Tx) error { return q.promote(ctx, tx) })
}

// alive has others know that this worker lives, before the first job is begun: by a lock on a
// file beside SQLite's, or by a lease. On SQLite what still counts as running is of a process
// that died, and is begun again.
func (q *Queue) alive(ctx context.Context) (release func() error, err error) {
	if q.db.Postgres() != nil {
		return func() error { return nil }, q.register(ctx)
	}
	release, ok, err := q.db.TryLockFile("worker")
	if err == nil && !ok {
		err = ErrBusy
	}
	if err != nil {
		return nil, err
	}
	err = q.db.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `update river_job set state = 'available', attempt = max(attempt - 1, 0)
			where state = 'running' and queue = $1`, queueName)
		if n > 0 {
			q.o.Log.InfoContext(ctx, "jobs are begun again", "why", "their worker died", "jobs", n)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("rescue jobs: %w", err), release())
	}
	return release, nil
}
