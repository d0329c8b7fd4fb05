package reproduce

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A failure for want of what only the other side has is distinguished from a failure of
// what both have. Anything else would blame a change for nothing, or excuse it.
func TestLacking(t *testing.T) {
	t.Parallel()
	names := added([]change.File{
		{Path: "cmd/tool/main.go", Status: change.Added},
		{Path: "pkg/parser.py", Status: change.Renamed},
		{Path: "old.sh", Status: change.Modified},
		{Path: "gone.sh", Status: change.Deleted},
	})
	if diff := cmp.Diff([]string{"main.go", "main", "parser.py", "parser"}, names); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	for _, tc := range []struct {
		name      string
		mine, its string
		names     []string
		want      bool
	}{
		{"the script is not there", "sh: 0: cannot open parser.py: No such file\n", "negative\n", names, true},
		{"a module is not there", "ModuleNotFoundError: No module named 'parser'\n", "AssertionError\n", names, true},
		{"some other file is not there", "cat: data.txt: No such file or directory\n", "negative\n", names, false},
		{"some other file, and names do not matter", "cat: data.txt: No such file or directory\n", "negative\n", nil, true},
		{"both miss something", "cat: parser.py: No such file\n", "open x: no such file or directory\n", names, false},
		{"no new files at all", "cat: parser.py: No such file\n", "negative\n", []string{}, false},
		{"Go does not compile", "./probe_test.go:5:2: undefined: New\nFAIL\tp [build failed]\n", "--- FAIL: TestProbe\n", []string{}, true},
		{"Go compiles on neither side", "./a.go:5:2: undefined: New\nFAIL\tp [build failed]\n", "FAIL\tp [build failed]\n", []string{}, false},
		{"TypeScript does not compile", "a.ts(3,1): error TS2304: Cannot find name 'x'.\n", "expected 3\n", []string{}, true},
		{"a test fails differently", "want 3, got 4\n", "want 3, got 5\n", names, false},
		{"silence", "", "", names, false},
		{"Go has not the test", "ok  \tshop\t0.003s [no tests to run]\n", "--- FAIL: TestZZ (0.00s)\nFAIL\tshop\t0.003s\n", nil, true},
		{"Go has others", "ok  \tshop\t0.003s [no tests to run]\nok  \tpay\t0.003s\n", "--- FAIL: TestZZ (0.00s)\nFAIL\tshop\t0.003s\n", nil, false},
		{"cargo has not the test", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 5 filtered out\n", "running 1 test\ntest zz ... FAILED\n", nil, true},
		{"cargo has no other tests", "running 1 test\ntest zz ... ok\n\ntest result: ok. 1 passed; 0 failed\n\nrunning 0 tests\n", "running 1 test\ntest zz ... FAILED\n", nil, false},
		{"node has not the test", "ℹ tests 0\nℹ pass 0\n", "ℹ tests 1\nℹ fail 1\n", nil, true},
		{"mocha has not the test", "\n  0 passing (1ms)\n", "\n  0 passing (1ms)\n  1 failing\n", nil, true},
		{"jest has not the test", "Tests:       5 skipped, 5 total\n", "Tests:       1 failed, 4 skipped, 5 total\n", nil, true},
		{"no test was there before", "0 passing\n", "0 passing\n", nil, false},
	} {
		if got := lacking(tc.mine, tc.its, tc.names); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}

// Only a quote of three words or more that stands in the task, or in a commit
// message, makes a failure on both sides the change's own.
func TestPromised(t *testing.T) {
	t.Parallel()
	j := Judge{Source: rundir.Source{Change: change.Change{Task: "Make sum refuse words.\nNegative  numbers\nare added as well, \"as they are\"."}}}
	j.Source.Commits = []workspace.Commit{{Subject: "sum: refuse empty input", Body: "It crashed before."}}
	for _, tc := range []struct {
		name  string
		check report.AgentCheck
		want  bool
	}{
		{"the task, across lines and in another case", report.AgentCheck{Expected: `the task says "negative numbers are added as well"`}, true},
		{"with the quote's own full stop", report.AgentCheck{Expected: `the task says "make sum refuse words."`}, true},
		{"with a full stop that the task does not have there", report.AgentCheck{Expected: `"negative numbers are added."`}, true},
		{"curly quotes, in the prose", report.AgentCheck{Remark: "“Make sum refuse words”"}, true},
		{"a commit", report.AgentCheck{Title: `"refuse empty input" is not so`}, true},
		{"two words", report.AgentCheck{Expected: `"refuse words"`}, false},
		{"not in the task", report.AgentCheck{Expected: `"numbers are never added"`}, false},
		{"in the task, but not quoted", report.AgentCheck{Expected: "negative numbers are added as well"}, false},
		{"nothing", report.AgentCheck{}, false},
	} {
		if got := j.promised(tc.check); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}

// The files that an agent had added are read from the difference that is kept of its tree.
func TestAdded(t *testing.T) {
	t.Parallel()
	patch := "diff a/shop/zz_test.go b/shop/zz_test.go\n--- a/shop/zz_test.go\n+++ b/shop/zz_test.go\n@@ -0,0 +1,3 @@\n+package shop\n++++ b/x\n+// end\n" +
		"--- big.bin: not shown: binary\n" +
		"diff a/old.txt b/old.txt\n--- a/old.txt\n+++ b/old.txt\n@@ -1,1 +1,1 @@\n-a\n+b\n" +
		"diff a/../out b/../out\n--- a/../out\n+++ b/../out\n@@ -0,0 +1,1 @@\n+x\n" +
		"diff a/note b/note\n--- a/note\n+++ b/note\n@@ -0,0 +1,1 @@\n+no end\n\\ No newline at end of file\n"
	want := Added{map[string]string{"shop/zz_test.go": "package shop\n+++ b/x\n// end\n", "note": "no end"}, []string{"big.bin"}}
	if diff := cmp.Diff(want, addedIn(patch)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
