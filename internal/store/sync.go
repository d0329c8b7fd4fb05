package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// A batch is what one Sync stores. Its blobs are stored already.
type batch struct {
	logs map[string]logPiece
	all  []string // every file that is there; nil: not looked for

	mu    sync.Mutex
	files map[string]content
	seen  map[string]stamp
}

func (b *batch) empty() bool { return len(b.logs) == 0 && len(b.files) == 0 && b.all == nil }

// A logPiece is a row to be, in place of those that begin where it does or later.
type logPiece struct {
	chunk
	after logState
}

// read reads what is to be stored. The append-only files come first, and what their
// lines speak of is read after them.
func (m *Mirror) read(ctx context.Context, all bool) (*batch, error) {
	b := &batch{logs: map[string]logPiece{}, files: map[string]content{}, seen: map[string]stamp{}}
	if all {
		b.all = []string{}
	}
	ends := map[string]int64{}
	var named []string
	for _, name := range appendOnly() {
		fresh, err := m.fresh(name)
		if err != nil {
			return nil, err
		}
		ends[name] = m.logs[name].end + int64(len(fresh))
		if name == evidenceFile {
			named = spills(fresh)
		}
	}
	var group errgroup.Group // one that fails keeps no other from being stored: the next Sync has less to do
	group.SetLimit(m.db.blobsAtOnce())
	for _, name := range appendOnly() {
		p, ok, err := m.readLog(ctx, name, ends[name], all)
		if err != nil {
			return nil, err
		}
		if ok {
			b.logs[name] = p
		}
	}
	for _, name := range named {
		group.Go(func() error { return m.readFile(ctx, b, name, true) })
	}
	err := fs.WalkDir(m.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
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
		if !slices.Contains(named, name) {
			group.Go(func() error { return m.readFile(ctx, b, name, false) })
		}
		return nil
	})
	return b, errors.Join(err, group.Wait())
}

// fresh reads the whole lines from where the stored ones end.
func (m *Mirror) fresh(name string) ([]byte, error) {
	at := m.logs[name].end
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
	return data[:bytes.LastIndexByte(data, '\n')+1], nil
}

// readLog makes a row of what an append-only file has more, up to end. Where many are in
// rows already it becomes a blob with them; at the end all of the file does.
func (m *Mirror) readLog(ctx context.Context, name string, end int64, all bool) (p logPiece, ok bool, err error) {
	had := m.logs[name]
	whole := all && end > 0 && (had.rows != 1 || had.loose > 0 || had.end != end)
	if had.end == end && !whole {
		return p, false, nil
	}
	p.start, p.end, p.after = had.end, end, logState{end: end, blob: had.blob, rows: had.rows + 1, loose: had.loose + 1}
	long := end-had.blob > looseBytes || had.loose >= looseRows
	switch {
	case whole:
		p.start, p.after = 0, logState{end: end, blob: end, rows: 1}
	case long:
		p.start, p.after = had.blob, logState{end: end, blob: end, rows: had.rows - had.loose + 1}
	}
	file, err := m.root.Open(name)
	if err != nil {
		return p, false, err
	}
	defer file.Close()
	section := io.NewSectionReader(file, p.start, p.end-p.start)
	if !whole && !long {
		p.body, err = io.ReadAll(section)
		p.body = bytes.TrimSuffix(p.body, []byte("\n"))
		return p, true, err
	}
	p.digests, _, err = m.db.putParts(ctx, m.run, section, nil)
	return p, true, err
}

