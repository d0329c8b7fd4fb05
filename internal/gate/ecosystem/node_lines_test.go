package ecosystem

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestV8Lines holds which lines counts of V8 say to have run.
func TestV8Lines(t *testing.T) {
	t.Parallel()
	const src = "// 𝒰 in a comment\nexports.a = n => n + 1\n\nexports.b = n => {\n  if (n) {\n    return 1\n  }\n  return 2\n}\n"
	at := func(n int) int { return n + 1 } // the letter takes two units
	whole := v8Range{0, at(len([]rune(src))), 1}
	for _, tt := range []struct {
		what      string
		functions [][]v8Range
		want      map[int]bool
	}{
		{"called, one branch", [][]v8Range{{whole}, {{at(30), at(40), 2}}, {{at(54), at(101), 1}, {at(70), at(88), 0}}}, map[int]bool{2: true, 4: true, 5: true, 6: false, 8: true}},
		{"loaded alone", [][]v8Range{{whole}, {{at(30), at(40), 0}}, {{at(54), at(101), 0}}}, map[int]bool{2: false, 4: false, 5: false, 6: false, 8: false}},
		{"of another version", [][]v8Range{{{0, 4000, 1}}}, nil},
		{"nothing said", nil, map[int]bool{2: false, 4: false, 5: false, 6: false, 8: false}},
	} {
		if diff := cmp.Diff(tt.want, v8Lines([]byte(src), tt.functions)); diff != "" {
			t.Errorf("%s\n-want +got\n%s", tt.what, diff)
		}
	}
	many := make([]v8Range, maxPainted/100)
	for i := range many {
		many[i] = whole
	}
	if got := v8Lines([]byte(src), [][]v8Range{many}); got != nil {
		t.Errorf("counts that take too long to read: %v", got)
	}
}
