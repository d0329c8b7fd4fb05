package queue

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"

	"github.com/ycbot/ycbot/internal/store"
)

// A direct is the one connection of a worker to PostgreSQL that is not of the pool, so that a
// busy pool makes neither its lease late nor what others notify it of. It is opened where it is
// needed, again after it broke, and then listens to what it listened to before. Who waits for a
// notification makes way for a statement. It is safe for concurrent use.
type direct struct {
	db   *store.DB
	turn chan struct{} // has an element while someone uses the connection

	mu      sync.Mutex
	wanted  int                // statements that wait for their turn
	makeWay context.CancelFunc // ends a wait for a notification

	// These are of who has the turn.
	conn   *pgx.Conn // nil: none
	opened int       // times
	topics map[string]bool
}

func newDirect(db *store.DB) *direct {
	return &direct{db: db, turn: make(chan struct{}, 1), topics: map[string]bool{}}
}

// do lets fn use the connection, for as long as PostgreSQL may take to answer, and returns what
// fn returns: a network that swallows everything must not keep the lease from noticing.
func (d *direct) do(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, aliveWithin)
	defer cancel()
	d.want(1)
	defer d.want(-1)
	if err := d.take(ctx); err != nil {
		return err
	}
	defer d.give()
	if err := d.connect(ctx); err != nil {
		return err
	}
	return fn(ctx, d.conn)
}

// want counts statements that wait, for which who waits for a notification makes way.
func (d *direct) want(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted += n
	if d.wanted > 0 && d.makeWay != nil {
		d.makeWay()
	}
}

func (d *direct) take(ctx context.Context) error {
	select {
	case d.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *direct) give() { <-d.turn }

// connect opens the connection, if there is none.
func (d *direct) connect(ctx context.Context) error {
	if d.conn != nil && !d.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, d.db.Postgres().Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	// After a crash of the database a lease is renewed anyhow: no disk has to be waited for.
	statements := []string{`set synchronous_commit = off`}
	for _, topic := range slices.Sorted(maps.Keys(d.topics)) {
		statements = append(statements, listen(topic))
	}
	if _, err := conn.Exec(ctx, strings.Join(statements, "; ")); err != nil {
		closeNow(ctx, conn)
		return err
	}
	d.conn = conn
	d.opened++
	return nil
}

func listen(topic string) string { return "listen " + pgx.Identifier{topic}.Sanitize() }

// drop closes the connection, which may be broken.
func (d *direct) drop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, aliveWithin)
	defer cancel()
	d.want(1)
	defer d.want(-1)
	if d.take(ctx) != nil {
		return
	}
	defer d.give()
	if d.conn != nil {
		closeNow(ctx, d.conn)
		d.conn = nil
	}
}

func closeNow(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // nothing is lost with it
}

// wait waits for a notification.
func (d *direct) wait(ctx context.Context) (channel, payload string, err error) {
	for ctx.Err() == nil {
		if err := d.take(ctx); err != nil {
			return "", "", err
		}
		within, cancel := context.WithCancel(ctx)
		d.mu.Lock()
		d.makeWay = cancel
		if d.wanted > 0 {
			cancel()
		}
		d.mu.Unlock()
		channel, payload, err = d.hear(within)
		d.mu.Lock()
		d.makeWay = nil
		d.mu.Unlock()
		madeWay := within.Err() != nil
		cancel()
		d.give()
		if err == nil || !madeWay {
			return channel, payload, err
		}
	}
	return "", "", context.Cause(ctx)
}

func (d *direct) hear(ctx context.Context) (channel, payload string, err error) {
	if err := d.connect(ctx); err != nil {
		return "", "", err
	}
	n, err := d.conn.WaitForNotification(ctx)
	if err != nil {
		return "", "", err
	}
	return n.Channel, n.Payload, nil
}

// A listener is how River listens on the direct connection.
type listener struct {
	riverdriver.Listener // for SetAfterConnectExec, which River's tests alone call
	d                    *direct
	schema, prefix       string // of topics
}

// Connect implements [riverdriver.Listener].
func (l *listener) Connect(ctx context.Context) error {
	return l.d.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if l.schema == "" {
			if err := conn.QueryRow(ctx, `select coalesce(current_schema(), '')`).Scan(&l.schema); err != nil {
				return err
			}
		}
		if l.schema != "" {
			l.prefix = l.schema + "."
		}
		return nil
	})
}

// Schema implements [riverdriver.Listener].
func (l *listener) Schema() string { return l.schema }

// Listen implements [riverdriver.Listener].
func (l *listener) Listen(ctx context.Context, topic string) error {
	return l.d.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, listen(l.prefix+topic))
		if err == nil {
			l.d.topics[l.prefix+topic] = true
		}
		return err
	})
}

// Unlisten implements [riverdriver.Listener].
func (l *listener) Unlisten(ctx context.Context, topic string) error {
	return l.d.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		delete(l.d.topics, l.prefix+topic)
		_, err := conn.Exec(ctx, "un"+listen(l.prefix+topic))
		return err
	})
}

// Ping implements [riverdriver.Listener]. Whether the connection lives the lease finds out.
func (*listener) Ping(context.Context) error { return nil }

// Close implements [riverdriver.Listener]. The connection stays, for the lease.
func (l *listener) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, aliveWithin)
	defer cancel()
	l.d.want(1)
	defer l.d.want(-1)
	if err := l.d.take(ctx); err != nil {
		return err
	}
	defer l.d.give()
	clear(l.d.topics)
	if l.d.conn == nil || l.d.conn.IsClosed() {
		return nil
	}
	_, err := l.d.conn.Exec(ctx, `unlisten *`)
	return err
}

// WaitForNotification implements [riverdriver.Listener].
func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	channel, payload, err := l.d.wait(ctx)
	if err != nil {
		return nil, err
	}
	return &riverdriver.Notification{Topic: strings.TrimPrefix(channel, l.prefix), Payload: payload}, nil
}
