package ecosystem

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestTopModule holds by which name, and from which folder, a file is imported.
func TestTopModule(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"yaml.py": ". yaml", "src/yaml/__init__.py": "src yaml", "lib/json.rb": "lib json", "gems/a/lib/a/json.rb": "gems/a/lib a/json",
		"include/string.h": "include string", "src/a.hpp": "src a", "a.js": " ", "spec/a.rb": " ",
	} {
		if dir, module := TopModule(name); dir+" "+module != want {
			t.Errorf("%s: %q %q, want %q", name, dir, module, want)
		}
	}
	for _, tt := range []struct {
		text, ext, module string
		want              bool
	}{
		{"import os, yaml as y\n", ".py", "yaml", true},
		{"    from yaml.loader import Loader\n", ".py", "yaml", true},
		{"from .yaml import Loader\n", ".py", "yaml", false},
		{"import yamls\n", ".py", "yaml", false},
		{"require 'json'\n", ".rb", "json", true},
		{"require_relative 'json'\n", ".rb", "json", false},
		{"#include <string.h>\n", ".h", "string", true},
		{"#include \"util/string.h\"\n", ".h", "string", false},
		{"require('json')", ".js", "json", false},
	} {
		if got := ImportsTop(tt.text, tt.ext, tt.module); got != tt.want {
			t.Errorf("%q imports %s: %v", tt.text, tt.module, got)
		}
	}
}

// TestEmbeds holds which files a Go source takes into its program.
func TestEmbeds(t *testing.T) {
	t.Parallel()
	text := "//go:embed fixtures all:other/*.json \"a b\"\nvar files embed.FS\n"
	for name, want := range map[string]bool{
		"calc/fixtures/de.json": true, "calc/other/x.json": true, "calc/other/x.txt": false, "fixtures/de.json": false, "calc/fixtures2/x": false,
	} {
		if got := Embeds(text, "calc", name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestRunsDocument holds which sources and settings have the examples of a document run.
func TestRunsDocument(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, text, want string }{
		{"src/lib.rs", `#![doc = include_str!("../README.md")]`, "Rust"},
		{"src/lib.rs", `#![cfg_attr(doctest, doc = include_str!("../README.md"))]`, "Rust"},
		{"src/lib.rs", `const TEXT: &str = include_str!("../README.md");`, ""},
		{"src/a/lib.rs", `#![doc = include_str!("../README.md")]`, ""},
		{"tests/test_docs.py", `doctest.testfile("../README.md")`, "Python"},
		{"test/docs_test.exs", `  doctest_file "README.md"`, "Elixir"},
		{"test/docs_test.exs", `  doctest Calc`, ""},
	} {
		if got := RunsDocument(tt.source, tt.text, "README.md"); got != tt.want {
			t.Errorf("%s in %s: %q, want %q", tt.text, tt.source, got, tt.want)
		}
	}
	for settings, want := range map[string]string{"addopts = --doctest-glob=*.md": "Python", "addopts = --doctest-glob '*.rst'": "", `"--doctest-glob=docs/*.md"`: ""} {
		if got := CollectsDocument(settings, "README.md"); got != want {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
	}
}

// TestDeclaredScripts holds which scripts the tests of C and C++ run by, and which settings a
// compiler that is a test.
func TestDeclaredScripts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"CMakeLists.txt", "add_test(NAME a COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cmp.py $<TARGET_FILE:a>)\nadd_executable(a gen.py)\n", "cmp.py"},
		{"CMakeLists.txt", "ADD_TEST(b ${CMAKE_COMMAND} -P\n  cmake/Run.cmake)", "cmake/Run.cmake"},
		{"meson.build", "test('a', find_program('scripts/check.sh'), args: [exe, files('b.txt')])\n", "scripts/check.sh"},
		{"Makefile.am", "TESTS = a.sh \\\n  $(srcdir)/b.py\nLOG_COMPILER = run.sh\nEXTRA = c.sh\n", "a.sh b.py run.sh"},
	} {
		if got := strings.Join(DeclaredScripts(tt.name, tt.text), " "); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	for recipe, want := range map[string]string{
		"node --test && tsc -p .": "tsconfig.json", "tsc": "tsconfig.json", "vue-tsc --noEmit -p tsconfig.test.json": "tsconfig.test.json",
		"tsc --build packages/a": "packages/a/tsconfig.json", "etsc": "", "node tsc.js": "",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(CompilerSettings(recipe))), " "); got != want {
			t.Errorf("%q: %q, want %q", recipe, got, want)
		}
	}
}

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
