package backtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/workspace"
)

var update = flag.Bool("update", false, "write the golden table")

// TestLineFits: whatever the names and reasons, a line is valid JSON of at most 400
// bytes that keeps its case, arm and verdict.
func TestLineFits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string {
		alphabet := []rune("abc/ \"\\<>&\n\x01…é世\U0001F600")
		var b strings.Builder
		for range r.IntN(most) {
			b.WriteRune(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	list := func() (out []string) {
		for range r.IntN(40) {
			out = append(out, text(300))
		}
		return out
	}
	for i := range 500 {
		l := Line{
			Case: caseID(text(80), fmt.Sprintf("%040x", r.Uint64()), Tampered), Repo: text(60), Change: "0123456789ab", Base: "0123456789ab", Head: "0123456789ab",
			Arm: Tampered, Operator: text(200), Excluded: text(200), Verdict: "PARTIAL", Seconds: 1e5, CPU: 123456.7, Plain: 12345.6, PlainCPU: 12345.6, Part: true,
			Digest: "0123456789abcdef", Ycbot: "v1.2.3-0.20261122000000-0123456789ab+dirty", Tests: list(), Names: list(), Reasons: list(),
			Given: map[string]int{"regressed": 1000, "silenced": 1000, "silent": 1000, "steering": 1000, "weakened": 1000, "support": 1000, "dropped": 1000, "cannot_apply": 1000, "needs_api": 1000, "rewritten": 1000, "data": 1000},
		}
		data, err := l.encode()
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		var back Line
		if len(data) > MaxLine || strings.Count(string(data), "\n") != 1 || json.Unmarshal(data, &back) != nil {
			t.Fatalf("%d: %d bytes: %q", i, len(data), data)
		}
		if back.Case != l.Case || back.Arm != l.Arm || back.Verdict != l.Verdict || back.Head != l.Head {
			t.Fatalf("%d: %q lost its case", i, data)
		}
	}
}

// TestClopperPearson compares with values that exact fractions give.
func TestClopperPearson(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 10, 0, 0.3084971},
		{1, 10, 0.002528579, 0.4450161},
		{5, 10, 0.1870860, 0.8129140},
		{10, 10, 0.6915029, 1},
		{3, 26, 0.02445810, 0.3015404},
		{0, 100, 0, 0.03621669},
		{2, 1000, 0.0002423013, 0.007205871},
		{0, 0, 0, 1},
	} {
		low, high := ClopperPearson(test.k, test.n)
		if math.Abs(low-test.low) > 2e-6 || math.Abs(high-test.high) > 2e-6 {
			t.Errorf("%d of %d: %.7f to %.7f, want %.7f to %.7f", test.k, test.n, low, high, test.low, test.high)
		}
	}
}

