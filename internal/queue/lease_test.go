package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A worker that did not renew its lease stops, its writes are refused, and it reports to River
// nothing of a job that is another's now.
func TestLostLease(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	first, second := newQueue(t, where, Options{Workers: 1, Lease: time.Second}), newQueue(t, where, Options{Workers: 1})
	first.o.Watch = time.Hour // it renews its lease once, when it begins
	j := at(1, 1, "a")
	begun, taken, finish := make(chan struct{}), make(chan struct{}), make(chan struct{})
	wrote, failed := make(chan error, 1), make(chan error, 1)
	go func() {
		failed <- first.Run(t.Context(), func(ctx context.Context, j job.Job) error {
			close(begun)
			<-taken
			err := first.db.Record(context.WithoutCancel(ctx), "by the first", j.ID)
			wrote <- errors.Join(err, first.Conclude(context.WithoutCancel(ctx), j.ID))
			return nil // as if it were done
		})
	}()
	enqueue(t, first, j)
	first.signal()
	<-begun
	run(t, second, func(context.Context, job.Job) error {
		close(taken)
		<-finish
		return nil
	})
	if err := <-wrote; !errors.Is(err, errLost) {
		t.Errorf("a write of a worker that lost its lease: %v", err)
	}
	if _, ok, err := second.db.Lookup(t.Context(), "by the first"); ok || err != nil {
		t.Errorf("it is there: %v, %v", ok, err)
	}
	if err := <-failed; !errors.Is(err, errLost) {
		t.Errorf("the worker that lost its lease ended with %v", err)
	}
	// Whatever the first still says reaches the database with River's next batch.
	until := time.Now().Add(500 * time.Millisecond)
	eventually(t, "time passes", func() bool {
		if s := state(t, second, j); s != Working {
			t.Fatalf("the job of the second worker is %s", s)
		}
		return time.Now().After(until)
	})
	close(finish)
	eventually(t, "is done", func() bool { return state(t, second, j) == Done })
}

// A lease is not taken while its worker is in the middle of a write, however late the worker is.
func TestLeaseIsNotTakenDuringAWrite(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	first, second := newQueue(t, where, Options{Workers: 1}), newQueue(t, where, Options{Workers: 1})
	if err := first.register(t.Context()); err != nil {
		t.Fatal(err)
	}
	epoch := func() int {
		return number(t, second, `select epoch from workers where id = '`+first.worker+`'`)
	}
	before := epoch()
	_, err := second.db.Postgres().Exec(t.Context(), `with late as (update workers set expires = now() - interval '1 second')
		insert into river_job (state, args, kind, max_attempts, queue, attempted_by, attempted_at) values ('running', '{}', 'ycbot_job', 1, 'runs', array[$1], now())`, first.worker)
	if err != nil {
		t.Fatal(err)
	}
	reap := func() {
		t.Helper()
		err := second.direct.do(t.Context(), func(ctx context.Context, conn *pgx.Conn) error { return second.reap(ctx, conn, true) })
		if err != nil {
			t.Fatal(err)
		}
	}
	defer second.direct.drop(t.Context())
	err = first.db.Write(first.fenced(t.Context()), func(*store.Tx) error {
		reap()
		if now := epoch(); now != before {
			t.Errorf("the lease was taken: epoch %d, before %d", now, before)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if reap(); epoch() != before+1 {
		t.Errorf("the lease of a dead worker has epoch %d, before %d", epoch(), before)
	}
}

// The end of an attempt is stored by the worker that has the job, and by no other.
func TestOnlyOwnJobsEnd(t *testing.T) {
	t.Parallel()
	q := newQueue(t, server.Database(t), Options{Workers: 2})
	begun, finish := make(chan struct{}, 2), make(chan struct{})
	run(t, q, func(context.Context, job.Job) error { begun <- struct{}{}; <-finish; return nil })
	own, others := at(1, 1, "a"), at(2, 2, "a")
	for _, j := range []job.Job{own, others} {
		enqueue(t, q, j)
		<-begun
	}
	n, err := q.db.Postgres().Exec(t.Context(), `with another as (
			insert into workers (id, backend, since, renewed, expires) values ('another', 0, now(), now() + interval '1 hour', now() + interval '1 hour'))
		update river_job set attempted_by = array_append(attempted_by, 'another') where id = (select river_id from jobs where id = $1)`, others.ID)
	if err != nil || n.RowsAffected() != 1 {
		t.Fatal(n, err)
	}
	close(finish)
	eventually(t, "its own is done", func() bool { return state(t, q, own) == Done })
	until := time.Now().Add(500 * time.Millisecond) // River's next batch
	eventually(t, "time passes", func() bool {
		if s := state(t, q, others); s != Working {
			t.Fatalf("a job that another worker has is %s", s)
		}
		return time.Now().After(until)
	})
}

// A worker that was halted for longer than its lease, and goes on, doubles nothing, and ends.
func TestHaltedWorker(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	q := newQueue(t, where, Options{})
	if _, err := q.db.Postgres().Exec(t.Context(), `create table outside (job text, by bigint)`); err != nil {
		t.Fatal(err)
	}
	second := newQueue(t, where, Options{Workers: 2, Lease: time.Second})
	first := start(t, "once", where)
	jobs := []job.Job{at(1, 1, "a"), at(2, 2, "a")}
	for _, j := range jobs {
		enqueue(t, q, j)
		if _, ok := <-first.lines; !ok {
			t.Fatal("the job did not begin")
		}
	}
	if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	run(t, second, func(ctx context.Context, j job.Job) error { return outside(ctx, second.db, j) })
	for _, j := range jobs {
		eventually(t, "it is done by the other", func() bool { return state(t, q, j) == Done })
	}
	if err := q.db.Record(t.Context(), "go", "1"); err != nil { // for what the first waits before it writes
		t.Fatal(err)
	}
	if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for range first.lines { // until it ends
		continue
	}
	if err := first.cmd.Wait(); err == nil {
		t.Error("the worker that lost its lease ended well")
	}
	var all, distinct int
	err := q.db.Postgres().QueryRow(t.Context(), `select count(*), count(distinct job) from outside`).Scan(&all, &distinct)
	if err != nil || all != len(jobs) || distinct != len(jobs) {
		t.Errorf("%d effects of %d jobs, want %d: %v", all, distinct, len(jobs), err)
	}
}

// once waits to be let go, and then does what outside does.
func once(ctx context.Context, db *store.DB, j job.Job) error {
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		if _, ok, err := db.Lookup(context.WithoutCancel(ctx), "go"); ok || err != nil {
			return errors.Join(err, outside(ctx, db, j))
		}
	}
}

// outside leaves one row for each time that a job is done.
func outside(ctx context.Context, db *store.DB, j job.Job) error {
	return db.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		_, err := tx.Exec(context.WithoutCancel(ctx), `insert into outside (job, by) values ($1, $2)`, j.ID, os.Getpid())
		return err
	})
}

