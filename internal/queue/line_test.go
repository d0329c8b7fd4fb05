package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// verify is a job that verifies a head of pull request number of repository repo.
func verify(repo int64, number int) job.Job {
	j := at(repo, number, "a")
	j.Verb = event.VerbVerify
	return j
}

// queuedBy is a job of a merge queue.
func queuedBy(repo int64) job.Job {
	j := job.Job{Verb: event.VerbVerify, Trigger: job.TriggerMergeGroup, HeadSHA: "b", Installation: 1}
	j.Repo.ID = repo
	j.ID = j.Identity()
	return j
}

// What people ask for and merge queues are begun before what came by itself earlier, and
// the line says so: in which order jobs are begun, and for what each of them waits.
func TestUrgentFirst(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 1, PerRepo: 1})
		begun, release := held(t, q)
		enqueue(t, q, verify(1, 1))
		if got := <-begun; got != "1#1" {
			t.Fatal(got)
		}
		question := asked(job.Job{Verb: event.VerbStatus, Installation: 1}, "comment:2")
		waiting := []job.Job{
			verify(2, 1), verify(1, 2), verify(3, 1), asked(verify(4, 1), "comment:1"), queuedBy(5), question, verify(4, 2),
		}
		for _, j := range waiting {
			enqueue(t, q, j)
		}
		names := map[string]string{}
		for _, j := range append(waiting, verify(1, 1)) {
			names[j.ID] = name(j)
		}
		var line Line
		eventually(t, "what is urgent has the places of what was handed over", func() bool {
			var err error
			if line, err = q.readLine(t.Context()); err != nil {
				t.Fatal(err)
			}
			return len(line.Working) == 1 && len(line.Waiting) == 6 && names[line.Waiting[0].ID] == "4#1" && names[line.Waiting[1].ID] == "5#0"
		})
		var got []string
		for i, p := range line.Waiting {
			got = append(got, names[p.ID]+": "+p.Why)
			if p.Position != i+1 || time.Since(p.Since) > time.Minute || p.Since.IsZero() {
				t.Errorf("%+v", p)
			}
		}
		if w := line.Working[0]; names[w.ID] != "1#1" || w.RepoID != 1 || time.Since(w.Since) > time.Minute || time.Since(w.Since) < -time.Minute {
			t.Errorf("working: %+v", line.Working)
		}
		if line.Length != 6 || len(got) != 6 {
			t.Fatalf("%d wait, in the line %q", line.Length, got)
		}
		var order []string
		for range len(waiting) {
			release <- struct{}{}
			order = append(order, <-begun)
		}
		for i, urgent := range map[int]bool{0: true, 1: true, 2: true, 3: false, 4: false, 5: false, 6: false} {
			if is := order[i] == "4#1" || order[i] == "5#0" || order[i] == "0#0"; is != urgent {
				t.Errorf("begun in the order %q", order)
				break
			}
		}
		if !strings.Contains(strings.Join(got, "\n"), "1#2: its repository has 1 of at most 1 runs at work") || !strings.Contains(strings.Join(got, "\n"), "#1: all workers are busy") {
			t.Errorf("%q", got)
		}
	})
}

// held runs a queue whose jobs say their names and end one by one.
func held(t *testing.T, q *Queue) (begun <-chan string, release chan<- struct{}) {
	t.Helper()
	names, ends := make(chan string), make(chan struct{})
	run(t, q, func(_ context.Context, j job.Job) error {
		names <- name(j)
		<-ends
		return nil
	})
	t.Cleanup(func() { close(ends) })
	return names, ends
}

// What is urgent goes before what was handed to the workers already, also where that holds
// all places of the same repository.
func TestUrgentOvertakes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 1, PerRepo: 2})
		begun, release := held(t, q)
		enqueue(t, q, verify(1, 1))
		<-begun
		for _, j := range []job.Job{verify(1, 2), verify(1, 3), queuedBy(1), asked(verify(1, 4), "comment:1")} {
			enqueue(t, q, j)
		}
		taken := func() (n int) {
			err := q.db.Reader().Each(t.Context(), func(scan store.Scan) error { return scan(&n) }, `select count(*) from river_job where state = 'available' and priority = $1`, byItself)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		eventually(t, "the places are taken back", func() bool { return taken() == 0 })
		var order []string
		for range 4 {
			release <- struct{}{}
			order = append(order, <-begun)
		}
		if diff := cmp.Diff([]string{"1#0", "1#4", "1#2", "1#3"}, order); diff != "" {
			t.Errorf("begun in another order (-want +got):\n%s", diff)
		}
	})
}

