// Package rundir is the run directory: it is created, continued, read and sealed
// here. A run keeps everything that it records in one directory, of which it is the
// only writer:
//
//   - journal.jsonl holds the result of each finished stage (kind "stage", key the
//     stage's name), what the run was begun with (kind "run"), and where its folders
//     lay (kinds "layout" and "workspace"), so that the same run started again
//     continues after the last finished stage;
//   - events.jsonl holds what happened when;
//   - evidence.jsonl and spill/ hold what was executed;
//   - SHA256SUMS is written last. Nothing is written to the directory afterwards.
//
// That it is the only writer is held by a lock on journal.jsonl, which the kernel takes
// back when the process ends, however it ends.
//
// A run's worktrees lie elsewhere, as its [Layout] says, and are removed when it ends.
package rundir

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/transcript"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Previous is the folder in which a run keeps the directory of the last run, whose
// verdict it reuses or whose checks it runs again.
const Previous = "previous"

const (
	// AnswersFile has what models answered.
	AnswersFile = "model.jsonl"

	journalFile = "journal.jsonl"
	sumsFile    = "SHA256SUMS"
	sumsDraft   = ".SHA256SUMS" // while it is written
)

// patience is how long a directory may stay locked: a process that was killed has not
// ended when the signal is sent.
const patience = time.Second

// ErrInUse says that another process works in a run directory, or in this process another run.
var ErrInUse = errors.New("another run is at work there")

// files are the names that a run directory may hold; a folder with anything else in
// it is no run directory.
var files = []string{
	"report.json", "report.md", "brief.md", journalFile, "events.jsonl", "evidence.jsonl", "spill",
	"subagents", "sessions", AnswersFile, "report.sarif", "junit.xml", StatementFile, sumsFile, sumsDraft, Previous,
}

// A UsageError is a mistake of the caller that asked for the run. Its text says what is
// wrong and what to do.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// NewID is the name of a run: when it began, and something at random.
func NewID(now time.Time) string {
	var b [4]byte
	rand.Read(b[:])
	return now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
}

// Digest stands for a text in the journal; empty for an empty text.
func Digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A Dir is the directory of a run in progress.
type Dir struct {
	Path     string
	ID       string // of the run
	Fresh    bool   // nothing was in the directory before
	Resumed  bool   // the run was begun before and is continued
	Journal  *journal.Journal
	Events   *transcript.Log
	Evidence *evidence.Log

	redact func([]byte) []byte
	lock   *workspace.Lock // for as long as it is written to
}

// Options say how a directory is written.
type Options struct {
	Redact func([]byte) []byte // takes secrets out of all that is written; may be nil
	Now    func() time.Time
	Kept   func() error // is called when the journal has an entry more; may be nil
	// Empty is asked before a finished run, or another job, is taken out of the directory;
	// answered says that it was broken off and has answers of models. With an error nothing
	// is taken. May be nil.
	Empty func(answered bool) error
}

// Create makes the directory at path, or takes it as it is where it holds the same
// job, broken off: the run then keeps its name. A directory that holds a finished
// run, or another job, is emptied, unless Options.Empty says no. The error is a [UsageError]
// where the path cannot be a run directory, and that of [ErrInUse] where it is one that a
// run writes to.
func Create(path string, identity Identity, o Options) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: path, ID: identity.Run, redact: o.redact()}
	if err := d.claim(identity, o); err != nil {
		d.lock.Release()
		return nil, err
	}
	if err := d.open(o); err != nil {
		return nil, errors.Join(fmt.Errorf("run directory %s: %w", path, err), d.Close())
	}
	_, d.Resumed = d.Journal.Lookup("run", "identity")
	return d, nil
}

// Reopen opens the directory of a run that was begun, whether it was finished or not. The
// error is a [UsageError] of [ErrInUse] where that run is still at work.
func Reopen(path string, o Options) (*Dir, Begun, error) {
	d := &Dir{Path: path, redact: o.redact()}
	if err := d.take(); err != nil {
		return nil, Begun{}, err
	}
	begun, err := d.recall(o)
	if err != nil {
		d.lock.Release()
		return nil, Begun{}, err
	}
	d.ID = begun.ID
	if err := d.open(o); err != nil {
		return nil, Begun{}, errors.Join(err, d.Close())
	}
	return d, begun, nil
}

func (d *Dir) recall(o Options) (Begun, error) {
	j, err := journal.Open(filepath.Join(d.Path, journalFile), o.Now)
	if err != nil {
		return Begun{}, err
	}
	begun, err := Recall(d.Path, j)
	return begun, errors.Join(err, j.Close())
}

// take makes this the only writer of the directory. The lock is on a file, as folders
// cannot be locked on every file system.
func (d *Dir) take() (err error) {
	d.lock, err = workspace.LockFile(filepath.Join(d.Path, journalFile), patience)
	if errors.Is(err, workspace.ErrBusy) {
		return &UsageError{fmt.Errorf("run directory %s: %w: wait until it has ended, or name another folder with --out", d.Path, ErrInUse)}
	}
	if err != nil {
		return &UsageError{fmt.Errorf("run directory: %w", err)}
	}
	return nil
}

