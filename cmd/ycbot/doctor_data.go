package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/ycbot/ycbot/internal/store"
)

// examineData looks at where the App keeps things: the folder of its data, and the database.
// Nothing is changed.
func (p *program) examineData(ctx context.Context, c *chart, a *appOptions, offline bool) {
	if err := writable(a.data); err != nil {
		c.issue("give the user that runs ycbot a folder to write to: YCBOT_DATA", "data of the App: %v", err)
		return
	}
	c.ok("data of the App: %s", a.data)
	if a.database == "" {
		if _, err := os.Stat(a.file()); errors.Is(err, fs.ErrNotExist) {
			c.ok("database: SQLite; the server creates %s", a.file())
			return
		}
	} else if offline {
		c.skip("", "database: not asked (--offline)")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	const todo = "compare DATABASE_URL with the server's address, user, password and rights"
	db, err := store.Open(ctx, store.Options{URL: a.database, Path: a.file(), Now: p.now})
	if err != nil {
		c.issue(todo, "database: %v", err)
		return
	}
	defer func() { _ = db.Close() }() // nothing was written
	kind := "SQLite, " + a.file()
	if a.database != "" {
		kind = "PostgreSQL"
	}
	switch err := db.Try(ctx); {
	case errors.Is(err, store.ErrNotMigrated):
		c.ok("database: %s; the server creates its tables", kind)
	case err != nil:
		c.issue(todo, "database: %s: deliveries cannot be stored: %v", kind, err)
	default:
		c.ok("database: %s; deliveries can be stored", kind)
	}
}
