package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// journalFile is where a run keeps what it finished; its lines are found by kind and key.
const journalFile = "journal.jsonl"

// evidenceFile names the spill files that hold outputs.
const evidenceFile = "evidence.jsonl"

// appendOnly are the files of a run's directory that are copied by line. The journal is
// read first and stored together with what was read after it: what an entry of the
// journal speaks of was written before the entry, so it is in the copy as well.
func appendOnly() []string {
	return []string{journalFile, "events.jsonl", "model.jsonl", evidenceFile}
}

// ErrDiverged says that another worker has continued the run: what the database has of
// it is not the beginning of what the directory has. The run must stop.
var ErrDiverged = errors.New("another worker has continued the run")

// A Mirror copies the directory of a run into the database while the run goes, so that
// any worker can continue it and any server can show it. The directory stays the form
// that is worked on.
//
// Only whole lines are copied, each at the offset where it stands in its file. A line is
// accepted only where the one before it ended, so of two workers on one run only one can
// go on; the other gets [ErrDiverged].
//
// What was synced is never lost. An answer that the model gave is asked for once on any
// machine if Sync returns after its entry was appended to the journal and before the
// next step begins; on the same disk the directory alone is enough.
type Mirror struct {
	db   *DB
	run  string
	root *os.Root

	mu   sync.Mutex
	ends map[string]int64 // how much of each append-only file is stored
	seen map[string]stamp // other files as they were when they were stored
}

// A stamp reports whether a file was written since.
type stamp struct {
	size     int64
	modified time.Time
}

// Mirror opens the directory of a run for copying and makes it what is to be continued:
// a directory that the database knows nothing of, or only the beginning of, is kept;
// any other is replaced by what the database has.
func (db *DB) Mirror(ctx context.Context, run, dir string) (*Mirror, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("mirror run %s: %w", run, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("mirror run %s: %w", run, err)
	}
	m := &Mirror{db: db, run: run, root: root, seen: map[string]stamp{}}
	err = m.verify(ctx)
	if errors.Is(err, ErrDiverged) {
		if err = m.clear(); err == nil {
			err = db.restore(ctx, run, root)
		}
		if err == nil {
			err = m.verify(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mirror run %s: %w", run, err), root.Close())
	}
	return m, nil
}

func (m *Mirror) clear() error {
	entries, err := fs.ReadDir(m.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := m.root.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// verify sets how much is stored, and holds it against the directory.
func (m *Mirror) verify(ctx context.Context) error {
	ends := map[string]int64{}
	for _, name := range appendOnly() {
		local, err := m.root.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err = m.db.Reader().Each(ctx, func(scan Scan) error {
			var end int64
			var body []byte
			if err := scan(&end, &body); err != nil {
				return err
			}
			if !bytes.HasPrefix(local[min(ends[name], int64(len(local))):], append(body, '\n')) {
				return fmt.Errorf("%s at %d: %w", name, ends[name], ErrDiverged)
			}
			ends[name] = end
			return nil
		}, `select end_at, body from lines where run = $1 and file = $2 order by start_at`, m.run, name)
		if err != nil {
			return err
		}
	}
	m.ends = ends
	return nil
}

// Close lets go of the directory. It copies nothing.
func (m *Mirror) Close() error { return m.root.Close() }

// Sync copies what was appended since, the outputs that new evidence names, and the
// files beside them that changed. It happens whole or not at all.
func (m *Mirror) Sync(ctx context.Context) error { return m.sync(ctx, false) }

// Finish is Sync for a directory that is not written to any more: all of its files are copied.
func (m *Mirror) Finish(ctx context.Context) error { return m.sync(ctx, true) }

func (m *Mirror) sync(ctx context.Context, all bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, err := m.read(all)
	if err == nil && !b.empty() {
		err = m.write(ctx, b)
	}
	if err != nil {
		return fmt.Errorf("mirror run %s: %w", m.run, err)
	}
	return nil
}

// A batch is what one Sync stores.
type batch struct {
	lines map[string][]Line // by file
	files map[string][]byte
	seen  map[string]stamp
	all   []string // every file that is there; nil: not looked for
}

func (b *batch) empty() bool { return len(b.lines) == 0 && len(b.files) == 0 && b.all == nil }

// A Line is one of an append-only file.
type Line struct {
	Start int64 // offset in its file
	End   int64 // of the line after it
	Body  []byte
}

func (m *Mirror) read(all bool) (*batch, error) {
	b := &batch{lines: map[string][]Line{}, files: map[string][]byte{}, seen: map[string]stamp{}}
	for _, name := range appendOnly() {
		lines, err := m.readLines(name)
		if err != nil {
			return nil, err
		}
		if len(lines) > 0 {
			b.lines[name] = lines
		}
	}
	for _, name := range spills(b.lines[evidenceFile]) {
		if err := m.readFile(b, name, true); err != nil {
			return nil, err
		}
	}
	return b, fs.WalkDir(m.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && !all:
			return fs.SkipDir
		case !e.Type().IsRegular() || slices.Contains(appendOnly(), name):
			return nil
		}
		if all {
			b.all = append(b.all, name)
		}
		return m.readFile(b, name, false)
	})
}

// readLines reads the whole lines from where the stored ones end.
func (m *Mirror) readLines(name string) ([]Line, error) {
	at := m.ends[name]
	file, err := m.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) && at == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < at {
		return nil, fmt.Errorf("%s is %d bytes, %d are stored: %w", name, info.Size(), at, ErrDiverged)
	}
	data := make([]byte, info.Size()-at)
	if _, err := io.ReadFull(io.NewSectionReader(file, at, int64(len(data))), data); err != nil {
		return nil, err
	}
	var lines []Line
	for line := range bytes.Lines(data) {
		body, whole := bytes.CutSuffix(line, []byte("\n"))
		if !whole {
			break
		}
		lines = append(lines, Line{Start: at, End: at + int64(len(line)), Body: body})
		at += int64(len(line))
	}
	return lines, nil
}

// readFile adds a file to b if it was written since it was stored. A file that is gone
// is an error only where it must be there.
func (m *Mirror) readFile(b *batch, name string, must bool) error {
	info, err := m.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil
	}
	if err != nil {
		return err
	}
	now := stamp{info.Size(), info.ModTime()}
	if m.seen[name] == now || !info.Mode().IsRegular() {
		return nil
	}
	data, err := m.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil
	}
	if err != nil {
		return err
	}
	b.files[name], b.seen[name] = data, now
	return nil
}

