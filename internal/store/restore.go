package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Restore writes what is stored of a run into a directory that is empty or not there. It is
// there whole or not at all.
func (db *DB) Restore(ctx context.Context, run, dir string) error {
	partial := dir + ".partial"
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		err = fmt.Errorf("%s: %w", dir, errNotEmpty)
	case err == nil || errors.Is(err, fs.ErrNotExist):
		err = os.RemoveAll(partial) // of a process that was killed
	}
	if err == nil {
		err = db.restoreAt(ctx, run, partial)
	}
	if err == nil {
		err = os.Remove(dir)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(partial, dir)
	}
	if err != nil {
		return fmt.Errorf("restore run %s: %w", run, err)
	}
	return nil
}

func (db *DB) restoreAt(ctx context.Context, run, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(db.restore(ctx, run, root), root.Close())
}

var errNotEmpty = errors.New("directory is not empty")

func (db *DB) restore(ctx context.Context, run string, root *os.Root) error {
	files, err := collect(ctx, db.Reader(), scanOne[string], `select name from files where run = $1`, run)
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := db.restoreFile(ctx, run, name, root); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, name := range appendOnly() {
		if err := db.restoreLines(ctx, run, name, root); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (db *DB) restoreFile(ctx context.Context, run, name string, root *os.Root) error {
	local := filepath.FromSlash(name)
	if folder := path.Dir(name); folder != "." {
		if err := root.MkdirAll(filepath.FromSlash(folder), 0o700); err != nil {
			return err
		}
	}
	r, _, err := db.OpenFile(ctx, run, name)
	if err != nil {
		return err
	}
	file, err := root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		_, err = io.Copy(file, r)
		err = errors.Join(err, file.Close())
	}
	return errors.Join(err, r.Close())
}

func (db *DB) restoreLines(ctx context.Context, run, name string, root *os.Root) (err error) {
	var file *os.File
	_, err = db.eachChunk(ctx, run, name, 0, func(r io.Reader, at int64) (int64, error) {
		var err error
		if file == nil {
			if file, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
				return at, err
			}
		}
		n, err := io.Copy(file, r)
		return at + n, err
	})
	if file == nil {
		return err
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// Import stores a directory that a run was done in, as if it had been mirrored.
func (db *DB) Import(ctx context.Context, run, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("import run %s: %w", run, err)
	}
	m := newMirror(db, run, root)
	if err = m.verify(ctx); err == nil { // a directory that diverges is no import but a mistake
		err = m.Finish(ctx)
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("import run %s: %w", run, err)
	}
	return nil
}
