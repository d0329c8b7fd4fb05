// Package store is ycbot's database: what has to outlive a process and be seen by
// more than one. It is one SQLite file, or one PostgreSQL database where several
// machines work.
//
// The tables: runs, one row a run; lines and files, the copy of each run's
// directory (see [Mirror]); effects, what was done to the outside (the first value
// under a key counts); deliveries, the webhooks that came; base_results, what tests
// of bases said (see [BaseResults]); flakes, which tests gave both results on the same
// code (see [Flakes]); tests and test_results, what runs said of tests that did not just pass (see
// [TestResult]); jobs, which package queue reads and writes beside River's own tables. All schema is in migrations/,
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
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Options say which database, and what it needs from outside.
type Options struct {
	URL  string // of PostgreSQL, "postgres://…"; empty: SQLite
	Path string // of the SQLite file, which is made where there is none
	Now  func() time.Time
	Log  *slog.Logger // of migrations; nil: none
}

// A DB is an open database. It is safe for concurrent use.
type DB struct {
	now func() time.Time
	log *slog.Logger

	path    string // SQLite
	writer  *sql.DB
	readers *sql.DB

	pool *pgxpool.Pool // PostgreSQL; nil: SQLite

	watchers watchers

	probing chan struct{} // is held by who tries to store something
	stored  time.Time     // when that went well
}

// Open opens the database and does not migrate it (see [DB.Migrate]).
func Open(ctx context.Context, o Options) (*DB, error) {
	db := &DB{now: o.Now, log: o.Log, probing: make(chan struct{}, 1)}
	if o.Now == nil {
		return nil, errors.New("open database: Now is required")
	}
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	if o.URL != "" {
		return db, db.openPostgres(ctx, o.URL)
	}
	return db, db.openSQLite(ctx, o.Path)
}

// Close closes the database.
func (db *DB) Close() error {
	if db.pool != nil {
		db.pool.Close()
		return nil
	}
	return errors.Join(db.readers.Close(), db.writer.Close())
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
