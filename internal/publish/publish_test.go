package publish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// TestRun: a run shows that it is under way, how far it is, and how it ended: in one
// comment and one check run, which say the same.
func TestRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(memory{})
	tgt := b.target(1)
	b.begin(p, tgt)
	run := b.checksOf(b.head)[0]
	if run.Name != CheckName || run.Status != "in_progress" || run.ExternalID != "job1" || run.DetailsURL != detailsURL || len(run.Actions) != 0 {
		t.Errorf("begun: %+v", run)
	}
	if rs := b.Reactions(calc, b.ask); len(rs) != 1 || rs[0].Content != "eyes" {
		t.Errorf("reactions %+v", rs)
	}
	if n := len(b.ours()); n != 0 {
		t.Errorf("%d comments while it runs", n)
	}
	posted := b.finish(p, tgt, b.failing(3), Ending{})
	comment, run := b.one(b.head)
	if run.Status != "completed" || run.Conclusion != "failure" || run.Output.Title != "FAIL: TestDiv regressed" || len(run.Output.Annotations) != 3 {
		t.Errorf("ended: %+v %+v", run, run.Output)
	}
	has(t, run.Output.Text, "ycbot: FAIL", tgt.Digest, artifactURL)
	has(t, run.Output.Summary, posted.CommentURL)
	has(t, comment.Body, fmt.Sprintf("<!-- ycbot:v1 octo/calc#%d -->\n", b.n), "ycbot: FAIL", "[Evidence: artifact ycbot]("+artifactURL+")", "finding 2")
	if posted.CommentURL != comment.HTMLURL || posted.CheckURL != run.HTMLURL || len(posted.Left) != 0 {
		t.Errorf("posted %+v", posted)
	}
	for _, c := range b.Calls() {
		if strings.Contains(c.Path, "/reviews") {
			t.Errorf("a review: %v", c)
		}
	}
}

// TestSameEventTwice: with a new ledger, the same work asked for again ends in the same
// comment and check run; with the old one nothing is even asked.
func TestSameEventTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := memory{}
	for range 2 {
		p := b.publisher(memory{})
		b.begin(p, b.target(1))
		b.finish(p, b.target(1), b.failing(60), Ending{})
	}
	comment, run := b.one(b.head)
	if len(run.Output.Annotations) != 60 || run.Conclusion != "failure" {
		t.Errorf("%d annotations, %s", len(run.Output.Annotations), run.Conclusion)
	}
	hasNot(t, comment.Body, "Earlier:")
	for i := range 2 {
		p := b.publisher(store)
		before := len(b.Calls())
		b.begin(p, b.target(1))
		b.finish(p, b.target(1), b.failing(60), Ending{})
		if n := len(b.Calls()) - before; (n > 0) != (i == 0) {
			t.Errorf("%d: %d calls", i, n)
		}
	}
	b.one(b.head)
}

// TestProgress: shown at most every 15 s, inert, with the button, and never after the end.
func TestProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(nil)
	p.App = true
	tgt := b.target(1)
	progress := func(text string) github.CheckRun {
		t.Helper()
		if err := p.Progress(t.Context(), tgt, text); err != nil {
			t.Fatal(err)
		}
		return b.checksOf(b.head)[0]
	}
	b.begin(p, tgt)
	if run := progress("too early"); run.Output.Title != "verifying" || len(run.Actions) != 1 || run.Actions[0].Identifier != "stop" {
		t.Errorf("%+v %+v", run.Output, run.Actions)
	}
	b.clock.Advance(15 * time.Second)
	run := progress("building <b>\u202e @octocat #4")
	if run.Output.Title != "building <b><U+202E> @octocat #4" || run.Status != "in_progress" {
		t.Errorf("%+v", run.Output)
	}
	judgeNeutral(t, "progress", run.Output.Summary)
	b.clock.Advance(14 * time.Second)
	if run := progress("dropped"); strings.Contains(run.Output.Title, "dropped") {
		t.Error("shown after 14 s")
	}
	b.finish(p, tgt, b.passing(), Ending{})
	b.clock.Advance(time.Minute)
	run = progress("too late")
	if run.Status != "completed" || run.Conclusion != "success" || run.Output.Title == "too late" {
		t.Errorf("%+v %+v", run, run.Output)
	}
	if len(run.Actions) != 1 || run.Actions[0].Identifier != "verify" {
		t.Errorf("buttons %+v", run.Actions)
	}
}

