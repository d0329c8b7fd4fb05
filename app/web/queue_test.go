package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// A fakeQueue is what is at work and what waits.
type fakeQueue struct {
	mu   sync.Mutex
	line queue.Line
	jobs map[string]job.Job
}

func (q *fakeQueue) Line(context.Context) (queue.Line, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.line, nil
}

// change changes what is in line while pages show it.
func (q *fakeQueue) change(how func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	how()
}

func (q *fakeQueue) Jobs(_ context.Context, ids []string) (map[string]job.Job, error) {
	out := map[string]job.Job{}
	for _, id := range ids {
		out[id] = q.jobs[id]
	}
	return out, nil
}

// add puts a job of a repository into the queue.
func (q *fakeQueue) add(repo int64, at time.Time, why string, j job.Job) {
	j.Repo = event.Repo{ID: repo, Owner: "acme", Name: fmt.Sprint("repo", repo)}
	j.ID = fmt.Sprint("job", len(q.jobs))
	q.jobs[j.ID] = j
	p := queue.Place{ID: j.ID, RepoID: repo, Installation: 7, Since: at, Why: why}
	if why == "" {
		q.line.Working = append(q.line.Working, p)
		return
	}
	q.line.Length++
	p.Position = q.line.Length
	q.line.Waiting = append(q.line.Waiting, p)
}

// inLine has one job of a repository at work and three waiting: of a pull request with
// this title, of a merge queue, and of a check run that is asked for again.
func (w *world) inLine(repo int64, title string) {
	w.t.Helper()
	now, text := w.clock(), &event.Text{Title: title, Author: "maria"}
	w.queue.add(repo, now.Add(-3*time.Minute), "", job.Job{Number: 41, HeadSHA: strings.Repeat("4", 40), Text: text})
	w.queue.add(repo, now.Add(-2*time.Minute), "all workers are busy", job.Job{Number: 42, HeadSHA: strings.Repeat("5", 40), Text: text, Request: "comment:1", Actor: event.User{Login: "jo"}})
	w.queue.add(repo, now.Add(-time.Minute), "its repository has 2 of at most 2 runs at work", job.Job{
		Trigger: job.TriggerMergeGroup, Ref: "refs/heads/gh-readonly-queue/main/pr-40-1111", HeadSHA: strings.Repeat("6", 40),
	})
	w.queue.add(repo, now, "the last attempt failed; retry at 12:00:00 UTC", job.Job{Number: 39, HeadSHA: strings.Repeat("7", 40)})
}

// The queue says what is at work and what waits, for what, of whom and since when. Who may
// not see a repository sees nothing of its jobs but how many there are.
func TestQueuePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inLine(1, "A private title")
	w.save(store.Run{ID: "r", Job: "job0", Repo: "acme/repo1", RepoID: 1, Number: 41, HeadSHA: "abcdef1234", State: store.Running})
	w.save(store.Run{ID: "before", Repo: "acme/repo1", RepoID: 1, Number: 39, State: store.Finished, Verdict: "PASS", Title: "An earlier title"})
	for name, b := range map[string]*browser{"alice": w.loggedIn("alice"), "reader": w.loggedIn("reader")} {
		status, text := b.get("/queue")
		for _, want := range []string{
			`href="/runs/r"`, "abcdef1", "A private title", "by maria", "1 of 3", "all workers are busy", "asked for by jo", "/acme/repo1/pull/42", "2 min ago",
			"2 of 3", "merge queue, up to #40", "its repository has 2 of at most 2 runs at work", "/acme/repo1/commit/666666", "An earlier title", "the last attempt failed; retry at 12:00:00 UTC",
		} {
			if status != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: %d, the page lacks %q", name, status, want)
			}
		}
		if t.Failed() {
			t.Fatal(text)
		}
	}
	for name, b := range map[string]*browser{"a stranger": w.browser(), "mallory": w.loggedIn("mallory")} {
		status, text := b.get("/queue")
		if status != http.StatusOK || !strings.Contains(text, "Nothing that you may see waits; 3 jobs of others do.") {
			t.Errorf("%s: %d\n%s", name, status, text)
		}
		for _, secret := range []string{"repo1", "A private title", "maria", "asked for", "#4", "555555", "666666"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s sees %q of a private repository", name, secret)
			}
		}
	}
	_, text := w.browser().get("/runs")
	if !strings.Contains(text, `href="/queue"`) {
		t.Error("the list of runs does not lead to the queue")
	}
}

// A public repository that has no run yet is seen as soon as its first job waits, and
// GitHub is asked once for it.
func TestQueueOfNewRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, text := w.browser().get("/queue"); !strings.Contains(text, "Nothing that you may see waits.") {
		t.Errorf("empty: %s", text)
	}
	w.inLine(2, "The first change")
	for range 3 {
		if _, text := w.browser().get("/queue"); !strings.Contains(text, "The first change") {
			t.Fatalf("not shown:\n%s", text)
		}
	}
	if w.github.asked != 1 {
		t.Errorf("GitHub was asked %d times", w.github.asked)
	}
}
