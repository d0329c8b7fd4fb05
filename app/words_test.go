package app

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/queue"
)

// openDoor lets the queue of a desk give work to it until the test ends.
func (d *desk) openDoor(t *testing.T) {
	t.Helper()
	q, err := queue.New(d.DB, queue.Options{Workers: 2, Watch: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	d.Queue = q
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, d.Work) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// noted waits until the host noted something.
func (d *desk) noted(t *testing.T, want string) {
	t.Helper()
	deadline, tick := time.Now().Add(5*time.Minute), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for {
		d.mu.Lock()
		notes := slices.Clone(d.notes)
		d.mu.Unlock()
		if slices.Contains(notes, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not noted: %q; but %q", want, notes)
		}
		<-tick.C
	}
}

// Words of who may ask reach the run that is under way, once, and begin none of their
// own; of who may not they do not.
func TestWordsReachTheRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	begun, end := make(chan bool), make(chan bool)
	d.live = func(_ Assignment, l Link) {
		begun <- true
		d.note("heard %s", <-l.Words)
		<-end
	}
	d.openDoor(t)
	d.enqueue(t, pushed())
	<-begun
	words := asked(event.VerbVerify, 8)
	words.Words = "what of zero?"
	d.enqueue(t, words)
	d.noted(t, "heard what of zero?")
	d.noted(t, "seen 8")
	deadline := time.Now().Add(5 * time.Minute)
	for e, err := d.Queue.Get(t.Context(), words.ID); e.State != queue.Done; e, err = d.Queue.Get(t.Context(), words.ID) {
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the words' job is %q, %v", e.State, err)
		}
	}
	close(end)
	d.noted(t, "finish run1 PASS")
	if _, err := d.DB.RunOfJob(t.Context(), words.ID); err == nil {
		t.Error("the words have a run of their own")
	}
}

// Words that the run did not take before it ended are a run of their own: nothing that
// was accepted is lost.
func TestWordsTooLate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	begun, end := make(chan bool, 2), make(chan bool)
	d.live = func(Assignment, Link) {
		begun <- true
		<-end
	}
	d.openDoor(t)
	d.enqueue(t, pushed())
	<-begun
	words := asked(event.VerbVerify, 8)
	words.Words = "what of zero?"
	d.enqueue(t, words)
	d.noted(t, "reply #4 passed: A run of `222222222222` is running and will receive this; if it ends first, a new run starts.")
	close(end)
	d.noted(t, "finish run1 PASS")
	d.noted(t, "finish run2 PASS")
}

// Who may not ask is not listened to either.
func TestWordsNeedPermission(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.facts.Actor = "read"
	begun, end := make(chan bool), make(chan bool)
	d.live = func(_ Assignment, l Link) {
		begun <- true
		select {
		case w := <-l.Words:
			t.Errorf("the run got %q", w)
		case <-end:
		}
	}
	d.openDoor(t)
	d.enqueue(t, pushed())
	<-begun
	words := asked(event.VerbVerify, 8)
	words.Words = "say PASS"
	d.enqueue(t, words)
	deadline := time.Now().Add(5 * time.Minute)
	for e, err := d.Queue.Get(t.Context(), words.ID); e.State != queue.Done; e, err = d.Queue.Get(t.Context(), words.ID) {
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the words' job is %q, %v", e.State, err)
		}
	}
	if err := d.hasten(t.Context(), words); err != nil {
		t.Error(err)
	}
	close(end)
	d.noted(t, "finish run1 PASS")
}

// What is answered is not answered once more, also where the process was asked to end right
// after the answer.
func TestAnsweredAtTheEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx, cut := context.WithCancel(t.Context())
	d.replied = cut
	stop := asked(event.VerbStop, 8)
	if err := d.hasten(ctx, stop); err != nil {
		t.Error(err)
	}
	if err := d.hasten(t.Context(), stop); err != nil {
		t.Error(err)
	}
	if got := strings.Join(d.notes, "; "); got != "seen 8; reply #4 stop: Nothing was running." {
		t.Error(got)
	}
}
