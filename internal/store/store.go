// Package store is ycbot's database: what has to outlive a process and be seen by
// more than one. It is one SQLite file, or one PostgreSQL database where several
// machines work.
//
// The tables: runs, one row a run; lines and files, what each run's directory has (see
// [Mirror]), whose contents are blobs; blobs, those of them that are in no bucket; loose,
// runs that may have blobs that no row names; effects, what was done to the outside (the first value
// under a key counts); deliveries, the webhooks that came; base_results, what tests
// of bases said (see [BaseResults]); flakes, which tests gave both results on the same
// code (see [Flakes]); tests and test_results, what runs said of tests that did not just pass (see
// [TestResult]); jobs, which package queue reads and writes beside River's own tables, and workers, which
// it has on PostgreSQL alone. All schema is in migrations/, otherwise
// the same for both databases but for the names of types.
//
// Times are stored as microseconds since 1970, 0 for none, so that both databases
// compare them alike. Statements number their parameters $1, $2 …, which both
// understand.
//
// Concurrency: SQLite has one writing connection, which all writers share, and
// readers beside it; whatever runs inside [DB.Write] uses the transaction it was
// given and nothing else of the DB, or it waits for itself.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ycbot/ycbot/internal/blobs"
)

// Options say which database, and what it needs from outside.
type Options struct {
	URL  string // of PostgreSQL, "postgres://…"; empty: SQLite
	Path string // of the SQLite file, which is made where there is none
	Now  func() time.Time
	Log  *slog.Logger // of migrations; nil: none
	// Bucket for what runs produced; nil: the folder "blobs" beside the SQLite file, or
	// PostgreSQL, which all processes reach.
	Bucket blobs.Bucket
}

// A DB is an open database. It is safe for concurrent use.
type DB struct {
	now func() time.Time
	log *slog.Logger

	path    string // SQLite
	writer  *sql.DB
	readers *sql.DB

	pool     *pgxpool.Pool // PostgreSQL; nil: SQLite
	lockIdle time.Duration // after which the lock of who says nothing is another's

	blobs    *blobs.Store
	watchers watchers

	probing chan struct{} // is held by who tries to store something
	stored  time.Time     // when that went well

	blobsProbed struct {
		mu sync.Mutex
		at time.Time // when a blob could be stored
	}
}

// Open opens the database and does not migrate it (see [DB.Migrate]).
func Open(ctx context.Context, o Options) (*DB, error) {
	db := &DB{now: o.Now, log: o.Log, probing: make(chan struct{}, 1), lockIdle: lockIdle}
	if o.Now == nil {
		return nil, errors.New("open database: Now is required")
	}
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	open := func() error { return db.openSQLite(ctx, o.Path) }
	if o.URL != "" {
		open = func() error { return db.openPostgres(ctx, o.URL) }
	}
	err := open()
	db.useBucket(o.Bucket)
	return db, err
}

// Close closes the database, and the bucket where that has to be closed.
func (db *DB) Close() error {
	var bucket error
	if moved, ok := db.blobs.Bucket.(movedBucket); ok {
		if c, ok := moved.Bucket.(io.Closer); ok {
			bucket = c.Close()
		}
	}
	if db.pool != nil {
		db.pool.Close()
		return bucket
	}
	return errors.Join(bucket, db.readers.Close(), db.writer.Close())
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	_, err := collect(ctx, db.Reader(), scanOne[int], `select 1`)
	if err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	return nil
}

// Postgres is the pool of connections to PostgreSQL, nil where the database is SQLite.
func (db *DB) Postgres() *pgxpool.Pool { return db.pool }

// SQLite is the writing connection of the SQLite file, nil where the database is PostgreSQL.
func (db *DB) SQLite() *sql.DB { return db.writer }

// Path is that of the SQLite file, empty where the database is PostgreSQL.
func (db *DB) Path() string { return db.path }

// Now is the time as the database was given it.
func (db *DB) Now() time.Time { return db.now() }

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// Micros is t as it is stored.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// FromMicros is the time that Micros made n of.
func FromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
