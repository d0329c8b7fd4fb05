package results

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the parsers give into the files of wanted results")

// lay writes files into a folder.
func lay(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// statuses lists a suite, "pass m TestA" a line, sorted by name.
func statuses(s Suite) string {
	var out []string
	for id, t := range s {
		mark := ""
		if t.Cut {
			mark += "!"
		}
		if t.Broken {
			mark += "#"
		}
		if !t.Leaf && id.Test != "" {
			mark += "+"
		}
		if t.Retried {
			mark += "^"
		}
		if t.Masked {
			mark += "~"
		}
		out = append(out, id.String()+" "+string(t.Status)+mark)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// sameStrings compares two lists; nil is an empty one.
func sameStrings(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}
