package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

var sums = github.Repo{Owner: "acme", Name: "sums"}

// A hall is a worker with one place, a queue, and a GitHub that has what it posts.
type hall struct {
	*Worker
	*githubtest.Server
	t     *testing.T
	token string
	repo  int64

	mu      sync.Mutex
	facts   map[int]job.Facts // by pull request
	checks  bool              // the configuration wants check runs
	begun   chan int          // numbers of pull requests whose run goes on
	release chan struct{}     // ends one run
}

func newHall(t *testing.T) *hall { t.Helper(); return newHallAt(t, "") }

// newHallAt is newHall on a PostgreSQL; empty: SQLite.
func newHallAt(t *testing.T, url string) *hall {
	t.Helper()
	h := &hall{Server: githubtest.New(t), t: t, facts: map[int]job.Facts{}, checks: true, begun: make(chan int), release: make(chan struct{})}
	h.AddUser("alice", 3, "User")
	h.repo = h.AddRepo("acme", "sums").ID
	h.token = h.Token("", map[string]string{"checks": "write", "pull_requests": "write", "issues": "write"}, "actions")
	db, err := store.Open(t.Context(), store.Options{URL: url, Path: filepath.Join(t.TempDir(), "ycbot.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	q, err := queue.New(db, queue.Options{Workers: 1, PerRepo: 2, Watch: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	h.Worker = NewWorker(Worker{
		DB: db, Queue: q, Rules: job.Rules{App: true, AppID: 7}, Runs: t.TempDir(), PublicURL: "https://y.example/", Log: slog.New(slog.DiscardHandler),
		Now:    func() time.Time { return time.Now().Add(2 * waitingAfter) }, // all that waits has waited long enough
		Hosts:  func(_ context.Context, j job.Job) (Host, error) { return posting{h, j}, nil },
		NewRun: func() string { n++; return fmt.Sprintf("run%d", n) },
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, h.Work) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = db.Close()
	})
	return h
}

// posting is the hall as a [Host].
type posting struct {
	h *hall
	j job.Job
}

func (p posting) publisher() *publish.Publisher {
	client, err := github.New(github.Options{
		BaseURL: p.h.URL, Token: p.h.token, Now: time.Now,
		Wait: func(context.Context, time.Duration) error { return context.DeadlineExceeded }, // what fails is not asked for again
	})
	if err != nil {
		panic(err)
	}
	return &publish.Publisher{GitHub: client, Ledger: &publish.Ledger{Store: p.h.DB}, Comment: publish.Off, Check: p.h.checks, App: true, Now: time.Now, Log: p.h.Log}
}

func (p posting) target(j job.Job) publish.Target {
	return publish.Target{Repo: sums, Number: j.Number, HeadSHA: j.HeadSHA, Base: "main", Job: j.ID}
}

func (p posting) Learn(context.Context, job.Job) (job.Facts, *config.Config, error) {
	p.h.mu.Lock()
	defer p.h.mu.Unlock()
	return p.h.facts[p.j.Number], config.Default(), nil
}

func (p posting) Queued(ctx context.Context, j job.Job, title, text string) (bool, error) {
	return p.publisher().Queued(ctx, p.target(j), title, text)
}

func (p posting) Unqueued(ctx context.Context, j job.Job, c queue.Reason, why string) error {
	kind := map[queue.Reason]publish.EndKind{queue.Superseded: publish.Superseded, queue.Stopped: publish.Stopped}[c]
	return p.publisher().Unqueue(ctx, p.target(j), publish.Ending{Kind: kind}, why)
}

func (posting) Readable(string) bool { return true }

func (p posting) Decline(ctx context.Context, j job.Job, s job.Skip) error {
	return p.publisher().Decline(ctx, p.target(j), s.Text, s.Excluded())
}

func (p posting) Begin(ctx context.Context, a Assignment) error {
	return p.publisher().Begin(ctx, p.target(a.Job))
}

