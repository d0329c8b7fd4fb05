package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// module is a small module in which everything happens that tests can do.
var module = map[string]string{
	"go.mod": "module example.test/m\n\ngo 1.21\n",
	"good/a_test.go": `package good
import "testing"
func TestA(t *testing.T) { t.Log("quiet"); t.Run("sub", func(*testing.T) {}) }
func TestB(t *testing.T) { t.Skip("needs bubblewrap: bwrap is not installed") }
func TestD(t *testing.T) { t.Skip("left to make variants") }
func TestC(t *testing.T) { t.Log("first"); t.Skip("needs bubblewrap: bwrap is not installed") }
`,
	"bad/a_test.go": `package bad
import "testing"
func TestX(t *testing.T) { t.Log("before"); t.Run("sub", func(t *testing.T) { t.Error("the reason") }) }
func TestY(t *testing.T) {}
`,
	"broken/a_test.go": "package broken\nimport \"testing\"\nfunc TestZ(t *testing.T) { undefined() }\n",
	"exits/a_test.go":  "package exits\nimport (\"os\"; \"testing\")\nfunc TestMain(m *testing.M) { println(\"gone\"); os.Exit(3) }\nfunc TestW(t *testing.T) {}\n",
	"panics/a_test.go": `package panics
import "testing"
func TestP(t *testing.T) { panic("ouch") }
func TestQ(t *testing.T) {}
`,
	"none/a.go": "package none\n",
}

func write(t *testing.T, files map[string]string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if len(names) > 0 && name != "go.mod" && !strings.HasPrefix(name, names[0]) {
			continue
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The real go command over a real module: everything that failed is counted and
// printed in full, skips are printed by reason, and the last line counts.
func TestRun(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	code := run(t.Context(), write(t, module), []string{"-p=1", "./..."}, &out, &errs)
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	text := regexp.MustCompile(`\d+\.\d+s`).ReplaceAllString(out.String(), "0s")
	for _, want := range []string{
		"FAIL example.test/m/bad (1 passed, 2 failed, 0 skipped, 0s)\n",
		"the reason\n",
		"before\n",
		"undefined: undefined\n",
		"FAIL example.test/m/broken (0 passed, 1 failed, 0 skipped, 0s, does not build)\n",
		"gone\n",
		"FAIL example.test/m/exits (0 passed, 1 failed, 0 skipped, 0s)\n",
		"ok   example.test/m/good (2 passed, 0 failed, 2 skipped, 0s)\n",
		"-    example.test/m/none (0 passed, 0 failed, 0 skipped, 0s, no tests)\n",
		"panic: ouch",
		"FAIL example.test/m/panics (0 passed, 1 failed, 0 skipped, 0s)\n",
		"\nskipped 2: needs bubblewrap: bwrap is not installed (TestB TestC)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q", want)
		}
	}
	if !strings.HasSuffix(text, "\n1 variants left out: make variants\n3 passed, 5 failed, 2 skipped\n") {
		t.Error("the last line does not count")
	}
	if strings.Contains(text, "quiet") {
		t.Error("shows what a passing test said")
	}
	if t.Failed() {
		t.Logf("%s%s", text, &errs)
	}
}

// What tests that are left out say is what the summary counts by.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	if leftOut != variants.Left {
		t.Errorf("%q and %q", leftOut, variants.Left)
	}
}

func TestRunPasses(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), write(t, module, "good"), []string{"./..."}, &out, &errs); code != 0 {
		t.Errorf("exit %d: %s%s", code, &out, &errs)
	}
}

// Nothing that ran is no success, and neither is a go command that gives up.
func TestNothingRan(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"./..."}, {"./absent"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), write(t, module, "none"), args, &out, &errs); code != 1 {
			t.Errorf("%v: exit %d: %s%s", args, code, &out, &errs)
		}
	}
}

// A test that never ended is named, and its package is a failure, also where
// go test itself was killed and says nothing more.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newSummary(&out)
	err := s.read(strings.NewReader(`not json
{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestSlow"}
{"Action":"output","Package":"p","Test":"TestSlow","Output":"=== RUN   TestSlow\n"}
`))
	if err != nil {
		t.Fatal(err)
	}
	s.finish()
	want := `not json

=== FAIL p
=== RUN   TestSlow
FAIL p (0 passed, 1 failed, 0 skipped, 0.0s, did not end: TestSlow)

0 passed, 1 failed, 0 skipped
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// The tests of another module count with them, also where those here pass.
func TestRunAlso(t *testing.T) {
	t.Parallel()
	dir := write(t, module, "good")
	other := filepath.Join(dir, "other")
	for name, text := range map[string]string{"go.mod": "module example.test/other\n\ngo 1.21\n", "b_test.go": "package other\nimport \"testing\"\nfunc TestOther(t *testing.T) { t.Error(\"the other reason\") }\n"} {
		if err := os.MkdirAll(other, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), dir, []string{"-also", "other", "./..."}, &out, &errs)
	if code != 1 || !strings.Contains(out.String(), "the other reason") || !strings.HasSuffix(out.String(), "\n2 passed, 1 failed, 2 skipped\n") {
		t.Errorf("exit %d: %s%s", code, &out, &errs)
	}
}
