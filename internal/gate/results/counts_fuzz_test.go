package results

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is counted of lines is bounded by what comes, and what a profile says is read.
func FuzzLineCounts(f *testing.F) {
	f.Add("mode: set\nm/a.go:3.14,5.2 1 1\n{\"Action\":\"start\",\"Package\":\"m\"}\n", uint16(3))
	f.Add("m/a.go:-9223372036854775807.1,9223372036854775807.1 1 1\n", uint16(1))
	f.Fuzz(func(t *testing.T, data string, n uint16) {
		whole, pieces := NewLineCounts(newGoStream(".")), NewLineCounts(newGoStream("."))
		_, _ = whole.Write([]byte(data)) // to memory
		for part := range slices.Chunk([]byte(data), int(n)+1) {
			_, _ = pieces.Write(part)
		}
		one, other := whole.Suite("E1", ""), pieces.Suite("E1", "")
		if diff := cmp.Diff(one, other) + cmp.Diff(whole.lines, pieces.lines) + cmp.Diff(whole.Ran, pieces.Ran); diff != "" {
			t.Errorf("in pieces of %d bytes:\n%s", n+1, diff)
		}
		lines := 0
		for name, of := range whole.lines {
			lines += len(of)
			if !whole.Knows[name] || slices.Min(append(slices.Collect(mapKeys(of)), 1)) < 1 {
				t.Errorf("%q: %v", name, of)
			}
		}
		if most := (strings.Count(data, "\n") + 1) * (maxBlock + 1); lines > most {
			t.Errorf("%d lines of %d bytes", lines, len(data))
		}
	})
}
