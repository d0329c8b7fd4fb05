package golang

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestFuzzInput holds that the input of a fuzz target is taken as it was printed,
// that no more than one is, and that one too large for a command is none.
func TestFuzzInput(t *testing.T) {
	t.Parallel()
	const one = "go test fuzz v1\nstring(\"(0\")\nint(7)"
	for name, c := range map[string]struct{ printed, want string }{
		"alone":         {one + "\n", one},
		"behind others": {"exit status 1\n" + one + "\n", one},
		"two":           {one + "\ngo test fuzz v1\nstring(\"x\")\n", one},
		"none":          {"exit status 1\n", ""},
		"cut":           {"go test fuzz v1\n", ""},
		"huge":          {"go test fuzz v1\nstring(\"" + strings.Repeat("x", maxInput) + "\")\n", ""},
	} {
		if got := fuzzInput(c.printed); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestFuzzFailure holds that of a failure only what the target said is reported.
func TestFuzzFailure(t *testing.T) {
	t.Parallel()
	out := "fuzz: elapsed: 0s, minimizing\n--- FAIL: FuzzA (0.02s)\n    --- FAIL: FuzzA (0.00s)\n        a_test.go:14: three\n    \n    Failing input written to testdata/fuzz/FuzzA/d5\n    To re-run:\n"
	if got, want := fuzzFailure(out), "--- FAIL: FuzzA (0.02s)\n    --- FAIL: FuzzA (0.00s)\n        a_test.go:14: three"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFuzzTimeEnded holds that the end of the time is no failure of a target, and that what a
// target says in the same words is one.
func TestFuzzTimeEnded(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]bool{
		"fuzz: elapsed: 3s, execs: 9 (0/sec)\n--- FAIL: FuzzA (3.07s)\n    context deadline exceeded\n": true,
		"--- FAIL: FuzzA (3.07s)\n    --- FAIL: FuzzA (0.00s)\n        a_test.go:14: three\n":           false,
		"--- FAIL: FuzzA (3.07s)\n    a_test.go:9: context deadline exceeded\n":                         false,
		"--- FAIL: FuzzA (3.07s)\n    context deadline exceeded\n    a_test.go:9: leaked\n":             false,
		"--- FAIL: FuzzA (3.07s)\n": false,
	} {
		if got := fuzzTimeEnded.MatchString(fuzzFailure(output)); got != want {
			t.Errorf("%q: %v, want %v", output, got, want)
		}
	}
}

// TestFuzzCommands holds that inputs are looked for, and laid, in the folder of
// the target's package as the command sees it, whatever the input says.
func TestFuzzCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ unit, dir, want string }{
		{".", ".", "."},
		{".", "p", "./p"},
		{"sub", "sub", "."},
		{"sub", "sub/p", "./p"},
	} {
		target := ecosystem.FuzzTarget{ID: results.ID{Unit: c.unit, Test: "FuzzA"}, Dir: c.dir}
		if got := fromModule(target); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.dir, c.unit, got, c.want)
		}
		laid := layInput(ecosystem.Command{Argv: []string{"go", "test"}}, target, "go test fuzz v1\nstring(\"'$(x)'\")")
		want := "mkdir -p " + c.want + "/testdata/fuzz/FuzzA && printf '%s\\n' 'go test fuzz v1\nstring(\"'\\''$(x)'\\''\")' > " +
			c.want + "/testdata/fuzz/FuzzA/found && go test"
		if laid.Text != want {
			t.Errorf("laid by %q, want %q", laid.Text, want)
		}
	}
}

// TestFuzzAlters: a target is another one where its text, or that of what it uses of the tests,
// changes, and not where other tests do.
func TestFuzzAlters(t *testing.T) {
	t.Parallel()
	const base = "package p\n\nimport \"testing\"\n\nvar limit = 3\n\ntype kit struct{}\n\nfunc (kit) check(t *testing.T) { refuse(t) }\n\nfunc refuse(t *testing.T) {}\n\nfunc FuzzA(f *testing.F) {\n\tf.Fuzz(func(t *testing.T, s string) {\n\t\tif len(s) > limit {\n\t\t\tkit{}.check(t)\n\t\t}\n\t})\n}\n\nfunc TestB(t *testing.T) { other() }\n\nfunc other() {}\n"
	for _, tt := range []struct {
		old, now string
		want     bool
	}{
		{"", "", false},
		{"{ other() }", "{ other(); other() }", false},
		{"func other() {}", "// other is another one.\nfunc other() { limitless() }\n\nfunc limitless() {}", false},
		{"if len(s) > limit", "// long\n\t\tif len(s) > limit", false},
		{"limit = 3", "limit = 2", true},
		{"refuse(t *testing.T) {}", "refuse(t *testing.T) { t.Fail() }", true},
		{"kit{}.check(t)", "kit{}.check(t)\n\t\t\tt.Fail()", true},
	} {
		files := func(text string) map[string][]byte { return map[string][]byte{"a_test.go": []byte(text)} }
		if got := goFuzz().Alters(files(base), files(strings.Replace(base, tt.old, tt.now, 1)), ecosystem.FuzzTarget{ID: results.ID{Test: "FuzzA"}}); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.now, got, tt.want)
		}
	}
}
