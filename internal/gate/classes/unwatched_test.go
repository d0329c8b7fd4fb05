package classes

import "testing"

// TestUnwatched holds what a change takes away by which a program checks itself.
func TestUnwatched(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, base, head, want string }{
		"a flag":                {"Makefile", "CFLAGS = -g -fsanitize=address,undefined\n", "CFLAGS = -O2\n", "-fsanitize=address,undefined"},
		"one of several":        {"Makefile", "A = -fsanitize=address\nB = -fsanitize=undefined\n", "A = -fsanitize=address\n", "-fsanitize=undefined"},
		"an option":             {"CMakeLists.txt", "option(X_ASAN \"With it\" ON)\n", "option(X_ASAN \"With it\" OFF)\n", "X_ASAN"},
		"an option by default":  {"CMakeLists.txt", "option(X_ASAN \"With it\" ON)\n", "option(X_ASAN \"With it\")\n", "X_ASAN"},
		"an option that is off": {"CMakeLists.txt", "option(X_ASAN \"With it\" OFF)\n", "project(x)\n", ""},
		"another option":        {"CMakeLists.txt", "option(X_DOCS \"With it\" ON)\n", "option(X_DOCS \"With it\" OFF)\n", ""},
		"checks of a library":   {"meson.build", "add_project_arguments('-D_GLIBCXX_ASSERTIONS')\n", "\n", "-D_GLIBCXX_ASSERTIONS"},
		"moved":                 {"Makefile", "A = -fsanitize=address\n", "X = y\nB = -fsanitize=address\n", ""},
		"a comment":             {"Makefile", "# -fsanitize=address\n", "\n", ""},
		"in another file":       {"Makefile", "A = -fsanitize=address\n", "all:\n\nadd_compile_options(-fsanitize=address)\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, m := range Unwatched(tt.file, []byte(tt.base), []byte(tt.head)) {
				got += m.Text
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestStopsNoMore holds which scripts no longer end at the first command that fails.
func TestStopsNoMore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		base, head string
		want       bool
	}{
		"set":             {"#!/bin/sh\nset -eu\n", "#!/bin/sh\nset -u\n", true},
		"errexit":         {"set -o errexit\n", "true\n", true},
		"the first line":  {"#!/bin/sh -e\ntrue\n", "#!/bin/sh\ntrue\n", true},
		"in another form": {"set -e\n", "set -o errexit -o nounset\n", false},
		"as before":       {"set -e\ntrue\n", "set -ex\nfalse\n", false},
		"never did":       {"set -u\n", "true\n", false},
	} {
		if got := len(StopsNoMore("a.sh", []byte(tt.base), []byte(tt.head))) > 0; got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