// The clocks of workers' machines decide nothing: with clocks an hour off, none takes the jobs
// of another that lives, and those of one that is dead are taken.
func TestWrongClocks(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	q := newQueue(t, where, Options{})
	dead := start(t, "hang", where)
	for i := range 2 {
		enqueue(t, q, at(int64(i), i, "a"))
		if _, ok := <-dead.lines; !ok {
			t.Fatal("the job did not begin")
		}
	}
	var begun log
	release := make(chan struct{})
	for _, wrong := range []time.Duration{-time.Hour, time.Hour} {
		db, err := store.Open(t.Context(), store.Options{URL: where, Now: func() time.Time { return time.Now().Add(wrong) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		w, err := New(db, quick(Options{Workers: 2}))
		if err != nil {
			t.Fatal(err)
		}
		run(t, w, func(_ context.Context, j job.Job) error { begun.add("%d", j.Number); <-release; return nil })
	}
	t.Cleanup(func() { // before the workers are ended
		select {
		case <-release:
		default:
			close(release)
		}
	})
	for i := 2; i < 4; i++ {
		enqueue(t, q, at(int64(i), i, "a"))
	}
	eventually(t, "the living begin theirs", func() bool { return len(begun.all()) == 2 })
	// Long enough for each to count the others as dead, were it by its own clock.
	until := time.Now().Add(regainWithin + 2*time.Second)
	eventually(t, "time passes", func() bool { return time.Now().After(until) })
	if all := begun.all(); len(all) != 2 {
		t.Fatalf("begun were %v, want two: all workers live", all)
	}
	dead.kill()
	eventually(t, "jobs of the dead are begun again", func() bool { return len(begun.all()) == 4 })
	close(release)
	for i := range 4 {
		eventually(t, "is done", func() bool { return state(t, q, at(int64(i), i, "a")) == Done })
	}
}

// What a worker asks the database at each tick does not grow with the number of workers.
func TestTickDoesNotGrow(t *testing.T) {
	variants.Only(t) // thousands of jobs
	t.Parallel()
	var own storetest.Server
	t.Cleanup(own.Stop)
	where := own.Database(t)
	q := newQueue(t, where, Options{Workers: 1})
	pool := q.db.Postgres()
	count := func(workers int) int {
		t.Helper()
		for n := range workers - 1 { // others, each with a job
			id := fmt.Sprintf("other-%d", n)
			_, err := pool.Exec(t.Context(), `insert into workers (id, backend, since, renewed, expires) values ($1, 0, now(), now() + interval '1 hour', now() + interval '1 hour') on conflict do nothing`, id)
			if err == nil {
				_, err = pool.Exec(t.Context(), `insert into river_job (state, args, kind, max_attempts, queue, attempted_by, attempted_at) values ('running', '{}', 'ycbot_job', 1, 'runs', array[$1], now())`, id)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		l := lease{keeper: true} // who does most
		defer q.direct.drop(t.Context())
		tick := func() {
			t.Helper()
			if err := q.beat(t.Context(), &l); err != nil {
				t.Fatal(err)
			}
			for _, f := range []func(context.Context) error{q.watch, q.turn} {
				if err := f(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		tick()
		tick() // statements are prepared once
		before := statements(t, own.Log())
		for range 10 {
			tick()
		}
		return statements(t, own.Log()) - before
	}
	if err := q.register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `alter system set log_statement = 'all'`); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `select pg_reload_conf()`); err != nil {
		t.Fatal(err)
	}
	eventually(t, "statements are logged, and the database is up for long enough to look for dead workers", func() (calm bool) {
		if err := pool.QueryRow(t.Context(), `select pg_postmaster_start_time() <= now() - $1::interval`, regainWithin).Scan(&calm); err != nil {
			t.Fatal(err)
		}
		return calm && statements(t, own.Log()) > 0
	})
	few, many := count(2), count(50)
	t.Logf("statements of ten ticks: %d with 2 workers, %d with 50", few, many)
	if few < 20 || many != few {
		t.Errorf("ten ticks take %d statements with 2 workers and %d with 50", few, many)
	}
}

// statements counts those that a server logged.
func statements(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "LOG:  statement: ") + strings.Count(string(text), "LOG:  execute ")
}
