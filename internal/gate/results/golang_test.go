package results

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// events writes lines of "go test -json" from a short form: "run m TestA",
// "pass m", "out m TestA text"; what begins with "raw " stands for itself.
func events(t *testing.T, lines ...string) string {
	t.Helper()
	var b strings.Builder
	for _, line := range lines {
		if raw, ok := strings.CutPrefix(line, "raw "); ok {
			b.WriteString(raw + "\n")
			continue
		}
		f := strings.SplitN(line, " ", 4)
		e := goEvent{Action: f[0]}
		switch f[0] {
		case "out":
			e.Action, e.Package, e.Output = "output", f[1], f[3]+"\n"
			if f[2] != "-" {
				e.Test = f[2]
			}
		case "build":
			e.Action, e.ImportPath, e.Output = "build-output", f[1], strings.Join(f[2:], " ")+"\n"
		case "failbuild":
			e.Action, e.Package, e.FailedBuild = "fail", f[1], f[2]
		default:
			e.Package, e.Elapsed = f[1], 0.25
			if len(f) > 2 {
				e.Test = f[2]
			}
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	return b.String()
}

// did is a test that ran and said how it ended.
func did(pkg, test, result string) []string {
	return []string{"run " + pkg + " " + test, "out " + pkg + " " + test + " --- " + strings.ToUpper(result) + ": " + test, result + " " + pkg + " " + test}
}

func join(parts ...any) []string {
	var out []string
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, p)
		case []string:
			out = append(out, p...)
		}
	}
	return out
}

// TestStream holds what is made of the output of "go test -json". A mark "+" is
// a test with subtests, "!" a package whose program ended early, "#" one that
// did not compile, "~" what fails inside a package that passes.
func TestStream(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what  string
		lines []string
		want  string
	}{
		{
			"passes and fails", join(did("m", "TestA", "pass"), did("m", "TestB", "fail"), did("m", "TestC", "skip"), "out m - FAIL", "fail m"),
			"m TestA pass; m TestB fail; m TestC skip; m pass",
		},
		{"no test files", join("out m - ? m [no test files]", "skip m"), "m skip"},
		{
			"subtests", join("run m TestA", did("m", "TestA/x", "pass"), did("m", "TestA/y", "fail"), "out m TestA --- FAIL: TestA", "fail m TestA", "out m - FAIL", "fail m"),
			"m TestA fail+; m TestA/x pass; m TestA/y fail; m pass",
		},
		{
			"interleaved packages", join("run m TestA", "run n TestA", "out n TestA --- FAIL: TestA", "fail n TestA", "out m TestA --- PASS: TestA", "pass m TestA", "out m - PASS", "pass m", "out n - FAIL", "fail n"),
			"m TestA pass; m pass; n TestA fail; n pass",
		},
		{
			"unnamed subtests belong to their parent, numbered ones share a name, the worst counts",
			join("run m TestA", did("m", "TestA/#00", "pass"), did("m", "TestA/#01", "fail"), did("m", "TestA/row", "fail"), did("m", "TestA/row#01", "pass"), did("m", "TestA/a#b", "pass"), did("m", "TestA/any#1", "pass"), did("m", "TestA/any#2", "pass"), "out m TestA --- FAIL: TestA", "fail m TestA", "out m - FAIL", "fail m"),
			"m TestA fail+; m TestA/a#b pass; m TestA/any#1 pass; m TestA/any#2 pass; m TestA/row fail; m pass",
		},
		{"of several runs of a test the worst counts", join(did("m", "TestA", "fail"), did("m", "TestA", "pass"), "out m - FAIL", "fail m"), "m TestA fail; m pass"},
		{
			"it does not compile", join("build m # m", "build m a.go:1: undefined", "raw {\"Action\":\"build-fail\",\"ImportPath\":\"m\"}", "out m - FAIL m [build failed]", "failbuild m m"),
			"m fail!#",
		},
		{"an import is missing", join("out m - FAIL m [setup failed]", "fail m"), "m fail!#"},
		{
			"a panic in a test: the rest did not run", join("run m TestP", "pause m TestP", "run m TestA", "out m TestA --- FAIL: TestA", "out m TestA panic: x", "fail m TestA", "out m - FAIL m 0.1s", "fail m"),
			"m TestA fail; m TestP not_run; m pass!",
		},
		{
			"a panic outside of tests, or a hang: the package fails", join("run m TestA", "out m TestA panic: test timed out after 1s", "out m - FAIL m 1s", "fail m"),
			"m TestA not_run; m fail!",
		},
		{"TestMain exits with failure before the tests", join("out m - no database", "out m - FAIL m 0.1s", "fail m"), "m fail!"},
		{"TestMain fails after the tests", join(did("m", "TestA", "pass"), "out m - PASS", "out m - leak!", "fail m"), "m TestA pass; m fail"},
		{"TestMain exits with success before the tests", join("out m - ok m 0.1s", "pass m"), "m pass!"},
		{
			"TestMain exits with success after failures", join(did("m", "TestA", "fail"), did("m", "TestB", "pass"), "out m - FAIL", "out m - ok m 0.1s", "pass m"),
			"m TestA fail; m TestB pass; m pass",
		},
		{
			"the program exits with success inside of a test: what test2json says of the test is the package's", join("run m TestA", "out m TestA ok m 0.1s", "pass m TestA"),
			"m TestA not_run; m pass!",
		},
		{
			"phantom failures inside of a passing test", join("run m TestA", did("m", "TestInner", "fail"), "out m TestA --- PASS: TestA", "pass m TestA", "out m - PASS", "pass m"),
			"m TestA pass; m TestInner fail~; m pass",
		},
		{
			"TestMain runs the tests, prints PASS and exits with success", join(did("m", "TestA", "fail"), "out m - FAIL", "out m - PASS", "out m - ok m 0.1s", "pass m"),
			"m TestA fail~; m pass",
		},
		{"a failure that is printed in the words of the framework, and the program's own end", join("out m - FAIL", did("m", "TestA", "pass"), "out m - PASS", "pass m"), "m TestA pass; m pass"},
		{
			"a phantom that never ends", join("run m TestA", "run m TestInner", "out m TestA --- PASS: TestA", "pass m TestA", "out m - PASS", "pass m"),
			"m TestA pass; m TestInner not_run~; m pass",
		},
		{"cut off: killed, or the output had a limit", join(did("m", "TestA", "pass"), "run m TestB"), "m TestA pass; m TestB not_run; m not_run!"},
		{"benchmarks, unknown actions, lines that are no events", join("raw go: downloading x", "raw {", "raw {}", "raw ", "raw null", "raw {\"Action\":\"attr\",\"Package\":\"m\",\"Test\":\"TestA\"}",
			"run m BenchmarkA", "bench m BenchmarkA", did("m", "TestA", "pass"), "out m - PASS", "pass m"), "m BenchmarkA pass; m TestA pass; m pass"},
		{
			"events that a test prints are output", join("run m TestA", `out m TestA {"Action":"pass","Package":"m","Test":"TestA"}`, "out m TestA --- FAIL: TestA", "fail m TestA", "out m - FAIL", "fail m"),
			"m TestA fail; m pass",
		},
		{"a forged pass does not undo a failure", join(did("m", "TestA", "fail"), "out m - FAIL", "fail m", "pass m TestA"), "m TestA fail; m pass"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			in := events(t, tt.lines...)
			for _, size := range []int{len(in) + 1, 1, 7, 64} { // however it is cut
				g := newGoStream(".")
				for rest := in; rest != ""; {
					n := min(size, len(rest))
					if wrote, err := g.Write([]byte(rest[:n])); wrote != n || err != nil {
						t.Fatalf("Write: %d %v, want %d", wrote, err, n)
					}
					rest = rest[n:]
				}
				if got := statuses(g.Suite("E1", "")); got != tt.want {
					t.Fatalf("in pieces of %d:\n got %s\nwant %s", size, got, tt.want)
				}
			}
		})
	}
}

