package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

// server is the PostgreSQL of this test binary.
var server storetest.Server

func TestMain(m *testing.M) {
	if role := os.Getenv("YCBOT_TEST_ROLE"); role != "" {
		os.Exit(child(role))
	}
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// onBoth runs test on an empty database of either kind. where names it, for [openAt].
func onBoth(t *testing.T, test func(t *testing.T, where string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, filepath.Join(t.TempDir(), "db")) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, server.Database(t)) })
}

// openAt opens and migrates the database at where.
func openAt(t *testing.T, where string) *DB {
	t.Helper()
	db, err := openWhere(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func openWhere(ctx context.Context, where string) (*DB, error) {
	o := Options{Path: where, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	if isPostgres(where) {
		o.URL, o.Path = where, ""
	}
	db, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return db, db.Migrate(ctx)
}

// The lock of a process that froze is free again after a while; that of one that lives stays its own,
// however long it needs it; and who lost its lock gets to know.
func TestLocks(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	db, other := openAt(t, where), openAt(t, where)
	db.lockIdle = 2 * time.Second
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	var group sync.WaitGroup
	group.Go(func() { // it says nothing more, as one that froze
		conn := connect()
		defer conn.Close(t.Context()) // or it would be collected
		if _, err := conn.Exec(t.Context(), lockSession, "2000"); err != nil {
			t.Error(err)
		}
		if _, err := conn.Exec(t.Context(), `select pg_advisory_lock($1)`, LockKey("frozen")); err != nil {
			t.Error(err)
		}
		nothing := func(context.Context) error { return nil }
		if err := db.ExclusivelyWithin(t.Context(), 100*time.Millisecond, "frozen", nothing); !errors.Is(err, ErrBusy) {
			t.Errorf("locked: %v", err)
		}
		began := time.Now()
		if err := db.Exclusively(t.Context(), "frozen", nothing); err != nil || time.Since(began) > lockIdle {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
	group.Go(func() {
		err := db.Exclusively(t.Context(), "kept", func(ctx context.Context) error {
			time.Sleep(2 * db.lockIdle)
			ok, err := other.tryExclusively(ctx, "kept", func(context.Context) error { return nil })
			if ok {
				t.Error("a lock that is needed for long is another's")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	group.Go(func() {
		err := db.Exclusively(t.Context(), "lost", func(ctx context.Context) error {
			conn := connect()
			defer conn.Close(t.Context())
			_, err := conn.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and
				(classid::bigint << 32 | objid::bigint) = $1`, LockKey("lost"))
			if err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(10 * db.lockIdle):
				return nil
			}
		})
		if !errors.Is(err, errUnlocked) {
			t.Errorf("lost: %v", err)
		}
	})
	group.Wait()
}

// What had a lock has given it up when it returns: the next one need not wait for PostgreSQL to
// notice the end of a connection.
func TestLockIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	db := openAt(t, where)
	next, err := pgx.Connect(t.Context(), where) // which asks sooner than one that has yet to connect
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close(t.Context())
	for n := range 100 {
		if ok, err := db.tryExclusively(t.Context(), "again", func(context.Context) error { return nil }); err != nil || !ok {
			t.Fatalf("try %d: %v, %v", n, ok, err)
		}
		var free bool
		if err := next.QueryRow(t.Context(), `select pg_try_advisory_lock($1) and pg_advisory_unlock($1)`, LockKey("again")).Scan(&free); err != nil || !free {
			t.Fatalf("after try %d it is free: %v, %v", n, free, err)
		}
	}
}