// TestTamper applies each operator to a test of each language and compares the text.
func TestTamper(t *testing.T) {
	t.Parallel()
	files := map[string]struct{ text, test string }{
		"a_test.go":       {"package a\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n\n// TestA is one.\nfunc TestA(t *testing.T) {\n\tif strings.ToUpper(\"a\") != F() {\n\t\tt.Errorf(\"F\")\n\t}\n\tassert.Equal(t, 1, G())\n}\n\nfunc TestB(t *testing.T) {}\n", "TestA/sub"},
		"tests/test_a.py": {"import a\n\n\nclass TestA:\n    @mark\n    def test_one(\n        self,\n    ):\n        x = a.f()\n        assert x == 1\n\n        self.assertEqual(x, 1)\n\n    def test_two(self):\n        assert True\n", "TestA::test_one[1-2]"},
		"a.test.js":       {"describe('a', () => {\n  it('is (one)', () => {\n    const x = f(\")\")\n    expect(x).toBe(1)\n  })\n  it(\"two\", () => {})\n})\n", "a > is (one)"},
	}
	want := map[string]string{
		"skip a_test.go":                    "\tt.Skip(\"unstable\")\n\tif strings.",
		"vacuous a_test.go":                 "func TestA(t *testing.T) {}",
		"weaken a_test.go":                  "\t\tt.Logf(\"F\")\n\t}\n\t_, _, _ = t, 1, G()\n",
		"drop a_test.go":                    "import (\n\t_ \"strings\"\n\t\"testing\"\n)\n\n\n\nfunc TestB",
		"skip tests/test_a.py":              "    ):\n        __import__(\"unittest\").TestCase().skipTest(\"unstable\")\n        x = a.f()\n",
		"vacuous tests/test_a.py":           "    ):\n        pass\n\n    def test_two",
		"weaken tests/test_a.py":            "        x = a.f()\n        pass\n\n        pass\n\n    def test_two",
		"drop tests/test_a.py":              "class TestA:\n\n    def test_two",
		"skip a.test.js":                    "  it.skip('is (one)', () => {\n    const",
		"vacuous a.test.js":                 "  it('is (one)', () => {})\n  it(\"two\"",
		"weaken a.test.js":                  "f(\")\")\n    // checked elsewhere\n  })",
		"drop a.test.js":                    "() => {\n  \n  it(\"two\"",
		"expectations-back a_test.go":       "as before\n",
		"expectations-back tests/test_a.py": "as before\n",
		"expectations-back a.test.js":       "as before\n",
		"exclude a_test.go":                 "//go:build ignore\n\npackage a",
	}
	for _, op := range tamperings() {
		for name, f := range files {
			to, now, changed := op.apply(testFile{name, []byte(f.text), []byte("as before\n"), []run.SuiteTest{{Test: f.test}}})
			expect, ok := want[op.name+" "+name]
			switch {
			case op.name == "move":
				if to != filepath.Join(filepath.Dir(name), "testdata", filepath.Base(name)+".txt") {
					t.Errorf("move %s: %s", name, to)
				}
			case op.name == "delete":
				if to != "" {
					t.Errorf("delete %s: %s", name, to)
				}
			case ok && (!changed || !strings.Contains(string(now), expect)):
				t.Errorf("%s %s: want %q in\n%s", op.name, name, expect, now)
			case !ok && changed:
				t.Errorf("%s %s changes it:\n%s", op.name, name, now)
			}
		}
		if _, _, changed := op.apply(testFile{"a_test.go", []byte("package a\n"), nil, []run.SuiteTest{{Test: "TestGone"}}}); changed && op.name != "move" && op.name != "delete" && op.name != "exclude" {
			t.Errorf("%s changes a file without the test", op.name)
		}
	}
}

