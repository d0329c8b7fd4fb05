package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const twoChanges = `# for people

== sums/out sums/*-2
Decision 1: sums are written
in full.
-5
+five

-6
==  newer
Decision 2: what it is about is newer.
`

func TestCompare(t *testing.T) {
	t.Parallel()
	allowed, err := parseIntended(strings.ReplaceAll(twoChanges, "==  ", "== "))
	if err != nil {
		t.Fatal(err)
	}
	const fails = "> exec ycbot new\nFAIL: unexpected command failure"
	for _, row := range []struct {
		name          string
		before, after map[string]string
		want          string // the last line
		shows         string
	}{
		{"the same", texts("sums/out", "1\n2", "sums/console", "> ycbot"), texts("sums/out", "1\n2", "sums/console", "> ycbot"), "1 reports and 1 consoles: 2 are the same, 0 differ by intent, 0 unexplained", ""},
		{"by intent", texts("sums/out", "1\n5\n6\n7"), texts("sums/out", "1\nfive\n6\n7"), "1 reports and 0 consoles: 0 are the same, 1 differ by intent, 0 unexplained", ""},
		{"by intent, two places", texts("sums/out-2", "5\n7\n6"), texts("sums/out-2", "five\n7"), "1 reports and 0 consoles: 0 are the same, 1 differ by intent, 0 unexplained", ""},
		{"the intent is about another", texts("sums/other", "5"), texts("sums/other", "five"), "1 reports and 0 consoles: 0 are the same, 0 differ by intent, 1 unexplained", "== sums/other\nWHY?\n-5\n+five\n"},
		{"more than is meant", texts("sums/out", "5\n7\n8"), texts("sums/out", "five\n7\n9"), "1 reports and 0 consoles: 0 are the same, 0 differ by intent, 1 unexplained", "== sums/out\nWHY?\n-8\n+9\n"},
		{"meant lines beside others", texts("sums/out", "5\n8"), texts("sums/out", "five\n9"), "1 reports and 0 consoles: 0 are the same, 0 differ by intent, 1 unexplained", "-5\n-8\n+five\n+9\n"},
		{"one change in two", texts("a/out", "1", "b/out", "1"), texts("a/out", "2", "b/out", "2"), "2 reports and 0 consoles: 0 are the same, 0 differ by intent, 2 unexplained", "== a/out b/out\nWHY?\n-1\n+2\n"},
		{"gone", texts("a/out", "1"), nil, "1 reports and 0 consoles: 0 are the same, 0 differ by intent, 1 unexplained", "== a/out\nWHY?\n-(is there)\n"},
		{"new", nil, texts("a/out", "1"), "1 reports and 0 consoles: 0 are the same, 0 differ by intent, 1 unexplained", "== a/out\nWHY?\n+(is there)\n"},
		{"empty is not gone", texts("a/out", ""), nil, "1 reports and 0 consoles: 0 are the same, 0 differ by intent, 1 unexplained", "-(is there)\n"},
		{"the older fails", texts("newer/a/b", "1", "newer/console", fails), texts("newer/a/b", "2", "newer/console", "> exec ycbot new"), "1 reports and 1 consoles: 0 are the same, 2 differ by intent, 0 unexplained", ""},
		{"the older does not fail", texts("newer/a/b", "1", "newer/console", ""), texts("newer/a/b", "2", "newer/console", ""), "1 reports and 1 consoles: 1 are the same, 0 differ by intent, 1 unexplained", "== newer/a/b\nWHY?\n-1\n+2\n"},
		{"another fails", texts("other/out", "1", "newer/console", fails), texts("other/out", "2", "newer/console", fails), "1 reports and 1 consoles: 1 are the same, 0 differ by intent, 1 unexplained", "== other/out\n"},
	} {
		var out strings.Builder
		err := compare(row.before, row.after, allowed).write(&out)
		if wrong := strings.HasSuffix(row.want, " 0 unexplained") != (err == nil); wrong || !strings.HasSuffix(out.String(), row.want+"\n") || !strings.Contains(out.String(), row.shows) {
			t.Errorf("%s: %v\n%s\nwant %s", row.name, err, out.String(), row.want)
		}
	}
}

// texts are some by their names.
func texts(pairs ...string) map[string]string {
	all := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		all[pair[0]] = pair[1]
	}
	return all
}

