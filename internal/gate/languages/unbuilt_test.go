package languages

import (
	"strings"
	"testing"
)

// TestWhyUnbuilt: each package that does not compile has its own first error, cut as other
// lines of a change's output are.
func TestWhyUnbuilt(t *testing.T) {
	t.Parallel()
	long := "./b.go:1:1: " + strings.Repeat("x", 300)
	output := "# m/a\n./a.go:3:9: undefined: y\n./a.go:4:9: undefined: z\n# m/b [m/b.test]\n" + long + "\n"
	for name, want := range map[string]string{"m/a": "./a.go:3:9: undefined: y", "m/b": long[:200]} {
		if got := WhyUnbuilt(name, output); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := WhyUnbuilt("make", "cc x.c\nError: no rule\nmake: *** [all] Error 1\n"); got != "Error: no rule" {
		t.Errorf("a command: %q", got)
	}
}
