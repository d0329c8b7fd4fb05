package run

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
)

// knownBase are the results of base's tests that runs of a project share. What a
// run was given is in its journal, so that it goes the same way when it is
// continued, checked or driven again.
type knownBase struct {
	journal *journal.Journal
	kept    gate.BaseResults
	keep    bool // this run may leave results to others
}

// Load implements [gate.BaseResults].
func (k knownBase) Load(ctx context.Context, key string) ([]byte, error) {
	return journal.OnceGiven(k.journal, "gate", "base", func() (json.RawMessage, error) { return k.kept.Load(ctx, key) })
}

// Save implements [gate.BaseResults].
func (k knownBase) Save(ctx context.Context, key string, data []byte) error {
	if !k.keep {
		return nil
	}
	return k.kept.Save(ctx, key, data)
}

// recordedBase gives a run that is driven again what the recorded one was given.
type recordedBase struct{ journal *journal.Journal }

// Load implements [gate.BaseResults].
func (j recordedBase) Load(context.Context, string) ([]byte, error) {
	raw, _ := j.journal.Lookup("gate", "base")
	return raw, nil
}

// Save implements [gate.BaseResults].
func (j recordedBase) Save(context.Context, string, []byte) error { return nil }

// baseResults are those that this run uses. One of an untrusted head leaves none
// to others: its code ran on this machine before they were made.
func (r *Runner) baseResults(b *begun) gate.BaseResults {
	if b.repeats != nil {
		return recordedBase{b.repeats.Journal}
	}
	kept := b.job.Results
	if kept == nil {
		kept = gate.ResultFiles{Dir: filepath.Join(b.layout.Project(), "cache", "base"), Now: r.Now}
	}
	return knownBase{journal: b.dir.Journal, keep: b.job.Trust != untrusted, kept: kept}
}