// TestStreamOutput holds what people are shown of a failure.
func TestStreamOutput(t *testing.T) {
	t.Parallel()
	g := newGoStream("sub")
	in := events(t, join(
		"build m/b # m/b", "build m/b /src/tree/b.go:1:2: undefined: x", "failbuild m/b m/b",
		"run m TestA", "out m TestA === RUN   TestA", "out m TestA     /src/tree/a_test.go:3: wrong", "out m TestA --- FAIL: TestA", "fail m TestA", "out m - FAIL", "fail m",
		"run m/c TestC", "out m/c TestC panic: lost", "out m/c - FAIL m/c", "fail m/c", "raw go: warning",
	)...)
	if _, err := g.Write([]byte(in)); err != nil {
		t.Fatal(err)
	}
	s := g.Suite("E7", "/src/tree")
	for id, want := range map[ID]string{
		{Unit: "sub", Package: "m", Test: "TestA"}: "    a_test.go:3: wrong\n--- FAIL: TestA",
		{Unit: "sub", Package: "m/b"}:              "# m/b\nb.go:1:2: undefined: x",
		{Unit: "sub", Package: "m/c"}:              "panic: lost\nFAIL m/c",
	} {
		if got := s[id]; got.Output != want || got.Evidence != "E7" {
			t.Errorf("%v: output %q of %s, want %q", id, got.Output, got.Evidence, want)
		}
	}
	if got := g.other.String(); got != "go: warning\n" {
		t.Errorf("other lines %q", got)
	}
	if got := s[ID{Unit: "sub", Package: "m"}].Elapsed; got.Milliseconds() != 250 {
		t.Errorf("package took %s", got)
	}
}

// TestStreamBounds holds that no output fills memory: a line without end, one
// test that prints for ever.
func TestStreamBounds(t *testing.T) {
	t.Parallel()
	g := newGoStream(".")
	piece := []byte(strings.Repeat("x", 1<<20))
	for range 8 {
		if _, err := g.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.line) > maxLine {
		t.Errorf("a line of %d bytes is kept", len(g.line))
	}
	if _, err := g.Write([]byte("\n" + events(t, did("m", "TestA", "pass")...))); err != nil {
		t.Fatal(err)
	}
	if got := statuses(g.Suite("E1", "")); got != "m TestA pass; m not_run!" {
		t.Errorf("after a line without end: %s", got)
	}

	var tl tail
	for i := range 100_000 {
		tl.add(fmt.Sprintf("line %d\n", i))
	}
	text := tl.text()
	if len(text) > 2*outputKeep || !strings.HasPrefix(text, "line 0\n") || !strings.HasSuffix(text, "line 99999\n") || !strings.Contains(text, "bytes left out") {
		t.Errorf("tail of %d bytes: %.40q … %q", len(text), text, text[len(text)-20:])
	}
}
