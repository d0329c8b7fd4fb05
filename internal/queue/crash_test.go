package queue

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// child is what this test binary does when a test starts it as another process: it works
// until it is killed. Each job says that it began on standard output.
func child(role string) int {
	if err := workChild(role, os.Getenv("YCBOT_TEST_DB")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func workChild(role, where string) error {
	ctx := context.Background()
	db, err := openWhere(ctx, where)
	if err != nil {
		return err
	}
	q, err := New(db, Options{Workers: 2, Watch: 100 * time.Millisecond, Starts: 1000, Lease: 3 * time.Second})
	if err != nil {
		return err
	}
	return q.Run(ctx, func(ctx context.Context, j job.Job) error {
		fmt.Fprintln(os.Stdout, j.Number)
		switch role {
		case "hang":
			<-ctx.Done()
			return context.Cause(ctx)
		case "once":
			return once(ctx, db, j)
		}
		return effect(ctx, db, j)
	})
}

// effect does a job's work, which takes a moment and leaves one effect. While it works it
// holds a lock, so that two who work on one job at the same time are found out.
func effect(ctx context.Context, db *store.DB, j job.Job) error {
	conn, err := db.Postgres().Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var alone bool
	if err := conn.QueryRow(ctx, `select pg_try_advisory_lock($1)`, store.LockKey(j.ID)).Scan(&alone); err != nil {
		return err
	}
	if !alone {
		return db.Record(ctx, "doubled", j.ID)
	}
	defer func() {
		_, _ = conn.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock($1)`, store.LockKey(j.ID))
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(30 * time.Millisecond): // as work does
	}
	if _, ok, err := db.Lookup(ctx, "effect/"+j.ID); ok || err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `insert into outside (job) values ($1)`, j.ID); err != nil {
		return err
	}
	return db.Record(ctx, "effect/"+j.ID, strconv.Itoa(os.Getpid()))
}

// A process is this test binary at work.
type process struct {
	cmd   *exec.Cmd
	lines chan string // of its standard output; closed when it ended
}

func start(t *testing.T, role, where string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.CommandContext(t.Context(), self), lines: make(chan string, 1000)}
	p.cmd.Env = append(os.Environ(), "YCBOT_TEST_ROLE="+role, "YCBOT_TEST_DB="+where)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	for range p.lines { // to its end, as Wait wants it
		continue
	}
	_ = p.cmd.Wait()
}

// full has tests that take minutes tried out in their whole size.
var full = flag.Bool("full", false, "try tests that take long in their whole size")

// Two workers on one PostgreSQL, one of them killed again and again in the middle of its
// work: every job is done, none by two at the same time, and none has two effects.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	q := newQueue(t, where, Options{PerRepo: 4})
	if _, err := q.db.Postgres().Exec(t.Context(), `create table outside (job text)`); err != nil {
		t.Fatal(err)
	}
	jobs := 30
	switch {
	case *full:
		jobs = 200
	case variants.Asked():
		jobs = 60
	}
	for i := range jobs {
		enqueue(t, q, at(int64(i%5+1), i+1, "a"))
	}
	workers := []*process{start(t, "work", where), start(t, "work", where)}
	random := rand.New(rand.NewPCG(3, 4))
	kills := 0
	done := func() int {
		d, err := q.Depth(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d[Ended] > 0 {
			t.Fatalf("jobs were lost: %v", d)
		}
		return d[Done]
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for done() < jobs-6 {
		i := 0 // the one that said something last: the other may have begun late, or taken what is left
		for n := 2 + random.IntN(6); n > 0 && done() < jobs-6; {
			ok := false
			select {
			case _, ok = <-workers[0].lines:
				i = 0
			case _, ok = <-workers[1].lines:
				i = 1
			case <-tick.C:
				continue
			}
			if !ok {
				t.Fatal("a worker ended by itself")
			}
			n--
		}
		workers[i].kill()
		workers[i] = start(t, "work", where)
		kills++
	}
	eventually(t, "all are done", func() bool { return done() == jobs })
	t.Logf("%d kills", kills)
	if kills < 3 {
		t.Errorf("only %d kills", kills)
	}
	if v, ok, err := q.db.Lookup(t.Context(), "doubled"); ok || err != nil {
		t.Errorf("two worked on job %s at the same time (%v)", v, err)
	}
	var effects int
	if err := q.db.Postgres().QueryRow(t.Context(), `select count(distinct job) from outside`).Scan(&effects); err != nil || effects != jobs {
		t.Errorf("%d jobs have an effect, %v, want %d", effects, err, jobs)
	}
	for i := range jobs {
		j := at(int64(i%5+1), i+1, "a")
		if _, ok, err := q.db.Lookup(t.Context(), "effect/"+j.ID); !ok || err != nil {
			t.Errorf("job %d has no effect recorded: %v", i+1, err)
		}
	}
}

// A job whose worker is killed is begun again: on SQLite as soon as a process opens the
// file, on PostgreSQL by a worker that is up already.
func TestOrphan(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		server := newQueue(t, where, Options{})
		jobs := []job.Job{at(1, 1, "a"), at(1, 2, "a")} // as many as the worker has hands
		dead := start(t, "hang", where)
		for _, j := range jobs {
			enqueue(t, server, j)
			if _, ok := <-dead.lines; !ok {
				t.Fatal("the job did not begin")
			}
		}
		again := make(chan time.Time, 3)
		q, err := New(openAt(t, where), Options{Workers: 1, Attempts: 1}) // with the intervals of production
		if err != nil {
			t.Fatal(err)
		}
		work := func(context.Context, job.Job) error { again <- time.Now(); return nil }
		postgres := strings.HasPrefix(where, "postgres:")
		if postgres {
			run(t, q, work)
			other := at(2, 1, "a")
			enqueue(t, server, other)
			<-again
			eventually(t, "the database is up for long enough for jobs of the dead to be taken", func() (calm bool) {
				if err := q.db.Postgres().QueryRow(t.Context(), `select pg_postmaster_start_time() <= now() - $1::interval`, regainWithin).Scan(&calm); err != nil {
					t.Fatal(err)
				}
				return calm
			})
		}
		dead.kill()
		killed := time.Now()
		if !postgres {
			run(t, q, work)
		}
		took := (<-again).Sub(killed)
		t.Logf("begun again %v after the kill", took)
		if took > 5*time.Second {
			t.Error("that is too long")
		}
		for _, j := range jobs {
			eventually(t, "is done", func() bool { return state(t, q, j) == Done })
		}
	})
}

// BenchmarkEnqueue is one job with its delivery, on disk when it returns.
func BenchmarkEnqueue(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres"} {
		for _, at64 := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", kind, at64), func(b *testing.B) { benchEnqueue(b, kind, at64) })
		}
	}
}

func benchEnqueue(b *testing.B, kind string, callers int) {
	b.Helper()
	q := benchQueue(b, kind, Options{})
	b.SetParallelism(max(callers/2, 1))
	var n int64
	next := make(chan int64, 1)
	next <- n
	one := func() {
		i := <-next
		next <- i + 1
		j := at(i%100, int(i), "a")
		if _, err := q.Accept(b.Context(), store.Delivery{ID: j.ID}, &j); err != nil {
			b.Error(err)
		}
	}
	b.ResetTimer()
	if callers == 1 {
		for b.Loop() {
			one()
		}
		return
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			one()
		}
	})
}

// BenchmarkStart is from the call of Enqueue to the call of the work.
func BenchmarkStart(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres"} {
		b.Run(kind, func(b *testing.B) {
			q := benchQueue(b, kind, Options{Workers: 2})
			begun := make(chan struct{}, 1)
			ctx, cancel := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- q.Run(ctx, func(context.Context, job.Job) error { begun <- struct{}{}; return nil })
			}()
			i := 0
			for b.Loop() {
				i++
				if _, err := q.Enqueue(ctx, at(1, i, "a")); err != nil {
					b.Fatal(err)
				}
				<-begun
			}
			cancel()
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
		})
	}
}

func benchQueue(b *testing.B, kind string, o Options) *Queue {
	b.Helper()
	where := filepath.Join(b.TempDir(), "db")
	if kind == "postgres" {
		where = server.Database(b)
	}
	db, err := openWhere(b.Context(), where)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	q, err := New(db, o)
	if err != nil {
		b.Fatal(err)
	}
	return q
}
