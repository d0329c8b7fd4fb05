package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ycbot/ycbot/internal/blobs"
)

// TidyBlobs moves to blobs what earlier versions stored in rows, or a worker that died left
// there, and to the bucket what was stored before there was one; then it removes blobs that
// no row names. It does so step by step, can be stopped at any time, and does nothing while another
// process does it. What it did not come to is done the next time.
func (db *DB) TidyBlobs(ctx context.Context) error {
	_, err := db.tryExclusively(ctx, "blobs", func(ctx context.Context) error {
		return errors.Join(db.moveRuns(ctx), db.moveRows(ctx), db.removeLoose(ctx))
	})
	if err != nil {
		return fmt.Errorf("tidy blobs: %w", err)
	}
	return nil
}

// moveRuns moves what runs that ended have in rows.
func (db *DB) moveRuns(ctx context.Context) error {
	for last := ""; ; {
		ids, err := collect(ctx, db.Reader(), scanOne[string], `select id from runs where state <> $1 and id > $2 and (
				id in (select run from lines where length(digest) = 0)
				or id in (select run from files where length(digest) = 0 and length(body) > 128))
			order by id limit 100`, string(Running), last)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := db.moveRun(ctx, id); err != nil {
				return fmt.Errorf("move run %s: %w", id, err)
			}
		}
		last = ids[len(ids)-1]
	}
}

func (db *DB) moveRun(ctx context.Context, run string) error {
	logs, err := collect(ctx, db.Reader(), scanOne[string], `select distinct file from lines where run = $1 and length(digest) = 0`, run)
	if err != nil {
		return err
	}
	for _, name := range logs {
		if err := db.moveLog(ctx, run, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	names, err := collect(ctx, db.Reader(), scanOne[string],
		`select name from files where run = $1 and length(digest) = 0 and length(body) > 128`, run)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := db.moveFile(ctx, run, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// errBusy says that someone writes what is to be moved. It is left.
var errBusy = errors.New("the run goes on")

// moveLog makes one row of those of an append-only file.
func (db *DB) moveLog(ctx context.Context, run, name string) error {
	in, out := io.Pipe()
	read := make(chan int64, 1)
	go func() {
		end, err := db.eachChunk(ctx, run, name, 0, func(r io.Reader, at int64) (int64, error) {
			n, err := io.Copy(out, r)
			return at + n, err
		})
		read <- end
		_ = out.CloseWithError(err)
	}()
	digests, size, err := db.putParts(ctx, run, in, nil)
	_ = in.CloseWithError(err)
	end := <-read
	if err != nil {
		return err
	}
	err = db.Write(ctx, func(tx *Tx) error {
		if err := still(ctx, tx, run); err != nil {
			return err
		}
		now, err := collect(ctx, tx, scanOne[int64], `select coalesce(max(end_at), 0) from lines where run = $1 and file = $2`, run, name)
		if err != nil || now[0] != end || size != end {
			return errors.Join(err, errBusy)
		}
		return replaceChunks(ctx, tx, run, name, chunk{end: end, digests: digests})
	})
	if errors.Is(err, errBusy) {
		return nil
	}
	return err
}

// moveFile moves a file that is stored whole.
func (db *DB) moveFile(ctx context.Context, run, name string) error {
	body, err := db.File(ctx, run, name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	c := content{run: run}
	if c.digests, c.size, err = db.putParts(ctx, run, bytes.NewReader(body), nil); err != nil {
		return err
	}
	err = db.Write(ctx, func(tx *Tx) error {
		if err := still(ctx, tx, run); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `update files set body = $3, digest = $4, size = $5
			where run = $1 and name = $2 and length(digest) = 0 and length(body) = $5`, run, name, []byte{}, c.digests, c.size)
		return err
	})
	if errors.Is(err, errBusy) {
		return nil
	}
	return err
}

// still returns errBusy where a run is not over, and has others wait who would begin.
func still(ctx context.Context, tx *Tx, run string) error {
	if err := lockRun(ctx, tx, run); err != nil {
		return err
	}
	states, err := collect(ctx, tx, scanOne[string], `select state from runs where id = $1`, run)
	if err == nil && slices.Contains(states, string(Running)) {
		err = errBusy
	}
	return err
}

// moveRows moves blobs from the database to the bucket, where there is one.
func (db *DB) moveRows(ctx context.Context) error {
	bucket, ok := db.blobs.Bucket.(movedBucket)
	if !ok {
		return nil
	}
	for {
		names, err := collect(ctx, db.Reader(), scanOne[string], `select name from blobs order by name limit 100`)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := bucket.take(ctx, name); err != nil {
				return fmt.Errorf("move blob %s: %w", name, err)
			}
		}
	}
}

// take moves one blob.
func (b movedBucket) take(ctx context.Context, name string) error {
	r, err := b.before.Get(ctx, name)
	if err != nil {
		if errors.Is(err, blobs.ErrNotFound) {
			err = nil
		}
		return err
	}
	data, err := io.ReadAll(r)
	if err == nil {
		err = b.Put(ctx, name, data)
	}
	if err != nil {
		return err
	}
	return b.before.Delete(ctx, name)
}

// removeLoose removes blobs that no row names: of runs that are over for long enough, and
// of runs that were deleted.
func (db *DB) removeLoose(ctx context.Context) error {
	for last := ""; ; {
		ids, err := collect(ctx, db.Reader(), scanOne[string], `select run from loose where due <= $1 and run > $2
			and not exists (select 1 from runs where id = run and state = $3) order by run limit 100`, Micros(db.now()), last, string(Running))
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := db.removeLooseOf(ctx, id); err != nil {
				return err
			}
		}
		last = ids[len(ids)-1]
	}
}

func (db *DB) removeLooseOf(ctx context.Context, run string) error {
	columns, err := collect(ctx, db.Reader(), scanOne[[]byte], `select digest from lines where run = $1 union all select digest from files where run = $1`, run)
	if err != nil {
		return err
	}
	named := map[blobs.Digest]bool{}
	for _, c := range columns {
		for _, d := range digestsOf(c) {
			named[d] = true
		}
	}
	if _, err := db.blobs.Tidy(ctx, run, func(d blobs.Digest) bool { return named[d] }); err != nil {
		return err
	}
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `delete from loose where run = $1 and due <= $2`, run, Micros(db.now()))
		return err
	})
}
