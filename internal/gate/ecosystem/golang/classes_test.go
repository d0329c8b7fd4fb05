package golang

import (
	"strings"
	"testing"
)

// The toolchain of the base's go.mod is put back where the go command would not take it out.
func TestMergeToolchain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, head string
		want       bool
	}{
		{"module m\n\ngo 1.22.0\n\ntoolchain go1.22.5\n", "module m\n\ngo 1.22.0\n", true},
		{"module m\n\ngo 1.22.0\n\ntoolchain go1.22.5\n", "module m\n\ngo 1.24.0\n", false},
	} {
		out, err := mergeGoMod([]byte(c.base), []byte(c.head))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(out), "toolchain go1.22.5"); got != c.want {
			t.Errorf("%q over %q: %s", c.base, c.head, out)
		}
	}
}
