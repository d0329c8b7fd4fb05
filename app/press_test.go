package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// A button on the page of a run is a job like that of the check run's button: about the
// same pull request and commit, of the person who pressed, and once for each press.
func TestPress(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	h.Now, h.Installed = time.Now, seenBy(3)
	of := job.Job{Verb: event.VerbVerify, Trigger: job.TriggerPullRequest, Repo: event.Repo{ID: 9, Owner: "acme", Name: "w"}, Number: 4, HeadSHA: "aaaa", Installation: 3}
	of.ID = of.Identity()
	if _, err := h.queue.Enqueue(t.Context(), of); err != nil {
		t.Fatal(err)
	}
	run := store.Run{ID: "r", Job: of.ID, HeadSHA: "bbbb"}
	who := event.User{ID: 5, Login: "alice", Type: "User"}
	for range 2 {
		if err := h.Press(t.Context(), run, Press{Verb: event.VerbStop, Who: who, Request: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Press(t.Context(), run, Press{Verb: event.VerbVerify, Who: who, Request: "two"}); err != nil {
		t.Fatal(err)
	}
	active, err := h.queue.Active(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	var got []job.Job
	for _, e := range active {
		if e.Job.Asked() {
			got = append(got, e.Job)
		}
	}
	if len(got) != 2 || h.fresh.Load() != 2 {
		t.Fatalf("%d jobs, %d announced, want 2 of three presses that are two: %+v", len(got), h.fresh.Load(), got)
	}
	j := got[0]
	if j.Verb != event.VerbStop || j.Again != of.ID || j.HeadSHA != "bbbb" || j.Number != 4 || j.Installation != 3 || j.Actor != who || j.Trigger != job.TriggerRerequest {
		t.Errorf("job %+v", j)
	}
	if err := h.Press(t.Context(), store.Run{Job: "gone"}, Press{Verb: event.VerbVerify, Who: who, Request: "x"}); !errors.Is(err, ErrNotKnown) {
		t.Errorf("of work that is not known: %v", err)
	}
}

// A button is of the repository as it is when it is pressed: after the App was installed again, a rename or a transfer.
// Where GitHub does not say, it is that of the run.
func TestPressNow(t *testing.T) {
	t.Parallel()
	stored, now := event.Repo{ID: 9, Owner: "acme", Name: "w"}, event.Repo{ID: 9, Owner: "others", Name: "new"}
	for name, tt := range map[string]struct {
		installation int64
		err          error
		want         job.Job
		refused      error
	}{
		"moved":                  {installation: 5, want: job.Job{Repo: now, Installation: 5}},
		"GitHub does not answer": {err: errors.New("502"), want: job.Job{Repo: stored, Installation: 3}},
		"not installed":          {refused: errNotInstalled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHook(t)
			h.Now = time.Now
			h.Installed = func(context.Context, event.Repo) (event.Repo, int64, error) { return now, tt.installation, tt.err }
			of := job.Job{Verb: event.VerbVerify, Trigger: job.TriggerPullRequest, Repo: stored, Number: 4, HeadSHA: "aaaa", Installation: 3}
			of.ID = of.Identity()
			if _, err := h.queue.Enqueue(t.Context(), of); err != nil {
				t.Fatal(err)
			}
			for _, verb := range []event.Verb{event.VerbVerify, event.VerbStop, event.VerbAccept} {
				press := Press{Verb: verb, Who: event.User{ID: 5, Login: "alice", Type: "User"}, Request: string(verb)}
				if err := h.Press(t.Context(), store.Run{ID: "r", Job: of.ID, HeadSHA: "bbbb"}, press); !errors.Is(err, tt.refused) {
					t.Errorf("%s: %v", verb, err)
				}
			}
			active, err := h.queue.Active(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, e := range active {
				if !e.Job.Asked() {
					continue
				}
				if n++; e.Job.Repo != tt.want.Repo || e.Job.Installation != tt.want.Installation {
					t.Errorf("%s: of %+v by %d", e.Job.Verb, e.Job.Repo, e.Job.Installation)
				}
			}
			if want := 3; tt.refused == nil && n != want || tt.refused != nil && n != 0 {
				t.Errorf("%d jobs", n)
			}
		})
	}
}

// The button Accept makes the job that the comment "/verify accept SHA reason" makes, but
// for what says where it came from, so that the same rules decide on it.
func TestPressAccept(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	h.Now, h.Installed = time.Now, seenBy(3)
	of := job.Job{Verb: event.VerbVerify, Trigger: job.TriggerPullRequest, Repo: event.Repo{ID: 9, Owner: "acme", Name: "w"}, Number: 4, HeadSHA: "aaaa", Installation: 3}
	of.ID = of.Identity()
	if _, err := h.queue.Enqueue(t.Context(), of); err != nil {
		t.Fatal(err)
	}
	sha, who := strings.Repeat("b", 40), event.User{ID: 5, Login: "alice", Type: "User"}
	if err := h.Press(t.Context(), store.Run{ID: "r", Job: of.ID, HeadSHA: sha}, Press{Verb: event.VerbAccept, Who: who, Request: "one", Reason: "the old limit\nwas wrong"}); err != nil {
		t.Fatal(err)
	}
	active, err := h.queue.Active(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	var got job.Job
	for _, e := range active {
		if e.Job.Asked() {
			got = e.Job
		}
	}
	comment := job.Admit(&event.Event{
		Kind: event.Commented, Action: "created", Repo: of.Repo, Number: 4, Sender: who, Comment: &event.Comment{ID: 1, Author: who, Body: "/verify accept " + sha + " the old limit was wrong"},
	}, job.Rules{App: true}).Job
	if got.Verb != comment.Verb || got.Accept != comment.Accept || got.Want != comment.Want || got.Words != comment.Words || got.Number != comment.Number || got.Actor != comment.Actor || got.Full != comment.Full {
		t.Errorf("the button makes\n%+v\nthe comment\n%+v", got, comment)
	}
}

// What a button asks for and is not done has a place in the list of runs, once.
func TestButtonThatIsNone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	of := pushed()
	of.Trigger, of.Request = job.TriggerRerequest, "delivery:button"
	j := replyJob(of, job.Skip{Code: job.CodeUnknownButton, Text: "no such button", Notify: job.NotifySummary})
	d.enqueue(t, j)
	for range 2 {
		if err := d.Work(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := d.DB.Runs(t.Context(), store.RunFilter{Limit: 9})
	if err != nil || len(runs) != 1 || runs[0].State != store.Skipped || runs[0].Reason != "unknown-button: no such button" || runs[0].Number != of.Number || d.notes != nil {
		t.Errorf("%+v, %v; the host was asked %q", runs, err, d.notes)
	}
}
