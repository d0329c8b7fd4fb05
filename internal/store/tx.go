package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Scan copies the columns of a row to where dest points.
type Scan func(dest ...any) error

// A Querier runs statements on either database.
type Querier interface {
	// Exec returns how many rows it changed.
	Exec(ctx context.Context, statement string, args ...any) (int64, error)
	// Each calls row for every row that the statement gives.
	Each(ctx context.Context, row func(Scan) error, statement string, args ...any) error
}

// A Tx is a transaction of either database; one of the two is not nil.
type Tx struct {
	Querier
	SQLite   *sql.Tx
	Postgres pgx.Tx
}

// Reader runs single statements that change nothing. What was committed before is seen.
func (db *DB) Reader() Querier {
	if db.pool != nil {
		return pgQuerier{db.pool}
	}
	return sqlQuerier{db.readers}
}

// tries of a transaction that PostgreSQL ends because of others.
const tries = 5

// Write runs fn in one transaction: all of it happens, on disk when Write returns, or
// none. An error of fn is returned as it is. Where PostgreSQL ends the transaction
// because it and another wait for each other, fn is called again.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	if db.pool == nil {
		return db.writeSQLite(ctx, fn)
	}
	for n := 1; ; n++ {
		err := pgx.BeginFunc(ctx, db.pool, func(begun pgx.Tx) error {
			tx := &Tx{Querier: pgQuerier{begun}, Postgres: begun}
			if fence, ok := ctx.Value(fenceKey{}).(func(context.Context, *Tx) error); ok {
				if err := fence(ctx, tx); err != nil {
					return err
				}
			}
			return fn(tx)
		})
		var refused *pgconn.PgError
		if err == nil || n == tries || !errors.As(err, &refused) || (refused.Code != deadlock && refused.Code != serialization) {
			return err
		}
	}
}

// fenceKey is that of a fence in a context.
type fenceKey struct{}

// Fenced is ctx, with which each transaction of [DB.Write] begins with fence, on PostgreSQL:
// an error of it ends the transaction before anything was written. So a worker that is not
// alive any more to others is refused whatever it still writes for its jobs.
func Fenced(ctx context.Context, fence func(context.Context, *Tx) error) context.Context {
	return context.WithValue(ctx, fenceKey{}, fence)
}

// PostgreSQL's codes for what may be tried again.
const (
	deadlock      = "40P01"
	serialization = "40001"
)

func (db *DB) writeSQLite(ctx context.Context, fn func(*Tx) error) error {
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	if err := fn(&Tx{Querier: sqlQuerier{tx}, SQLite: tx}); err != nil {
		if back := tx.Rollback(); back != nil && !errors.Is(back, sql.ErrTxDone) {
			err = errors.Join(err, back)
		}
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Exclusively runs fn while no other process runs what is called name: under an
// advisory lock of PostgreSQL, or a lock on a file beside that of SQLite. The lock of a process
// that froze or whose machine vanished is free again after lockIdle; ctx of fn ends where its lock
// is lost.
func (db *DB) Exclusively(ctx context.Context, name string, fn func(context.Context) error) (err error) {
	return db.ExclusivelyWithin(ctx, 0, name, fn)
}

// ErrBusy says that another process has the lock that was waited for.
var ErrBusy = errors.New("another process is at it for long")

// ExclusivelyWithin is Exclusively, but returns [ErrBusy] where it would have to wait for longer;
// 0: there is no bound.
func (db *DB) ExclusivelyWithin(ctx context.Context, within time.Duration, name string, fn func(context.Context) error) (err error) {
	waits := ctx
	if within > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, within, ErrBusy)
		defer cancel()
		waits = bounded
	}
	if db.pool == nil {
		release, err := db.waitForFile(waits, name)
		if err != nil {
			return fmt.Errorf("lock %s: %w", name, err)
		}
		return errors.Join(fn(ctx), release())
	}
	_, err = db.locked(ctx, waits, name, `select true from pg_advisory_lock($1)`, fn)
	return err
}

