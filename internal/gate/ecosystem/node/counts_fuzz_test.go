package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// What is counted of lines is bounded by what comes, and what a profile says is read.
func FuzzLineCounts(f *testing.F) {
	f.Add("mode: set\nm/a.go:3.14,5.2 1 1\n{\"Action\":\"start\",\"Package\":\"m\"}\n", uint16(3))
	f.Add("m/a.go:-9223372036854775807.1,9223372036854775807.1 1 1\n", uint16(1))
	f.Add(`{"v8":"a.js","functions":[[{"startOffset":0,"endOffset":14,"count":1}]]}`+"\n", uint16(5))
	f.Fuzz(func(t *testing.T, data string, n uint16) {
		src := ecosystem.ChangedFile{Path: "a.js", Src: []byte("let a = 1\nf()\n")}
		for _, fresh := range []func() *results.LineCounts{
			func() *results.LineCounts { return results.NewLineCounts(results.newGoStream(".")) },
			func() *results.LineCounts {
				return nodeLines().Reader(results.Numbered(results.ParseNodeTest)("."), ecosystem.Counting{Unit: ".", Files: []ecosystem.ChangedFile{src}})
			},
		} {
			whole, pieces := fresh(), fresh()
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
				if !whole.Knows[name] || slices.Min(append(slices.Collect(results.mapKeys(of)), 1)) < 1 {
					t.Errorf("%q: %v", name, of)
				}
			}
			if most := (strings.Count(data, "\n") + 1) * (results.maxBlock + 1); lines > most {
				t.Errorf("%d lines of %d bytes", lines, len(data))
			}
		}
	})
}
