package app

import (
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
	h.Now = time.Now
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

// The button Accept makes the job that the comment "/verify accept SHA reason" makes, but
// for what says where it came from, so that the same rules decide on it.
func TestPressAccept(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	h.Now = time.Now
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
