package classes

import "testing"

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
