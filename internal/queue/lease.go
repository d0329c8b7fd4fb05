package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ycbot/ycbot/internal/store"
)

// On PostgreSQL a worker is a row of the table workers, which it renews at each tick by one
// statement. All times in it are of the database's clock. A worker is dead when its row was
// not renewed for as long as a lease lasts, or, sooner, when it was late by [late] and the
// connection that renewed it is gone, as after the process ended. Another worker then raises
// the epoch of the row and gives its jobs away, in one statement that is the same however
// many workers there are. One of them, the keeper, looks for dead ones at each tick; the others
// do so now and then, as the keeper may be the one that is dead and still connected. What a
// worker writes for a job is refused when its epoch is not the one that it had at first: see
// [Queue.fenced].

// errLost is the cause of the context of jobs whose worker lost its lease: they were given
// to others.
var errLost = errors.New("this worker did not answer for too long, and its jobs were given to others")

// aliveWithin is how long the database may take to answer a worker that renews its lease.
const aliveWithin = 5 * time.Second

// regainWithin is how long a worker leaves jobs of others alone when the database has begun, or
// did not answer it for a while: they have to renew their leases first, too.
const regainWithin = 5 * time.Second

// late is after what time without a word a worker whose connection is gone is dead. One that
// was only cut off connects again at its next tick.
const late = time.Second

// forgotten is how long the row of a dead worker is kept, which is for people.
const forgotten = time.Hour

// holder is the worker that River gave a job to last.
const holder = `attempted_by[array_upper(attempted_by, 1)]`

// leaseKey is the number of the advisory lock on the lease of the worker w. Who writes as that worker
// shares it, and who takes the lease has it alone.
const leaseKey = `hashtextextended('ycbot lease ' || w.id, 0)`

// wakeWorkers wakes those that listen, in the way of River's own inserts.
const wakeWorkers = `pg_notify(concat(current_schema(), '.river_insert'), '{"queue": "` + queueName + `"}')`

// register makes the row of this worker.
func (q *Queue) register(ctx context.Context) error {
	err := q.db.Write(ctx, func(tx *store.Tx) error {
		return tx.Each(ctx, func(scan store.Scan) error { return scan(&q.epoch) }, `insert into workers (id, backend, since, renewed, expires)
			values ($1, 0, '-infinity', now(), now() + $2::interval) returning epoch`, q.worker, q.o.Lease)
	})
	if err != nil {
		return fmt.Errorf("register worker %s: %w", q.worker, err)
	}
	return nil
}

// keepersTicks is how many ticks of a worker come to one look for dead workers of its own where
// another worker, the keeper, looks at each of its ticks.
const keepersTicks = 20

// A lease is what a worker knows of its own.
type lease struct {
	opened int  // the connection that renewed it last, by [direct.opened]
	keeper bool // this worker is the one that looks for dead workers, as long as that connection lives
	ticks  int
}

// hold renews the lease of this worker, and takes those of dead ones, until ctx ends; then it
// returns nil. It returns an error when this worker lost its lease. A database that does not
// answer is waited for: what runs here goes on meanwhile and keeps its jobs, as no other was
// given them.
func (q *Queue) hold(ctx context.Context) error {
	var l lease
	defer q.direct.drop(context.WithoutCancel(ctx))
	tick := time.NewTicker(q.o.Watch)
	defer tick.Stop()
	for {
		if err := q.beat(ctx, &l); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-q.gone:
			return errLost
		case <-tick.C:
		}
	}
}

// beat is what a worker does at each tick for its lease. An error means that it lost it.
func (q *Queue) beat(ctx context.Context, l *lease) error {
	var calm bool
	err := q.direct.do(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		calm, err = q.renew(ctx, conn, l)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, errLost):
		q.lose()
		return err
	case err != nil:
		q.leave(ctx, err)
		q.direct.drop(ctx)
		return nil
	}
	q.comeBack(ctx)
	l.ticks++
	if !calm {
		return nil
	}
	err = q.direct.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return q.reap(ctx, conn, l.keeper || l.ticks%keepersTicks == 0)
	})
	if err != nil && ctx.Err() == nil {
		q.o.Log.WarnContext(ctx, "jobs of dead workers are not looked for", "error", err)
	}
	return nil
}

