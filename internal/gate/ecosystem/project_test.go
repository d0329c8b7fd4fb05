package ecosystem

import (
	"strings"
	"testing"
)

func TestInnermost(t *testing.T) {
	t.Parallel()
	dirs := func(names ...string) (mods []Project) {
		for _, n := range names {
			mods = append(mods, Project{Dir: n})
		}
		return mods
	}
	for _, order := range [][]Project{dirs(".", "a", "a/b", "abc"), dirs("abc", "a/b", "a", ".")} {
		for name, want := range map[string]string{
			"x.go": ".", "a/x.go": "a", "a": "a", "a/b/c/x.go": "a/b", "ab/x.go": ".", "abc/x.go": "abc", "a/bc/x.go": "a", "c/a/b/x.go": ".",
		} {
			if dir, ok := Innermost(order, name); !ok || dir != want {
				t.Errorf("%s belongs to %q (%v), want %q", name, dir, ok, want)
			}
		}
	}
	if dir, ok := Innermost(dirs("a", "b"), "c/x.go"); ok {
		t.Errorf("c/x.go belongs to %q", dir)
	}
}

// TestChoose holds which projects a change can affect.
func TestChoose(t *testing.T) {
	t.Parallel()
	mods := []Project{
		{Dir: "."},
		{Dir: "lib"},
		{Dir: "uses", uses: []string{"lib"}},
		{Dir: "far", uses: []string{"uses"}},
		{Dir: "other"},
		{Dir: "work", always: true},
		{Dir: "up", uses: []string{"."}},
	}
	for _, tt := range []struct{ changed, chosen, left string }{
		{"README.md", ". work up", "lib uses far other"},
		{"lib/a.go", ". lib uses far work up", "other"},
		{"uses/a.go", ". uses far work up", "lib other"},
		{"other/x/y.txt", ". other work up", "lib uses far"},
	} {
		chosen, left := Choose(mods, []string{tt.changed})
		names := func(list []Project) string {
			var out []string
			for _, m := range list {
				out = append(out, m.Dir)
			}
			return strings.Join(out, " ")
		}
		if names(chosen) != tt.chosen || names(left) != tt.left {
			t.Errorf("%s: chosen %q, left %q; want %q, %q", tt.changed, names(chosen), names(left), tt.chosen, tt.left)
		}
	}
}
