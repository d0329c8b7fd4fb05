package publish

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
)

// TestFirst: what the decisive part came to is shown at once. A verdict that can still
// be lowered leaves the check in progress; a FAIL completes it, and nothing opens it again.
func TestFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first, last        report.Verdict
		status, conclusion string
	}{
		"lowered later": {report.Pass, report.Fail, "in_progress", ""},
		"as it was":     {report.Pass, report.Pass, "in_progress", ""},
		"a FAIL":        {report.Fail, report.Fail, "completed", "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.publisher(memory{})
			tgt := b.target(1)
			b.begin(p, tgt)
			so := b.failing(1)
			so.Verdict, so.Interim, so.Phase = tt.first, true, report.PhaseFirst
			if err := p.First(t.Context(), tgt, so); err != nil {
				t.Fatal(err)
			}
			comment, run := b.one(b.head)
			if run.Status != tt.status || run.Conclusion != tt.conclusion {
				t.Errorf("first: %s %s, want %s %s", run.Status, run.Conclusion, tt.status, tt.conclusion)
			}
			has(t, comment.Body, "ycbot: so far "+string(tt.first), "can only lower this")
			if err := p.Progress(t.Context(), tgt, "running: more"); err != nil {
				t.Fatal(err)
			}
			if _, run := b.one(b.head); tt.status == "completed" && run.Status != tt.status {
				t.Errorf("progress opened the check again: %s", run.Status)
			}
			end := b.failing(1)
			end.Verdict = tt.last
			b.finish(p, tgt, end, Ending{})
			comment, run = b.one(b.head)
			if want := map[report.Verdict]string{report.Pass: "success", report.Fail: "failure"}[tt.last]; run.Status != "completed" || run.Conclusion != want {
				t.Errorf("end: %s %s, want %s", run.Status, run.Conclusion, want)
			}
			if strings.Contains(comment.Body, "so far") || strings.Contains(comment.Body, "Earlier:") {
				t.Errorf("the comment still shows the first verdict:\n%s", comment.Body)
			}
		})
	}
}

// TestFirstOfAnOldHead: a result that the head moved away from is not shown.
func TestFirstOfAnOldHead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(memory{})
	tgt := b.target(1)
	b.begin(p, tgt)
	b.push("fix0")
	so := b.failing(1)
	so.Interim = true
	if err := p.First(t.Context(), tgt, so); err != nil {
		t.Fatal(err)
	}
	if n := len(b.ours()); n != 0 {
		t.Errorf("%d comments", n)
	}
}

// TestFirstByStatus: with a person's token, which may not make check runs, the commit
// status stays pending unless it is a FAIL, and says what there is so far.
func TestFirstByStatus(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[report.Verdict][2]string{
		report.Pass:    {"pending", "so far "},
		report.Partial: {"pending", "so far "},
		report.Fail:    {"failure", ""},
	} {
		b := newBench(t)
		b.token = b.Token("mona", nil, "personal")
		p := b.publisher(nil)
		p.Check, p.Status = false, true
		b.begin(p, b.target(1))
		so := b.failing(1)
		so.Verdict, so.Interim, so.Phase = verdict, true, report.PhaseFirst
		if err := p.First(t.Context(), b.target(1), so); err != nil {
			t.Fatal(err)
		}
		ss := b.Statuses(calc, b.head)
		if len(ss) != 2 {
			t.Fatalf("%s: %d statuses, want 2", verdict, len(ss))
		}
		at := 0
		if strings.HasPrefix(ss[0].Description, "verifying") {
			at = 1
		}
		if s := ss[at]; s.State != want[0] || !strings.HasPrefix(s.Description, want[1]) || s.TargetURL == "" {
			t.Errorf("%s: %+v, want %s %q", verdict, s, want[0], want[1])
		}
	}
}

// An App that does not find the comment at the end comes back to it: no comment says for ever that a run goes on
// which has ended. Who may not write, as where the conversation is locked, says what is left.
func TestCommentOutOfReach(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusForbidden} {
		for _, app := range []bool{true, false} {
			b := newBench(t)
			p := b.publisher(memory{})
			p.App = app
			b.begin(p, b.target(1))
			so := b.passing()
			so.Interim, so.Phase = true, report.PhaseFirst
			if err := p.First(t.Context(), b.target(1), so); err != nil {
				t.Fatal(err)
			}
			reach := p.GitHub
			p.GitHub = outOfReach{reach, &github.Error{Status: status}}
			posted, err := p.Finish(t.Context(), b.target(1), b.passing(), Ending{})
			again := app && status == http.StatusNotFound
			if (err != nil) != again || (len(posted.Left) > 0) == again {
				t.Errorf("%d, of an App: %v: posted %+v, %v", status, app, posted, err)
			}
			if run := b.CheckRuns(calc)[0]; run.Status != "completed" {
				t.Errorf("the check run is %s", run.Status)
			}
			if !again {
				continue
			}
			p.GitHub = reach
			b.finish(p, b.target(1), b.passing(), Ending{})
			comment, _ := b.one(b.head)
			has(t, comment.Body, "## ✅ ycbot: PASS")
		}
	}
}

// An outOfReach GitHub has no comments to show.
type outOfReach struct {
	GitHub
	err error
}

// Comments implements [GitHub].
func (o outOfReach) Comments(context.Context, github.Repo, int) ([]github.Comment, error) {
	return nil, o.err
}
