package gate

import (
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestCompareLint holds that a complaint is the same wherever in its file it
// moved to, that each counts as often as it is made, and that lines that go on
// belong to theirs.
func TestCompareLint(t *testing.T) {
	t.Parallel()
	lint := func(side Side, exit int, out string) Step {
		return Step{Side: side, Stage: StageLint, Unit: ".", Command: "vet", Exit: exit, Output: out, Evidence: "E1"}
	}
	r := newRunner(&Gate{}, Input{}, task{})
	r.executor.Steps = []Step{
		lint(Base, 1, "# m\nvet: ./a.go:3:4: old one\na.go:9: twice"),
		lint(Head, 1, "# m\n# [m]\n./a.go:30:4: old one\na.go:10: twice\na.go:20: twice\nb.go:1:2: new\n\thave (int)\n\twant ()\n"),
		lint(Head, 0, "chatter"),
	}
	r.compareLint()
	var got []string
	for _, k := range r.res.Lint {
		got = append(got, k.Output)
	}
	sameStrings(t, "new complaints", got, []string{"a.go:20: twice", "b.go:1:2: new; have (int); want ()"})
}

// TestNewComplaints: a complaint has a place, which linters write in several ways; what the
// base's linter says without ending badly is known, and what frames complaints is none. A
// linter that names no places has each line count.
func TestNewComplaints(t *testing.T) {
	t.Parallel()
	const frame = "\n> a@1.0.0 lint\n> eslint .\n\n"
	for _, tt := range []struct {
		what, base, head string
		exit             int // of the base
		want             []string
	}{
		{
			"eslint, of which the base warns", frame + "/w/old.js\n  3:1  warning  Unexpected console statement  no-console\n\n\u2716 1 problem (0 errors, 1 warning)\n",
			frame + "/w/new.js\n  1:7  error  'x' is not defined  no-undef\n\n/w/old.js\n  4:1  warning  Unexpected console statement  no-console\n\n\u2716 2 problems (1 error, 1 warning)\n", 0,
			[]string{"/w/new.js:1:7: error 'x' is not defined no-undef"},
		},
		{
			"eslint on both sides, with a line more above", "/w/old.js\n  3:1  error  a  b\n  8:2  error  c  d\n\n", "/w/old.js\n  4:1  error  a  b\n  9:2  error  c  d\n\n\u2716 2 problems\n", 1, nil,
		},
		{
			"clippy", "warning: unused variable: `x`\n --> src/lib.rs:12:9\n   |\n12 |     let x = 1;\n   |         ^\n   |\n   = note: on by default\n\nwarning: `a` (lib) generated 1 warning\n",
			"warning: unused variable: `x`\n --> src/lib.rs:13:9\n   |\n13 |     let x = 1;\n   |         ^\n   |\n   = note: on by default\n\nerror: used `unwrap()`\n --> src/lib.rs:20:5\n   |\n20 |     f().unwrap();\n   |     ^^^^^^^^^^^^\n   |\nnote: the lint level is defined here\n --> src/lib.rs:1:9\n\nerror: could not compile `a` (lib) due to 1 previous error; 1 warning emitted\n", 0,
			[]string{"src/lib.rs:20:5: error: used `unwrap()`"},
		},
		{"tsc", "", "src/a.ts(3,5): error TS2322: no\nsrc/b.ts:1:2 - error TS1: no\n\nFound 2 errors in 2 files.\n", 0, []string{"src/a.ts:3:5: error TS2322: no", "src/b.ts:1:2: error TS1: no"}},
		{"gcc", "a.c:2:5: warning: w\n    2 |   int x;\n      |       ^\n", "a.c:3:5: warning: w\n    3 |   int x;\n      |       ^\n", 1, nil},
		{"a fault of the linter", "a.py:3:1: w\n", "a.py:4:1: w\nfatal: no configuration\n", 0, []string{"fatal: no configuration"}},
		{"a formatter", "Checking formatting...\nAll matched files use it!\n", "Checking formatting...\n[warn] new.js\n", 0, []string{"[warn] new.js"}},
	} {
		r := newRunner(&Gate{}, Input{}, task{})
		r.executor.Steps = []Step{
			{Side: Base, Stage: StageLint, Unit: ".", Command: "lint", Exit: tt.exit, Output: tt.base, Evidence: "E1"},
			{Side: Head, Stage: StageLint, Unit: ".", Command: "lint", Exit: 1, Output: tt.head, Evidence: "E2"},
		}
		r.compareLint()
		var got []string
		for _, k := range r.res.Lint {
			got = append(got, k.Output)
		}
		sameStrings(t, tt.what, got, tt.want)
		if kept := r.executor.Steps[0].Output; (kept != "") != (tt.exit != 0 && tt.base != "") {
			t.Errorf("%s: the base's output is kept: %q", tt.what, kept)
		}
	}
}

// TestLimited holds that the head gets ten times what the base took, builds four minutes on
// top, and never more than a step may.
func TestLimited(t *testing.T) {
	t.Parallel()
	r := newRunner(&Gate{}, Input{}, task{})
	r.executor.Steps = []Step{
		{Side: Base, Stage: StageBuild, Unit: ".", Command: "make", Duration: 2 * time.Second},
		{Side: Base, Stage: StageTest, Unit: ".", Command: "slow", Duration: 5 * time.Minute},
		{Side: Base, Stage: StageTest, Unit: ".", Command: "cut", Duration: time.Second, TimedOut: true},
	}
	for _, tt := range []struct {
		side  Side
		stage Stage
		text  string
		want  time.Duration
	}{
		{Head, StageBuild, "make", 80*time.Second + 4*time.Minute},
		{Head, StageTest, "slow", 10 * time.Minute},
		{Head, StageTest, "cut", 10 * time.Minute},
		{Head, StageTest, "make", 10 * time.Minute},
		{Base, StageBuild, "make", 10 * time.Minute},
	} {
		if got := r.tests.Limited(tt.side, ecosystem.Command{Stage: tt.stage, Unit: ".", Text: tt.text}).Timeout; got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.side, tt.text, got, tt.want)
		}
	}
}