// readFile adds a file to b if it was written since it was stored. A file that is gone
// is an error only where it must be there.
func (m *Mirror) readFile(ctx context.Context, b *batch, name string, must bool) error {
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
	file, err := m.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	c := content{run: m.run}
	if info.Size() <= inlineSize {
		c.body, err = io.ReadAll(io.LimitReader(file, inlineSize))
		c.size = int64(len(c.body))
	} else {
		b.mu.Lock()
		known := m.put[name]
		b.mu.Unlock()
		c.digests, c.size, err = m.db.putParts(ctx, m.run, file, known)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen[name], m.put[name] = now, c.digests
	if len(c.digests) == 0 || !bytes.Equal(c.digests, m.files[name]) {
		b.files[name] = c
	}
	return nil
}

// spills are the files that lines of the evidence log name.
func spills(lines []byte) []string {
	var names []string
	for line := range bytes.Lines(lines) {
		var record struct {
			Stdout, Stderr struct{ Spill string }
		}
		if json.Unmarshal(line, &record) != nil {
			continue // the reader of the log complains
		}
		for _, name := range []string{record.Stdout.Spill, record.Stderr.Spill} {
			if name != "" && filepath.IsLocal(filepath.FromSlash(name)) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// errAgain says that what was read is not what is to be stored.
var errAgain = errors.New("more was stored than was known")

// write stores b. A commit of which no one knows whether it happened is looked for first.
func (m *Mirror) write(ctx context.Context, b *batch) error {
	err := m.db.Write(ctx, func(tx *Tx) error {
		if err := m.fence(ctx, tx); err != nil {
			return err
		}
		for name, p := range b.logs {
			if err := replaceChunks(ctx, tx, m.run, name, p.chunk); err != nil {
				return err
			}
		}
		if err := m.forget(ctx, tx, b.all); err != nil {
			return err
		}
		for name, c := range b.files {
			if err := saveFile(ctx, tx, name, c); err != nil {
				return err
			}
		}
		if b.all != nil {
			if err := loosen(ctx, tx, m.run, m.db.now().Add(looseFor)); err != nil {
				return err
			}
		}
		return notify(ctx, tx, m.run)
	})
	if err != nil {
		// The transaction before may have been committed though its answer was lost: then
		// the stored lines are ours, and the next Sync goes on behind them.
		again := m.verify(ctx)
		switch {
		case errors.Is(again, ErrDiverged):
			return again
		case again == nil && errors.Is(err, ErrDiverged):
			return errAgain
		}
		return err
	}
	m.db.watchers.wake(m.run)
	for name, p := range b.logs {
		m.logs[name] = p.after
	}
	for name, c := range b.files {
		m.files[name] = c.digests
	}
	for name, s := range b.seen {
		m.seen[name] = s
	}
	return nil
}

// fence lets no other worker store anything of the run until tx ends, and reports whether one
// did before.
func (m *Mirror) fence(ctx context.Context, tx *Tx) error {
	if err := lockRun(ctx, tx, m.run); err != nil {
		return err
	}
	stored := map[string]int64{}
	err := tx.Each(ctx, func(scan Scan) error {
		var name string
		var end int64
		err := scan(&name, &end)
		stored[name] = end
		return err
	}, `select file, max(end_at) from lines where run = $1 group by file`, m.run)
	if err != nil {
		return err
	}
	for _, name := range appendOnly() {
		if stored[name] != m.logs[name].end {
			return fmt.Errorf("%s is stored up to %d, and was up to %d: %w", name, stored[name], m.logs[name].end, ErrDiverged)
		}
	}
	return nil
}

// lockRun has writers of one run wait for each other. On SQLite they do so anyhow.
func lockRun(ctx context.Context, tx *Tx, run string) error {
	if tx.Postgres == nil {
		return nil
	}
	_, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, LockKey("run "+run))
	return err
}

// replaceChunks stores c in place of the rows of a file that begin where it does or later.
func replaceChunks(ctx context.Context, tx *Tx, run, file string, c chunk) error {
	if _, err := tx.Exec(ctx, `delete from lines where run = $1 and file = $2 and start_at >= $3`, run, file, c.start); err != nil {
		return fmt.Errorf("%s at %d: %w", file, c.start, err)
	}
	_, err := tx.Exec(ctx, `insert into lines (run, file, start_at, end_at, kind, name, body, digest)
		values ($1, $2, $3, $4, '', '', $5, $6)`, run, file, c.start, c.end, bytesOf(c.body), bytesOf(c.digests))
	if err != nil {
		return fmt.Errorf("%s at %d: %w", file, c.start, err)
	}
	return nil
}

func saveFile(ctx context.Context, tx *Tx, name string, c content) error {
	_, err := tx.Exec(ctx, `insert into files (run, name, body, digest, size) values ($1, $2, $3, $4, $5)
		on conflict (run, name) do update set body = excluded.body, digest = excluded.digest, size = excluded.size`,
		c.run, name, bytesOf(c.body), bytesOf(c.digests), c.size)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// bytesOf is b as a column takes it, which may not be null.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
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

// looseFor is how long after the end of a run the blobs that no row names are left: another
// process that holds itself for the run's worker may still write some.
const looseFor = 24 * time.Hour

// loosen notes that a run may have blobs that no row names.
func loosen(ctx context.Context, tx *Tx, run string, due time.Time) error {
	_, err := tx.Exec(ctx, `insert into loose (run, due) values ($1, $2) on conflict (run) do update set due = excluded.due`, run, Micros(due))
	return err
}
