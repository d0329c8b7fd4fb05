package store

import (
	"context"
	"fmt"
	"sync"
)

// channel is where PostgreSQL reports runs that changed.
const channel = "ycbot_runs"

// watchers are those in this process who wait for more of a run.
type watchers struct {
	mu   sync.Mutex
	runs map[string]map[chan struct{}]struct{}
}

func (w *watchers) add(run string) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs == nil {
		w.runs = map[string]map[chan struct{}]struct{}{}
	}
	if w.runs[run] == nil {
		w.runs[run] = map[chan struct{}]struct{}{}
	}
	w.runs[run][c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.runs[run], c)
		if len(w.runs[run]) == 0 {
			delete(w.runs, run)
		}
	}
}

// wake wakes who watches a run. Someone who has not looked yet is woken once.
func (w *watchers) wake(run string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.runs[run] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Watch returns a channel that has something whenever this process stored more of a run,
// or another one did and [DB.Listen] heard of it. It may be woken for nothing, and a
// connection that broke loses what was reported: look now and then as well. The function
// ends it.
func (db *DB) Watch(run string) (<-chan struct{}, func()) { return db.watchers.add(run) }

// Listen hears what other processes store, until ctx ends or the connection breaks. On
// SQLite there are no others.
func (db *DB) Listen(ctx context.Context) error {
	if db.pool == nil {
		<-ctx.Done()
		return nil
	}
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	raw := conn.Hijack() // it listens until it ends: no one else should get it
	defer raw.Close(context.WithoutCancel(ctx))
	if _, err := raw.Exec(ctx, "listen "+channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	for {
		n, err := raw.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		db.watchers.wake(n.Payload)
	}
}

// notify informs other processes, when the transaction is committed, that there is more
// of a run.
func notify(ctx context.Context, q Querier, run string) error {
	tx, ok := q.(*Tx)
	if !ok || tx.Postgres == nil {
		return nil
	}
	_, err := tx.Exec(ctx, `select pg_notify($1, $2)`, channel, run)
	return err
}
