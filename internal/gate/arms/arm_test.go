package arms

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestUncompilable holds that the files that a compiler or linter names are
// found, in whichever form it names them from the module's folder.
func TestUncompilable(t *testing.T) {
	t.Parallel()
	same := func(what string, want, got []string) {
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", what, diff)
		}
	}
	complaint := languages.PackagesOf("Go").Complaint
	for _, tt := range []struct {
		what, unit, dir, output string
		files                   []string
		want                    []string
	}{
		{"at the top", ".", ".", "# m [m.test]\n./a_test.go:3:1: undefined: X", []string{"a_test.go", "b_test.go"}, []string{"a_test.go"}},
		{"an import that is missing", ".", ".", "# m\na_test.go:6:2: no required module provides package x", []string{"a_test.go"}, []string{"a_test.go"}},
		{"below the top", ".", "p", "p/a_test.go:3:1: undefined: X\np/b_test.go:1:1: undefined: Y\np/a_test.go:4:1: undefined: X", []string{"p/a_test.go", "p/b_test.go"}, []string{"p/a_test.go", "p/b_test.go"}},
		{"by vet", ".", "p", "vet: p/a_test.go:3:1: undefined: X", []string{"p/a_test.go"}, []string{"p/a_test.go"}},
		{"in a nested module", "sub", "sub/p", "p/a_test.go:3:1: undefined: X", []string{"sub/p/a_test.go"}, []string{"sub/p/a_test.go"}},
		{"at the top of a nested module", "sub", "sub", "./a_test.go:3:1: undefined: X", []string{"sub/a_test.go", "a_test.go"}, []string{"sub/a_test.go"}},
		{"in a folder of the module's own name", "sub", "sub/sub", "sub/a_test.go:3:1: undefined: X", []string{"sub/sub/a_test.go", "sub/a_test.go"}, []string{"sub/sub/a_test.go"}},
		{"by its whole path", "sub/deep", "sub/deep/p", "sub/deep/p/a_test.go:3:1: undefined: X", []string{"sub/deep/p/a_test.go"}, []string{"sub/deep/p/a_test.go"}},
		{"the side's own", ".", ".", "./old_test.go:3:1: undefined: X", []string{"a_test.go"}, []string{"old_test.go"}},
		{"the side's own beside it", ".", ".", "./old_test.go:3:1: undefined: X\n./a_test.go:3:1: undefined: X", []string{"a_test.go"}, []string{"a_test.go"}},
		{"of another folder", ".", "p", "q/old_test.go:3:1: undefined: X", []string{"p/a_test.go"}, nil},
		{"no test file", ".", ".", "./a.go:3:1: undefined: X", []string{"a_test.go"}, nil},
	} {
		a := &Arm{Files: tt.files, Left: map[string]string{}}
		bad, _ := a.uncompilable(complaint, tt.output, tt.unit, tt.dir)
		same(tt.what, tt.want, bad)
		for _, f := range append(slices.Clone(tt.files), "old_test.go") {
			a.Left[f] = "left out"
		}
		bad, _ = a.uncompilable(complaint, tt.output, tt.unit, tt.dir)
		same(tt.what+", left out before", nil, bad)
	}
}

// TestUncompiled holds which files of tests a compiler names where tests of other modules ran.
func TestUncompiled(t *testing.T) {
	t.Parallel()
	const file = "a/src/test/java/m/CalcTest.java"
	ran := func(pkg string) results.Suite {
		return results.Suite{{Unit: ".", Package: pkg, Test: "t"}: {Status: results.Passed}}
	}
	for _, tt := range []struct {
		what, output, file string
		ran                results.Suite
		want               bool
	}{
		{"javac", "/w/" + file + ":5: error: cannot find symbol\n", file, ran("m.OtherTest"), true},
		{"Maven", "[ERROR] /w/" + file + ":[5,10] cannot find symbol\n", file, ran("m.OtherTest"), true},
		{"Kotlin", "e: file:///w/a/src/test/kotlin/CalcTest.kt:5:10 Unresolved reference 'add'.\n", "a/src/test/kotlin/CalcTest.kt", ran("m.OtherTest"), true},
		{".NET", "/w/Calc.Tests/CalcTests.cs(5,10): error CS0117: 'Calc' does not contain a definition for 'Add'\n", "Calc.Tests/CalcTests.cs", ran("m.OtherTests"), true},
		{"a warning", "/w/" + file + ":5: warning: [deprecation] add\nNote: /w/" + file + " uses unchecked operations.\n", file, ran("m.OtherTest"), false},
		{"one that ran", "/w/" + file + ":5: error: cannot find symbol\n", file, ran("m.CalcTest"), false},
		{"one of whose classes ran", "/w/" + file + ":5: error: cannot find symbol\n", file, ran("m.CalcTest$Inner"), false},
		{"tests that are reported by their files", "tests/test_a.py:5: error: no\n", "tests/test_a.py", ran("tests/test_b.py"), false},
	} {
		a := &Arm{Files: []string{tt.file}, Left: map[string]string{}}
		if got := a.uncompiled(tt.ran, tt.output, "."); (len(got) == 1) != tt.want {
			t.Errorf("%s: %v", tt.what, got)
		}
	}
}