// waitForFile takes the lock called name beside the SQLite file, for which it waits until ctx ends.
func (db *DB) waitForFile(ctx context.Context, name string) (release func() error, err error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		release, ok, err := lockFile(db.path + "." + name + ".lock")
		if err != nil || ok {
			return release, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// tryExclusively is Exclusively, but returns false at once where another process runs what is
// called name.
func (db *DB) tryExclusively(ctx context.Context, name string, fn func(context.Context) error) (bool, error) {
	if db.pool == nil {
		release, ok, err := db.TryLockFile(name)
		if err != nil || !ok {
			return false, err
		}
		return true, errors.Join(fn(ctx), release())
	}
	return db.locked(ctx, ctx, name, `select pg_try_advisory_lock($1)`, fn)
}

// lockIdle is how long who has a lock may say nothing. It speaks, and waits for an answer, a quarter of
// that.
const lockIdle = 20 * time.Second

// lockSession has PostgreSQL end the session of who has a lock and froze, or (before PostgreSQL 14,
// which does not know how) whose machine vanished.
const lockSession = `select set_config(s.name, v.value, false) from pg_settings s join (values
	('idle_session_timeout', $1::text), ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')) as v(name, value) on v.name = s.name`

// errUnlocked says that a lock was lost while it was needed.
var errUnlocked = errors.New("the lock was lost")

// locked runs fn where statement takes the lock called name, for which it may wait until waits ends,
// and reports whether it did. The lock has a connection of its own, with which it ends: fn may need
// all that the pool has.
func (db *DB) locked(ctx, waits context.Context, name, statement string, fn func(context.Context) error) (ok bool, err error) {
	conn, err := pgx.ConnectConfig(waits, db.pool.Config().ConnConfig.Copy())
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", name, orCause(waits, err))
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), db.lockIdle/4)
		defer cancel()
		if ok { // PostgreSQL frees it a little later than the connection is closed
			_, _ = conn.Exec(end, `select pg_advisory_unlock($1)`, LockKey(name))
		}
		_ = conn.Close(end) // it is free at the latest after lockIdle
	}()
	if _, err = conn.Exec(waits, lockSession, strconv.FormatInt(db.lockIdle.Milliseconds(), 10)); err == nil {
		err = conn.QueryRow(waits, statement, LockKey(name)).Scan(&ok)
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", name, orCause(waits, err))
	}
	if !ok {
		return false, nil
	}
	ctx, lose := context.WithCancelCause(ctx)
	var alive sync.WaitGroup
	alive.Go(func() { db.keepLock(ctx, conn, lose) })
	err = fn(ctx)
	lose(nil)
	alive.Wait()
	return true, err
}

// orCause is why ctx has ended, if it has, and else err.
func orCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// keepLock says to PostgreSQL that who has the lock lives, until ctx ends. Where that is not heard,
// lose is called.
func (db *DB) keepLock(ctx context.Context, conn *pgx.Conn, lose context.CancelCauseFunc) {
	tick := time.NewTicker(db.lockIdle / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		heard, cancel := context.WithTimeout(context.WithoutCancel(ctx), db.lockIdle/4)
		err := conn.Ping(heard)
		cancel()
		if err != nil {
			lose(fmt.Errorf("%w: %w", errUnlocked, err))
			return
		}
	}
}

// TryLockFile takes the lock called name beside the SQLite file, which one process has
// at a time and loses when it ends, however it ends.
func (db *DB) TryLockFile(name string) (release func() error, ok bool, err error) {
	if db.path == "" {
		return nil, false, fmt.Errorf("lock %s: %w", name, os.ErrInvalid)
	}
	release, ok, err = lockFile(db.path + "." + name + ".lock")
	if err != nil {
		err = fmt.Errorf("lock %s: %w", name, err)
	}
	return release, ok, err
}

// Rows makes a list of values of args for a statement that has no other parameters, such
// as "($1,$2),($3,$4)". The last row may be repeated, which what the list is for must not
// mind: PostgreSQL prepares a statement for each length, so these are powers of two.
func (tx *Tx) Rows(columns int, args []any) (values string, padded []any) {
	if tx.SQLite != nil { // its driver looks for each parameter by its name, if it has one
		row := "(" + strings.Repeat("?,", columns-1) + "?)"
		return strings.Repeat(row+",", len(args)/columns-1) + row, args
	}
	last := args[len(args)-columns:]
	for n := len(args) / columns; n&(n-1) != 0; n++ {
		args = append(args, last...)
	}
	var b strings.Builder
	for i := range args {
		switch {
		case i == 0:
			b.WriteString("($")
		case i%columns == 0:
			b.WriteString("),($")
		default:
			b.WriteString(",$")
		}
		b.WriteString(strconv.Itoa(i + 1))
	}
	return b.String() + ")", args
}

// collect returns what row makes of each row.
func collect[T any](ctx context.Context, q Querier, row func(Scan) (T, error), statement string, args ...any) ([]T, error) {
	var out []T
	err := q.Each(ctx, func(scan Scan) error {
		v, err := row(scan)
		if err == nil {
			out = append(out, v)
		}
		return err
	}, statement, args...)
	return out, err
}

// scanOne reads a row of one column.
func scanOne[T any](scan Scan) (v T, err error) {
	err = scan(&v)
	return v, err
}

type sqlQuerier struct {
	on interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (q sqlQuerier) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	res, err := q.on.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (q sqlQuerier) Each(ctx context.Context, row func(Scan) error, statement string, args ...any) error {
	rows, err := q.on.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

type pgQuerier struct {
	on interface {
		Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	}
}

func (q pgQuerier) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	tag, err := q.on.Exec(ctx, statement, args...)
	return tag.RowsAffected(), err
}

func (q pgQuerier) Each(ctx context.Context, row func(Scan) error, statement string, args ...any) error {
	rows, err := q.on.Query(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
