package native

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestTargetsForTests holds which targets run the tests of a folder, the one that runs most first.
func TestTargetsForTests(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"test:\n\tgo test\n":                                     "make test",
		"test:\n\tgo test\n\ncheck: test golden\n":               "make check; make test",
		"test:\n\tgo test\n\ncheck:\n\techo\n\t$(MAKE) test\n":   "make check; make test",
		"test:\n\tgo test\n\ncheck: lint\n\tgolangci-lint run\n": "make test; make check",
		"check:\n\tgo test\n":                                    "make check",
		"build:\n\tgo build\n":                                   "",
	} {
		var notes strings.Builder
		s := trees.Survey(t, map[string]string{"Makefile": file}, &notes)
		if got := strings.Join(TargetsForTests(s, "."), "; "); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
}
