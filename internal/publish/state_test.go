package publish

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/report"
)

func oid(n int) string { return fmt.Sprintf("%040x", 0xabc1230000+n) }

func ran(run, n int, v report.Verdict) result {
	at := time.Date(2026, 3, 4, 12, run, 0, 0, time.UTC)
	return result{Run: fmt.Sprintf("job%d/1", run), Head: oid(n), Verdict: v, Started: at.Add(-time.Minute), At: at}
}

// TestHistory: each run's result becomes one entry of the next one's, newest first,
// five at most; the same run posted again adds none and keeps its time.
func TestHistory(t *testing.T) {
	t.Parallel()
	var s state
	for i := range 8 {
		r := ran(i, i, report.Fail)
		s = r.succeed(s)
		r.At = r.At.Add(time.Hour)
		if again := r.succeed(s); !cmp.Equal(s, again, cmp.AllowUnexported(state{})) {
			t.Errorf("posted again: %s", cmp.Diff(s, again, cmp.AllowUnexported(state{})))
		}
	}
	var runs []string
	for _, e := range s.Earlier {
		runs = append(runs, e.Run)
	}
	if want := []string{"job6/1", "job5/1", "job4/1", "job3/1", "job2/1"}; !cmp.Equal(runs, want) {
		t.Errorf("earlier %v, want %v", runs, want)
	}
	s.Earlier = []result{ran(3, 1, report.Fail), {Run: "x", Head: oid(2), Verdict: report.Pass, Note: string(Superseded), At: time.Date(2026, 3, 3, 23, 59, 0, 0, time.UTC)}}
	if got, want := s.history(), "Earlier: FAIL at "+oid(1)[:7]+" (12:03) · PASS at "+oid(2)[:7]+" (2026-03-03 23:59, superseded)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStateIsReadBack: what is written is read, and what is not ours shows nothing.
func TestStateIsReadBack(t *testing.T) {
	t.Parallel()
	s := ran(2, 2, report.Pass).succeed(ran(1, 1, report.Fail).succeed(state{}))
	line, err := s.line()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(line, "-->") != 1 || strings.Contains(line, "\n") {
		t.Errorf("line %q", line)
	}
	if diff := cmp.Diff(s, parseState("mark\r\n"+line+"\r\n\r\nrest"), cmp.AllowUnexported(state{})); diff != "" {
		t.Error(diff)
	}
	evil := s
	evil.Earlier = []result{
		{Run: "a", Head: oid(1), Verdict: "PASS<img>"},
		{Run: "a", Head: "![x](https://e.example)", Verdict: report.Pass},
		{Run: "a", Head: oid(1), Verdict: report.Pass, Note: "@octocat"},
		{Run: "a\n# x", Head: oid(1), Verdict: report.Pass},
	}
	line, _ = evil.line()
	if got := parseState("mark\n" + line); len(got.Earlier) != 0 {
		t.Errorf("read %+v", got.Earlier)
	}
	evil = s
	evil.Head = "--><img src=x>"
	if line, _ = evil.line(); strings.Count(line, ">") != 1 {
		t.Errorf("line %q", line)
	}
	for _, body := range []string{"", "mark", "mark\n", "mark\nx\n" + line, "mark\n<!-- ycbot:state {", "mark\n" + line} {
		if got := parseState(body); got.Run != "" {
			t.Errorf("%q: read %+v", body, got)
		}
	}
}

// TestLate: which result gives way to which.
func TestLate(t *testing.T) {
	t.Parallel()
	moved := ending{Ending: Ending{Kind: Superseded, By: oid(9)}, head: oid(9)}
	for _, c := range []struct {
		name string
		mine result
		old  state
		end  ending
		late bool
	}{
		{"first", ran(1, 1, report.Pass), state{}, moved, false},
		{"an older head's", ran(5, 5, report.Pass), state{result: ran(4, 4, report.Fail)}, moved, false},
		{"the newest head's", ran(5, 5, report.Pass), state{result: ran(4, 9, report.Fail)}, moved, true},
		{"one between", ran(5, 5, report.Pass), state{result: ran(6, 6, report.Fail)}, moved, true},
		{"its own", ran(5, 5, report.Pass), state{result: ran(5, 5, report.Fail)}, moved, false},
		{"head is mine", ran(5, 5, report.Pass), state{result: ran(6, 6, report.Fail)}, ending{head: oid(5)}, false},
		{"claims after a verified result", ran(5, 5, report.Pass), state{result: ran(4, 5, report.Fail)}, ending{Ending: Ending{Claims: true}, head: oid(5)}, true},
		{"claims after an error", ran(5, 5, report.Pass), state{result: ran(4, 5, report.Error)}, ending{Ending: Ending{Claims: true}, head: oid(5)}, false},
		{"claims of a new head", ran(5, 5, report.Pass), state{result: ran(4, 4, report.Fail)}, ending{Ending: Ending{Claims: true}, head: oid(5)}, false},
	} {
		if got := c.mine.late(c.old, c.end); got != c.late {
			t.Errorf("%s: late %t", c.name, got)
		}
	}
}