func (p posting) Verify(ctx context.Context, a Assignment, _ Link) (*report.Report, error) {
	p.h.begun <- a.Job.Number
	select {
	case <-p.h.release:
	case <-ctx.Done():
	}
	return &report.Report{Schema: report.Schema, Repo: sums.String(), PR: a.Job.Number, HeadSHA: a.Job.HeadSHA, Verdict: report.Pass, Outcome: report.Completed}, nil
}

func (p posting) Finish(ctx context.Context, a Assignment, rep *report.Report, e Ending) (*report.Report, error) {
	kind := map[queue.Reason]publish.EndKind{queue.Superseded: publish.Superseded, queue.Stopped: publish.Stopped}[e.Kind]
	_, err := p.publisher().Finish(ctx, p.target(a.Job), rep, publish.Ending{Kind: kind})
	return rep, err
}

func (p posting) Seen(context.Context, job.Job) error            { return nil }
func (p posting) Reply(context.Context, job.Job, job.Skip) error { return nil }
func (p posting) Close(context.Context)                          {}

// open opens a pull request and returns the job of it.
func (h *hall) open() job.Job {
	h.t.Helper()
	branch := fmt.Sprint("fix", len(h.facts))
	h.Push(sums, githubtest.Commit{Branch: branch, Files: map[string]string{"a": branch}})
	return h.job(h.OpenPull(sums, githubtest.Pull{Title: "Fix " + branch, Head: branch, Author: "alice"}))
}

// job is that of the head which a pull request has now.
func (h *hall) job(n int) job.Job {
	h.t.Helper()
	head := h.PullHead(sums, n)
	h.mu.Lock()
	h.facts[n] = job.Facts{Actor: "write", Author: "write", HeadSHA: head, BaseSHA: baseOID, HeadRepo: h.repo, BaseRepo: h.repo, Paths: []string{"a"}}
	h.mu.Unlock()
	j := job.Job{
		Verb: event.VerbVerify, Trigger: job.TriggerPullRequest, Event: "pull_request", Action: "opened", Repo: event.Repo{ID: h.repo, Owner: "acme", Name: "sums"},
		Number: n, BaseSHA: baseOID, HeadSHA: head, Actor: event.User{ID: 3, Login: "alice"}, Installation: 9,
	}
	j.ID = j.Identity()
	return j
}

// comment is the job of a person's request on a pull request.
func (h *hall) comment(n int) job.Job {
	j := h.job(n)
	j.Trigger, j.Event, j.Action, j.BaseSHA, j.HeadSHA, j.Comment, j.Request = job.TriggerComment, "issue_comment", "created", "", "", 5, "comment:5"
	j.ID = j.Identity()
	return j
}

func (h *hall) enqueue(j job.Job) {
	h.t.Helper()
	if _, err := h.Queue.Enqueue(h.t.Context(), j); err != nil {
		h.t.Fatal(err)
	}
}

// busy has the only place taken.
func (h *hall) busy() {
	h.t.Helper()
	h.enqueue(h.open())
	<-h.begun
}

// pass is what a process does that has just started.
func (h *hall) pass() { h.newAnnouncer().pass(h.t.Context()) }

// shows holds what the check runs of a commit are, each as status, conclusion and title.
func (h *hall) shows(what, head string, want ...string) {
	h.t.Helper()
	var got []string
	for _, r := range h.CheckRuns(sums) {
		if r.HeadSHA == head {
			got = append(got, strings.Join([]string{r.Status, r.Conclusion, r.Output.Title}, " "))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		h.t.Errorf("%s, the check runs are %q, want %q", what, got, want)
	}
}

// over waits until a job is.
func (h *hall) over(j job.Job) {
	h.t.Helper()
	deadline, tick := time.Now().Add(5*time.Minute), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		e, err := h.Queue.Get(h.t.Context(), j.ID)
		if err != nil {
			h.t.Fatal(err)
		}
		if e.State == queue.Done || e.State == queue.Ended {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("job of #%d is %s", j.Number, e.State)
		}
		<-tick.C
	}
}

