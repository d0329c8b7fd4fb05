package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
)

// A FileInfo is a file of a run that is stored whole.
type FileInfo struct {
	Name string // with slashes, relative to the run's directory
	Size int64
}

// sizeOf is the size of a file, by its row.
const sizeOf = `case when length(digest) = 0 then length(body) else size end`

// Files lists the files of a run that are stored whole, by name.
func (db *DB) Files(ctx context.Context, run string) ([]FileInfo, error) {
	files, err := collect(ctx, db.Reader(), func(scan Scan) (f FileInfo, err error) {
		err = scan(&f.Name, &f.Size)
		return f, err
	}, `select name, `+sizeOf+` from files where run = $1 order by name`, run)
	if err != nil {
		return nil, fmt.Errorf("files of run %s: %w", run, err)
	}
	return files, nil
}

// File returns a file of a run that is stored whole; [ErrNotFound] where there is none.
func (db *DB) File(ctx context.Context, run, name string) ([]byte, error) {
	r, _, err := db.OpenFile(ctx, run, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("file %s of run %s: %w", name, run, err)
	}
	return data, nil
}

// OpenFile reads a file of a run that is stored whole, and says how long it is;
// [ErrNotFound] where there is none. Where what is stored is not what it was, the reader
// returns an error in place of io.EOF.
func (db *DB) OpenFile(ctx context.Context, run, name string) (io.ReadCloser, int64, error) {
	rows, err := collect(ctx, db.Reader(), func(scan Scan) (content, error) {
		c := content{run: run}
		err := scan(&c.size, &c.digests, &c.body)
		return c, err
	}, `select `+sizeOf+`, digest, body from files where run = $1 and name = $2`, run, name)
	if err == nil && len(rows) == 0 {
		err = ErrNotFound
	}
	var r io.ReadCloser
	if err == nil {
		r, err = db.open(ctx, rows[0], 0)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("file %s of run %s: %w", name, run, err)
	}
	return r, rows[0].size, nil
}

// A Tail is the end of a file.
type Tail struct {
	Name string
	Size int64 // of the whole file
	End  []byte
	Lost bool // see [IsLost]; there is no End
}

// Tails returns the last bytes, limit of them at most, of the files of a run whose names
// begin with prefix.
func (db *DB) Tails(ctx context.Context, run, prefix string, limit int) ([]Tail, error) {
	var contents []content
	tails, err := collect(ctx, db.Reader(), func(scan Scan) (t Tail, err error) {
		c := content{run: run}
		err = scan(&t.Name, &t.Size, &c.digests, &t.End)
		c.size = t.Size
		contents = append(contents, c)
		return t, err
	}, `select name, `+sizeOf+`, digest, substr(body, cast(case when length(body) > cast($3 as bigint) then length(body) - cast($3 as bigint) + 1 else 1 end as integer))
		from files where run = $1 and substr(name, 1, length(cast($2 as text))) = cast($2 as text) order by name`, run, prefix, limit)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(db.blobsAtOnce())
	for i, c := range contents {
		if err == nil && len(c.digests) > 0 {
			group.Go(func() (err error) {
				tails[i].End, err = db.tail(ctx, c, int64(limit))
				if IsLost(err) { // the others can be read
					tails[i].End, tails[i].Lost, err = nil, true, nil
				}
				return err
			})
		}
	}
	if err = errors.Join(err, group.Wait()); err != nil {
		return nil, fmt.Errorf("files of run %s: %w", run, err)
	}
	return tails, nil
}

// tail reads the end of a content.
func (db *DB) tail(ctx context.Context, c content, limit int64) ([]byte, error) {
	r, err := db.open(ctx, c, max(0, c.size-limit))
	if err != nil {
		return nil, err
	}
	end, err := io.ReadAll(r)
	return end, errors.Join(err, r.Close())
}