// TestNewRunReplaces: the next run's result stands in the same comment, which names the
// earlier ones; a new job on the same commit has a check run of its own.
func TestNewRunReplaces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.head
	b.finish(b.publisher(nil), b.target(1), b.failing(0), Ending{})
	b.clock.Advance(3 * time.Minute)
	b.push("fix0")
	p := b.publisher(nil)
	b.begin(p, b.target(2))
	has(t, b.ours()[0].Body, "ycbot: FAIL")
	b.finish(p, b.target(2), b.passing(), Ending{})
	comment, run := b.one(b.head)
	has(t, comment.Body, "ycbot: PASS", "\nEarlier: FAIL at "+first[:7]+" (12:00)\n")
	if run.Conclusion != "success" || b.checksOf(first)[0].Conclusion != "failure" {
		t.Errorf("conclusions %s, %s", run.Conclusion, b.checksOf(first)[0].Conclusion)
	}
	b.finish(b.publisher(nil), b.target(3), b.failing(0), Ending{})
	if n := len(b.checksOf(b.head)); n != 2 {
		t.Errorf("%d check runs for two jobs", n)
	}
	has(t, b.ours()[0].Body, "ycbot: FAIL", "Earlier: PASS at "+b.head[:7]+" (12:03) · FAIL at "+first[:7]+" (12:00)\n")
}

// TestSuperseded: when the head moved, the comment says so and the check run goes to the
// commit that was verified, as cancelled.
func TestSuperseded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.target(1)
	rep := b.passing()
	p := b.publisher(nil)
	b.begin(p, old)
	newer := b.push("fix0")
	b.finish(p, old, rep, Ending{})
	comment, run := b.one(old.HeadSHA)
	if run.Conclusion != "cancelled" || run.Output.Title != "superseded by "+newer[:7] {
		t.Errorf("%s %q", run.Conclusion, run.Output.Title)
	}
	has(t, comment.Body, "**Superseded.** This is about `"+old.HeadSHA[:7]+"`; the head is `"+newer[:7]+"` now")
	if n := len(b.checksOf(newer)); n != 0 {
		t.Errorf("%d check runs of a commit that was not verified", n)
	}
	b.finish(b.publisher(nil), b.target(2), b.failing(0), Ending{})
	has(t, b.ours()[0].Body, "ycbot: FAIL", "Earlier: PASS at "+old.HeadSHA[:7]+" (12:00, superseded)")
	hasNot(t, b.ours()[0].Body, "**Superseded.**")
}

// TestLateRunKeepsTheNewerResult: a run whose head is old by now becomes a line below the
// newer head's result, however often it says so.
func TestLateRunKeepsTheNewerResult(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	late, rep := b.target(1), b.passing()
	b.clock.Advance(time.Minute)
	newer := b.push("fix0")
	b.finish(b.publisher(nil), b.target(2), b.failing(2), Ending{})
	was := b.ours()[0].Body
	for range 2 {
		b.finish(b.publisher(nil), late, rep, Ending{Kind: Superseded, By: newer})
	}
	body := b.ours()[0].Body
	has(t, body, "ycbot: FAIL", "finding 1", "\nEarlier: PASS at "+late.HeadSHA[:7]+" (12:00, superseded)\n")
	hasNot(t, body, "**Superseded.**", "ycbot: PASS")
	if strings.Count(body, "Earlier:") != 1 || !strings.HasPrefix(body[strings.Index(body, "##"):], strings.TrimSpace(was[strings.Index(was, "##"):])) {
		t.Errorf("the newer result was changed:\n%s", body)
	}
	if rs := b.checksOf(late.HeadSHA); len(rs) != 1 || rs[0].Conclusion != "cancelled" {
		t.Errorf("%+v", rs)
	}
	// And the next result goes on with that history.
	b.finish(b.publisher(nil), b.target(3), b.passing(), Ending{})
	has(t, b.ours()[0].Body, "Earlier: FAIL at "+newer[:7]+" (12:01) · PASS at "+late.HeadSHA[:7]+" (12:00, superseded)")
}

