package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// errLost is the cause of the context of jobs whose worker lost the lock that says it is
// alive: its peers give them to others.
var errLost = errors.New("the connection that keeps this worker's lock is lost")

// ErrBusy says that another process works on the SQLite file.
var ErrBusy = errors.New("another process works on this database; use PostgreSQL for more than one")

// letGo is how long jobs that are handed back have to notice.
const letGo = 10 * time.Second

// aliveWithin is how long the database may take to answer the connection that holds a
// worker's lock, and how long it waits for a machine that is silent.
const aliveWithin = 5 * time.Second

// Run works on jobs until ctx ends, then drains: no job is begun any more, those that
// run may go on for Options.Drain, and then are handed back. It also keeps house, which
// a process without workers does too (work is nil then). It is called once.
//
// A PostgreSQL that goes away is waited for. After an error the process must end: another
// worker was given jobs that are at work here.
func (q *Queue) Run(ctx context.Context, work func(context.Context, job.Job) error) error {
	q.work = work
	if q.o.Workers == 0 {
		return q.keep(ctx, nil)
	}
	guard, err := q.alive(ctx)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	events, done := q.engine.ended()
	defer done()
	if err := q.engine.start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(fmt.Errorf("queue: start: %w", err), guard.release())
	}
	go func() {
		for range events { // a place became free
			q.signal()
		}
	}()
	// The house is kept while jobs drain as well: the lock must be watched to the end.
	house, closeHouse := context.WithCancel(context.WithoutCancel(ctx))
	defer closeHouse()
	kept := make(chan error, 1)
	go func() { kept <- q.keep(house, guard) }()
	select {
	case err := <-kept:
		q.abandon()
		return fmt.Errorf("queue: %w", err)
	case <-ctx.Done():
	}
	drained := make(chan error, 1)
	go func() { drained <- q.drain(context.WithoutCancel(ctx)) }()
	select {
	case err := <-kept:
		q.abandon()
		return fmt.Errorf("queue: %w", err)
	case err := <-drained:
		closeHouse()
		return errors.Join(err, <-kept, guard.release())
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

// abandon ends what runs here though it is not this worker's any more, and waits for it a while.
func (q *Queue) abandon() {
	q.mu.Lock()
	q.lost = true
	q.mu.Unlock()
	q.cancelAll(errLost)
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

// keep does what has to be done from time to time. It returns nil when ctx ends, and an
// error when this worker does not count as alive any more. Other errors are logged: the
// database will be there again.
func (q *Queue) keep(ctx context.Context, g *guard) error {
	tick := time.NewTicker(q.o.Watch)
	defer tick.Stop()
	wake, rested := q.wake, (<-chan time.Time)(nil)
	troubled := false
	for {
		house := []func(context.Context) error{q.turn}
		select {
		case <-ctx.Done():
			return nil
		case <-rested:
			wake, rested = q.wake, nil
			continue
		case <-wake:
		case <-tick.C:
			if err := g.check(ctx); err != nil && ctx.Err() == nil {
				if err := q.regain(ctx, g, err); err != nil {
					return err
				}
			}
			house = []func(context.Context) error{q.watch, q.reap, q.turn}
		}
		began, failed := q.db.Now(), error(nil)
		for _, f := range house {
			if err := f(ctx); err != nil && ctx.Err() == nil {
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
		wake, rested = nil, time.After(calm*q.db.Now().Sub(began))
	}
}

// turn lets those begin whose turn it is.
func (q *Queue) turn(ctx context.Context) error {
	return q.db.Write(ctx, func(tx *store.Tx) error { return q.promote(ctx, tx) })
}

// A guard is what shows others that this worker lives: the lock on a file beside
// SQLite's, or an advisory lock that a connection to PostgreSQL holds.
type guard struct {
	conn   *pgx.Conn    // nil: SQLite, or no guard
	unlock func() error // of SQLite
}

// release gives the guard back.
func (g *guard) release() error {
	if g.unlock != nil {
		return g.unlock()
	}
	ctx, cancel := context.WithTimeout(context.Background(), aliveWithin)
	defer cancel()
	return g.conn.Close(ctx)
}

// drop closes a connection that is of no use any more.
func (g *guard) drop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = g.conn.Close(ctx) // it is broken
}

// alive takes the guard, before the first job is begun. On SQLite what still counts as
// running is of a process that died, and is begun again.
func (q *Queue) alive(ctx context.Context) (*guard, error) {
	if q.db.Postgres() == nil {
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
				q.o.Log.InfoContext(ctx, "jobs of a worker that died are begun again", "jobs", n)
			}
			return err
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("rescue jobs: %w", err), release())
		}
		return &guard{unlock: release}, nil
	}
	conn, err := q.lock(ctx, `select true from (select pg_advisory_lock($1)) as locked`)
	if err != nil {
		return nil, err
	}
	return &guard{conn: conn}, nil
}

