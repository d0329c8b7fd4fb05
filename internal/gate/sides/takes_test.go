package sides

import (
	"maps"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/trees"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestTakenByTests holds which sources of Rust stand beside what is built, and only tests take in.
func TestTakenByTests(t *testing.T) {
	t.Parallel()
	const (
		manifest = "[package]\nname = \"my-shop\"\n"
		module   = "use my_shop::vat;\n\n#[path = \"../shared/check.rs\"]\nmod check;\n\n#[test]\nfn a() {}\n"
		included = "use my_shop::vat;\n\ninclude!(\"../shared/check.rs\");\n\n#[test]\nfn a() {}\n"
		whole    = "include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/shared/check.rs\"));\n#[test]\nfn a() { my_shop::vat(); }\n"
	)
	for name, tt := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"as a module":           {map[string]string{"tests/a.rs": module}, true},
		"as text":               {map[string]string{"tests/a.rs": included}, true},
		"from the package":      {map[string]string{"tests/a.rs": whole}, true},
		"inside of a source":    {map[string]string{"src/lib.rs": "#[cfg(test)]\n#[path = \"../shared/check.rs\"]\nmod check;\n"}, true},
		"by way of another":     {map[string]string{"tests/a.rs": "#[path = \"../shared/mod.rs\"]\nmod shared;\n#[test]\nfn a() { my_shop::vat(); }\n", "shared/mod.rs": "pub mod check;\n"}, true},
		"of a helper":           {map[string]string{"tests/common/mod.rs": "#[path = \"../../shared/check.rs\"]\nmod check;\n"}, true},
		"with a benchmark":      {map[string]string{"tests/a.rs": module, "benches/a.rs": module}, true},
		"of a source, too":      {map[string]string{"tests/a.rs": module, "src/lib.rs": "#[path = \"../shared/check.rs\"]\nmod check;\n"}, false},
		"of a build, too":       {map[string]string{"tests/a.rs": module, "build.rs": "fn main() { make(\"shared/check.rs\") }\n"}, false},
		"of an example, too":    {map[string]string{"tests/a.rs": module, "examples/a.rs": included}, false},
		"what the test is of":   {map[string]string{"tests/a.rs": "#[path = \"../shared/check.rs\"]\nmod check;\n\n#[test]\nfn a() {}\n"}, false},
		"a program of its own":  {map[string]string{"tests/a.rs": module, "Cargo.toml": manifest + "[[bin]]\nname = \"check\"\npath = \"shared/check.rs\"\n"}, false},
		"of none":               {map[string]string{"tests/a.rs": "#[test]\nfn a() {}\n"}, false},
		"another of that name":  {map[string]string{"tests/a.rs": "use my_shop::vat;\ninclude!(\"shared/check.rs\");\n"}, false},
		"a source, for example": {map[string]string{"tests/a.rs": "use my_shop::vat;\n#[path = \"../src/check.rs\"]\nmod check;\n#[test]\nfn a() {}\n", "src/check.rs": ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files := map[string]string{"Cargo.toml": manifest, "shared/check.rs": "pub fn same() {}\n"}
			maps.Copy(files, tt.files)
			trees.Lay(t, dir, files)
			r := &Reader{
				Base:  &workspace.Tree{Dir: dir},
				Plans: map[results.Side]*Plan{results.Base: {Files: slices.Sorted(maps.Keys(files))}},
			}
			of := "shared/check.rs"
			if _, other := files["src/check.rs"]; other {
				of = "src/check.rs"
			}
			if got := r.takenByTests(of) != ""; got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
