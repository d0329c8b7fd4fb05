package queue

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/store"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

// server is the PostgreSQL of this test binary, each database of which is migrated.
var server = storetest.Server{Prepare: func(ctx context.Context, url string) error {
	db, err := openWhere(ctx, url)
	if err != nil {
		return err
	}
	return db.Close()
}}

func TestMain(m *testing.M) {
	if role := os.Getenv("YCBOT_TEST_ROLE"); role != "" {
		os.Exit(child(role))
	}
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// onBoth runs test on a database of either kind without jobs. where names it, for [openAt].
func onBoth(t *testing.T, test func(t *testing.T, where string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, filepath.Join(t.TempDir(), "db")) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, server.Database(t)) })
}

// openAt opens and migrates the database at where.
func openAt(t *testing.T, where string) *store.DB {
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

func openWhere(ctx context.Context, where string) (*store.DB, error) {
	o := store.Options{Path: where, Now: time.Now}
	if strings.HasPrefix(where, "postgres:") {
		o.URL, o.Path = where, ""
	}
	db, err := store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return db, Migrate(ctx, db)
}