// A job that waits has a check run that says so, and for what; its run takes it over and
// completes it. However often it is looked for or delivered, there is one.
func TestWaitingIsShown(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { t.Parallel(); shownOnce(t, newHall(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { t.Parallel(); shownOnce(t, newHallAt(t, databases.Database(t))) })
}

func shownOnce(t *testing.T, h *hall) {
	t.Helper()
	h.busy()
	j := h.open()
	h.enqueue(j)
	for range 2 {
		h.pass()
		h.enqueue(j)
	}
	h.shows("waiting", j.HeadSHA, "queued  queued at position 1")
	run := h.CheckRuns(sums)[1]
	for _, want := range []string{"Position 1 of 1 in the queue: all workers are busy.", "https://y.example/queue"} {
		if !strings.Contains(run.Output.Summary, want) {
			t.Errorf("summary %q lacks %q", run.Output.Summary, want)
		}
	}
	h.release <- struct{}{}
	if n := <-h.begun; n != j.Number {
		t.Fatalf("#%d is begun", n)
	}
	h.pass()
	h.shows("at work", j.HeadSHA, "in_progress  verifying")
	h.release <- struct{}{}
	h.over(j)
	h.pass()
	if now := h.CheckRuns(sums)[1]; now.ID != run.ID || now.Conclusion != "success" {
		t.Errorf("in the end %+v", now)
	}
	if left, err := h.Queue.LeftAnnounced(t.Context(), 9); err != nil || len(left) != 0 {
		t.Errorf("%d are looked after still, %v", len(left), err)
	}
}

// An acceptance that waits has no check run: one that came to nothing would cover the verdict that there is.
func TestWaitingAcceptIsNotShown(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.busy()
	j := h.comment(h.open().Number)
	j.Accept = true
	h.enqueue(j)
	for range 2 {
		h.pass()
	}
	h.shows("waiting", h.PullHead(sums, j.Number))
	if due, err := h.Queue.Unannounced(t.Context(), h.Worker.Now(), nil, 9); err != nil || len(due) != 0 {
		t.Errorf("%d are looked at again, %v", len(due), err)
	}
	h.release <- struct{}{}
	h.over(j)
}

// A job that is over before it began ends its check run: one that a newer head supersedes,
// one that is stopped, and one of which nothing is run any more.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.busy()
	stopped, superseded, drafted := h.open(), h.open(), h.open()
	for _, j := range []job.Job{stopped, superseded, drafted} {
		h.enqueue(j)
	}
	h.pass()
	h.Push(sums, githubtest.Commit{Branch: "fix2", Files: map[string]string{"a": "more"}})
	newer := h.job(superseded.Number)
	h.enqueue(newer)
	if ok, err := h.Queue.Cancel(t.Context(), stopped.ID, queue.Stopped); err != nil || !ok {
		t.Fatal(ok, err)
	}
	for range 2 {
		h.pass()
	}
	h.shows("superseded", superseded.HeadSHA, "completed cancelled superseded")
	h.shows("stopped", stopped.HeadSHA, "completed cancelled stopped")
	if runs := h.CheckRuns(sums); len(runs) != 5 || runs[4].HeadSHA != newer.HeadSHA || runs[4].Status != "queued" {
		t.Errorf("of the newer head: %+v", runs[4])
	}
	h.mu.Lock()
	facts := h.facts[drafted.Number]
	facts.Draft = true
	h.facts[drafted.Number] = facts
	h.mu.Unlock()
	h.release <- struct{}{}
	<-h.begun // the newer one: drafted was begun before it, and is over
	h.over(drafted)
	h.pass()
	h.shows("drafted", drafted.HeadSHA, "completed skipped Not verified: the pull request is a draft")
	h.release <- struct{}{}
	h.over(newer)
}

// What the check run of a job says that came to nothing is what people are to read, and not the code.
func TestWaitingEndSaysWhy(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.busy()
	closed := h.open()
	h.enqueue(closed)
	h.pass()
	h.mu.Lock()
	facts := h.facts[closed.Number]
	facts.Closed = true
	h.facts[closed.Number] = facts
	h.mu.Unlock()
	h.release <- struct{}{}
	h.over(closed)
	h.pass()
	for _, r := range h.CheckRuns(sums) {
		if said := r.Output.Title + "\n" + r.Output.Summary; r.HeadSHA == closed.HeadSHA && (r.Status != "completed" || strings.Contains(said, "closed:") || strings.Count(said, "Nothing was run: the pull request is closed") != 1) {
			t.Errorf("it is %s and says\n%s", r.Status, said)
		}
	}
}

// Who may not ask touches no check run. For who may it is on the head of that time; where
// the run is of another, that check run ends.
func TestWaitingRequest(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.busy()
	refused, asked := h.open(), h.open()
	h.enqueue(h.comment(refused.Number))
	h.mu.Lock()
	facts := h.facts[refused.Number]
	facts.Actor = "read"
	h.facts[refused.Number] = facts
	h.mu.Unlock()
	j := h.comment(asked.Number)
	h.enqueue(j)
	h.pass()
	h.shows("refused", refused.HeadSHA)
	h.shows("asked for", asked.HeadSHA, "queued  queued at position 2")
	h.Push(sums, githubtest.Commit{Branch: "fix2", Files: map[string]string{"a": "more"}})
	now := h.job(asked.Number).HeadSHA
	h.release <- struct{}{}
	<-h.begun
	h.shows("the head that is verified", now, "in_progress  verifying")
	h.release <- struct{}{}
	h.over(j)
	h.pass()
	h.shows("the head that was", asked.HeadSHA, "completed cancelled not run")
	h.shows("the head that is verified", now, "completed success PASS: "+strings.TrimPrefix(h.CheckRuns(sums)[2].Output.Title, "PASS: "))
}

// Where the configuration wants no check run there is none.
func TestWaitingUnshown(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.busy()
	h.checks = false
	j := h.open()
	h.enqueue(j)
	h.pass()
	h.shows("off", j.HeadSHA)
	if due, err := h.Queue.Unannounced(t.Context(), time.Now().Add(time.Hour), nil, 9); err != nil || len(due) != 0 {
		t.Errorf("%d are looked at again, %v", len(due), err)
	}
}

// Whatever happens to the calls by which a check run is created, at whichever of them the
// process dies, and whichever goes on: the job runs, and has one check run.
func TestWaitingFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]githubtest.Fault{
		"refused with 502": githubtest.Status(http.StatusBadGateway), "lost": githubtest.Before(), "answer lost": githubtest.After(),
	}
	for name, fault := range faults {
		for call := 1; call <= 2; call++ {
			for _, again := range []bool{true, false} {
				t.Run(fmt.Sprint(name, " at call ", call, " again ", again), func(t *testing.T) {
					t.Parallel()
					h := newHall(t)
					h.busy()
					j := h.open()
					h.enqueue(j)
					h.FailAt(call, fault)
					ctx, kill := context.WithCancel(t.Context())
					h.Log = slog.New(killing{slog.DiscardHandler, kill}) // when it says that it failed
					h.newAnnouncer().pass(ctx)
					kill()
					h.Heal()
					if again { // a process that starts goes on
						h.pass()
						h.shows("again", j.HeadSHA, "queued  queued at position 1")
					}
					h.release <- struct{}{}
					<-h.begun
					h.release <- struct{}{}
					h.over(j)
					h.pass()
					if runs := h.CheckRuns(sums); len(runs) != 2 || runs[1].Conclusion != "success" {
						t.Errorf("%+v", runs)
					}
				})
			}
		}
	}
}