func name(j job.Job) string { return fmt.Sprintf("%d#%d", j.Repo.ID, j.Number) }

// A job that is tried again says when, and one that was put off, too.
func TestLineOfRetries(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 2, Attempts: 9, Backoff: func(int) time.Duration { return time.Hour }})
		run(t, q, func(_ context.Context, j job.Job) error {
			if j.Number == 1 {
				return errors.New("no disk")
			}
			return ErrLater
		})
		failing, off := verify(1, 1), verify(1, 2)
		enqueue(t, q, failing)
		enqueue(t, q, off)
		eventually(t, "both wait for a time", func() bool {
			line, err := q.readLine(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			why := map[string]string{}
			for _, p := range line.Waiting {
				why[p.ID] = p.Why
			}
			return strings.HasPrefix(why[failing.ID], "the last attempt failed; retry at ") && strings.HasPrefix(why[off.ID], "no run can begin on the worker that has it; it tries again at ")
		})
	})
}

// The check run of a job that waits is created once and not for one that was
// begun or cancelled; one that may be there is ended when its job is over.
func TestQueuedCheckStates(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q, other := newQueue(t, where, Options{Workers: 1}), newQueue(t, where, Options{})
		crashed, shown, stopped, unseen := verify(1, 1), verify(1, 2), verify(1, 3), verify(1, 4)
		question := asked(job.Job{Verb: event.VerbStop, Installation: 1}, "comment:2")
		for _, j := range []job.Job{crashed, shown, stopped, unseen, question} {
			enqueue(t, q, j)
		}
		left := func(entries []Entry, err error) (ids []string) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				ids = append(ids, name(e.Job))
			}
			return ids
		}
		want := func(what string, got []string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		announcing := func(q *Queue, j job.Job, want bool) {
			t.Helper()
			if ok, err := q.Announcing(t.Context(), j.ID); err != nil || ok != want {
				t.Errorf("announcing %s: %v, %v", name(j), ok, err)
			}
		}
		now := time.Now()
		want("too early", left(q.Unannounced(t.Context(), now.Add(-time.Minute), nil, 9)))
		want("at first", left(q.Unannounced(t.Context(), now.Add(time.Minute), nil, 9)), "1#1", "1#2", "1#3", "1#4")
		want("of many", left(q.Unannounced(t.Context(), now.Add(time.Minute), []int64{7}, 1)), "1#1")
		want("of others", left(q.Unannounced(t.Context(), now.Add(time.Minute), []int64{7, 1}, 9)))
		announcing(q, crashed, true)
		announcing(other, crashed, true) // after a crash
		for _, j := range []job.Job{shown, stopped} {
			announcing(q, j, true)
			if err := q.Announced(t.Context(), j.ID); err != nil {
				t.Fatal(err)
			}
			announcing(other, j, false)
		}
		want("then", left(other.Unannounced(t.Context(), now.Add(time.Minute), nil, 9)), "1#1", "1#4")
		for _, j := range []job.Job{stopped, unseen} {
			if ok, err := q.Cancel(t.Context(), j.ID, Stopped); err != nil || !ok {
				t.Fatal(ok, err)
			}
			announcing(q, j, false)
		}
		want("cancelled", left(q.LeftAnnounced(t.Context(), 9)), "1#3")
		if err := q.Unannounce(t.Context(), stopped.ID); err != nil {
			t.Fatal(err)
		}
		want("ended", left(q.LeftAnnounced(t.Context(), 9)))
		begun := make(chan job.Job)
		run(t, q, func(_ context.Context, j job.Job) error {
			if j.Number != 0 {
				begun <- j
				<-begun
			}
			return nil
		})
		for range 2 {
			j := <-begun
			if was, err := q.WasAnnounced(t.Context(), j.ID); err != nil || !was {
				t.Errorf("%s was announced: %v, %v", name(j), was, err)
			}
			announcing(q, j, false)
			want("at work", left(q.LeftAnnounced(t.Context(), 9)))
			begun <- j
			eventually(t, "it is over", func() bool { return state(t, q, j) == Done })
			want("over", left(q.LeftAnnounced(t.Context(), 9)), name(j))
			if err := q.Unannounce(t.Context(), j.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
}
