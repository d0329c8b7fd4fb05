package store

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

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
