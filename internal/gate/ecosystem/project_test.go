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

func foldersOf(list []Project) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Dir)
	}
	return strings.Join(out, " ")
}

// TestChoose holds which projects a change can affect.
func TestChoose(t *testing.T) {
	t.Parallel()
	mods := []Project{
		{Dir: ".", Test: make([]Command, 1)},
		{Dir: "lib"},
		{Dir: "uses", Uses: []string{"lib"}},
		{Dir: "far", Uses: []string{"uses"}},
		{Dir: "other"},
		{Dir: "work", Always: true},
		{Dir: "up", Uses: []string{"."}},
	}
	for _, tt := range []struct{ changed, chosen, left string }{
		{"README.md", ". work", "lib uses far other up"},
		{"a.go", ". work up", "lib uses far other"},
		{"lib/a.go", ". lib uses far work", "other up"},
		{"lib/README.md", ". lib work", "uses far other up"},
		{"uses/a.go", ". uses far work", "lib other up"},
		{"other/x/y.txt", ". other work", "lib uses far up"},
	} {
		chosen, left := Choose(mods, []string{tt.changed})
		if foldersOf(chosen) != tt.chosen || foldersOf(left) != tt.left {
			t.Errorf("%s: chosen %q, left %q; want %q, %q", tt.changed, foldersOf(chosen), foldersOf(left), tt.chosen, tt.left)
		}
	}
}

// In a workspace of Node.js a change counts for the members that are built with what it
// touches; what has to be built for them is, before them; and what all share counts for all.
func TestChooseMembers(t *testing.T) {
	t.Parallel()
	command := []Command{{}}
	member := func(dir string, uses ...string) Project {
		return Project{Dir: dir, Within: ".", Uses: uses, Made: true, Build: command, Test: command}
	}
	mods := []Project{
		{Dir: "."}, member("app", "ui"), member("core"), member("docs", "ui"), member("ui", "core"), member("z"),
	}
	for _, tt := range []struct {
		name, changed, chosen, left string
		root                        Project
	}{
		{"a member in the middle", "ui/a.ts", ". core ui app docs", "z", Project{Dir: "."}},
		{"a member that no other needs", "z/a.ts", ". z", "core ui app docs", Project{Dir: "."}},
		{"a member that needs others", "app/a.ts", ". core ui app", "docs z", Project{Dir: "."}},
		{"what they share", "package.json", ". core ui app docs z", "", Project{Dir: ".", Build: command, Test: command}},
		{"a document, and the root has nothing to run", "README.md", ". core ui app docs z", "", Project{Dir: "."}},
		{"a document", "README.md", ".", "core ui app docs z", Project{Dir: ".", Build: command, Test: command}},
		{"tests at the root, that builds nothing", "z/a.ts", ". core ui app docs z", "", Project{Dir: ".", Test: command}},
	} {
		mods[0] = tt.root
		chosen, left := Choose(mods, []string{tt.changed})
		if foldersOf(chosen) != tt.chosen || foldersOf(left) != tt.left {
			t.Errorf("%s: chosen %q, left %q; want %q, %q", tt.name, foldersOf(chosen), foldersOf(left), tt.chosen, tt.left)
		}
	}
}