// TestAnotherBase: what a run says of a pull request that goes into another branch by now is superseded, and a
// line below what a later run says of it there.
func TestAnotherBase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before, rep := b.target(1), b.passing()
	before.Base = "main"
	b.Push(calc, githubtest.Commit{Branch: "lax", Files: map[string]string{"lax": "lax"}})
	b.SetBase(calc, b.n, "lax")
	b.finish(b.publisher(nil), before, rep, Ending{})
	comment, run := b.one(b.head)
	has(t, comment.Body, "**Superseded.** This is about `"+b.head[:7]+"` as a change of main; the pull request goes into lax now")
	if run.Conclusion != "cancelled" || run.Output.Title != "superseded: it goes into another branch now" {
		t.Errorf("%s %q", run.Conclusion, run.Output.Title)
	}

	b.open()
	late, rep := b.target(1), b.passing()
	late.Base = "main"
	b.clock.Advance(time.Minute)
	b.SetBase(calc, b.n, "lax")
	now := b.target(2)
	now.Base = "lax"
	b.finish(b.publisher(nil), now, b.failing(2), Ending{})
	for range 2 {
		b.finish(b.publisher(nil), late, rep, Ending{})
	}
	body := b.ours()[0].Body
	has(t, body, "ycbot: FAIL", "finding 1", "\nEarlier: PASS at "+b.head[:7]+" (12:00, superseded)\n")
	hasNot(t, body, "**Superseded.**", "ycbot: PASS")
	for _, r := range b.checksOf(b.head) {
		if want := map[string]string{late.Job: "cancelled", now.Job: "failure"}[r.ExternalID]; r.Conclusion != want {
			t.Errorf("the check run of %s is %s, want %s", r.ExternalID, r.Conclusion, want)
		}
	}
}

// TestForgedMark: a mark of ours in another's comment, wherever in a comment of ours,
// or under another's mark, is nothing of ours.
func TestForgedMark(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mark := fmt.Sprintf("<!-- ycbot:v1 octo/calc#%d -->", b.n)
	forged := []github.Comment{
		b.AddComment(calc, b.n, "mallory", mark+"\n<!-- ycbot:state {\"run\":\"x\",\"head\":\""+b.head+"\",\"verdict\":\"PASS\"} -->\nall is well"),
		b.AddComment(calc, b.n, "mona", mark),
		b.AddComment(calc, b.n, "github-actions[bot]", "A person wrote:\n"+mark),
		b.AddComment(calc, b.n, "github-actions[bot]", "<!-- ycbot:v1 octo/calc#999 -->\nx"),
		b.AddComment(calc, b.n, "github-actions[bot]", "<!-- other-bot -->\n"+mark),
	}
	for i := range 150 { // so that ours is on another page
		b.AddComment(calc, b.n, "mallory", fmt.Sprint(mark, i))
	}
	rep := b.failing(0)
	rep.Reasons, rep.NotCovered = []string{mark, "Earlier: PASS at abc1234 (12:03)"}, []string{mark}
	before := len(b.Comments(calc, b.n))
	for i := range 3 {
		b.finish(b.publisher(nil), b.target(i), rep, Ending{})
	}
	all := b.Comments(calc, b.n)
	if len(all) != before+1 {
		t.Fatalf("%d new comments, want 1", len(all)-before)
	}
	for _, f := range forged {
		for _, c := range all {
			if c.ID == f.ID && c.Body != f.Body {
				t.Errorf("edited %q", f.Body)
			}
		}
	}
	ours := all[len(all)-1].Body
	if strings.Count(ours, "<!--") != 2 || len(parseState(ours).Earlier) != 2 {
		t.Errorf("ours:\n%s", ours)
	}
}

// TestMadeTwice: where two runs created a comment and a check run each at the same time,
// the oldest comment and the newest check run count, and the others say so and end.
func TestMadeTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(nil)
	b.finish(p, b.target(1), b.failing(0), Ending{})
	second := b.AddComment(calc, b.n, "github-actions[bot]", b.ours()[0].Body)
	for range 2 {
		if _, err := b.client(b.token).CreateCheckRun(t.Context(), calc, p.newCheck(b.target(2))); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		b.finish(b.publisher(nil), b.target(2), b.passing(), Ending{})
	}
	cs := b.ours()
	if len(cs) != 2 || cs[1].ID != second.ID {
		t.Fatalf("%d comments", len(cs))
	}
	has(t, cs[0].Body, "ycbot: PASS")
	has(t, cs[1].Body, "made twice", cs[0].HTMLURL)
	rs := b.checksOf(b.head)
	if len(rs) != 3 || rs[1].Conclusion != "cancelled" || rs[2].Conclusion != "success" {
		t.Errorf("%+v", rs)
	}
}

