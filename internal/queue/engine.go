package queue

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/ycbot/ycbot/internal/store"
)

// queueName is River's queue for all jobs. It is stored: do not change it.
const queueName = "runs"

// River's priorities; the smaller is the more urgent.
const (
	urgent   = 1 // see [job.Job.Urgent]
	byItself = 2
)

// unbounded is more attempts than Options.Attempts ever allow: the worker that has a job
// decides when it is given up, not the process that stored it.
const unbounded = 10000

// never is long enough for River's own rescue to be off.
const never = 10 * 365 * 24 * time.Hour

// work is the part of a job that River keeps. The body is in the table jobs.
type work struct {
	ID string `json:"id"`
}

// Kind names jobs in River's table. It is stored: do not change it.
func (work) Kind() string { return "ycbot_job" }

// A row is a job to be given to River.
type row struct {
	id     string
	urgent bool // see [job.Job.Urgent]
}

func (r row) priority() int {
	if r.urgent {
		return urgent
	}
	return byItself
}

// An engine is River on one of the databases.
type engine interface {
	insert(ctx context.Context, tx *store.Tx, rows []row) ([]int64, error)
	cancel(ctx context.Context, tx *store.Tx, river int64) error
	start(ctx context.Context) error
	stop(ctx context.Context) error // returns before ctx ends only when no job runs any more
	ended() (events <-chan *river.Event, done func())
}

// Migrate brings River's tables and those of package store to the newest version.
// Processes that do so at the same time wait for one another.
func Migrate(ctx context.Context, db *store.DB) error {
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	if db.Postgres() != nil {
		return migrate(ctx, db, riverpgxv5.New(db.Postgres()))
	}
	return migrate(ctx, db, riversqlite.New(db.SQLite()))
}

func migrate[T any](ctx context.Context, db *store.DB, driver riverdriver.Driver[T]) error {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate River: %w", err)
	}
	if is, err := migrator.Validate(ctx, nil); err == nil && is.OK {
		return nil
	}
	return db.Exclusively(ctx, "migrate", func(ctx context.Context) error {
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return fmt.Errorf("migrate River: %w", err)
		}
		return nil
	})
}

func newEngine(q *Queue) (engine, error) {
	if pool := q.db.Postgres(); pool != nil {
		e := &driven[pgx.Tx]{of: func(tx *store.Tx) pgx.Tx { return tx.Postgres }}
		return e, e.open(fencedDriver{riverpgxv5.New(pool), q}, q)
	}
	e := &driven[*sql.Tx]{of: func(tx *store.Tx) *sql.Tx { return tx.SQLite }}
	return e, e.open(riversqlite.New(q.db.SQLite()), q)
}

// driven is an engine with one of River's drivers.
type driven[T any] struct {
	client *river.Client[T]
	of     func(*store.Tx) T
}

func (e *driven[T]) open(driver riverdriver.Driver[T], q *Queue) (err error) {
	config := &river.Config{
		ID:                   q.worker,
		JobTimeout:           -1,
		RescueStuckJobsAfter: never,
		FetchPollInterval:    q.o.Poll,
		FetchCooldown:        min(q.o.Poll, 5*time.Millisecond),
		MaxAttempts:          unbounded,
		RetryPolicy:          retry{q},
		Logger:               slog.New(quiet{q.o.Log.Handler(), q.ends}),
	}
	if q.o.Workers > 0 {
		config.Queues = map[string]river.QueueConfig{queueName: {MaxWorkers: q.o.Workers}}
		config.Workers = river.NewWorkers()
		if err := river.AddWorkerSafely(config.Workers, &worker{q: q}); err != nil {
			return err
		}
	}
	e.client, err = river.NewClient(driver, config)
	return err
}

func (e *driven[T]) insert(ctx context.Context, tx *store.Tx, rows []row) ([]int64, error) {
	params := make([]river.InsertManyParams, len(rows))
	for i, r := range rows {
		params[i] = river.InsertManyParams{Args: work{ID: r.id}, InsertOpts: &river.InsertOpts{Queue: queueName, Pending: true, Priority: r.priority()}}
	}
	results, err := e.client.InsertManyTx(ctx, e.of(tx), params)
	if err != nil {
		return nil, fmt.Errorf("insert jobs: %w", err)
	}
	ids := make([]int64, len(results))
	for i, r := range results {
		ids[i] = r.Job.ID
	}
	return ids, nil
}

func (e *driven[T]) cancel(ctx context.Context, tx *store.Tx, id int64) error {
	_, err := e.client.JobCancelTx(ctx, e.of(tx), id)
	return err
}

func (e *driven[T]) start(ctx context.Context) error { return e.client.Start(ctx) }

func (e *driven[T]) stop(ctx context.Context) error { return e.client.Stop(ctx) }

func (e *driven[T]) ended() (<-chan *river.Event, func()) {
	return e.client.Subscribe(river.EventKindJobCompleted, river.EventKindJobCancelled, river.EventKindJobFailed, river.EventKindJobSnoozed)
}

// retry is River's view of Options.Backoff.
type retry struct{ q *Queue }

// NextRetry is called after an attempt failed.
func (r retry) NextRetry(j *rivertype.JobRow) time.Time {
	return r.q.db.Now().Add(r.q.o.Backoff(j.Attempt))
}

// quiet logs what River says for information, such as its counts each minute, only where
// all is logged, and not that its services stop once they are asked to, which each of them calls an error.
type quiet struct {
	slog.Handler
	ends func() bool
}

// Enabled implements [slog.Handler].
func (h quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return h.Handler.Enabled(ctx, quieter(level))
}

// Handle implements [slog.Handler].
func (h quiet) Handle(ctx context.Context, r slog.Record) error {
	stopped := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		stopped = stopped || ok && strings.HasSuffix(err.Error(), "service stopped")
		return !stopped
	})
	if stopped && h.ends() {
		return nil
	}
	r.Level = quieter(r.Level)
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

// WithGroup implements [slog.Handler].
func (h quiet) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}

// ends reports whether River was asked to stop.
func (q *Queue) ends() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.draining
}

func quieter(level slog.Level) slog.Level {
	if level == slog.LevelInfo {
		return slog.LevelDebug
	}
	return level
}