// TestEnvironment holds which failures say nothing about the change.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]bool{
		"go: x@v1: Get \"https://proxy/\": dial tcp: lookup proxy on 10.0.0.1:53: no such host": true,
		"go: example.org/x@v1.0.0: module lookup disabled by GOPROXY=off":                       true,
		"go: go.mod requires go >= 1.99 (running go 1.26; GOTOOLCHAIN=local)":                   true,
		"npm ERR! code ENOTFOUND":                                            true,
		"bash: line 1: protoc: command not found":                            true,
		"fatal: could not read Username for 'https://github.com'":            true,
		"git@github.com: Permission denied (publickey).":                     true,
		"reading https://proxy/x: 503 Service Unavailable":                   true,
		"write /tmp/x: no space left on device":                              true,
		"a.go:1:2: undefined: x":                                             false,
		"go: module x: no required module provides package y":                false,
		"verifying x@v1: checksum mismatch":                                  false,
		"open /etc/x: permission denied":                                     false,
		"exit status 1":                                                      false,
		"make: *** No rule to make target 'all'.  Stop.":                     false,
		"go: example.org/x@v1.2.3: invalid version: unknown revision v1.2.3": false,
	} {
		if got := results.Environment("first\n" + out + "\nlast"); (got != "") != want || want && got != out {
			t.Errorf("%q: %q, want %v", out, got, want)
		}
	}
}

// What says what is missing comes before an error code alone.
func TestEnvironmentLine(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		"npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error network request to https://codeload.example/x failed, reason: getaddrinfo ENOTFOUND codeload.example\n": "npm error network request to https://codeload.example/x failed, reason: getaddrinfo ENOTFOUND codeload.example",
		"WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(0x7f)': /simple/flit-core/\nERROR: No matching distribution found for flit_core<4\n":     "ERROR: No matching distribution found for flit_core<4",
		"WARNING: Retrying after connection broken by 'NewConnectionError(0x7f)'\n":                                                                                                 "WARNING: Retrying after connection broken by 'NewConnectionError(0x7f)'",
	} {
		if got := results.Environment(out); got != want {
			t.Errorf("%q: %q", out, got)
		}
	}
}

// A change of a repository without Go is not kept waiting by copies of Go's build cache.
func TestNoGoNoCache(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"a.txt": false, "sub/go.mod": true} {
		var g *Gate
		judge(t, &Toolchains{Go: &GoToolchain{}, Env: []string{"PATH=" + systemPath()}}, &scenario{
			input: map[string][]string{"test": {"true"}},
			base:  map[string][]byte{"b.txt": []byte("b\n"), name: []byte("module example.com/m\n\ngo 1.24\n")},
			head:  map[string][]byte{"b.txt": []byte("c\n"), name: []byte("module example.com/m\n\ngo 1.24\n")},
		}, func(gate *Gate) {
			g = gate
			lay(t, g.Store().Seed(false), map[string][]byte{"aa/x-a": []byte("std")})
		})
		if got := folder.Exists(g.Store().ProjectCache()); got != want {
			t.Errorf("%s: the project has a build cache: %v", name, got)
		}
	}
}