// TestHunks puts each hunk of a change back by itself, and all of them one after the
// other; each must give what the lines say.
func TestHunks(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	parent := h.commit("before", map[string]string{"a.go": "1\n2\n3\n4\n5\n6\n"})
	commit := h.commit("after", map[string]string{"a.go": "0\n1\n2\nthree == 3\n4\n6\n"})
	g := newGit(t)
	s, err := workspace.OpenScratch(t.Context(), g, filepath.Join(t.TempDir(), "s"), "sha1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fetch(t.Context(), filepath.Join(h.dir, ".git"), "HEAD", "refs/heads/history"); err != nil {
		t.Fatal(err)
	}
	f := forge{s}
	files, _, err := difference(t.Context(), s, toy{}.Class, parent, commit)
	if err != nil {
		t.Fatal(err)
	}
	hunks, err := f.hunks(t.Context(), files)
	if err != nil || len(hunks) != 3 {
		t.Fatalf("%v, %v", hunks, err)
	}
	var got []string
	for _, k := range hunks {
		got = append(got, string(k.without([]byte("1\n2\n3\n4\n5\n6\n"), []byte("0\n1\n2\nthree == 3\n4\n6\n"))))
	}
	want := []string{"1\n2\nthree == 3\n4\n6\n", "0\n1\n2\n3\n4\n6\n", "0\n1\n2\nthree == 3\n4\n5\n6\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	mutants := hunks[1].mutants([]byte("0\n1\n2\nthree == 3\n4\n6\n"))
	if diff := cmp.Diff(map[string][]byte{"mutant:equal-negated:a.go:4": []byte("0\n1\n2\nthree != 3\n4\n6\n")}, mutants); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}

// TestChoose: each exclusion of the rule by an example, and merges by their first parent.
func TestChoose(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit("first", map[string]string{"a.go": "package a\n"})
	h.commit("Revert \"x\"", map[string]string{"a.go": "package a // 1\n"})
	h.commit("docs", map[string]string{"README.md": "a\n"})
	h.commit("only tests", map[string]string{"a_test.go": "package a\n"})
	h.commit("generated", map[string]string{"z.go": "// Code generated by x. DO NOT EDIT.\npackage a\n"})
	h.commit("vendored", map[string]string{"vendor/x/x.go": "package x\n"})
	h.commit("huge", map[string]string{"big.go": strings.Repeat("//\n", maxLines+1)})
	if err := os.Symlink("a.go", filepath.Join(h.dir, "l.go")); err != nil {
		t.Fatal(err)
	}
	h.commit("link", map[string]string{"a.go": "package a // 2\n"})
	h.git("checkout", "-q", "-b", "topic")
	h.commit("side one", map[string]string{"s.go": "package a\n"})
	h.commit("side two", map[string]string{"s_test.go": "package a\n"})
	h.git("checkout", "-q", "main")
	h.git("merge", "-q", "--no-ff", "-m", "Merge pull request #1 from ann/topic", "topic")
	merged := h.git("rev-parse", "HEAD")
	h.git("checkout", "-q", "-b", "other", "HEAD~1")
	other := h.commit("o", map[string]string{"o.go": "package a\n"})
	h.git("merge", "-q", "--no-ff", "-m", "Merge branch 'main' into other", "main")
	s, err := workspace.OpenScratch(t.Context(), newGit(t), filepath.Join(t.TempDir(), "s"), "sha1")
	if err != nil {
		t.Fatal(err)
	}
	for branch, want := range map[string]struct {
		chosen   []string
		excluded map[string]int
	}{
		"main":  {[]string{merged}, map[string]int{whyFirst: 1, whyRevert: 1, whyNoSource: 2, whyGenerated: 2, whyHuge: 1, whyLink: 1}},
		"other": {[]string{other}, map[string]int{whyFirst: 1, whyRevert: 1, whyNoSource: 2, whyGenerated: 2, whyHuge: 1, whyLink: 1, whyMergeMain: 1}},
	} {
		head, err := s.Fetch(t.Context(), filepath.Join(h.dir, ".git"), branch, "refs/heads/"+branch)
		if err != nil {
			t.Fatal(err)
		}
		changes, excluded, err := choose(t.Context(), s, toy{}.Class, head, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			got = append(got, c.Commit)
			if c.Commit == merged && !c.Tests {
				t.Error("the merge brings a test")
			}
		}
		if diff := cmp.Diff(want.chosen, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", branch, diff)
		}
		if diff := cmp.Diff(want.excluded, excluded); diff != "" {
			t.Errorf("%s (-want +got):\n%s", branch, diff)
		}
	}
}

// TestTable compares the table in its three forms with the golden one.
func TestTable(t *testing.T) {
	t.Parallel()
	plan := newPlan(Settings{Seed: 3, Last: 2, Arms: []Arm{Good, Undone}})
	plan.Repos = []PlannedRepo{{Name: "ann/a", Changes: make([]PlannedChange, 3), Excluded: map[string]int{whyRevert: 2}}, {Name: "bob/b", Unusable: "gone"}}
	lines := []Line{
		{Case: "a-1-good", Repo: "ann/a", Arm: Good, Operator: "as merged", Verdict: "PASS", Seconds: 30, CPU: 40, Plain: 10, PlainCPU: 8, Ycbot: "v1", Outside: "PASS"},
		{Case: "a-2-good", Repo: "ann/a", Arm: Good, Operator: "as merged", Verdict: "FAIL", Seconds: 700, CPU: 80, Plain: 400, PlainCPU: 8, Ycbot: "v1", Reasons: []string{"1 test | regressed"}},
		{Case: "a-3-good", Repo: "ann/a", Arm: Good, Operator: "as merged", Verdict: "PARTIAL", Seconds: 30, Plain: 10, Ycbot: "v1", Outside: "PARTIAL"},
		{Case: "a-1-undone", Repo: "ann/a", Arm: Undone, Operator: "sources-back", Verdict: "PASS", Seconds: 30, Plain: 10, Ycbot: "v1"},
		{Case: "a-1-undone", Repo: "ann/a", Arm: Undone, Operator: "sources-back", Verdict: "FAIL", Seconds: 30, Plain: 10, Ycbot: "v1"},
		{Case: "a-2-undone", Repo: "ann/a", Arm: Undone, Excluded: whyUnseen, Ycbot: "v1"},
		{Case: "a-4-good", Repo: "ann/a", Arm: Good, Operator: "as merged", Verdict: "PASS", Seconds: 30, Plain: 10, Ycbot: "v1", Given: map[string]int{"rewritten": 2}, Outside: "PARTIAL", OutsideFor: []string{"cannot_apply", "marks"}},
		{Case: "a-1-tampered", Repo: "ann/a", Arm: Tampered, Operator: "drop", Verdict: "PASS", Seconds: 30, Plain: 10, Ycbot: "v1", Given: map[string]int{"dropped": 1}, Named: true},
		{Case: "a-2-tampered", Repo: "ann/a", Arm: Tampered, Operator: "skip", Verdict: "PASS", Seconds: 30, Plain: 10, Ycbot: "v1"},
		{Case: "a-5-good", Repo: "ann/a", Arm: Good, Operator: "as merged", Verdict: "PASS", Seconds: 30, Plain: 10, Ycbot: "v1", Shown: new(0), Folded: 2},
		{Case: "a-5-unseen", Repo: "ann/a", Arm: Unseen, Operator: "hidden-undo", Verdict: "PASS", Seconds: 30, Plain: 10, Ycbot: "v1", Shown: new(3), Folded: 1},
		{Case: "a-6-unseen", Repo: "ann/a", Arm: Unseen, Operator: "mutant:a.go:3", Verdict: "PASS", Seconds: 30, Plain: 10, Ycbot: "v1", Shown: new(0)},
	}
	notes := map[string]Note{"a-2-good": {Case: "a-2-good", Cause: "its test needs a network", Exclude: true}}
	s := Summarize(plan, lines, notes)
	asJSON, err := s.JSON()
	if err != nil {
		t.Fatal(err)
	}
	got := s.Text() + "\n=====\n" + s.Markdown() + "\n=====\n" + string(asJSON)
	name := filepath.Join("testdata", "table.golden")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSamples: each sample repository of an honest edit can be made, and its second
// commit differs from its first.
func TestSamples(t *testing.T) {
	variants.Only(t) // a backtest of its own; TestShow has one
	t.Parallel()
	b, _ := newToy(t, nil)
	all, err := b.honest(t.Context(), &Plan{Arms: []Arm{Honest}}, t.TempDir())
	if err != nil || len(all) == 0 {
		t.Fatalf("%d sample repositories: %v", len(all), err)
	}
	for _, m := range all {
		out, err := exec.Command("git", "-C", m.scratch.Dir, "diff", "--name-only", m.change.Parent, m.change.Commit).Output()
		if err != nil || len(out) == 0 {
			t.Errorf("%s: %q, %v", m.repo, out, err)
		}
	}
}

// Two backtests never write to one file: the second says so.
func TestLedgerIsLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := openLedger(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openLedger(dir, nil); err == nil || !strings.Contains(err.Error(), "another backtest is writing to "+dir) {
		t.Errorf("a second one: %v", err)
	}
	// A process that is being forked has a copy of each open file until it runs its program.
	copied, err := unix.Dup(int(first.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(copied)
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	again, err := openLedger(dir, nil)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	if err := again.close(); err != nil {
		t.Error(err)
	}
}

// TestLineKeepsOfEach: a line that is too long loses a part of each list, and none whole.
func TestLineKeepsOfEach(t *testing.T) {
	t.Parallel()
	long := func(what string) []string {
		return []string{what + strings.Repeat(" that is long", 20), what + strings.Repeat(" and more", 20)}
	}
	l := Line{
		Case: "some-repository-1a2b3c4d-tampered", Repo: "some/repository", Change: "1a2b3c4d5e6f", Base: "1a2b3c4d5e6f", Head: "2a2b3c4d5e6f", Arm: Tampered,
		Operator: "expectations-back", Verdict: "PARTIAL", Digest: "0123456789abcdef", Ycbot: "v0.0.0-20261125045141-2cd957cbf701", Tests: long("TestA"), Names: long("TestB"), Reasons: long("a reason"),
	}
	data, err := l.encode()
	if err != nil || len(data) > MaxLine {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	for _, part := range []string{"TestA", "TestB", "a reason"} {
		if !strings.Contains(string(data), part) {
			t.Errorf("nothing is left of %q: %s", part, data)
		}
	}
}

// TestBoundsAreDocumented: docs/backtest.md has the bounds of the program.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	page := prose(t, "docs/backtest.md")
	for _, words := range []string{fmt.Sprintf("more than %d files or %d lines", maxFiles, maxLines), fmt.Sprintf("one line of at most %d bytes", MaxLine)} {
		if !strings.Contains(page, words) {
			t.Errorf("it does not say %q", words)
		}
	}
}

// TestReadmeHasTheStudy: the figures of README.md are those of the tables of
// docs/verdicts.md.
func TestReadmeHasTheStudy(t *testing.T) {
	t.Parallel()
	readme, study := prose(t, "README.md"), prose(t, "docs/verdicts.md")
	row := func(arm string) []any {
		_, text, ok := strings.Cut(study, "| "+arm+" | ")
		if !ok {
			t.Fatalf("docs/verdicts.md has no arm %s", arm)
		}
		var out []any
		for _, cell := range strings.SplitN(text, " | ", 11)[:10] {
			out = append(out, cell)
		}
		return out
	}
	whole := func(interval any) string { // as README has it: 0.0 % to 1.5 % is 0–1.5 %
		_, to, _ := strings.Cut(interval.(string), " to ")
		return "0–" + to
	}
	good, undone, tampered := row("good"), row("undone"), row("tampered")
	var took, most, plain, times float64
	_, text, _ := strings.Cut(study, "A run takes ")
	if _, err := fmt.Sscanf(text, "%f s (median; at most %f s), the plain suite %f s: %f times", &took, &most, &plain, &times); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		fmt.Sprintf("good changes: %s, of which %s PASS, %s PARTIAL, none FAIL (wrong: 0 %%, 95 %% interval %s; one more got FAIL", good[0], good[1], good[4], whole(good[7])),
		fmt.Sprintf("undone changes: %s, all FAIL (wrong: 0 %%, interval %s)", undone[0], whole(undone[7])),
		fmt.Sprintf("tampered tests: %s, of which %s FAIL, %s PARTIAL and %s PASS that name each expectation given up (wrong: 0 %%, interval %s)", tampered[0], tampered[3], tampered[4], tampered[2], whole(tampered[7])),
		fmt.Sprintf("a run takes %.0f s in the median where the plain suite takes %.0f s, %.1f times as long", took, plain, times),
	} {
		if !strings.Contains(readme, words) {
			t.Errorf("README.md does not say %q", words)
		}
	}
	if good[3] != "0" || good[8] != "1" || undone[3] != undone[0] || tampered[1] != tampered[2] {
		t.Errorf("the study says otherwise: %v %v %v", good, undone, tampered)
	}
}

// prose is a text of the repository with its words apart by one blank.
func prose(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}
