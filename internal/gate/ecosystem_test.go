package gate

import (
	"strings"
	"testing"
)

func TestInnermost(t *testing.T) {
	t.Parallel()
	dirs := func(names ...string) (mods []project) {
		for _, n := range names {
			mods = append(mods, project{dir: n})
		}
		return mods
	}
	for _, order := range [][]project{dirs(".", "a", "a/b", "abc"), dirs("abc", "a/b", "a", ".")} {
		for name, want := range map[string]string{
			"x.go": ".", "a/x.go": "a", "a": "a", "a/b/c/x.go": "a/b", "ab/x.go": ".", "abc/x.go": "abc", "a/bc/x.go": "a", "c/a/b/x.go": ".",
		} {
			if dir, ok := innermost(order, name); !ok || dir != want {
				t.Errorf("%s belongs to %q (%v), want %q", name, dir, ok, want)
			}
		}
	}
	if dir, ok := innermost(dirs("a", "b"), "c/x.go"); ok {
		t.Errorf("c/x.go belongs to %q", dir)
	}
}

// TestChoose holds which projects a change can affect.
func TestChoose(t *testing.T) {
	t.Parallel()
	mods := []project{
		{dir: "."},
		{dir: "lib"},
		{dir: "uses", uses: []string{"lib"}},
		{dir: "far", uses: []string{"uses"}},
		{dir: "other"},
		{dir: "work", always: true},
		{dir: "up", uses: []string{"."}},
	}
	for _, tt := range []struct{ changed, chosen, left string }{
		{"README.md", ". work up", "lib uses far other"},
		{"lib/a.go", ". lib uses far work up", "other"},
		{"uses/a.go", ". uses far work up", "lib other"},
		{"other/x/y.txt", ". other work up", "lib uses far"},
	} {
		chosen, left := choose(mods, []string{tt.changed})
		names := func(list []project) string {
			var out []string
			for _, m := range list {
				out = append(out, m.dir)
			}
			return strings.Join(out, " ")
		}
		if names(chosen) != tt.chosen || names(left) != tt.left {
			t.Errorf("%s: chosen %q, left %q; want %q, %q", tt.changed, names(chosen), names(left), tt.chosen, tt.left)
		}
	}
}