// TestLedgerIsNotBelieved: what the ledger says is outside and is not, because someone
// deleted it or the ledger is not ours, is made again; nothing else is written to.
func TestLedgerIsNotBelieved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other, err := b.client(b.token).CreateCheckRun(t.Context(), calc, b.publisher(nil).newCheck(b.target(9)))
	if err != nil {
		t.Fatal(err)
	}
	tgt := b.target(1)
	store := memory{"ref/" + checkKey(tgt): fmt.Sprint(other.ID), "ref/comment/octo/calc#" + fmt.Sprint(b.n): fmt.Sprint(b.ask)}
	p := b.publisher(store)
	b.begin(p, tgt)
	b.finish(p, tgt, b.failing(0), Ending{})
	if cs := b.ours(); len(cs) != 1 || b.Comments(calc, b.n)[0].Body != "/verify" {
		t.Errorf("comments %+v", b.Comments(calc, b.n))
	}
	rs := b.checksOf(b.head)
	if len(rs) != 2 || rs[0].Status != "in_progress" || rs[1].Conclusion != "failure" {
		t.Errorf("check runs %+v", rs)
	}
}

// TestCommentModes: a comment each run, once each; or none.
func TestCommentModes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, job := range []int{1, 1, 2} {
		p := b.publisher(nil)
		p.Comment = EveryRun
		b.finish(p, b.target(job), b.failing(0), Ending{})
	}
	if n := len(b.ours()); n != 2 {
		t.Errorf("new: %d comments for two runs", n)
	}
	p := b.publisher(nil)
	p.Comment = Off
	if posted := b.finish(p, b.target(3), b.failing(0), Ending{}); posted.CommentURL != "" || len(b.ours()) != 2 {
		t.Errorf("off: %+v", posted)
	}
	p = b.publisher(nil)
	p.Scope = "services/api"
	b.finish(p, b.target(4), b.failing(0), Ending{})
	b.finish(b.publisher(nil), b.target(5), b.failing(0), Ending{})
	if n := len(b.ours()); n != 4 {
		t.Errorf("scopes: %d comments, want one more for each", n)
	}
}

// TestPersonalToken: no check runs, so a commit status that leads to the comment.
func TestPersonalToken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.token = b.Token("mona", nil, "personal")
	publisher := func() *Publisher {
		p := b.publisher(nil)
		p.Check, p.Status = false, true
		return p
	}
	for range 2 {
		b.begin(publisher(), b.target(1))
	}
	if ss := b.Statuses(calc, b.head); len(ss) != 1 || ss[0].State != "pending" || ss[0].Context != CheckName {
		t.Errorf("begun: %+v", ss)
	}
	rep := b.failing(0)
	rep.Reasons[0] = strings.Repeat("long ", 100)
	var posted Posted
	for range 2 {
		posted = b.finish(publisher(), b.target(1), rep, Ending{})
	}
	ss := b.Statuses(calc, b.head)
	if len(ss) != 2 {
		t.Fatalf("%d statuses, want 2", len(ss))
	}
	last := ss[0]
	if last.State == "pending" {
		last = ss[1]
	}
	if last.State != "failure" || last.TargetURL != posted.CommentURL || posted.CommentURL == "" || len([]rune(last.Description)) != 140 {
		t.Errorf("%+v", last)
	}
	// With a check run asked for as well, it is said that there is none.
	p := publisher()
	p.Check = true
	b.begin(p, b.target(2))
	if posted := b.finish(p, b.target(2), rep, Ending{}); len(posted.Left) != 1 || !strings.HasPrefix(posted.Left[0], "check run: not permitted: ") {
		t.Errorf("left %q", posted.Left)
	}
}

// TestTokenMayNotWrite: nothing fails, all that is missing is named.
func TestTokenMayNotWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.token = b.Token("", nil, "actions")
	p := b.publisher(memory{})
	p.Status = true
	b.begin(p, b.target(1))
	if err := p.Progress(t.Context(), b.target(1), "x"); err != nil {
		t.Error(err)
	}
	if err := p.Notice(t.Context(), b.target(1), "help"); err != nil {
		t.Error(err)
	}
	posted := b.finish(p, b.target(1), b.failing(1), Ending{})
	left := strings.Join(posted.Left, "\n")
	has(t, left, "comment: not permitted", "check run: not permitted", "status: not permitted", "403")
	if len(posted.Left) != 3 || len(b.ours()) != 0 || len(b.CheckRuns(calc)) != 0 {
		t.Errorf("posted %+v", posted)
	}
	has(t, Summary(Target{}, b.failing(1), Ending{}, posted, nil), "**Not posted**", "comment: not permitted")
}