// renew renews the lease of this worker. It reports whether the database has answered
// throughout for long enough that who is silent is dead.
func (q *Queue) renew(ctx context.Context, conn *pgx.Conn, l *lease) (calm bool, err error) {
	again := l.opened != 0 && l.opened != q.direct.opened
	if again {
		l.keeper = false
	}
	err = conn.QueryRow(ctx, `update workers set since = case when $3 or renewed < now() - $4::interval / 2 then now() else since end,
			renewed = now(), expires = now() + $4::interval, backend = pg_backend_pid()
		where id = $1 and epoch = $2
		returning greatest(since, pg_postmaster_start_time()) <= now() - $5::interval, $6 or pg_try_advisory_lock($7)`,
		q.worker, q.epoch, again, q.o.Lease, regainWithin, l.keeper, store.LockKey("keeper")).Scan(&calm, &l.keeper)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, errLost
	case err != nil:
		return false, fmt.Errorf("renew the lease: %w", err)
	}
	l.opened = q.direct.opened
	return calm, nil
}

// reap gives jobs to others: those of this worker that the database lost sight of and, where
// dead is set, those of dead workers. It waits for no lock: a row that another transaction has
// is looked at again at the next tick.
func (q *Queue) reap(ctx context.Context, conn *pgx.Conn, dead bool) error {
	if q.reclaims() {
		if err := q.giveAway(ctx, conn, "the database lost sight of them", `with given as (
				update river_job set state = 'available', attempt = greatest(attempt - 1, 0)
				where state = 'running' and queue = $1 and `+holder+` = $2 and id not in
					(select river_id from jobs where river_id is not null and id = any($3))
				returning `+holder+` as worker)`, q.worker, q.here()); err != nil {
			return fmt.Errorf("give back jobs of this worker: %w", err)
		}
		q.reclaimed()
	}
	if !dead {
		return nil
	}
	return q.giveAway(ctx, conn, "their worker died", `with busy as (
			select `+holder+` as id from river_job where state = 'running' and queue = $1
		), silent as materialized (
			select id from workers where id in (select id from busy)
				and (expires < now() or renewed < now() - $2::interval and not exists (select 1 from pg_stat_activity where pid = backend))
			for update skip locked
		), dead as (
			select id from silent as w where pg_try_advisory_xact_lock(`+leaseKey+`)
		), over as (
			update workers set epoch = epoch + 1 from dead where workers.id = dead.id returning workers.id
		), old as (
			delete from workers where expires < now() - $3::interval and id not in (select id from busy)
		), given as (
			update river_job set state = 'available', attempt = greatest(attempt - 1, 0) where id in (
				select id from river_job where state = 'running' and queue = $1
					and (`+holder+` in (select id from over) or `+holder+` not in (select id from workers))
				for update skip locked)
			returning `+holder+` as worker)`, late, forgotten)
}

// giveAway lets any worker take jobs: given, of which statement ends, are the workers that had
// them, one for each. Its first parameter is the name of the queue.
func (q *Queue) giveAway(ctx context.Context, conn *pgx.Conn, why, statement string, args ...any) error {
	rows, err := conn.Query(ctx, statement+` select worker, count(*), cast(`+wakeWorkers+` as text) from given group by worker`, append([]any{queueName}, args...)...)
	if err != nil {
		return err
	}
	var worker, none string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&worker, &n, &none}, func() error {
		q.o.Log.InfoContext(ctx, "jobs are begun again", "why", why, "worker", worker, "jobs", n)
		return nil
	})
	return err
}

// fenced is ctx for the work on a job: transactions of the store with it are refused when
// this worker lost its lease.
func (q *Queue) fenced(ctx context.Context) context.Context {
	if q.db.Postgres() == nil {
		return ctx
	}
	return store.Fenced(ctx, func(ctx context.Context, tx *store.Tx) error {
		// No one takes the lease until the transaction ends; it can be renewed. A lock of its row
		// would do that as well, but with several transactions and renewals at once PostgreSQL
		// then keeps lists of who has locked it, which all others read that look for workers.
		// It is a statement of its own, so that the next one sees who had the lock before.
		var batch pgx.Batch
		batch.Queue(`select pg_advisory_xact_lock_shared(`+leaseKey+`) from (values ($1)) as w (id)`, q.worker)
		n := 0
		batch.Queue(`select count(*) from workers where id = $1 and epoch = $2`, q.worker, q.epoch).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
		err := tx.Postgres.SendBatch(ctx, &batch).Close()
		if err == nil && n == 0 {
			q.lose()
			err = errLost
		}
		return err
	})
}

// lose ends what runs here, because others were given it.
func (q *Queue) lose() {
	q.mu.Lock()
	had := !q.lost
	q.lost = true
	q.mu.Unlock()
	if had {
		close(q.gone)
		q.cancelAll(errLost)
	}
}
