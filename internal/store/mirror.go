package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/blobs"
)

// journalFile is where a run keeps what it finished.
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

// ErrBlobsAway says that what a run produced cannot be stored or read now. Nothing is
// lost: it is stored by the Sync that can.
var ErrBlobsAway = blobs.ErrAway

// IsLost reports whether what a run produced is not there any more, or not as it was stored. It does not come back.
func IsLost(err error) bool {
	return errors.Is(err, blobs.ErrNotFound) || errors.Is(err, blobs.ErrCorrupt)
}

// A Mirror copies the directory of a run into the database while the run goes, so that
// any worker can continue it and any server can show it. The directory stays the form
// that is worked on.
//
// Only whole lines are copied, in chunks, each at the offset where it stands in its file. A
// chunk is accepted only where the one before it ended, so of two workers on one run only
// one can go on; the other gets [ErrDiverged]. The newest lines are in their rows; when they
// are many they become a blob, and at the end each file is one row.
//
// What was synced is never lost: a blob is durable before the transaction begins whose rows
// name it. An answer that the model gave is asked for once on any
// machine if Sync returns after its entry was appended to the journal and before the
// next step begins; on the same disk the directory alone is enough.
type Mirror struct {
	db   *DB
	run  string
	root *os.Root

	mu    sync.Mutex
	logs  map[string]logState // what is stored of each append-only file
	files map[string][]byte   // digests of the other files that are stored
	put   map[string][]byte   // and of those whose blobs are stored, though no row may name them yet
	seen  map[string]stamp    // as these were when they were stored
}

// A logState is how an append-only file is stored.
type logState struct {
	end   int64 // how much of it
	blob  int64 // how much of that is in blobs
	rows  int   // that it is in
	loose int   // of these without a blob, which are the last
}

// What of a file may be in its rows while a run goes on: bytes, and how many rows.
const (
	looseBytes = 32 << 10
	looseRows  = 32
)

func newMirror(db *DB, run string, root *os.Root) *Mirror {
	return &Mirror{db: db, run: run, root: root, files: map[string][]byte{}, put: map[string][]byte{}, seen: map[string]stamp{}}
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
	m := newMirror(db, run, root)
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
	logs := map[string]logState{}
	for _, name := range appendOnly() {
		state, err := m.verifyLog(ctx, name)
		if err != nil {
			return err
		}
		if state.end > 0 {
			logs[name] = state
		}
	}
	files := map[string][]byte{}
	err := m.db.Reader().Each(ctx, func(scan Scan) error {
		var name string
		var digests []byte
		err := scan(&name, &digests)
		files[name] = digests
		return err
	}, `select name, digest from files where run = $1 and length(digest) > 0`, m.run)
	if err != nil {
		return err
	}
	m.logs, m.files, m.put = logs, files, maps.Clone(files)
	return nil
}

func (m *Mirror) verifyLog(ctx context.Context, name string) (s logState, err error) {
	file, err := m.root.Open(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	in := io.Reader(bytes.NewReader(nil))
	if err == nil {
		defer file.Close()
		in = file
	}
	for {
		rows, err := chunks(ctx, m.db.Reader(), m.run, name, s.end, rowsAtOnce)
		if err != nil || len(rows) == 0 {
			return s, err
		}
		for _, c := range rows {
			same, err := c.is(in)
			if err != nil {
				return s, err
			}
			if !same || c.start != s.end {
				return s, fmt.Errorf("%s at %d: %w", name, s.end, ErrDiverged)
			}
			s.end, s.rows, s.loose = c.end, s.rows+1, s.loose+1
			if len(c.digests) > 0 {
				s.blob, s.loose = c.end, 0
			}
		}
	}
}

// is reports whether a chunk is what in gives next.
func (c chunk) is(in io.Reader) (bool, error) {
	in = io.LimitReader(in, c.end-c.start)
	if len(c.digests) == 0 {
		data, err := io.ReadAll(in)
		return bytes.Equal(data, append(bytes.Clone(c.body), '\n')), err
	}
	for _, d := range digestsOf(c.digests) {
		data, err := io.ReadAll(io.LimitReader(in, partSize))
		if err != nil || blobs.DigestOf(data) != d {
			return false, err
		}
	}
	return true, nil
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
	err := errAgain
	for n := 0; n < 2 && errors.Is(err, errAgain); n++ {
		var b *batch
		if b, err = m.read(ctx, all); err == nil && !b.empty() {
			err = m.write(ctx, b)
		}
	}
	if err != nil {
		return fmt.Errorf("mirror run %s: %w", m.run, err)
	}
	return nil
}
