package publish

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

var calc = github.Repo{Owner: "octo", Name: "calc"}

// write is what the token of a publisher may.
var write = map[string]string{"checks": "write", "issues": "write", "pull_requests": "write", "statuses": "write"}

// A bench is a GitHub with one open pull request.
type bench struct {
	*githubtest.Server
	t     testing.TB
	n     int
	head  string
	token string
	ask   int64 // the comment that asks
	clock clock
}

// A clock goes when it is advanced.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	b := &bench{Server: githubtest.New(tb), t: tb, clock: clock{now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}}
	b.AddUser("mona", 101, "User")
	b.AddUser("mallory", 102, "User")
	b.AddRepo("octo", "calc")
	b.SetPublic(calc)
	b.SetPermission(calc, "mona", "write")
	b.open()
	b.token = b.Token("", write, "actions")
	return b
}

// open makes one more pull request and goes on with that.
func (b *bench) open() {
	b.t.Helper()
	branch := fmt.Sprint("fix", b.n)
	b.head = b.Push(calc, githubtest.Commit{Branch: branch, Message: branch, Files: map[string]string{"calc.go": "package calc // " + branch + "\n"}})
	b.n = b.OpenPull(calc, githubtest.Pull{Title: "Fix it", Head: branch, Author: "mona"})
	b.ask = b.AddComment(calc, b.n, "mona", "/verify").ID
}

// push moves the head and returns what it is then.
func (b *bench) push(branch string) string {
	b.t.Helper()
	b.head = b.Push(calc, githubtest.Commit{Branch: branch, Files: map[string]string{"calc.go": "package calc // " + b.head + "\n"}})
	return b.head
}

func (b *bench) client(token string) *github.Client {
	b.t.Helper()
	c, err := github.New(github.Options{
		BaseURL: b.URL, Token: token, Now: b.clock.Now,
		Wait: func(ctx context.Context, d time.Duration) error { b.clock.Advance(d); return ctx.Err() },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// publisher is one of a new process, with everything on.
func (b *bench) publisher(store Store) *Publisher {
	b.t.Helper()
	return &Publisher{
		GitHub: b.client(b.token), Ledger: &Ledger{Store: store}, Comment: Sticky, Check: true, Annotations: true, FailOn: "fail",
		DetailsURL: detailsURL, EvidenceURL: artifactURL, Artifact: "ycbot", Now: b.clock.Now,
	}
}

// target is the run of a job on the head as it is now.
func (b *bench) target(job int) Target {
	return Target{
		Repo: calc, Number: b.n, HeadSHA: b.head, Job: fmt.Sprint("job", job), RunID: fmt.Sprint("run", job), CommandComment: b.ask,
		Files: []change.File{{Path: "calc.go", Status: change.Modified}}, Digest: strings.Repeat("0f", 32),
	}
}

// failing is a report with n findings in the change.
func (b *bench) failing(n int) *report.Report {
	r := &report.Report{
		Schema: report.Schema, Repo: calc.String(), PR: b.n, HeadSHA: b.head, Verdict: report.Fail, Outcome: report.Completed, Reasons: []string{"TestDiv regressed"},
		Timings: report.Timings{Started: b.clock.Now(), DurationMS: 1000},
	}
	for i := range n {
		r.Findings = append(r.Findings, report.Finding{Severity: report.SeverityWarning, Title: fmt.Sprint("finding ", i), Path: "calc.go", Line: i + 1})
	}
	return r
}

func (b *bench) passing() *report.Report {
	r := b.failing(0)
	r.Verdict, r.Reasons = report.Pass, nil
	return r
}

// ours returns the comments of the bot.
func (b *bench) ours() []github.Comment {
	b.t.Helper()
	var out []github.Comment
	for _, c := range b.Comments(calc, b.n) {
		if c.Author.Login == "github-actions[bot]" {
			out = append(out, c)
		}
	}
	return out
}

// checksOf returns the check runs of a commit.
func (b *bench) checksOf(sha string) []github.CheckRun {
	b.t.Helper()
	var out []github.CheckRun
	for _, r := range b.CheckRuns(calc) {
		if r.HeadSHA == sha {
			out = append(out, r)
		}
	}
	return out
}

func (b *bench) begin(p *Publisher, t Target) {
	b.t.Helper()
	if err := p.Begin(b.t.Context(), t); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) finish(p *Publisher, t Target, rep *report.Report, e Ending) Posted {
	b.t.Helper()
	posted, err := p.Finish(b.t.Context(), t, rep, e)
	if err != nil {
		b.t.Fatal(err)
	}
	return posted
}

// one is the one comment and the one check run of a pull request.
func (b *bench) one(sha string) (github.Comment, github.CheckRun) {
	b.t.Helper()
	cs, rs := b.ours(), b.checksOf(sha)
	if len(cs) != 1 || len(rs) != 1 {
		b.t.Fatalf("%d comments and %d check runs, want one of each", len(cs), len(rs))
	}
	return cs[0], rs[0]
}

func has(tb testing.TB, text string, want ...string) {
	tb.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			tb.Errorf("no %q in\n%s", w, text)
		}
	}
}

func hasNot(tb testing.TB, text string, not ...string) {
	tb.Helper()
	for _, w := range not {
		if strings.Contains(text, w) {
			tb.Errorf("%q in\n%s", w, text)
		}
	}
}
