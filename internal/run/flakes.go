package run

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
)

// knownFlakes are the tests of a project that flaked in earlier runs. What a run was
// given is in its journal, so that it goes the same way when it is continued, checked
// or driven again, and what it adds is added once.
type knownFlakes struct {
	journal *journal.Journal
	kept    gate.Flakes // nil: of a run that is driven again
	keep    bool        // this run may add to the record
}

// flakesGiven is the entry in the journal.
type flakesGiven struct {
	Runs  int            `json:"runs"`
	Flips map[string]int `json:"flips"`
}

// Load implements [gate.Flakes].
func (k knownFlakes) Load(ctx context.Context, toolchain string) (int, map[string]int, error) {
	var given flakesGiven
	if k.kept == nil {
		raw, ok := k.journal.Lookup("gate", "flakes")
		if !ok { // of a version that kept none
			return 0, nil, nil
		}
		err := json.Unmarshal(raw, &given)
		return given.Runs, given.Flips, err
	}
	given, err := journal.OnceGiven(k.journal, "gate", "flakes", func() (g flakesGiven, err error) {
		g.Runs, g.Flips, err = k.kept.Load(ctx, toolchain)
		return g, err
	})
	return given.Runs, given.Flips, err
}

// Add implements [gate.Flakes].
func (k knownFlakes) Add(ctx context.Context, toolchain string, flipped []string) error {
	if k.kept == nil || !k.keep {
		return nil
	}
	_, err := journal.Once(k.journal, "gate", "flaked", func() (int, error) {
		return len(flipped), k.kept.Add(ctx, toolchain, flipped)
	})
	return err
}

// flakes are those that this run knows. One of an untrusted head adds none: what its
// code makes flaky would excuse the next.
func (r *Runner) flakes(b *begun) gate.Flakes {
	if b.repeats != nil {
		return knownFlakes{journal: b.repeats.Journal}
	}
	kept := b.job.Flakes
	if kept == nil {
		kept = gate.FlakeFile{Path: filepath.Join(b.layout.Project(), "cache", "base", gate.FlakeName), Now: r.Now}
	}
	return knownFlakes{journal: b.dir.Journal, kept: kept, keep: b.job.Trust != untrusted}
}
