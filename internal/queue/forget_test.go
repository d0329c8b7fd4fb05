package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
)

// What the App may not see any more is ended, waiting or running, and nothing else: not
// other repositories, other installations, or what comes after it may see it again.
func TestForget(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 1})
		elsewhere := at(3, 1, "a")
		elsewhere.Installation = 2
		elsewhere.ID = elsewhere.Identity()
		running, waiting, other := at(1, 1, "a"), at(1, 2, "a"), at(2, 1, "a")
		begun, ended := make(chan string, 10), make(chan error, 10)
		run(t, q, func(ctx context.Context, j job.Job) error {
			if j.Repo.ID != 1 {
				return nil
			}
			begun <- j.ID
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil
		})
		enqueue(t, q, running)
		<-begun
		for _, j := range []job.Job{waiting, other, elsewhere} {
			enqueue(t, q, j)
		}
		gone := job.Job{Verb: "forget", Installation: 1, Request: "delivery:1", Gone: []event.Repo{at(1, 1, "a").Repo}}
		gone.ID = gone.Identity()
		enqueue(t, q, gone)
		later := at(1, 3, "a")
		enqueue(t, q, later)
		got, err := q.Forget(t.Context(), gone)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{running.ID, waiting.ID}, got); diff != "" {
			t.Errorf("ended (-want +got):\n%s", diff)
		}
		var cancelled *Cancelled
		if err := <-ended; !errors.As(err, &cancelled) || cancelled.Reason != Removed {
			t.Errorf("the running job ends with %v", err)
		}
		if again, err := q.Forget(t.Context(), gone); err != nil || len(again) != 0 {
			t.Errorf("twice: %q, %v", again, err)
		}
		if id := <-begun; id != later.ID {
			t.Errorf("%s is begun, want what came later", id)
		}
		all := job.Job{Verb: "forget", Installation: 1, Request: "delivery:2"}
		all.ID = all.Identity()
		enqueue(t, q, all)
		if got, err := q.Forget(t.Context(), all); err != nil || !slices.Contains(got, later.ID) || slices.Contains(got, elsewhere.ID) {
			t.Errorf("all of the installation: %q, %v", got, err)
		}
		eventually(t, "another installation's job is done", func() bool { return state(t, q, elsewhere) == Done })
	})
}

// A merge group that is gone is not verified any more, and nothing else ends for it. What was asked for
// after a suspension, which is heard of late, goes on.
func TestForgetGroup(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 1})
		group, other, elsewhere, pull := at(1, 0, "a"), at(1, 0, "b"), at(2, 0, "a"), at(1, 1, "a")
		pull.At = time.Unix(1000, 0)
		for _, j := range []job.Job{group, other, elsewhere, pull} {
			enqueue(t, q, j)
		}
		gone := job.Job{Verb: "forget", Repo: group.Repo, HeadSHA: group.HeadSHA, Installation: 1, Request: "delivery:1"}
		gone.ID = gone.Identity()
		enqueue(t, q, gone)
		if got, err := q.Forget(t.Context(), gone); err != nil || !slices.Equal(got, []string{group.ID}) {
			t.Errorf("ended %q, %v", got, err)
		}
		if e, err := q.Get(t.Context(), group.ID); err != nil || e.Cancel != Superseded {
			t.Errorf("it ends as %q, %v", e.Cancel, err)
		}
		for _, tt := range []struct {
			at   int64
			want []string
		}{{999, []string{other.ID, elsewhere.ID}}, {1000, []string{pull.ID}}} {
			late := job.Job{Verb: "forget", Installation: 1, Request: fmt.Sprint("delivery:", tt.at), At: time.Unix(tt.at, 0)}
			late.ID = late.Identity()
			enqueue(t, q, late)
			got, err := q.Forget(t.Context(), late)
			got = slices.DeleteFunc(got, func(id string) bool { // of the verifications
				return !slices.Contains([]string{other.ID, elsewhere.ID, pull.ID}, id)
			})
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("suspended at %d: ended %q, %v", tt.at, got, err)
			}
		}
	})
}
