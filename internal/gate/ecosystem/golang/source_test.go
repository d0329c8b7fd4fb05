package golang

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestSameTokens holds which edits of a Go file leave what runs alone.
func TestSameTokens(t *testing.T) {
	t.Parallel()
	const was = "package m\n\nfunc F(n int) int { return g(n, 1) }\n"
	for _, tt := range []struct {
		what, a, b string
		same       bool
	}{
		{"nothing", was, was, true},
		{"a comment", was, "// Package m is.\npackage m\n\n/* F */ func F(n int) int { return g(n, 1) } // so\n", true},
		{"layout", was, "package m\nfunc F( n int ) int {\n\treturn g(\n\t\tn,\n\t\t1,\n\t)\n}\n", true},
		{"a number", was, strings.Replace(was, "1", "2", 1), false},
		{"a name", was, strings.Replace(was, "F", "G", 1), false},
		{"text", `package m; var s = "a b"`, `package m; var s = "a  b"`, false},
		{"a statement that becomes two", "package m\nfunc F() { return\ng() }", "package m\nfunc F() { return g() }", false},
		{"an array of pointers and a type parameter", "package m\ntype T[P *C,] int", "package m\ntype T[P *C] int", false},
		{"a directive", was, "//go:build linux\n\n" + was, false},
		{"a directive that is a comment", was, "// go:build linux\n\n" + was, true},
		{"an old build line", "// +build linux\n\n" + was, "// +build darwin\n\n" + was, false},
		{"an old build line without a space", "//+build linux\n\n" + was, "//+build darwin\n\n" + was, false},
		{"an embedded file", "package m\n//go:embed a\nvar a string", "package m\n//go:embed b\nvar a string", false},
		{"C code in a comment", "package m\n// int x;\nimport \"C\"\n", "package m\n// int y;\nimport \"C\"\n", false},
		{"C code in a comment, imports in brackets", "package m\nimport (\n// int x;\n\"C\"\n)\n", "package m\nimport (\n// int y;\n\"C\"\n)\n", false},
		{"what is no Go", "package m\n\"", "package m\n\"", false},
	} {
		if got := sameTokens([]byte(tt.a), []byte(tt.b)); got != tt.same {
			t.Errorf("%s: same %v, want %v", tt.what, got, tt.same)
		}
	}
}

func TestTestFuncs(t *testing.T) {
	t.Parallel()
	src := "package m\n\n// TestA is.\nfunc TestA(t *testing.T) { a() }\n\nfunc (s suite) TestB() {}\n\nfunc helper() {}\n\nfunc ExampleC() {}\n\nfunc FuzzD(f *testing.F) {}\n"
	got := TestFuncs([]byte(src))
	if names, want := slices.Sorted(maps.Keys(got)), []string{"ExampleC", "FuzzD", "TestA"}; !slices.Equal(names, want) {
		t.Errorf("tests:\n got %q\nwant %q", names, want)
	}
	if got["TestA"] != "func TestA(t *testing.T) { a() }" {
		t.Errorf("TestA is %q", got["TestA"])
	}
	if got := TestFuncs([]byte("func TestA(")); len(got) != 0 {
		t.Errorf("what does not parse has %v", got)
	}
}