// TestUnauthorizedIsAnError: a token that is no longer valid is not one that may not.
func TestUnauthorizedIsAnError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(nil)
	p.GitHub = b.client("ghs_" + strings.Repeat("x", 36))
	if err := p.Begin(t.Context(), b.target(1)); !github.IsUnauthorized(err) {
		t.Errorf("begin: %v", err)
	}
	if _, err := p.Finish(t.Context(), b.target(1), nil, Ending{}); !github.IsUnauthorized(err) {
		t.Errorf("finish: %v", err)
	}
}

// TestEnds: however a run ends, also without a report, comment and check run are final
// and true.
func TestEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cancelledRep := b.failing(1)
	cancelledRep.Outcome, cancelledRep.Verdict = report.Cancelled, report.Partial
	for _, c := range []struct {
		name       string
		rep        *report.Report
		end        Ending
		conclusion string
		comment    []string
	}{
		{"no report", nil, Ending{}, "failure", []string{"ycbot: ERROR", "the run ended before it had anything to report"}},
		{"no report, and why", nil, Ending{Why: errors.New("network.allow: no such host")}, "failure", []string{"ycbot: ERROR", "anything to report: network.allow: no such host"}},
		{"no report, stopped", nil, Ending{Kind: Stopped}, "cancelled", []string{"**Stopped**", "ycbot: stopped"}},
		{"no report, removed", nil, Ending{Kind: Removed}, "cancelled", []string{"**Stopped**, because ycbot had no access"}},
		{"cancelled half way", cancelledRep, Ending{}, "cancelled", []string{"**Stopped**", "finding 0"}},
		{"refused", nil, Ending{Kind: Refused}, "failure", []string{"**Not executed.**", "nothing was executed"}},
		{"claims", b.passing(), Ending{Claims: true}, "neutral", []string{"**Claims.**", "ycbot: PARTIAL", "unverified claim", "counts as unverified"}},
	} {
		b.open()
		p := b.publisher(nil)
		p.App = true
		b.begin(p, b.target(1))
		b.finish(p, b.target(1), c.rep, c.end)
		comment, run := b.one(b.head)
		hasNot(t, run.Output.Text+comment.Body, "ycbot: PASS")
		if run.Status != "completed" || run.Conclusion != c.conclusion {
			t.Errorf("%s: %s %s, want %s", c.name, run.Status, run.Conclusion, c.conclusion)
		}
		has(t, comment.Body, c.comment...)
	}
}

// TestClaimsOverruleNothing: what was verified on a commit stays, whatever is claimed of
// it later.
func TestClaimsOverruleNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.finish(b.publisher(nil), b.target(1), b.failing(1), Ending{})
	posted := b.finish(b.publisher(nil), b.target(2), b.passing(), Ending{Claims: true})
	comment, run := b.one(b.head)
	if run.Conclusion != "failure" || len(posted.Left) != 1 {
		t.Errorf("%s, left %q", run.Conclusion, posted.Left)
	}
	has(t, comment.Body, "ycbot: FAIL", "Earlier: PARTIAL at "+b.head[:7]+" (12:00, claimed)")
}

// TestAnotherAppsCheckRun: the same job's check run of another App is not ours.
func TestAnotherAppsCheckRun(t *testing.T) {
	t.Parallel()
	for _, appID := range []int64{0, githubtest.ActionsAppID} {
		b := newBench(t)
		app := b.AddApp(77, "ycbot")
		b.Install(app, write, calc)
		theirs := b.client(b.Token("ycbot[bot]", write, "installation"))
		p := b.publisher(memory{})
		p.AppID = appID
		if _, err := theirs.CreateCheckRun(t.Context(), calc, p.newCheck(b.target(1))); err != nil {
			t.Fatal(err)
		}
		b.begin(p, b.target(1))
		for _, p := range []*Publisher{p, b.publisher(nil)} {
			b.finish(p, b.target(1), b.passing(), Ending{})
			rs := b.checksOf(b.head)
			if len(rs) != 2 || rs[0].Status != "in_progress" || rs[1].Conclusion != "success" {
				t.Errorf("app id %d: %+v", appID, rs)
			}
		}
	}
}

