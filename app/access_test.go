package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/blobs"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// seenBy is a GitHub where an installation sees all repositories.
func seenBy(installation int64) Installed {
	return func(_ context.Context, repo event.Repo) (event.Repo, int64, error) { return repo, installation, nil }
}

// lost is the job of an installation that may not see anything any more.
func lost() job.Job {
	j := job.Job{Verb: event.VerbForget, Event: "installation", Action: "suspend", Installation: 9, Request: "delivery:lost"}
	j.ID = j.Identity()
	return j
}

// Where the App was removed, what waits and what runs is ended. What comes after it was
// let in again is not.
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
	want := []string{"begin run1 https://y.example/runs/run1", "verify run1 of 2222 on 1111", "finish run1 PARTIALremoved"}
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

// Of repositories that the event names those are lost that the installation does not have again: the event may come late.
// Where GitHub does not say, they are lost.
func TestRemovedLate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		installed Installed
		want      queue.Reason
	}{
		"back":                    {seenBy(9), ""},
		"back under another":      {seenBy(10), queue.Removed},
		"gone":                    {seenBy(0), queue.Removed},
		"GitHub does not answer":  {func(_ context.Context, r event.Repo) (event.Repo, int64, error) { return r, 0, errors.New("502") }, queue.Removed},
		"the event names another": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.Installed = tt.installed
			j := lost()
			j.Event, j.Action, j.Gone = "installation_repositories", "removed", []event.Repo{{ID: 77, Owner: "acme", Name: "other"}}
			if tt.installed != nil {
				j.Gone = append(j.Gone, pushed().Repo)
				asked := d.Installed
				d.Installed = func(ctx context.Context, r event.Repo) (event.Repo, int64, error) {
					if r.ID == 77 {
						t.Error("it is asked about a repository without jobs")
					}
					return asked(ctx, r)
				}
			}
			d.enqueue(t, pushed(), j)
			if err := d.Work(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			if e, err := d.Queue.Get(t.Context(), pushed().ID); err != nil || e.Cancel != tt.want {
				t.Errorf("the job is cancelled %q, want %q, %v", e.Cancel, tt.want, err)
			}
		})
	}
}

// A run whose end can no longer be posted has ended: it is not tried for ever.
func TestNobodyCanBeTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.finish = &Permanent{Err: errors.New("no token")}
	d.enqueue(t, pushed())
	if err := d.Work(t.Context(), pushed()); err != nil {
		t.Fatal(err)
	}
	run, err := d.DB.RunOfJob(t.Context(), pushed().ID)
	if err != nil || run.State != "finished" || !strings.Contains(run.Reason, "no token") || !run.Untold {
		t.Errorf("the run is %q because of %q, untold %t, %v", run.State, run.Reason, run.Untold, err)
	}
}

// The end of a run that could not be posted is posted when the App has access again: not
// before, not of another account's, not after so long that GitHub ended its check run
// itself, and once; by the installation that there is now. A run that is not the last of
// its pull request leaves comments alone.
func TestTell(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		account string
		now     int64 // installation
		newer   bool
		later   time.Duration
		want    []string
		untold  bool
	}{
		{name: "still removed", want: nil, untold: true},
		{name: "back", now: 11, want: []string{"finish run1 none by 11"}},
		{name: "back, says its account", account: "Acme", now: 11, want: []string{"finish run1 none by 11"}},
		{name: "another account is back", account: "other", now: 11, untold: true},
		{name: "after another run", now: 11, newer: true, want: []string{"finish run1 none late by 11"}},
		{name: "after long", now: 11, later: publishWithin + time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.Installed = seenBy(test.now)
			d.finish = &Permanent{Err: errors.New("no token")}
			d.enqueue(t, pushed())
			if err := d.Work(t.Context(), pushed()); err != nil {
				t.Fatal(err)
			}
			if test.newer {
				d.finish = nil
				newer := asked(event.VerbVerify, 8)
				newer.Full = true
				d.enqueue(t, newer)
				d.now = d.now.Add(time.Minute)
				if err := d.Work(t.Context(), newer); err != nil {
					t.Fatal(err)
				}
			}
			d.now, d.notes, d.finish = d.now.Add(test.later), nil, nil
			for range 2 {
				j := job.Job{Verb: event.VerbReturn, Account: test.account, Installation: 11, Request: "delivery:back"}
				if j.ID = j.Identity(); test.account == "" {
					j.Request += "2"
				}
				if err := errors.Join(d.Work(t.Context(), j), d.PublishEnded(t.Context(), test.account)); err != nil {
					t.Fatal(err)
				}
			}
			d.want(t, test.want...)
			run, err := d.DB.RunOfJob(t.Context(), pushed().ID)
			if err != nil || run.Untold != test.untold || run.State != store.Finished {
				t.Errorf("the run is %s, untold %t, %v", run.State, run.Untold, err)
			}
		})
	}
}

