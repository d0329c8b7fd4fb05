package languages

import "testing"

// TestLinesNaming holds which lines of a lockfile say something of a package.
func TestLinesNaming(t *testing.T) {
	t.Parallel()
	lock := "    \"node_modules/chai\": {\n      \"version\": \"4.3.1\",\n      \"resolved\": \"https://r.example/chai/-/chai-4.3.1.tgz\",\n    \"node_modules/chai-as-promised\": {\n"
	if got := LinesNaming([]byte(lock), "chai"); len(got) != 3 { // a name that goes on counts, too: it asks for less comparing
		t.Errorf("%q", got)
	}
	if got := LinesNaming([]byte("  mychai 1\n"), "chai"); got != nil {
		t.Errorf("%q", got)
	}
}

// TestOwn holds which package a file is of, and whether another takes it from a registry.
func TestOwn(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{"package.json": `{"name": "x"}`, "go.mod": "module x\n", "Cargo.toml": "[package]\nname = 'x'\n", "pyproject.toml": "[project]\nname = 'X'\n"} {
		if got := Own("a/"+name, []byte(src)); got != "x" {
			t.Errorf("%s is of %q", name, got)
		}
	}
	manifest := []byte(`{"dependencies": {"x": "^1", "y": "file:./y"}}`)
	for pkg, want := range map[string]bool{"x": true, "y": false, "z": false, "": false} {
		if got := FromRegistry(pkg, "package.json", manifest); got != want {
			t.Errorf("%q comes from a registry: %v", pkg, got)
		}
	}
}
