package gate

import (
	"strings"
	"testing"
)

// TestFirstVerdictIsCheap holds that nothing is compiled for fuzzing, for the race detector
// or for a linter, and nothing run under them, before there is a first verdict.
func TestFirstVerdictIsCheap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if !w.tools.Go.Race {
		t.Skip("the race detector needs cgo and a C compiler")
	}
	res := w.run(t, &scenario{
		input: map[string][]string{"until": {""}, "race": {""}, "vet": {""}, "fuzz": {"1s"}, "mutation": {""}},
		base: map[string][]byte{
			"go.mod":    []byte("module m\n\ngo 1.21\n"),
			"a.go":      []byte("package m\n\nfunc Double(n int) int { return n + n }\n"),
			"a_test.go": []byte("package m\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal(\"not 4\")\n\t}\n}\n\nfunc FuzzDouble(f *testing.F) {\n\tf.Fuzz(func(t *testing.T, n int) { Double(n) })\n}\n"),
		},
		head: map[string][]byte{"a.go": []byte("package m\n\nfunc Double(n int) int { return 2 * n }\n")},
	})
	if res.Verdict != Pass {
		t.Errorf("%s %v", res.Verdict, res.Reasons)
	}
	for _, s := range res.Steps {
		if s.Stage == StageLint || s.Stage == StageProbe || s.Stage == StageMutation || strings.Contains(s.Command, "-race") || strings.Contains(s.Command, "-fuzz") {
			t.Errorf("%s %s: %s", s.Side, s.Stage, s.Command)
		}
	}
	if len(res.Steps) == 0 {
		t.Error("nothing ran")
	}
}
