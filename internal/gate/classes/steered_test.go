package classes

import "testing"

// What steers tests is read by several tools, each with words of its own for a file.
func TestIncludes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, dir, name string
		includes, reads bool
	}{
		{"-include build/*.conf\ntest:\n\tsh ./check.sh\n", ".", "build/site.conf", true, true},
		{"include settings.env\nexport\n", ".", "settings.env", true, true},
		{"sinclude ../common.inc\n", "sub", "common.inc", true, true},
		{"node --env-file=.env --test", ".", ".env", true, true},
		{"node --env-file-if-exists .env.test --test", ".", ".env.test", true, true},
		{"set -e\n. ./lib/env.conf\n", "ci", "ci/lib/env.conf", true, true},
		{"source vars && pytest", ".", "vars", true, true},
		{"test:\n\tsh ./check.sh --version=$(shell cat VERSION)\n", ".", "VERSION", false, true},
		{"test:\n\t./prog | diff - expected.out\n", "a", "a/expected.out", false, true},
		{"test:\n\t./prog | diff - expected.out\n", "a", "b/expected.out", false, false},
		{"SRC := $(wildcard *.conf)\n", ".", "b/site.conf", false, false},
		{"echo * > log\n", ".", "data.csv", false, false},
		{"test:\n\tfor c in cases/*.in; do sh run.sh <$$c | cmp - $${c%.in}.out; done\n", ".", "cases/1.out", false, true},
		{"test:\n\tfor c in cases/*.in; do sh run.sh <$$c; done\n", ".", "cases/more/1.out", false, false},
		{"test:\n\tcc -o t src/*.h tests.c\n", ".", "src/a.c", false, false},
	} {
		if got := Includes(tc.text, tc.dir, tc.name); got != tc.includes {
			t.Errorf("Includes(%q, %q, %q) = %v", tc.text, tc.dir, tc.name, got)
		}
		if got := Reads(tc.text, tc.dir, tc.name); got != tc.reads {
			t.Errorf("Reads(%q, %q, %q) = %v", tc.text, tc.dir, tc.name, got)
		}
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, dir, name string
		want            bool
	}{
		{"import { plugin } from './build/plugin.js'", ".", "build/plugin.js", true},
		{"const x = require(\"../lib/check\")", "test", "lib/check.js", true},
		{"import '../lib/check'", "test", "lib/check/index.ts", true},
		{"await import('./a.mjs')", "x", "x/a.mjs", true},
		{"import x from 'check'", ".", "check.js", false},
		{"from pkg.check import equal", "tests", "pkg/check.py", true},
		{"from pkg import other, check", "tests", "src/pkg/check.py", true},
		{"from .check import equal", "pkg/tests", "pkg/tests/check.py", true},
		{"from .. import check", "pkg/tests", "pkg/check.py", true},
		{"import pkg.check as c", "tests", "pkg/check.py", true},
		{"import os, pkg", "tests", "pkg/__init__.py", true},
		{"from pkg import other", "tests", "pkg/check.py", false},
		{"import checker", "tests", "pkg/check.py", false},
		{"import (\n\t\"example.com/m/internal/check\"\n)", ".", "internal/check/equal.go", true},
		{"require 'calc/testing'", "test", "lib/calc/testing.rb", true},
		{"require_relative \"../lib/calc/testing\"", "test", "lib/calc/testing.rb", true},
		{"require 'calc'", "test", "lib/calc/testing.rb", false},
		{"import \"example.com/m/internal/checks\"", ".", "internal/check/equal.go", false},
	} {
		if got := Imports(tc.text, tc.dir, tc.name); got != tc.want {
			t.Errorf("Imports(%q, %q, %q) = %v", tc.text, tc.dir, tc.name, got)
		}
	}
}
