package pullrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Kinds of entries in an effects file. They are stored: do not change them.
const (
	effectKind = "effect" // what was posted, by the ledger's key
	targetKind = "target" // where it is posted; one, under the key targetKey
	targetKey  = "run"
)

// Effects is what was posted of a run: a journal beside the run directory, in
// which nothing is written after its SHA256SUMS. Like that directory it is one
// process's: two would each post what the other has not noted yet.
type Effects struct {
	*journal.Journal
	lock *workspace.Lock
}

// EffectsFile is the file of the run in dir.
func EffectsFile(dir string) string { return dir + ".effects.jsonl" }

// Record implements [publish.Store].
func (e Effects) Record(_ context.Context, key, value string) error {
	return e.Append(effectKind, key, value)
}

// Lookup implements [publish.Store].
func (e Effects) Lookup(_ context.Context, key string) (string, bool, error) {
	raw, ok := e.Journal.Lookup(effectKind, key)
	if !ok {
		return "", false, nil
	}
	var value string
	err := json.Unmarshal(raw, &value)
	return value, true, err
}

// A Posting is where and how the result of a run is posted: what a process that takes over
// from one that was killed must know.
type Posting struct {
	Target publish.Target `json:"target"`
	config.Publish
	Status      bool   `json:"status"`
	Scope       string `json:"scope"`
	FailOn      string `json:"fail_on"`
	DetailsURL  string `json:"details_url"`
	EvidenceURL string `json:"evidence_url"`
	Artifact    string `json:"artifact"`
}

// Keep records po, unless it is there.
func (e Effects) Keep(po Posting) error {
	if _, ok := e.Journal.Lookup(targetKind, targetKey); ok {
		return nil
	}
	return e.Append(targetKind, targetKey, po)
}

// Recall returns what Keep recorded.
func (e Effects) Recall() (Posting, bool, error) {
	var po Posting
	raw, ok := e.Journal.Lookup(targetKind, targetKey)
	if !ok {
		return po, false, nil
	}
	if err := json.Unmarshal(raw, &po); err != nil {
		return po, false, fmt.Errorf("where the run is reported: %w", err)
	}
	return po, true, nil
}

// patience is how long the process that posted before may take to end.
const patience = time.Second

// OpenEffects opens the effects file of the run in dir. The error is a [rundir.UsageError]
// of [rundir.ErrInUse] where another process posts that run.
func OpenEffects(dir string, now func() time.Time) (Effects, error) {
	lock, err := workspace.LockFile(EffectsFile(dir), patience)
	if errors.Is(err, workspace.ErrBusy) {
		return Effects{}, &rundir.UsageError{Err: fmt.Errorf("run directory %s: %w, and posts: wait until it has ended, or name another folder with --out", dir, rundir.ErrInUse)}
	}
	if err != nil {
		return Effects{}, fmt.Errorf("open effects file: %w", err)
	}
	j, err := journal.Open(EffectsFile(dir), now)
	if err != nil {
		lock.Release()
		return Effects{}, err
	}
	return Effects{j, lock}, nil
}

// Close closes the file, which another process may write to from then on.
func (e Effects) Close() error {
	defer e.lock.Release()
	return e.Journal.Close()
}
