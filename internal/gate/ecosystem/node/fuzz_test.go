package node

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// What V8 counts is of changed files alone, and the same however it is split.
func FuzzV8Counts(f *testing.F) {
	f.Add("mode: set\nm/a.go:3.14,5.2 1 1\n{\"Action\":\"start\",\"Package\":\"m\"}\n", uint16(3))
	f.Add("m/a.go:-9223372036854775807.1,9223372036854775807.1 1 1\n", uint16(1))
	f.Add(`{"v8":"a.js","functions":[[{"startOffset":0,"endOffset":14,"count":1}]]}`+"\n", uint16(5))
	f.Fuzz(func(t *testing.T, data string, n uint16) {
		src := ecosystem.ChangedFile{Path: "a.js", Src: []byte("let a = 1\nf()\n")}
		fresh := func() *results.LineCounts {
			return nodeLines().Reader(results.Numbered(results.ParseNodeTest)("."), ecosystem.Counting{Unit: ".", Files: []ecosystem.ChangedFile{src}})
		}
		whole, pieces := fresh(), fresh()
		_, _ = whole.Write([]byte(data)) // to memory
		for part := range slices.Chunk([]byte(data), int(n)+1) {
			_, _ = pieces.Write(part)
		}
		one, other := whole.Suite("E1", ""), pieces.Suite("E1", "")
		if diff := cmp.Diff(one, other) + cmp.Diff(whole.Knows, pieces.Knows) + cmp.Diff(whole.Ran, pieces.Ran); diff != "" {
			t.Errorf("in pieces of %d bytes:\n%s", n+1, diff)
		}
		for name := range whole.Knows {
			if name != "a.js" {
				t.Errorf("%q is counted", name)
			}
		}
		for line := range 5 {
			ran, statement := whole.Line("a.js", line)
			inPieces, also := pieces.Line("a.js", line)
			if ran != inPieces || statement != also || statement && (line < 1 || line > 2) {
				t.Errorf("line %d: %v %v, in pieces %v %v", line, ran, statement, inPieces, also)
			}
		}
	})
}
