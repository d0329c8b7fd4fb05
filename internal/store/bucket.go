package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/blobs"
)

// A rowBucket keeps blobs in the database: it is the only thing that all processes reach
// where an operator names nothing else. The columns hold no digests then but what they name.
type rowBucket struct{ db *DB }

// Put implements [blobs.Bucket].
func (b rowBucket) Put(ctx context.Context, key string, data []byte) error {
	return b.db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `insert into blobs (name, body) values ($1, $2)
			on conflict (name) do update set body = excluded.body`, key, data)
		return err
	})
}

// Get implements [blobs.Bucket].
func (b rowBucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	bodies, err := collect(ctx, b.db.Reader(), scanOne[[]byte], `select body from blobs where name = $1`, key)
	if err == nil && len(bodies) == 0 {
		err = blobs.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(bodies[0])), nil
}

// Delete implements [blobs.Bucket].
func (b rowBucket) Delete(ctx context.Context, key string) error {
	return b.db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `delete from blobs where name = $1`, key)
		return err
	})
}

// List implements [blobs.Bucket].
func (b rowBucket) List(ctx context.Context, prefix string) ([]string, error) {
	return collect(ctx, b.db.Reader(), scanOne[string], `select name from blobs where name >= $1 and name < $2`,
		prefix, prefix[:len(prefix)-1]+"0") // which is behind the slash
}

// A movedBucket is an operator's bucket, with what was in the database before one was named.
type movedBucket struct {
	blobs.Bucket
	before rowBucket
}

// Get implements [blobs.Bucket].
func (b movedBucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := b.Bucket.Get(ctx, key)
	if !errors.Is(err, blobs.ErrNotFound) {
		return r, err
	}
	if r, err = b.before.Get(ctx, key); !errors.Is(err, blobs.ErrNotFound) {
		return r, err
	}
	return b.Bucket.Get(ctx, key) // it may have been moved in between
}

// Delete implements [blobs.Bucket].
func (b movedBucket) Delete(ctx context.Context, key string) error {
	return errors.Join(b.Bucket.Delete(ctx, key), b.before.Delete(ctx, key))
}

// List implements [blobs.Bucket].
func (b movedBucket) List(ctx context.Context, prefix string) ([]string, error) {
	keys, err := b.Bucket.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	before, err := b.before.List(ctx, prefix)
	return append(keys, before...), err
}

// blobsAtOnce is how many blobs are written or read at the same time. Of the database's
// connections no more are taken by that than without blobs.
func (db *DB) blobsAtOnce() int {
	if _, rows := db.blobs.Bucket.(rowBucket); rows {
		return 1
	}
	return 8
}

// useBucket has blobs be in bucket; nil: in a folder beside the SQLite file, or in PostgreSQL.
func (db *DB) useBucket(bucket blobs.Bucket) {
	rows := rowBucket{db}
	if bucket == nil && db.path != "" {
		bucket = blobs.File{Dir: filepath.Join(filepath.Dir(db.path), "blobs")}
	}
	if bucket == nil {
		db.blobs = &blobs.Store{Bucket: rows}
		return
	}
	db.blobs = &blobs.Store{Bucket: movedBucket{bucket, rows}}
}
