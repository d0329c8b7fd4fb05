package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// Flakes keeps from one run to the next which tests gave both results on the same
// code, for each set of programs on its own: what flips with one compiler need not
// with another.
type Flakes interface {
	// Load returns how many runs there were with these programs, and in how many of
	// them each test flipped, by its key.
	Load(ctx context.Context, toolchain string) (runs int, flips map[string]int, err error)
	// Add counts a run in which these tests flipped.
	Add(ctx context.Context, toolchain string, flipped []string) error
}

// Flips is in how many of a project's runs a test flipped.
type Flips struct {
	Flips int `json:"flips"`
	Runs  int `json:"runs"`
}

func (f Flips) String() string {
	return fmt.Sprintf("flaked in %d of %s", f.Flips, results.Count(f.Runs, "run", "runs"))
}

// A Ledger is what is on record when a run begins, and what it adds.
type Ledger struct {
	Runs    int
	Flips   map[string]int
	Flipped map[string]bool
}

// FlakeKey names a test in a record: names can be of any length, and say more of a
// project than a record has to. Programs of Rust were called by their order in a workspace once:
// what is on record by such a name is that of another test.
func FlakeKey(id results.ID) string {
	parts := []string{id.Unit, id.Package, id.Test, id.Command}
	if path.Ext(id.Package) == ".rs" {
		parts = append(parts, "by its source")
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Of is what is on record of a test.
func (l *Ledger) Of(id results.ID) Flips {
	if l == nil || l.Flips[FlakeKey(id)] == 0 {
		return Flips{}
	}
	return Flips{Flips: l.Flips[FlakeKey(id)], Runs: l.Runs}
}

// FlakeName is the file of Flakes beside what is kept of the base's tests.
const FlakeName = "flakes.json"

// FlakeFile is a file of Flakes.
type FlakeFile struct {
	Path string
	Now  func() time.Time
}

// Bounds for records of flakes. What did not flip for so long may be repaired.
const (
	maxFlakes   = 5000
	flakeAge    = 90 * 24 * time.Hour
	maxFlakeSet = 8 // sets of programs
)

// flakeRecord is what a FlakeFile has of one set of programs.
type flakeRecord struct {
	Runs  int                  `json:"runs"`
	Last  time.Time            `json:"last"`
	Tests map[string]flakeTest `json:"tests"`
}

type flakeTest struct {
	Flips int       `json:"flips"`
	Last  time.Time `json:"last"`
}

func (f FlakeFile) read() (map[string]flakeRecord, error) {
	all := map[string]flakeRecord{}
	data, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return map[string]flakeRecord{}, fmt.Errorf("record of flaky tests %s: %w", f.Path, err)
	}
	return all, nil
}

// Load implements [Flakes].
func (f FlakeFile) Load(_ context.Context, toolchain string) (int, map[string]int, error) {
	all, err := f.read()
	rec := all[toolchain]
	flips := map[string]int{}
	for key, t := range rec.Tests {
		if f.Now().Sub(t.Last) <= flakeAge {
			flips[key] = t.Flips
		}
	}
	return rec.Runs, flips, err
}

// Add implements [Flakes]. Of two runs that end at the same time one may be missed. A
// file that cannot be read is replaced.
func (f FlakeFile) Add(_ context.Context, toolchain string, flipped []string) error {
	all, _ := f.read()
	rec := all[toolchain]
	rec.Runs, rec.Last = rec.Runs+1, f.Now().UTC()
	if rec.Tests == nil {
		rec.Tests = map[string]flakeTest{}
	}
	for _, key := range flipped {
		rec.Tests[key] = flakeTest{Flips: rec.Tests[key].Flips + 1, Last: rec.Last}
	}
	for key, t := range rec.Tests {
		if rec.Last.Sub(t.Last) > flakeAge || len(rec.Tests) > maxFlakes && !slices.Contains(flipped, key) {
			delete(rec.Tests, key)
		}
	}
	all[toolchain] = rec
	for len(all) > maxFlakeSet {
		oldest := toolchain
		for name, other := range all {
			if other.Last.Before(all[oldest].Last) {
				oldest = name
			}
		}
		delete(all, oldest)
	}
	data, err := json.Marshal(all)
	if err == nil {
		err = folder.WriteWhole(f.Path, data)
	}
	return err
}