func (o Options) redact() func([]byte) []byte {
	if o.Redact == nil {
		return func(b []byte) []byte { return b }
	}
	return o.Redact
}

// claim makes the directory and empties it, unless its run is continued.
func (d *Dir) claim(identity Identity, o Options) error {
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return &UsageError{fmt.Errorf("run directory: %w", err)}
	}
	have, err := d.entries()
	if err != nil {
		return err
	}
	if d.Fresh = len(have) == 0; d.Fresh {
		if err := os.Chmod(d.Path, 0o700); err != nil && !errors.Is(err, os.ErrPermission) { // another one's folder is theirs to close
			return fmt.Errorf("run directory: %w", err)
		}
	}
	if err := d.take(); err != nil { // not before it is known for a run directory: it makes a file
		return err
	}
	if have, err = d.entries(); err != nil { // what there was may have changed meanwhile
		return err
	}
	other := false // job, broken off
	if !slices.Contains(have, sumsFile) {
		var same bool
		if same, other = d.continues(identity, o); same {
			return nil
		}
	}
	if o.Empty != nil && (!d.Fresh || len(have) > 1) { // the journal is there: it is locked
		answers, err := os.Stat(filepath.Join(d.Path, AnswersFile))
		if err := o.Empty(other && err == nil && answers.Size() > 0); err != nil {
			return err
		}
	}
	// The journal is emptied first: without it, what is left of a folder that was being
	// emptied is never taken for a run that was broken off. It stays, as it is locked.
	if err := os.Truncate(filepath.Join(d.Path, journalFile), 0); err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	for _, name := range have {
		if name == journalFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(d.Path, name)); err != nil {
			return fmt.Errorf("run directory: %w", err)
		}
	}
	return nil
}

// entries are the names in the directory, which are all a run's.
func (d *Dir) entries() ([]string, error) {
	have, err := os.ReadDir(d.Path)
	if err != nil {
		return nil, &UsageError{fmt.Errorf("run directory: %w", err)}
	}
	names := make([]string, len(have))
	for i, e := range have {
		if names[i] = e.Name(); !slices.Contains(files, names[i]) {
			return nil, &UsageError{fmt.Errorf("--out %s holds %q, which is not a run's: name an empty or new folder", d.Path, names[i])}
		}
	}
	return names, nil
}

// continues says whether the directory holds this same job, broken off by a version with
// the same format, and takes over its run's name; other says whether it holds another one.
func (d *Dir) continues(identity Identity, o Options) (same, other bool) {
	j, err := journal.Open(filepath.Join(d.Path, journalFile), o.Now)
	if err != nil {
		return false, false
	}
	defer j.Close()
	was, ok := Lookup[Identity](j, "run", "identity")
	if !ok || !was.same(identity) {
		return false, ok
	}
	if begun, err := Recall(d.Path, j); err == nil && begun.Readable() != nil {
		return false, false
	}
	d.ID = was.Run
	return true, false
}

func (d *Dir) open(o Options) (err error) {
	if d.Journal, err = journal.Open(filepath.Join(d.Path, journalFile), o.Now); err != nil {
		return err
	}
	d.Journal.Redact, d.Journal.Kept = o.Redact, o.Kept
	if d.Events, err = transcript.Open(filepath.Join(d.Path, "events.jsonl"), d.redact); err != nil {
		return err
	}
	d.Evidence, err = evidence.Open(d.Path, d.ID, evidence.Options{Redact: o.Redact, Now: o.Now})
	return err
}

// Close closes the files of the directory, which another run may write to from then on.
func (d *Dir) Close() error {
	defer d.lock.Release()
	var errs []error
	if d.Evidence != nil {
		errs = append(errs, d.Evidence.Close())
	}
	if d.Events != nil {
		errs = append(errs, d.Events.Close())
	}
	if d.Journal != nil {
		errs = append(errs, d.Journal.Close())
	}
	return errors.Join(errs...)
}

// Redact takes secrets out of what is written or shown.
func (d *Dir) Redact(b []byte) []byte { return d.redact(b) }

// Write stores a file of the run directory, without secrets.
func (d *Dir) Write(name string, data []byte) error { return d.put(name, d.redact(data)) }

// put stores a file that is made of what has no secrets. What is rendered is not looked through
// again: an expression that finds secrets could take the end of a block of text with it.
func (d *Dir) put(name string, data []byte) error {
	path := filepath.Join(d.Path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// Lookup reads an entry of the journal, and says whether there is one that can be read.
func Lookup[T any](j *journal.Journal, kind, key string) (v T, ok bool) {
	raw, ok := j.Lookup(kind, key)
	if !ok {
		return v, false
	}
	err := json.Unmarshal(raw, &v)
	return v, err == nil
}