// killing is a log that ends something with its first warning.
type killing struct {
	slog.Handler
	kill func()
}

func (k killing) Enabled(context.Context, slog.Level) bool { return true }

func (k killing) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		k.kill()
	}
	return nil
}

// A GitHub that hangs while a check run is created delays no delivery, and a worker
// no longer than the call may take: whether the check run was created in the end or not,
// the run has one.
func TestWaitingHangs(t *testing.T) {
	t.Parallel()
	server := databases.Database(t)
	for phase, url := range map[string]string{"before": server, "after": ""} {
		h := newHallAt(t, url)
		h.busy()
		j := h.open()
		h.enqueue(j)
		hangs, answer := make(chan struct{}), make(chan struct{})
		h.FailAt(2, githubtest.Hook(func(_ int, _ *http.Request, at string) {
			if at == phase {
				close(hangs)
				<-answer
			}
		}))
		passed := make(chan struct{})
		go func() { defer close(passed); h.newAnnouncer().pass(t.Context()) }()
		<-hangs
		h.enqueue(h.open()) // is stored at once
		h.release <- struct{}{}
		early := false
		select {
		case <-h.begun:
			early = true
			t.Error("the worker does not wait for who creates the check run")
		case <-time.After(200 * time.Millisecond):
		}
		close(answer)
		<-passed
		if !early {
			<-h.begun
		}
		h.shows("at work", j.HeadSHA, "in_progress  verifying")
		h.release <- struct{}{}
		h.over(j)
		h.shows("in the end", j.HeadSHA, "completed success "+h.CheckRuns(sums)[1].Output.Title)
		<-h.begun
		h.release <- struct{}{}
	}
}

