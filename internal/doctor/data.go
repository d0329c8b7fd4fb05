package doctor

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/ycbot/ycbot/internal/blobs"
	"github.com/ycbot/ycbot/internal/disk"
	"github.com/ycbot/ycbot/internal/store"
)

// data looks at where the App keeps things: the folder of its data, what is named for blobs,
// and the database. What it stores to find out it removes again.
func (in Input) data(ctx context.Context, c *area) {
	a := in.App
	in.blobs(ctx, c)
	if err := disk.Writable(a.Data); err != nil {
		c.issue("give the user that runs ycbot a folder to write to: YCBOT_DATA", "data of the App: %v", err)
		return
	}
	c.ok("data of the App: %s", a.Data)
	if a.Database == "" {
		if _, err := os.Stat(a.File); errors.Is(err, fs.ErrNotExist) {
			c.ok("database: SQLite; the server creates %s", a.File)
			return
		}
	} else if in.Offline {
		c.skip("", "database: not asked (--offline)")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	const todo = "compare DATABASE_URL with the server's address, user, password and rights"
	db, err := store.Open(ctx, store.Options{URL: a.Database, Path: a.File, Now: in.Machine.Now})
	if err != nil {
		c.issue(todo, "database: %v", err)
		return
	}
	defer func() { _ = db.Close() }() // nothing was written
	kind := "SQLite, " + a.File
	if a.Database != "" {
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

// blobs looks whether what runs produce can be stored.
func (in Input) blobs(ctx context.Context, c *area) {
	const todo = "compare YCBOT_BLOB_URL with the bucket's address, rights and room"
	folder, local := in.App.Bucket.(blobs.File)
	switch {
	case in.App.Bucket == nil: // what was looked at besides
	case local:
		if err := disk.Writable(folder.Dir); err != nil {
			c.issue(todo, "outputs of runs: %v", err)
			return
		}
		c.ok("outputs of runs: %s", folder.Dir)
	case in.Offline:
		c.skip("", "outputs of runs: %s is not asked (--offline)", in.App.Blobs)
	default:
		store := blobs.Store{Bucket: in.App.Bucket}
		err := store.CheckWithin(ctx)
		if c, ok := in.App.Bucket.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
		if err != nil {
			c.issue(todo, "outputs of runs: %v", err)
			return
		}
		c.ok("outputs of runs: %s; they can be stored", in.App.Blobs)
	}
}