// lock opens a connection and takes the lock of this worker with it, by a statement that
// gives true where it has it.
func (q *Queue) lock(ctx context.Context, statement string) (_ *pgx.Conn, err error) {
	conn, err := pgx.ConnectConfig(ctx, q.db.Postgres().Config().ConnConfig.Copy())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	// A machine that vanishes without a word must not keep its lock for hours.
	for _, set := range []string{"tcp_keepalives_idle = 3", "tcp_keepalives_interval = 1", "tcp_keepalives_count = 3", "tcp_user_timeout = 6000"} {
		if _, err := conn.Exec(ctx, "set "+set); err != nil {
			return nil, fmt.Errorf("set %s: %w", set, err)
		}
	}
	var locked bool
	err = conn.QueryRow(ctx, statement, store.LockKey(q.worker)).Scan(&locked)
	if err == nil && !locked {
		err = errors.New("it is taken")
	}
	if err != nil {
		return nil, fmt.Errorf("take the lock of worker %s: %w", q.worker, err)
	}
	return conn, nil
}

// check reports whether the guard still holds.
func (g *guard) check(ctx context.Context) error {
	if g == nil || g.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, aliveWithin)
	defer cancel()
	return g.conn.Ping(ctx)
}

// reap gives the jobs of workers whose lock is free to others, on PostgreSQL. Only workers
// do so: they notice by their own lock when all locks went with the database.
func (q *Queue) reap(ctx context.Context) error {
	if q.db.Postgres() == nil || q.o.Workers == 0 || q.db.Now().Before(q.quietUntil) {
		return nil
	}
	if q.reclaim {
		if err := q.reapOwn(ctx); err != nil {
			return fmt.Errorf("give back jobs of this worker: %w", err)
		}
		q.reclaim = false
	}
	var workers []string
	err := q.db.Reader().Each(ctx, func(scan store.Scan) error {
		var id string
		err := scan(&id)
		workers = append(workers, id)
		return err
	}, `select distinct attempted_by[array_upper(attempted_by, 1)] from river_job
		where state = 'running' and queue = $1 and attempted_by[array_upper(attempted_by, 1)] <> $2`, queueName, q.worker)
	if err != nil {
		return fmt.Errorf("list workers: %w", err)
	}
	for _, id := range workers {
		if err := q.reapWorker(ctx, id); err != nil {
			return fmt.Errorf("rescue jobs of worker %s: %w", id, err)
		}
	}
	return nil
}

func (q *Queue) reapWorker(ctx context.Context, id string) error {
	return q.db.Write(ctx, func(tx *store.Tx) error {
		free := false
		err := tx.Each(ctx, func(scan store.Scan) error { return scan(&free) }, `select pg_try_advisory_xact_lock($1)`, store.LockKey(id))
		if err != nil || !free {
			return err
		}
		return q.giveAway(ctx, tx, id)
	})
}

// giveAway lets any worker take the jobs of the worker id.
func (q *Queue) giveAway(ctx context.Context, tx *store.Tx, id string) error {
	n, err := tx.Exec(ctx, `update river_job set state = 'available', attempt = greatest(attempt - 1, 0)
		where state = 'running' and queue = $1 and attempted_by[array_upper(attempted_by, 1)] = $2`, queueName, id)
	if err != nil || n == 0 {
		return err
	}
	q.o.Log.InfoContext(ctx, "jobs of a worker that died are begun again", "worker", id, "jobs", n)
	return notify(ctx, tx)
}
