package app

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

// databases is the PostgreSQL of this test binary: of its own each test has a database, as to
// begin a server takes longer than most of them.
var databases = storetest.Server{Prepare: func(ctx context.Context, url string) error {
	db, err := store.Open(ctx, store.Options{URL: url, Now: time.Now})
	if err != nil {
		return err
	}
	return errors.Join(queue.Migrate(ctx, db), db.Close())
}}

func TestMain(m *testing.M) {
	code := m.Run()
	databases.Stop()
	os.Exit(code)
}
