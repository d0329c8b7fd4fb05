package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/runs"
)

// toolchain names the programs that decide how tests end, without the times of
// their files: another copy of the same release is the same.
func (r *runner) toolchain() string {
	h := sha256.New()
	for _, line := range languages.Fingerprint(r.Tools) {
		if words := strings.Fields(line); len(words) == 3 {
			line = filepath.Base(words[0]) + " " + words[1]
		}
		fmt.Fprintln(h, line)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// readFlakes looks up what is on record.
func (r *runner) readFlakes(ctx context.Context) error {
	r.flakes = &runs.Ledger{Flipped: map[string]bool{}}
	if r.Flakes == nil {
		return nil
	}
	var err error
	if r.flakes.Runs, r.flakes.Flips, err = r.Flakes.Load(ctx, r.toolchain()); err != nil {
		r.note("which tests flaked before could not be looked up: %v", err)
	}
	return nil
}

// flipped notes the tests that gave both results on the base, or on the head where
// the change cannot reach them: what only the change makes flaky is no excuse for it
// in its next run.
func (r *runner) flipped(h runs.History) {
	both := func(id ID, said []Suite) bool {
		return runs.Seen(said, id, Failed) > 0 && runs.Seen(said, id, Passed) > 0
	}
	for side, said := range h {
		if side == Base { // what was known of it from earlier said is the same code too
			said = append(slices.Clone(said), r.suites[Base])
		}
		for _, run := range said {
			for id, t := range run {
				if (t.Status == Failed || t.Flipped()) && both(id, said) && (side == Base || !r.affects(id, t)) {
					r.flakes.Flipped[runs.FlakeKey(id)] = true
					r.doubted = r.doubted || side == Base
				}
			}
		}
	}
}

// writeFlakes adds this run to the record.
func (r *runner) writeFlakes(ctx context.Context) {
	if r.Flakes == nil || r.flakes == nil || len(r.suites[Base])+len(r.suites[Head]) == 0 {
		return
	}
	var flipped []string
	for key := range r.flakes.Flipped {
		flipped = append(flipped, key)
	}
	slices.Sort(flipped)
	if err := r.Flakes.Add(ctx, r.toolchain(), flipped); err != nil {
		r.note("which tests flaked could not be kept: %v", err)
	}
}
