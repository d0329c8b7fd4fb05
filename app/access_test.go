package app

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
)

// lost is the job of an installation that may not see anything any more.
func lost() job.Job {
	j := job.Job{Verb: event.VerbForget, Event: "installation", Action: "suspend", Installation: 9, Request: "delivery:lost"}
	j.ID = j.Identity()
	return j
}

// Where the App was removed, what waits and what runs is ended, and nobody is told, as
// nobody could be. What comes after it was let in again is not.
func TestRemoved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.enqueue(t, pushed(), asked(event.VerbVerify, 2), lost())
	ctx, cancel := context.WithCancelCause(t.Context())
	d.verify = func(inner context.Context) (*report.Report, error) {
		if err := d.Work(t.Context(), lost()); err != nil {
			t.Error(err)
		}
		cancel(&queue.Cancelled{Reason: queue.Removed}) // as the queue does
		<-inner.Done()
		return &report.Report{Verdict: report.Partial}, nil
	}
	if err := d.Work(ctx, pushed()); err != nil {
		t.Fatal(err)
	}
	want := []string{"begin run1 https://y.example/runs/run1", "verify run1 of 2222 on 1111"}
	if diff := cmp.Diff(want, d.notes); diff != "" {
		t.Errorf("the host was asked (-want +got):\n%s", diff)
	}
	if got := d.state(t, pushed()); got != "stopped PARTIAL" {
		t.Errorf("the run is %q", got)
	}
	for _, j := range []job.Job{pushed(), asked(event.VerbVerify, 2)} {
		if e, err := d.Queue.Get(t.Context(), j.ID); err != nil || e.Cancel != queue.Removed {
			t.Errorf("job %q is cancelled %q, %v", j.Request, e.Cancel, err)
		}
	}
}

// A run that ended where nobody can be told any more has ended: it is not tried for ever.
func TestNobodyCanBeTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.finish = &Permanent{Err: errors.New("no token")}
	d.enqueue(t, pushed())
	if err := d.Work(t.Context(), pushed()); err != nil {
		t.Fatal(err)
	}
	run, err := d.DB.RunOfJob(t.Context(), pushed().ID)
	if err != nil || run.State != "finished" || !strings.Contains(run.Reason, "no token") {
		t.Errorf("the run is %q because of %q, %v", run.State, run.Reason, err)
	}
}

// A suite that is asked for again names no job, and of a fork no pull request: it is the
// last one on its commit. Of the merge queue it is the same group again.
func TestSuiteAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	group := pushed()
	group.Trigger, group.Number, group.HeadSHA, group.Ref = job.TriggerMergeGroup, 0, strings.Repeat("3", 40), "refs/heads/gh-readonly-queue/main/pr-4"
	group.ID = group.Identity()
	d.enqueue(t, pushed(), group)
	for _, test := range []struct{ head, want string }{
		{headOID, "rerequest #4 "}, {group.HeadSHA, "merge_group #0 " + group.Ref}, {strings.Repeat("4", 40), "rerequest #0 "},
	} {
		j := pushed()
		j.Trigger, j.Event, j.Number, j.HeadSHA, j.Request = job.TriggerRerequest, "check_suite", 0, test.head, "delivery:"+test.head
		j.ID = j.Identity()
		d.enqueue(t, j)
		got, _, err := d.resolve(t.Context(), j)
		if s := string(got.Trigger) + " #" + string('0'+rune(got.Number)) + " " + got.Ref; err != nil || s != test.want {
			t.Errorf("%.4s is %q, %v; want %q", test.head, s, err, test.want)
		}
	}
}
