package gate

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ycbot/ycbot/internal/gate/languages"
)

// TestAltered holds which installed packages are compared, and what of them.
func TestAltered(t *testing.T) {
	t.Parallel()
	tree := func(files ...string) fstest.MapFS {
		out := fstest.MapFS{}
		for _, f := range files {
			name, text, _ := strings.Cut(f, "|")
			out[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return out
	}
	for _, tt := range []struct {
		name, eco    string
		base, head   fstest.MapFS
		says, bumped string
		want         string
	}{
		{
			"an assertion library", "Node.js",
			tree(`node_modules/chai/package.json|{"version": "4"}`, "node_modules/chai/lib/a.js|1", "node_modules/chai/README.md|1"),
			tree(`node_modules/chai/package.json|{"version": "4"}`, "node_modules/chai/lib/a.js|2", "node_modules/chai/README.md|2"),
			"", "", "node_modules/chai/lib/a.js",
		},
		{
			"another version", "Node.js",
			tree(`node_modules/chai/package.json|{"version": "4"}`, "node_modules/chai/a.js|1"),
			tree(`node_modules/chai/package.json|{"version": "5"}`, "node_modules/chai/a.js|2"),
			"", "chai", "",
		},
		{
			"another version by its own word alone", "Node.js",
			tree(`node_modules/chai/package.json|{"version": "4"}`, "node_modules/chai/a.js|1"),
			tree(`node_modules/chai/package.json|{"version": "5"}`, "node_modules/chai/a.js|2"),
			"", "", "node_modules/chai/a.js node_modules/chai/package.json",
		},
		{
			"a package that no test names", "Node.js",
			tree(`node_modules/left/package.json|{"version": "4"}`, "node_modules/left/a.js|1"),
			tree(`node_modules/left/package.json|{"version": "4"}`, "node_modules/left/a.js|2"),
			"", "", "",
		},
		{
			"a package of a scope that a test names, with one file more", "Node.js",
			tree(`node_modules/@s/left/package.json|{"version": "4"}`),
			tree(`node_modules/@s/left/package.json|{"version": "4"}`, "node_modules/@s/left/a.js|2"),
			"@s/left", "", "node_modules/@s/left/a.js",
		},
		{
			"a runner of Python", "Python",
			tree(".venv/lib/python3.11/site-packages/pytest-8.0.dist-info/RECORD|_pytest/a.py,,\npytest/__init__.py,,\n", ".venv/lib/python3.11/site-packages/_pytest/a.py|1"),
			tree(".venv/lib/python3.11/site-packages/pytest-8.0.dist-info/RECORD|_pytest/a.py,,\npytest/__init__.py,,\n", ".venv/lib/python3.11/site-packages/_pytest/a.py|2"),
			"", "", ".venv/lib/python3.11/site-packages/_pytest/a.py",
		},
		{
			"a project that is installed in place, whose record names a script elsewhere", "Python",
			tree(".venv/lib/python3.11/site-packages/calc-1.0.dist-info/RECORD|calc.pth,,\n/elsewhere/bin/calc,,\n", `.venv/lib/python3.11/site-packages/calc-1.0.dist-info/direct_url.json|{"url": "file:///base"}`),
			tree(".venv/lib/python3.11/site-packages/calc-1.0.dist-info/RECORD|calc.pth,,\n/elsewhere/bin/calc,,\n", `.venv/lib/python3.11/site-packages/calc-1.0.dist-info/direct_url.json|{"url": "file:///head"}`),
			"", "", "",
		},
	} {
		left, got := maxInstalled, []string(nil)
		for _, dir := range languages.Named(tt.eco).Installed(tt.base, tt.head, ".", func(name string) bool { return name == tt.says }, func(name string) bool { return name == tt.bumped }) {
			got = append(got, unlike(tt.base, tt.head, dir, &left)...)
			got = append(got, unlike(tt.head, tt.base, dir, &left)...)
		}
		slices.Sort(got)
		if strings.Join(slices.Compact(got), " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