// TestNotice: one comment says why nothing was run, however often it is asked for; it says the
// last reason, and no one else can write it.
func TestNotice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.AddComment(calc, b.n, "mallory", fmt.Sprintf("<!-- ycbot:v1 octo/calc#%d notice -->", b.n))
	for _, store := range []Store{memory{}, nil} {
		p := b.publisher(store)
		for _, text := range []string{"It is a draft.", "Say `/verify`. <!-- ycbot:v1 -->"} {
			if err := p.Notice(t.Context(), b.target(1), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	cs := b.ours()
	if len(cs) != 1 || !strings.HasSuffix(cs[0].Body, "Say `/verify`. &lt;!-- ycbot:v1 -->") {
		t.Errorf("%d notices: %+v", len(cs), cs)
	}
	// A notice is not taken for the result's comment.
	b.finish(b.publisher(nil), b.target(1), b.failing(0), Ending{})
	if n := len(b.ours()); n != 2 {
		t.Errorf("%d comments", n)
	}
}

// TestNoPullRequest: without one there is a check run and nothing else.
func TestNoPullRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tgt := b.target(1)
	tgt.Number, tgt.CommandComment = 0, 0
	p := b.publisher(nil)
	b.begin(p, tgt)
	b.finish(p, tgt, b.passing(), Ending{})
	if rs := b.checksOf(b.head); len(rs) != 1 || rs[0].Conclusion != "success" || len(b.ours()) != 0 {
		t.Errorf("%+v", rs)
	}
	tgt.Job += "-2"
	b.finish(b.publisher(nil), tgt, nil, Ending{Kind: Superseded})
	if rs := b.checksOf(b.head); len(rs) != 2 || !strings.Contains(rs[0].Output.Summary+rs[1].Output.Summary, "which the merge queue gave up") {
		t.Errorf("given up by the merge queue: %+v", rs)
	}
}

// TestHeadUnknown: while the head cannot be asked for nothing is said about the pull
// request, but the check run, which belongs to a commit, ends.
func TestHeadUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(nil)
	b.begin(p, b.target(1))
	broken := &Publisher{GitHub: noPull{b.client(b.token)}, Comment: Sticky, Check: true, Now: b.clock.Now}
	if _, err := broken.Finish(t.Context(), b.target(1), b.failing(0), Ending{}); !errors.Is(err, errNoPull) {
		t.Errorf("%v", err)
	}
	if rs := b.checksOf(b.head); len(rs) != 1 || rs[0].Conclusion != "failure" || len(b.ours()) != 0 {
		t.Errorf("%+v, %d comments", rs, len(b.ours()))
	}
}

var errNoPull = errors.New("connection reset")

type noPull struct{ *github.Client }

func (noPull) Pull(context.Context, github.Repo, int) (*github.Pull, error) { return nil, errNoPull }

// TestGitHubDislikesTheOutput: the check run ends even where its text or annotations
// are refused.
func TestGitHubDislikesTheOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(nil)
	b.begin(p, b.target(1))
	p.GitHub = fussy{b.client(b.token)}
	posted := b.finish(p, b.target(1), b.failing(70), Ending{})
	_, run := b.one(b.head)
	if run.Conclusion != "failure" || len(posted.Left) != 2 {
		t.Errorf("%s, left %q", run.Conclusion, posted.Left)
	}
}

// fussy refuses every output with a text.
type fussy struct{ *github.Client }

func (f fussy) UpdateCheckRun(ctx context.Context, repo github.Repo, r github.CheckRun) (github.CheckRun, error) {
	if r.Output != nil && r.Output.Text != "" {
		return github.CheckRun{}, &github.Error{Status: http.StatusUnprocessableEntity, Message: "Invalid request"}
	}
	return f.Client.UpdateCheckRun(ctx, repo, r)
}

// TestHostileReportPosted: the report of 500 KB is taken by GitHub as it is posted.
func TestHostileReportPosted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rep := hostileReport(t)
	posted := b.finish(b.publisher(nil), b.target(1), rep, Ending{})
	comment, run := b.one(b.head)
	judgeNeutral(t, "comment", comment.Body, artifactURL, detailsURL)
	judgeNeutral(t, "text", run.Output.Text, artifactURL, detailsURL, posted.CommentURL)
	judgeNeutral(t, "summary", run.Output.Summary, artifactURL, detailsURL, posted.CommentURL)
	judgeOutput(t, "check run", *run.Output)
	if len(posted.Left) != 0 || run.Conclusion != "failure" {
		t.Errorf("%s, left %q", run.Conclusion, posted.Left)
	}
}
