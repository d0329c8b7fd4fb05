package queue

import (
	"context"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A worker makes do with two connections, one of them in its pool, and hears of jobs on the one
// that renews its lease, also after that broke.
func TestTwoConnections(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	other := newQueue(t, where, Options{})
	q := newQueue(t, where+"&pool_max_conns=1&application_name=worker", Options{Workers: 1, Poll: time.Hour})
	begun := make(chan int, 1)
	run(t, q, func(ctx context.Context, j job.Job) error {
		if err := q.db.Record(ctx, j.ID, "1"); err != nil {
			return err
		}
		begun <- number(t, other, `select count(*) from pg_stat_activity where application_name = 'worker'`)
		return nil
	})
	for i := range 3 {
		eventually(t, "it listens", func() bool { return listens(t, q) })
		renewed := number(t, other, `select cast(extract(epoch from renewed) * 1000 as bigint) from workers`)
		eventually(t, "the lease is renewed", func() bool {
			return number(t, other, `select cast(extract(epoch from renewed) * 1000 as bigint) from workers`) > renewed
		})
		if times, away := q.outage(); away || i == 0 && times > 0 {
			t.Error("who listens does not make way for the lease")
		}
		j := at(int64(i+1), 1, "a")
		enqueue(t, other, j)
		if n := <-begun; n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
		eventually(t, "is done", func() bool { return state(t, other, j) == Done })
		before := number(t, other, `select backend from workers`)
		if i > 0 { // River does not hear of it
			q.direct.drop(t.Context())
		} else if n := number(t, other, `select count(pg_terminate_backend(cast(backend as int))) from workers`); n != 1 {
			t.Fatalf("%d connections are ended, want that of the lease", n)
		}
		eventually(t, "the lease has another connection", func() bool { return number(t, other, `select backend from workers`) != before })
	}
}

// listens says whether River listens on the direct connection of q.
func listens(t *testing.T, q *Queue) (listens bool) {
	t.Helper()
	err := q.direct.do(t.Context(), func(context.Context, *pgx.Conn) error { listens = len(q.direct.topics) > 0; return nil })
	return err == nil && listens
}

// number is what a statement of one number gives.
func number(t *testing.T, q *Queue, statement string) (n int) {
	t.Helper()
	if err := q.db.Postgres().QueryRow(t.Context(), statement).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Where another process hands jobs over none stands behind it, and what became free meanwhile
// is handed over soon after.
func TestTurnIsTaken(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	other := newQueue(t, where, Options{})
	q := newQueue(t, where, Options{Workers: 1})
	q.o.Watch = time.Hour // no tick hands over
	tx, err := other.db.Postgres().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it is committed
	if _, err := tx.Exec(t.Context(), `select pg_advisory_xact_lock($1)`, store.LockKey("promote")); err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{}, 1)
	run(t, q, func(context.Context, job.Job) error { begun <- struct{}{}; return nil })
	j := at(1, 1, "a")
	enqueue(t, q, j) // it is stored
	if s := state(t, other, j); s != Waiting {
		t.Errorf("the job is %s", s)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-begun
}

// A network that swallows everything, new connections too, does not keep a worker from its lease
// once it is there again.
func TestSilentNetwork(t *testing.T) {
	variants.Only(t) // a silence is waited for; TestDatabaseAway has one that ends
	t.Parallel()
	where := server.Database(t)
	other := newQueue(t, where, Options{})
	p := silent(t, where)
	q := newQueue(t, p.url, Options{Workers: 1})
	run(t, q, func(context.Context, job.Job) error { return nil })
	alive := func() bool {
		return number(t, other, `select count(*) from workers where renewed > now() - interval '1 second'`) == 1
	}
	eventually(t, "it renews its lease", func() bool { return number(t, other, `select count(*) from workers where backend <> 0`) == 1 })
	p.swallow(true)
	eventually(t, "the database is missed", func() bool { _, away := q.outage(); return away })
	p.swallow(false)
	eventually(t, "it is alive again", alive)
}

// A silencer forwards connections to a PostgreSQL, or lets them wait.
type silencer struct {
	url  string
	unix string // the socket of PostgreSQL

	mu     sync.Mutex
	silent bool
	conns  []net.Conn // that wait, or are forwarded
}

func silent(t *testing.T, where string) *silencer {
	t.Helper()
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &silencer{url: "postgres://ycbot@" + l.Addr().String() + u.Path + "?sslmode=disable", unix: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")}
	t.Cleanup(func() { l.Close(); p.swallow(false) })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.accept(conn)
		}
	}()
	return p
}

func (p *silencer) accept(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, conn)
	if p.silent {
		return
	}
	to, err := net.Dial("unix", p.unix)
	if err != nil {
		conn.Close()
		return
	}
	p.conns = append(p.conns, to)
	go p.forward(to, conn)
	go p.forward(conn, to)
}

func (p *silencer) forward(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		silent := p.silent
		p.mu.Unlock()
		if err != nil && !silent {
			to.Close()
		}
		if silent || err != nil {
			return // what waits is closed when the network is there again
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// swallow has all connections wait, or ends those that did and forwards new ones.
func (p *silencer) swallow(all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent = all; !all {
		for _, c := range p.conns {
			c.Close()
		}
		p.conns = nil
	}
}
