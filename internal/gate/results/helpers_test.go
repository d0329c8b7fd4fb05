package results

import (
	"flag"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the parsers give into the files of wanted results")

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
