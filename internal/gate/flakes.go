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
	r.tests.Flakes = &runs.Ledger{Flipped: map[string]bool{}}
	if r.Flakes == nil {
		return nil
	}
	var err error
	if r.tests.Flakes.Runs, r.tests.Flakes.Flips, err = r.Flakes.Load(ctx, r.toolchain()); err != nil {
		r.note("which tests flaked before could not be looked up: %v", err)
	}
	return nil
}

// writeFlakes adds this run to the record.
func (r *runner) writeFlakes(ctx context.Context) {
	if r.Flakes == nil || r.tests.Flakes == nil || len(r.sides.Suites[Base])+len(r.sides.Suites[Head]) == 0 {
		return
	}
	var flipped []string
	for key := range r.tests.Flakes.Flipped {
		flipped = append(flipped, key)
	}
	slices.Sort(flipped)
	if err := r.Flakes.Add(ctx, r.toolchain(), flipped); err != nil {
		r.note("which tests flaked could not be stored: %v", err)
	}
}