// spills are the files that lines of the evidence log name.
func spills(lines []Line) []string {
	var names []string
	for _, l := range lines {
		var record struct {
			Stdout, Stderr struct{ Spill string }
		}
		if json.Unmarshal(l.Body, &record) != nil {
			continue // the reader of the log complains
		}
		for _, name := range []string{record.Stdout.Spill, record.Stderr.Spill} {
			if name != "" && filepath.IsLocal(filepath.FromSlash(name)) {
				names = append(names, name)
			}
		}
	}
	return names
}

// write stores b. A commit of which no one knows whether it happened is looked for first.
func (m *Mirror) write(ctx context.Context, b *batch) error {
	err := m.db.Write(ctx, func(tx *Tx) error {
		for name, lines := range b.lines {
			for _, l := range lines {
				if err := insertLine(ctx, tx, m.run, name, l); err != nil {
					return err
				}
			}
		}
		if err := m.forget(ctx, tx, b.all); err != nil {
			return err
		}
		for name, data := range b.files {
			if _, err := tx.Exec(ctx, `insert into files (run, name, body) values ($1, $2, $3)
				on conflict (run, name) do update set body = excluded.body`, m.run, name, data); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return notify(ctx, tx, m.run)
	})
	if err != nil {
		// The transaction before may have been committed though its answer was lost: then
		// the stored lines are ours, and the next Sync goes on behind them.
		if again := m.verify(ctx); errors.Is(again, ErrDiverged) {
			return again
		}
		return err
	}
	m.db.watchers.wake(m.run)
	for name, lines := range b.lines {
		m.ends[name] = lines[len(lines)-1].End
	}
	for name, s := range b.seen {
		m.seen[name] = s
	}
	return nil
}

// forget deletes what is stored of files that are not there any more, such as drafts.
func (m *Mirror) forget(ctx context.Context, tx *Tx, there []string) error {
	if there == nil {
		return nil
	}
	stored, err := collect(ctx, tx, scanOne[string], `select name from files where run = $1`, m.run)
	if err != nil {
		return err
	}
	for _, name := range stored {
		if slices.Contains(there, name) {
			continue
		}
		if _, err := tx.Exec(ctx, `delete from files where run = $1 and name = $2`, m.run, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func insertLine(ctx context.Context, tx *Tx, run, file string, l Line) error {
	var entry struct{ Kind, Key string }
	if file == journalFile {
		if err := json.Unmarshal(l.Body, &entry); err != nil {
			return fmt.Errorf("%s at %d: %w", file, l.Start, err)
		}
	}
	n, err := tx.Exec(ctx, `insert into lines (run, file, start_at, end_at, kind, name, body)
		values ($1, $2, $3, $4, $5, $6, $7) on conflict (run, file, start_at) do nothing`,
		run, file, l.Start, l.End, entry.Kind, entry.Key, l.Body)
	if err == nil && n == 0 {
		err = ErrDiverged
	}
	if err != nil {
		return fmt.Errorf("%s at %d: %w", file, l.Start, err)
	}
	return nil
}