// What is printed of a change can be kept as it is, but for the reason.
func TestIntendedIsPrinted(t *testing.T) {
	t.Parallel()
	before, after := texts("a/out", "1\n\n- x\n2"), texts("a/out", "1\n\n+ y\n\n2\n3")
	var out strings.Builder
	if err := compare(before, after, nil).write(&out); err == nil {
		t.Fatal("no error")
	}
	blocks := out.String()[:strings.LastIndex(strings.TrimSpace(out.String()), "\n")]
	if _, err := parseIntended(blocks); err == nil || !strings.Contains(err.Error(), "a/out: say why") {
		t.Errorf("without a reason: %v", err)
	}
	allowed, err := parseIntended(strings.ReplaceAll(blocks, unwritten, "Because."))
	if err != nil {
		t.Fatalf("%v\n%s", err, blocks)
	}
	if err := compare(before, after, allowed).write(&out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestIntendedIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"-1\n+2\n":                       "a block begins with ==",
		"# no\nmore\n":                   "a block begins with ==",
		"== \nWhy.\n":                    "names no reports",
		"== a/[\nWhy.\n":                 "syntax error in pattern",
		"== a/out\n-1\n+2\n":             "a/out: say why",
		"== a/out\nWhy.\n-1\n+2\nWhy.\n": "why it is comes before it",
	} {
		if _, err := parseIntended(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// The file can be read, and names scripts that there are.
func TestIntendedFile(t *testing.T) {
	t.Parallel()
	all, err := parseIntended(intendedFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		for _, pattern := range i.patterns {
			if _, err := os.Stat(filepath.FromSlash("../../cmd/ycbot/testdata/script/" + script(pattern) + ".txtar")); err != nil {
				t.Errorf("%s: %v", pattern, err)
			}
		}
	}
}

// What passes has a name for what it is; what matters stays.
func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"run: 20261122T103903Z-2a498f11":                           "run: RUN",
		"which took 400ms; 2026-11-22 10:38:59, 1m2.5s":            "which took DURATION; TIME, DURATION",
		`{"time":"2026-11-22T10:38:59.123Z","duration_ms":41}`:     `{"time":"TIME","duration_ms": 0}`,
		`"text":"commits\n96626da57896 the change"`:                `"text":"commits\nID the change"`,
		"cebc671103ec953b56a5602686ec57ca4c244a9d, a387d0436c6e":   "ID, ID",
		"_16ms · E3_, _errored · 0s_":                              "_DURATION · E3_, _errored · DURATION_",
		"home/tmp/y-73c3640f/c2c5f395/probe.sh in repo-eec0f717":   "home/tmp/y-ID/probe.sh in repo-ID",
		"go test -timeout=1m2s -count=2 -shuffle=315020":           "go test -timeout=DURATION -count=2 -shuffle=N",
		`"actual": "5\n996339390"`:                                 `"actual": "5\nNANOSECONDS"`,
		"3 checks: 2 passed · 4 commands · E2, E1 · 110 tokens in": "3 checks: 2 passed · 4 commands · E2, E1 · 110 tokens in",
	} {
		if got := plain(text); got != want {
			t.Errorf("%s\nis   %s\nwant %s", text, got, want)
		}
	}
}

const scriptsLog = `=== RUN   TestScript/one
=== PAUSE TestScript/one
=== CONT  TestScript/two
=== NAME  TestScript/one
    testscript.go:609: WORK=$WORK
        PATH=/bin
        
        # A run. (0.573s)
        > ! exec ycbot run --out ../out
        [stdout]
        ycbot · repo · the change
        
        VERDICT: FAIL
        [stderr]
        ycbot: run 20261122T103903Z-2a498f11
        [exit status 1]
        > exec cat ../out/report.md
        [stdout]
        VERDICT: FAIL
        > exec ycbot tasks list
        [stdout]
          verification: completed · runner_completed · PASS · script · 2 turns · 3 calls · 220 tokens ·
            27ms · isolation worktree
          next
        [stderr]
        init main @1 ms, 0 ms clock
        ycbot: head test  ok 0.2s
        ycbot: base test  ok 0.1s
        ycbot: head probe  …
        > stdout next
        FAIL: testdata/script/one.txtar:12: no match
=== NAME  TestScript/two
    testscript.go:609: WORK=$WORK
        
        > change
        PASS
--- FAIL: TestScript (0.16s)
    --- FAIL: TestScript/one (11.20s)
    --- PASS: TestScript/two (0.32s)
`

func TestConsoles(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"one": `# A run. (DURATION)
> ! exec ycbot run --out ../out
VERDICT: FAIL
[exit status 1]
> exec cat ../out/report.md
> exec ycbot tasks list
[stdout]
  verification: completed · runner_completed · PASS · script · 2 turns · 3 calls · 220 tokens · DURATION · isolation worktree
  next
[stderr]
ycbot: base test  ok DURATION
ycbot: head test  ok DURATION
> stdout next
FAIL: no match`,
		"two": "> change",
	}
	if diff := cmp.Diff(want, consoles(scriptsLog)); diff != "" {
		t.Error(diff)
	}
	if got := failures([]byte(scriptsLog)); got != "    --- FAIL: TestScript/one (11.20s)\n" {
		t.Errorf("failures: %q", got)
	}
}

// Reports are known by their places, those of one place by when they began.
func TestReports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	base, head := strings.Repeat("b", 40), strings.Repeat("a", 40)
	report := func(began, verdict string) string {
		return `{"run_id": "20261122T103903Z-2a498f11", "base_sha": "` + base + `", "head_sha": "` + head + `", "verdict": "` + verdict + `", "outcome": "completed",
"reasons": ["a test fails"], "checks": [{"id": "C1", "result": "PASS"}], "findings": [{"title": "t"}], "not_covered": ["lint"], "timings": {"started": "` + began + `"}}`
	}
	write("script-one/out/report.json", report("2026-11-22T10:00:00Z", "FAIL"))
	write("script-one/out/report.md", "## FAIL · `"+head[:12]+"` in "+dir+"/script-one/repo, 4.3s\n")
	write("script-one/home/runs/20261122T103903Z-2a498f11/report.json", report("2026-11-22T10:00:02Z", "PASS"))
	write("script-one/home/runs/20261122T103902Z-3a498f11/report.json", report("2026-11-22T10:00:03Z", "PARTIAL"))
	write("script-one/bad/report.json", "{}")
	got, err := reports(dir)
	if err != nil {
		t.Fatal(err)
	}
	facts := "outcome completed\na test fails\ncheck {\"id\":\"C1\",\"result\":\"PASS\"}\nfinding {\"title\":\"t\"}\ntests none\nlint"
	want := map[string]string{
		"one/out":             "## FAIL · `HEAD` in DIR/one/repo, DURATION\nverdict FAIL\n" + facts,
		"one/home/runs/RUN":   "no report.md\nverdict PASS\n" + facts,
		"one/home/runs/RUN-2": "no report.md\nverdict PARTIAL\n" + facts,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
