package backtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// TestArms makes each arm of real commits: what is proven has its deciding tests, the
// naive engine passes what was tampered with and what it cannot see, and what gives no
// case has a cause.
func TestArms(t *testing.T) {
	t.Parallel()
	b, _ := newToy(t, nil)
	s := settings(t, toyHistory(t).source("ann/toy"))
	if err := b.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	lines, err := ReadResults(filepath.Join(s.Out, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	subjects := map[string]string{}
	for entry := range strings.SplitSeq(string(gitOut(t, s)), "\n") {
		oid, subject, _ := strings.Cut(entry, " ")
		subjects[short(oid, 12)] = subject
	}
	got := map[string]string{}
	for _, l := range lines {
		if judged := l.Arm == Good && l.Verdict != ""; (l.Outside == "PARTIAL" && slices.Equal(l.OutsideFor, []string{"weakened"})) != judged {
			t.Errorf("%s from outside: %q for %q", l.Case, l.Outside, l.OutsideFor)
		}
		got[subjects[l.Change]+" "+string(l.Arm)] = strings.TrimSpace(l.Verdict + l.Excluded + " " + strings.Join(l.Tests, ","))
	}
	two, three := "example.com/toy TestTwo", "example.com/toy TestThree"
	want := map[string]string{
		"second good": "PASS", "second undone": "FAIL " + two, "second unseen": "PASS " + two, "second tampered": "PASS " + two,
		"no tests good": "PASS", "no tests undone": whyUnseen, "no tests unseen": whyHidden, "no tests tampered": whyUnseen,
		"third good": "PASS", "third undone": "FAIL " + three, "third unseen": "PASS " + three, "third tampered": "PASS " + three,
		"third again good": "PASS", "third again undone": "FAIL " + three, "third again unseen": whyHidden, "third again tampered": "PASS " + three,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	plan, err := ReadPlan(s.Out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{whyFirst: 1, whyNoSource: 1, whyRevert: 1}, plan.Repos[0].Excluded); diff != "" {
		t.Errorf("not selected (-want +got):\n%s", diff)
	}
}

func gitOut(t *testing.T, s Settings) []byte {
	t.Helper()
	cmd := exec.Command("git", "log", "--format=%H %s", "HEAD")
	cmd.Dir = filepath.Dir(s.Sources[0].GitDir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSourceIsOnlyRead: a backtest changes nothing of a repository, and makes the same
// cases of it on another machine.
func TestSourceIsOnlyRead(t *testing.T) {
	variants.Only(t) // a backtest of its own; TestShow has one
	t.Parallel()
	h := toyHistory(t)
	before := h.git("for-each-ref") + h.git("count-objects", "-v")
	heads := func() []string {
		b, _ := newToy(t, nil)
		s := settings(t, h.source("ann/toy"))
		if err := b.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		lines, err := ReadResults(filepath.Join(s.Out, resultsFile))
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, l := range lines {
			out = append(out, l.Case+" "+l.Base+" "+l.Head)
		}
		return out
	}
	if diff := cmp.Diff(heads(), heads()); diff != "" {
		t.Errorf("two backtests differ:\n%s", diff)
	}
	if after := h.git("for-each-ref") + h.git("count-objects", "-v"); after != before {
		t.Errorf("the repository was changed: before\n%s\nafter\n%s", before, after)
	}
}

// TestFirstVerdict: where the first verdict is asked for, each run is asked for no more,
// and lines and table say so.
func TestFirstVerdict(t *testing.T) {
	t.Parallel()
	b, _ := newToy(t, nil)
	s := settings(t, toyHistory(t).source("ann/toy"))
	s.First = true
	if err := b.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	lines, err := ReadResults(filepath.Join(s.Out, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, l := range lines {
		if l.Excluded != "" {
			continue
		}
		judged++
		if !l.First || !slices.Contains(l.Reasons, "first verdict") {
			t.Errorf("%s: first %v, reasons %q", l.Case, l.First, l.Reasons)
		}
	}
	sum, err := Load(s.Out)
	if err != nil || judged == 0 || sum.First != judged || !strings.Contains(sum.Text(), fmt.Sprintf("Of %d the verdict is the first one", judged)) {
		t.Errorf("%d judged: %v\n%s", judged, err, sum.Text())
	}
}

// TestPlanIsKept: a backtest is continued with the settings that it began with, whatever
// came into the repository since, and not with others.
func TestPlanIsKept(t *testing.T) {
	variants.Only(t) // a backtest of its own; TestShow has one
	t.Parallel()
	h := toyHistory(t)
	b, _ := newToy(t, nil)
	s := settings(t, h.source("ann/toy"))
	s.Plan = true
	if err := b.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if lines, err := ReadResults(filepath.Join(s.Out, resultsFile)); err != nil || len(lines) > 0 {
		t.Fatalf("a plan alone has results: %v, %v", lines, err)
	}
	h.commit("later", map[string]string{"d.go": "package toy // later\n"})
	s.Plan, s.Resume = false, filepath.Join(s.Out, resultsFile)
	if err := b.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	lines, err := ReadResults(s.Resume)
	if err != nil || len(lines) != 16 {
		t.Errorf("%d lines, want 16: %v", len(lines), err)
	}
	for what, change := range map[string]func(*Settings){
		"seed 7":           func(s *Settings) { s.Seed = 8 },
		"--last 10":        func(s *Settings) { s.Last = 11 },
		"the arms":         func(s *Settings) { s.Arms = []Arm{Good} },
		"--timeout 1m0s":   func(s *Settings) { s.Timeout = time.Hour },
		"--until first":    func(s *Settings) { s.First = true },
		"the repositories": func(s *Settings) { s.Sources = nil },
	} {
		other := s
		change(&other)
		if err := b.Run(t.Context(), other); err == nil || !strings.Contains(err.Error(), what) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.Resume = ""
	if err := b.Run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("a second backtest in the same folder: %v", err)
	}
}

// TestResumeElsewhere: results of another machine are taken over into another folder.
func TestResumeElsewhere(t *testing.T) {
	variants.Only(t) // TestKilled goes on where it was
	t.Parallel()
	b, e := newToy(t, nil)
	s := settings(t, toyHistory(t).source("ann/toy"))
	if err := b.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(s.Out, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.SplitAfter(data, []byte("\n"))
	torn := slices.Concat(bytes.Join(whole[:5], nil), whole[5][:20])
	if err := os.WriteFile(filepath.Join(s.Out, resultsFile), torn, 0o600); err != nil {
		t.Fatal(err)
	}
	e.runs = filepath.Join(t.TempDir(), "runs")
	b.Engine = e
	s.Resume, s.Out = filepath.Join(s.Out, resultsFile), filepath.Join(t.TempDir(), "there")
	if err := b.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(s.Out, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	drop := func(data []byte) (out []string) {
		for text := range bytes.Lines(data) {
			var l Line
			if err := json.Unmarshal(text, &l); err != nil {
				t.Fatal(err)
			}
			l.Seconds, l.CPU, l.PlainCPU = 0, 0, 0
			clean, err := l.encode()
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(clean))
		}
		return out
	}
	if diff := cmp.Diff(drop(data), drop(again)); diff != "" {
		t.Errorf("resumed (-whole +resumed):\n%s", diff)
	}
	verdicts := 0
	for _, text := range whole[5:] {
		verdicts += bytes.Count(text, []byte(`"verdict"`))
	}
	runs, err := os.ReadFile(e.runs)
	if err != nil || bytes.Count(runs, []byte("\n")) != verdicts {
		t.Errorf("ran %q, want %d runs: %v", runs, verdicts, err)
	}
}

// TestKilled kills a backtest with SIGKILL while a case runs and continues it: no case
// that has its line is run again, and none is lost.
func TestKilled(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("BACKTEST_KILLED"); dir != "" {
		victim(t, dir)
		return
	}
	h := toyHistory(t)
	s := settings(t, h.source("ann/toy"))
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), "BACKTEST_KILLED="+s.Out, "BACKTEST_SOURCE="+s.Sources[0].GitDir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "third run" {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	name := filepath.Join(s.Out, resultsFile)
	done, err := ReadResults(name)
	if err != nil || len(done) < 2 {
		t.Fatalf("%d lines when it was killed: %v", len(done), err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"case":"torn`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b, _ := newToy(t, nil)
	s.Resume = name
	if err := b.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	all, err := ReadResults(name)
	if err != nil || len(all) != 16 {
		t.Fatalf("%d lines, want 16: %v", len(all), err)
	}
	seen := map[string]bool{}
	for i, l := range all {
		if seen[l.Case] {
			t.Errorf("%s has two lines", l.Case)
		}
		seen[l.Case] = true
		if i < len(done) && !cmp.Equal(l, done[i]) {
			t.Errorf("line %d changed: %+v, was %+v", i, l, done[i])
		}
	}
}

// victim is the process that TestKilled kills: it waits in its third run.
func victim(t *testing.T, dir string) {
	t.Helper()
	b, e := newToy(t, nil)
	runs := 0
	e.after = func() error {
		if runs++; runs == 3 {
			_, _ = os.Stdout.WriteString("third run\n")
			select {}
		}
		return nil
	}
	b.Engine = e
	s := settings(t, Source{Name: "ann/toy", GitDir: os.Getenv("BACKTEST_SOURCE"), Format: "sha1"})
	s.Out = dir
	t.Error(b.Run(t.Context(), s))
}

// TestShow makes the run directory of a case again, also where its commits are gone.
func TestShow(t *testing.T) {
	t.Parallel()
	b, _ := newToy(t, nil)
	s := settings(t, toyHistory(t).source("ann/toy"))
	if err := b.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	lines, err := ReadResults(filepath.Join(s.Out, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []bool{false, true} {
		if gone {
			if err := os.RemoveAll(filepath.Join(s.Out, "work")); err != nil {
				t.Fatal(err)
			}
		}
		for _, l := range lines {
			out := filepath.Join(t.TempDir(), "run")
			_, rep, err := b.Show(t.Context(), s, l.Case, out)
			if l.Excluded != "" {
				if err == nil || !strings.Contains(err.Error(), l.Excluded) {
					t.Errorf("%s: %v", l.Case, err)
				}
				continue
			}
			if err != nil || string(rep.Verdict) != l.Verdict {
				t.Errorf("%s: %v, want %s", l.Case, err, l.Verdict)
			}
		}
	}
}