// What is said late is said where the repository is now, by the installation that there is now: of a
// run that ended, and of a job that ended before it was one.
func TestTellWhereItIs(t *testing.T) {
	t.Parallel()
	now := event.Repo{ID: pushed().Repo.ID, Owner: "others", Name: "new"}
	var asked []string
	follow := func(t *testing.T, installation int64) *desk {
		t.Helper()
		d := newDesk(t)
		d.Installed = func(context.Context, event.Repo) (event.Repo, int64, error) { return now, installation, nil }
		hosts := d.Hosts
		d.Hosts = func(ctx context.Context, j job.Job) (Host, error) {
			asked = append(asked, fmt.Sprintf("%s by %d", j.Repo.FullName(), j.Installation))
			return hosts(ctx, j)
		}
		return d
	}
	d := follow(t, 11)
	d.finish = &Permanent{Err: errors.New("no token")}
	d.enqueue(t, pushed())
	if err := d.Work(t.Context(), pushed()); err != nil {
		t.Fatal(err)
	}
	d.finish, asked = nil, nil
	if err := d.PublishEnded(t.Context(), ""); err != nil || !slices.Equal(asked, []string{"others/new by 11"}) {
		t.Errorf("a run: asked %q, %v", asked, err)
	}
	removed := queue.Entry{Job: pushed(), Cancel: queue.Removed}
	asked = nil
	if err := d.endQueued(t.Context(), removed); err != nil || !slices.Equal(asked, []string{"others/new by 11"}) {
		t.Errorf("a job: asked %q, %v", asked, err)
	}
	asked = nil
	if err := follow(t, 0).endQueued(t.Context(), removed); !errors.As(err, new(*Permanent)) || len(asked) != 0 {
		t.Errorf("a job of a repository that is not seen any more: asked %q, %v", asked, err)
	}
}

// An awayBucket does not read while it is away.
type awayBucket struct {
	blobs.Bucket
	away *atomic.Bool
}

func (b awayBucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if b.away.Load() {
		return nil, errors.New("503")
	}
	return b.Bucket.Get(ctx, key)
}

// A result that can be posted again, and whose report cannot be read at that moment, waits for it: no other end
// is posted in its place.
func TestTellBlobsAway(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"SQLite", "PostgreSQL"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			url := ""
			if where == "PostgreSQL" {
				url = databases.Database(t)
			}
			var away atomic.Bool
			d := newDeskWith(t, url, awayBucket{blobs.File{Dir: t.TempDir()}, &away})
			d.Installed = seenBy(11)
			d.live = func(a Assignment, _ Link) {
				text := `{"verdict": "PASS", "reasons": ["` + strings.Repeat("x", 1<<16) + `"]}`
				if err := os.WriteFile(filepath.Join(a.Dir, "report.json"), []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
			d.finish = &Permanent{Err: errors.New("no token")}
			d.enqueue(t, pushed())
			if err := d.Work(t.Context(), pushed()); err != nil {
				t.Fatal(err)
			}
			d.finish, d.notes, d.Runs = nil, nil, t.TempDir() // of another machine
			away.Store(true)
			if err := d.PublishEnded(t.Context(), ""); !errors.Is(err, store.ErrBlobsAway) || d.notes != nil {
				t.Errorf("while they are away: %v, the host was asked %q", err, d.notes)
			}
			away.Store(false)
			if err := d.PublishEnded(t.Context(), ""); err != nil {
				t.Error(err)
			}
			d.want(t, "finish run1 PASS by 11")
		})
	}
}

// Where GitHub lets the App in and refuses all the same, it is not tried for ever.
func TestTellRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Installed = seenBy(11)
	d.finish = &Permanent{Err: errors.New("no")}
	d.enqueue(t, pushed())
	if err := errors.Join(d.Work(t.Context(), pushed()), d.PublishEnded(t.Context(), "")); err != nil {
		t.Fatal(err)
	}
	if run, err := d.DB.RunOfJob(t.Context(), pushed().ID); err != nil || run.Untold {
		t.Errorf("untold %t, %v", run.Untold, err)
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
