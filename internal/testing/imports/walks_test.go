package imports

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The two walks of docs/architecture.md name functions that are where it says, in at most
// fifteen steps.
func TestWalksAreThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, walks, ok := strings.Cut(string(text), "\n## Two walks\n")
	if !ok {
		t.Fatal("docs/architecture.md has no walks")
	}
	walks, _, _ = strings.Cut(walks, "\n## ")
	step := regexp.MustCompile("^([0-9]+)\\. `([A-Za-z]+)` in `([a-z/_]+\\.go)` ")
	steps := 0
	for line := range strings.Lines(walks) {
		if line[0] < '0' || line[0] > '9' {
			continue
		}
		m := step.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%q does not begin with a function and its file", line)
			continue
		}
		steps++
		source, err := os.ReadFile(filepath.Join("../../..", m[3]))
		if err != nil {
			t.Error(err)
		} else if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + m[2] + `[(\[]`).Match(source) {
			t.Errorf("step %s: there is no %s in %s", m[1], m[2], m[3])
		}
		if m[1] == "16" {
			t.Error("more than fifteen steps")
		}
	}
	if steps < 20 {
		t.Errorf("%d steps", steps)
	}
}
