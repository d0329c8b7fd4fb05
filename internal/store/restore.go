package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Restore writes what is stored of a run into a directory that is empty or not there.
func (db *DB) Restore(ctx context.Context, run, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("restore run %s: %w", run, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("restore run %s: %w", run, err)
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s: %w", dir, errNotEmpty)
	}
	if err == nil {
		err = db.restore(ctx, run, root)
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("restore run %s: %w", run, err)
	}
	return nil
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
	body, err := db.File(ctx, run, name)
	if err != nil {
		return err
	}
	local := filepath.FromSlash(name)
	if folder := path.Dir(name); folder != "." {
		if err := root.MkdirAll(filepath.FromSlash(folder), 0o700); err != nil {
			return err
		}
	}
	return root.WriteFile(local, body, 0o600)
}

func (db *DB) restoreLines(ctx context.Context, run, name string, root *os.Root) (err error) {
	var file *os.File
	var w *bufio.Writer
	err = db.Reader().Each(ctx, func(scan Scan) error {
		var body []byte
		if err := scan(&body); err != nil {
			return err
		}
		if file == nil {
			var err error
			if file, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
				return err
			}
			w = bufio.NewWriter(file)
		}
		_, err := w.Write(append(body, '\n'))
		return err
	}, `select body from lines where run = $1 and file = $2 order by start_at`, run, name)
	if file == nil {
		return err
	}
	return errors.Join(err, w.Flush(), file.Sync(), file.Close())
}

// Import stores a directory that a run was done in, as if it had been mirrored.
func (db *DB) Import(ctx context.Context, run, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("import run %s: %w", run, err)
	}
	m := &Mirror{db: db, run: run, root: root, seen: map[string]stamp{}}
	if err = m.verify(ctx); err == nil { // a directory that diverges is no import but a mistake
		err = m.Finish(ctx)
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("import run %s: %w", run, err)
	}
	return nil
}

// Lines returns at most limit lines of a file of a run, from an offset on: 0, or the End
// of the last line that was read.
func (db *DB) Lines(ctx context.Context, run, file string, from int64, limit int) ([]Line, error) {
	lines, err := collect(ctx, db.Reader(), func(scan Scan) (l Line, err error) {
		err = scan(&l.Start, &l.End, &l.Body)
		return l, err
	}, `select start_at, end_at, body from lines where run = $1 and file = $2 and start_at >= $3 order by start_at limit $4`,
		run, file, from, limit)
	if err != nil {
		return nil, fmt.Errorf("lines of %s of run %s: %w", file, run, err)
	}
	return lines, nil
}

// A FileInfo is a file of a run that is stored whole.
type FileInfo struct {
	Name string // with slashes, relative to the run's directory
	Size int64
}

// Files lists the files of a run that are stored whole, by name.
func (db *DB) Files(ctx context.Context, run string) ([]FileInfo, error) {
	files, err := collect(ctx, db.Reader(), func(scan Scan) (f FileInfo, err error) {
		err = scan(&f.Name, &f.Size)
		return f, err
	}, `select name, length(body) from files where run = $1 order by name`, run)
	if err != nil {
		return nil, fmt.Errorf("files of run %s: %w", run, err)
	}
	return files, nil
}

// File returns a file of a run that is stored whole; [ErrNotFound] where there is none.
func (db *DB) File(ctx context.Context, run, name string) ([]byte, error) {
	bodies, err := collect(ctx, db.Reader(), scanOne[[]byte],
		`select body from files where run = $1 and name = $2`, run, name)
	if err == nil && len(bodies) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("file %s of run %s: %w", name, run, err)
	}
	return bodies[0], nil
}

// A Tail is the end of a file.
type Tail struct {
	Name string
	Size int64 // of the whole file
	End  []byte
}

// Tails returns the last bytes, limit of them at most, of the files of a run whose names
// begin with prefix.
func (db *DB) Tails(ctx context.Context, run, prefix string, limit int) ([]Tail, error) {
	tails, err := collect(ctx, db.Reader(), func(scan Scan) (t Tail, err error) {
		err = scan(&t.Name, &t.Size, &t.End)
		return t, err
	}, `select name, length(body), substr(body, cast(case when length(body) > cast($3 as bigint) then length(body) - cast($3 as bigint) + 1 else 1 end as integer))
		from files where run = $1 and substr(name, 1, length(cast($2 as text))) = cast($2 as text) order by name`, run, prefix, limit)
	if err != nil {
		return nil, fmt.Errorf("files of run %s: %w", run, err)
	}
	return tails, nil
}

// A JournalEntry is one thing that a run finished, as package journal writes it.
type JournalEntry struct {
	Seq  int             `json:"seq"`
	Time time.Time       `json:"time"`
	Kind string          `json:"kind"`
	Key  string          `json:"key"`
	Data json.RawMessage `json:"data"`
}

// JournalLookup returns the entry that counts under a kind and key in a run's journal,
// which is the first, wherever the run goes on.
func (db *DB) JournalLookup(ctx context.Context, run, kind, key string) (e JournalEntry, ok bool, err error) {
	entries, err := collect(ctx, db.Reader(), scanEntry, `select body from lines
		where run = $1 and kind = $2 and name = $3 and kind <> '' order by start_at limit 1`, run, kind, key)
	if err != nil {
		return JournalEntry{}, false, fmt.Errorf("journal of run %s: %s %s: %w", run, kind, key, err)
	}
	if len(entries) == 0 {
		return JournalEntry{}, false, nil
	}
	return entries[0], true, nil
}

// Journal returns the entries of a run's journal of one kind, in their order.
func (db *DB) Journal(ctx context.Context, run, kind string) ([]JournalEntry, error) {
	entries, err := collect(ctx, db.Reader(), scanEntry, `select body from lines
		where run = $1 and kind = $2 and kind <> '' order by start_at`, run, kind)
	if err != nil {
		return nil, fmt.Errorf("journal of run %s: %s: %w", run, kind, err)
	}
	return entries, nil
}

func scanEntry(scan Scan) (e JournalEntry, err error) {
	var body []byte
	if err := scan(&body); err != nil {
		return e, err
	}
	err = json.Unmarshal(body, &e)
	return e, err
}
