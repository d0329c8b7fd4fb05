package native

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestTargetOfProject holds which target of a Makefile is the one that runs its tests.
func TestTargetOfProject(t *testing.T) {
	t.Parallel()
	const all = "all: prog\n\t./prog\n"
	for what, c := range map[string]struct{ file, text, want string }{
		"test":                     {"Makefile", "run_tests:\n\t./a\ntest:\n\t./b\n" + all, "make all, make test"},
		"another name":             {"Makefile", "run_tests:\n\t./a\n" + all, "make all, make run_tests"},
		"no name":                  {"Makefile", all, ""},
		"in a folder of tests":     {"tests/Makefile", all, "make all"},
		"by name in such a folder": {"tests/Makefile", "run-tests: all\n\t./a\n" + all, "make all, make run-tests"},
		"in another folder":        {"tools/Makefile", all, ""},
		"further in":               {"lib/tests/Makefile", all, ""},
		"no Makefile":              {"tests/justfile", "all:\n\t./a\n", ""},
	} {
		var notes strings.Builder
		var got []string
		s := trees.Survey(t, map[string]string{c.file: c.text}, &notes, "make", "just")
		for _, p := range findMakeProjects(s) {
			for _, one := range append(p.Build, p.Test...) {
				got = append(got, one.Text)
			}
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}
