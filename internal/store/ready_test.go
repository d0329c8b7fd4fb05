package store

import (
	"errors"
	"testing"
	"time"

	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

// A database that answers and takes nothing is found out, without changing it, and a
// PostgreSQL that was never migrated is one that the program can prepare only if it may.
func TestReadyMeansStorable(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	open := func(url string) *DB {
		t.Helper()
		db, err := Open(t.Context(), Options{URL: url, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	separator := "?"
	for _, r := range url {
		if r == '?' {
			separator = "&"
		}
	}
	db, readOnly := open(url), open(url+separator+"default_transaction_read_only=on")
	if err := db.Try(t.Context()); !errors.Is(err, ErrNotMigrated) {
		t.Errorf("an empty database: %v", err)
	}
	if err := readOnly.Try(t.Context()); err == nil || errors.Is(err, ErrNotMigrated) {
		t.Errorf("an empty database that is read only: %v", err)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Try(t.Context()); err != nil {
		t.Error(err)
	}
	if _, ok, err := db.Lookup(t.Context(), "ready"); ok || err != nil {
		t.Errorf("trying left something: %v", err)
	}
	for range 2 {
		if err := db.Storable(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := readOnly.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if readOnly.Storable(t.Context()) == nil || readOnly.Try(t.Context()) == nil {
		t.Error("a database that takes nothing counts as ready")
	}
}
