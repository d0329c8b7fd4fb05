// Package trees makes trees of files for the tests of ecosystems.
package trees

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// Lay writes files into a folder.
func Lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a folder of test data
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // a file of test data
			t.Fatal(err)
		}
	}
}

// Survey is the survey of a tree of these files, on a machine with these tools alone. What is
// wrong with them is written to problems.
func Survey(t *testing.T, files map[string]string, problems io.Writer, tools ...string) *ecosystem.Survey {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	Lay(t, dir, files)
	for _, tool := range tools {
		if err := os.WriteFile(filepath.Join(bin, tool), nil, 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	names := slices.Sorted(maps.Keys(files))
	return ecosystem.NewSurvey(ecosystem.InTree(dir), names, &ecosystem.Toolchains{Env: []string{"PATH=" + bin}}, func(format string, args ...any) {
		fmt.Fprintf(problems, "problem: "+format+"\n", args...)
	})
}