// A repository that is denied while its jobs wait has none of them run, and no check run is
// left that says that one waits.
func TestWaitingDenied(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.busy()
	shown, unseen := h.open(), h.open()
	h.enqueue(shown)
	h.pass()
	h.enqueue(unseen)
	h.Allow.Repositories.Deny = []string{"acme/*"}
	h.pass()
	h.release <- struct{}{}
	h.over(shown)
	h.over(unseen)
	h.pass()
	h.shows("shown", shown.HeadSHA, "completed cancelled not run")
	h.shows("not shown yet", unseen.HeadSHA)
}

// An installation on which very much waits has so many check runs created in a minute, the
// next in the next, and keeps no other from having its own.
func TestWaitingBudget(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const more = 5
	add := func(number int, installation int64) {
		j := pushed()
		j.Number, j.Installation, j.Repo.ID = number, installation, installation
		j.ID = j.Identity()
		d.enqueue(t, j)
	}
	for i := range waitingPerMinute + more {
		add(i+1, 9)
	}
	add(1, 8)
	a := d.newAnnouncer()
	for i, want := range []int{waitingPerMinute + 1, waitingPerMinute + 1, waitingPerMinute + 1 + more} {
		d.now = d.now.Add([]time.Duration{2 * waitingAfter, time.Second, time.Minute}[i])
		a.pass(t.Context())
		if len(d.notes) != want {
			t.Fatalf("pass %d: %d check runs, want %d: %q", i, len(d.notes), want, d.notes)
		}
	}
}

// What a run that is under way can be given has no check run of its own: it would be the newest of the
// commit, and end without a verdict.
func TestWaitingWords(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	running := h.open()
	h.enqueue(running)
	<-h.begun
	words := h.comment(running.Number)
	words.Words = "what of zero?"
	words.ID = words.Identity()
	h.enqueue(words)
	h.pass()
	h.shows("while a run goes on", running.HeadSHA, "in_progress  verifying")
	h.release <- struct{}{}
	<-h.begun // it did not take them, so that they are a run of their own
	h.release <- struct{}{}
	h.over(words)
}
