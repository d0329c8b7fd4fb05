package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/blobs"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// A desk is a worker with a database of its own, and a host that notes what it is asked
// for.
type desk struct {
	*Worker
	now  time.Time
	left int64 // hosts that may stay open: of runs that were let go of

	open atomic.Int64 // hosts

	mu        sync.Mutex
	notes     []string
	learn     error
	facts     job.Facts
	config    *config.Config
	verify    func(ctx context.Context) (*report.Report, error)
	finish    error
	seen      error
	begin     error
	reply     error
	old       string                 // run whose directory is of another format; empty: none
	finishing func()                 // is called when a result is posted; nil: nothing
	replied   func()                 // is called when an answer was posted; nil: nothing
	live      func(Assignment, Link) // is called in the middle of a run; nil: nothing
}

func newDesk(t *testing.T) *desk { t.Helper(); return newDeskAt(t, "") }

// newDeskAt is newDesk on a PostgreSQL; empty: SQLite.
func newDeskAt(t *testing.T, url string) *desk { t.Helper(); return newDeskWith(t, url, nil) }

// newDeskWith is newDeskAt with a bucket for blobs; nil: that of the database.
func newDeskWith(t *testing.T, url string, bucket blobs.Bucket) *desk {
	t.Helper()
	d := &desk{now: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), config: config.Default()}
	d.facts = job.Facts{Actor: "write", Author: "write", HeadSHA: headOID, BaseSHA: baseOID, HeadRepo: 5, BaseRepo: 5, Paths: []string{"a"}}
	d.verify = func(context.Context) (*report.Report, error) { return &report.Report{Verdict: report.Pass}, nil }
	clock := func() time.Time { return d.now }
	db, err := store.Open(t.Context(), store.Options{URL: url, Path: filepath.Join(t.TempDir(), "ycbot.db"), Bucket: bucket, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := queue.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	q, err := queue.New(db, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	d.Worker = NewWorker(Worker{
		DB: db, Queue: q, Rules: job.Rules{App: true, AppID: 7}, Runs: t.TempDir(), PublicURL: "https://y.example/", Now: clock, Log: slog.New(slog.DiscardHandler),
		Hosts:  func(context.Context, job.Job) (Host, error) { d.open.Add(1); return host{d}, nil },
		NewRun: func() string { n++; return fmt.Sprintf("run%d", n) },
	})
	t.Cleanup(func() {
		if n := d.open.Load(); n != d.left {
			t.Errorf("%d hosts were not closed, want %d", n, d.left)
		}
	})
	return d
}

func (d *desk) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// host is the desk as a [Host].
type host struct{ d *desk }

func (h host) Learn(context.Context, job.Job) (job.Facts, *config.Config, error) {
	return h.d.facts, h.d.config, h.d.learn
}

func (h host) Seen(_ context.Context, j job.Job) error {
	h.d.note("seen %d", j.Comment)
	return h.d.seen
}

func (h host) Reply(_ context.Context, j job.Job, s job.Skip) error {
	h.d.note("reply #%d %s: %s", s.Number, s.Code, s.Text)
	if h.d.replied != nil {
		h.d.replied()
	}
	return h.d.reply
}

func (h host) Decline(_ context.Context, j job.Job, s job.Skip) error {
	h.d.note("decline %.4s %s", j.HeadSHA, s.Code)
	return nil
}

func (h host) Queued(_ context.Context, j job.Job, title, _ string) (bool, error) {
	h.d.note("queued %.4s %s", j.HeadSHA, title)
	return true, nil
}

func (h host) Unqueued(_ context.Context, j job.Job, c queue.Reason, _ string) error {
	h.d.note("unqueued %.4s %s", j.HeadSHA, c)
	return nil
}

func (h host) Readable(dir string) bool { return h.d.old == "" || !strings.HasSuffix(dir, "-"+h.d.old) }

func (h host) Close(context.Context) { h.d.open.Add(-1) }

func (h host) Begin(_ context.Context, a Assignment) error {
	h.d.note("begin %s %s", a.Run, a.Details)
	return h.d.begin
}

func (h host) Verify(ctx context.Context, a Assignment, l Link) (*report.Report, error) {
	h.d.note("verify %s of %.4s on %.4s", a.Run, a.Job.HeadSHA, a.Job.BaseSHA)
	if err := errors.Join(l.Wrote(), l.Kept()); err != nil && !errors.Is(err, store.ErrBlobsAway) { // which is logged
		return nil, err
	}
	if h.d.live != nil {
		h.d.live(a, l)
	}
	return h.d.verify(ctx)
}

func (h host) Finish(_ context.Context, a Assignment, rep *report.Report, e Ending) (*report.Report, error) {
	if data, err := os.ReadFile(filepath.Join(a.Dir, "report.json")); rep == nil && err == nil {
		if err := json.Unmarshal(data, &rep); err != nil {
			return nil, err
		}
	}
	verdict := report.Verdict("none")
	if rep != nil {
		verdict = rep.Verdict
	}
	more := ""
	if e.Late {
		more = " late"
	}
	if a.Job.Installation > pushed().Installation {
		more += fmt.Sprint(" by ", a.Job.Installation)
	}
	h.d.note("finish %s %s%s%s", a.Run, verdict, e.Kind, more)
	if h.d.finishing != nil {
		h.d.finishing()
	}
	return rep, h.d.finish
}

const headOID = "2222222222222222222222222222222222222222"

// pushed is the job of a pull request, comment one that alice asks for.
func pushed() job.Job {
	j := job.Job{
		Verb: event.VerbVerify, Trigger: job.TriggerPullRequest, Event: "pull_request", Action: "opened", Repo: event.Repo{ID: 5, Owner: "acme", Name: "sums"},
		Number: 4, BaseSHA: baseOID, HeadSHA: headOID, Actor: event.User{ID: 3, Login: "alice"}, Installation: 9,
	}
	j.ID = j.Identity()
	return j
}

func asked(verb event.Verb, comment int64) job.Job {
	j := pushed()
	j.Verb, j.Trigger, j.Event, j.Action, j.BaseSHA, j.HeadSHA = verb, job.TriggerComment, "issue_comment", "created", "", ""
	j.Comment, j.Request = comment, fmt.Sprintf("comment:%d", comment)
	j.ID = j.Identity()
	return j
}

func (d *desk) enqueue(t *testing.T, jobs ...job.Job) {
	t.Helper()
	for _, j := range jobs {
		if _, err := d.Queue.Enqueue(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
}

// state is that of the run of a job, and why.
func (d *desk) state(t *testing.T, j job.Job) string {
	t.Helper()
	run, err := d.DB.RunOfJob(t.Context(), j.ID)
	if errors.Is(err, store.ErrNotFound) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(run.State) + " " + run.Verdict)
}

func (d *desk) want(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, d.notes); diff != "" {
		t.Errorf("the host was asked (-want +got):\n%s", diff)
	}
}

// A job is done once, however often the queue hands it out: what is published comes before the
// record that it was.
func TestWorkOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.enqueue(t, pushed())
	for range 2 {
		if err := d.Work(t.Context(), pushed()); err != nil {
			t.Fatal(err)
		}
	}
	d.want(t, "begin run1 https://y.example/runs/run1", "verify run1 of 2222 on 1111", "finish run1 PASS")
	if got := d.state(t, pushed()); got != "finished PASS" {
		t.Errorf("run is %q", got)
	}
}

// An error of the infrastructure is the queue's to repeat, and the repetition is the same
// run, of the commits that were pinned though the base has moved.
func TestWorkGoesOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.enqueue(t, pushed())
	good := d.verify
	down := errors.New("no disk")
	d.verify = func(context.Context) (*report.Report, error) { return nil, down }
	if err := d.Work(t.Context(), pushed()); !errors.Is(err, down) {
		t.Fatalf("error %v, want %v", err, down)
	}
	d.verify, d.facts.BaseSHA = good, headOID
	if err := d.Work(t.Context(), pushed()); err != nil {
		t.Fatal(err)
	}
	again := []string{"begin run1 https://y.example/runs/run1", "verify run1 of 2222 on 1111"}
	d.want(t, append(append(again, again...), "finish run1 PASS")...)
}

// A run that is cancelled has its say and ends so; one that must be handed over is left as it
// is, and no end is posted; one that was cancelled before anyone saw it is nothing.
func TestWorkCancelled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cause error
		last  string
		state string
	}{
		{&queue.Cancelled{Reason: queue.Superseded}, "finish run1 PARTIALsuperseded", "superseded PARTIAL"},
		{&queue.Cancelled{Reason: queue.Stopped}, "finish run1 PARTIALstopped", "stopped PARTIAL"},
		{queue.ErrHandBack, "verify run1 of 2222 on 1111", "running"},
	} {
		d := newDesk(t)
		d.enqueue(t, pushed())
		ctx, cancel := context.WithCancelCause(t.Context())
		d.verify = func(inner context.Context) (*report.Report, error) {
			cancel(test.cause)
			select {
			case <-inner.Done():
			case <-t.Context().Done(): // what is handed over is not asked to end
			}
			return &report.Report{Verdict: report.Partial}, nil
		}
		if errors.Is(test.cause, queue.ErrHandBack) {
			d.left = 1
		}
		err := d.Work(ctx, pushed())
		if handed := errors.Is(err, queue.ErrHandBack); handed != (test.state == "running") {
			t.Errorf("%v: error %v", test.cause, err)
		}
		d.mu.Lock()
		if got := d.notes[len(d.notes)-1]; got != test.last || d.state(t, pushed()) != test.state {
			t.Errorf("%v: last %q, run is %q; want %q and %q", test.cause, got, d.state(t, pushed()), test.last, test.state)
		}
		d.mu.Unlock()
	}
	d := newDesk(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&queue.Cancelled{Reason: queue.Stopped})
	if err := d.Work(ctx, pushed()); err != nil || d.notes != nil || d.state(t, pushed()) != "none" {
		t.Errorf("never begun: error %v, %q, run is %q", err, d.notes, d.state(t, pushed()))
	}
}

// A job that was cancelled while no worker had it is ended by the next, without being gone on
// with.
func TestWorkCancelledMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.enqueue(t, pushed())
	d.verify = func(context.Context) (*report.Report, error) { return nil, errors.New("died") }
	if err := d.Work(t.Context(), pushed()); err == nil {
		t.Fatal("no error")
	}
	d.notes = nil
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&queue.Cancelled{Reason: queue.Superseded})
	if err := d.Work(ctx, pushed()); err != nil {
		t.Fatal(err)
	}
	d.want(t, "finish run1 nonesuperseded")
}

// A stop that comes when a run has its result says so, and the result stands; one that came
// before, in another process, ends the run.
func TestStopTooLate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.enqueue(t, pushed())
	stop := asked(event.VerbStop, 5)
	d.finishing = func() {
		if err := d.Work(t.Context(), stop); err != nil {
			t.Error(err)
		}
	}
	if err := d.Work(t.Context(), pushed()); err != nil {
		t.Fatal(err)
	}
	if got := d.state(t, pushed()); got != "finished PASS" {
		t.Errorf("the run is %s", got)
	}
	if notes := strings.Join(d.notes, "\n"); !strings.Contains(notes, "Too late to stop") || strings.Contains(notes, "was stopped") {
		t.Errorf("the host was asked\n%s", notes)
	}

	d = newDesk(t)
	d.enqueue(t, pushed())
	d.verify = func(context.Context) (*report.Report, error) {
		_, err := d.Queue.Cancel(t.Context(), pushed().ID, queue.Stopped)
		return &report.Report{Verdict: report.Pass}, err
	}
	if err := d.Work(t.Context(), pushed()); err != nil {
		t.Fatal(err)
	}
	if got := d.state(t, pushed()); !strings.HasPrefix(got, "stopped") {
		t.Errorf("the run is %s", got)
	}
}

// Limits are held: nothing is begun beyond them, skipped runs do not count, and a person
// gets an answer.
func TestWorkLimits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.config.Limits.RunsPerDay = 2
	for i, state := range []store.RunState{store.Finished, store.Skipped, store.Failed} {
		if err := d.DB.SaveRun(t.Context(), store.Run{ID: fmt.Sprint(i), Job: fmt.Sprint(i), Repo: "acme/sums", RepoID: 5, Number: 4, State: state, Trigger: "pull_request", Created: d.now.Add(-time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	j := asked(event.VerbVerify, 1)
	d.enqueue(t, j)
	if err := d.Work(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if len(d.notes) != 1 || !strings.HasPrefix(d.notes[0], "reply #4 runs-per-day: ") || d.state(t, j) != "skipped" {
		t.Errorf("asked %q, run is %q", d.notes, d.state(t, j))
	}
	d.now = d.now.Add(25 * time.Hour) // another day
	j = asked(event.VerbVerify, 2)
	d.enqueue(t, j)
	if err := d.Work(t.Context(), j); err != nil || d.state(t, j) != "finished PASS" {
		t.Errorf("the next day: error %v, run is %q", err, d.state(t, j))
	}
}

// While there is no room no run is begun, nor gone on with: the job waits, nothing is
// published, and it uses up no attempt. One that is cancelled is ended all the same.
func TestWorkNoRoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	full := errors.New("1 GB is free, 2 GB must be")
	d.Room = func(context.Context) error { return full }
	d.enqueue(t, pushed())
	if err := d.Work(t.Context(), pushed()); !errors.Is(err, queue.ErrLater) || !errors.Is(err, full) || d.notes != nil {
		t.Fatalf("error %v, the host was asked %q", err, d.notes)
	}
	full = nil
	good := d.verify
	d.verify = func(context.Context) (*report.Report, error) { return nil, errors.New("died") }
	if err := d.Work(t.Context(), pushed()); err == nil {
		t.Fatal("no error")
	}
	full, d.notes, d.verify = errors.New("full again"), nil, good
	if err := d.Work(t.Context(), pushed()); !errors.Is(err, queue.ErrLater) || d.notes != nil {
		t.Fatalf("gone on with: error %v, the host was asked %q", err, d.notes)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&queue.Cancelled{Reason: queue.Superseded})
	if err := d.Work(ctx, pushed()); err != nil {
		t.Fatal(err)
	}
	d.want(t, "finish run1 nonesuperseded")
}

// A run whose results cannot be stored waits until they can be: nothing is posted before, and
// it uses up no attempt.
func TestWorkBlobsAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	folder := filepath.Join(filepath.Dir(d.DB.Path()), "blobs")
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // so that no folder can be made there
		t.Fatal(err)
	}
	d.live = func(a Assignment, _ Link) {
		if err := os.WriteFile(filepath.Join(a.Dir, "report.json"), make([]byte, 1000), 0o600); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	waits := make(chan string, 1)
	d.Log = slog.New(slog.NewTextHandler(writeFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "run waits for") {
			select {
			case waits <- string(p):
			default:
			}
		}
		return len(p), nil
	}), nil))
	d.enqueue(t, pushed())
	done := make(chan error, 1)
	work := func(ctx context.Context) { done <- d.Work(ctx, pushed()) }
	go work(ctx)
	<-waits
	cancel(queue.ErrHandBack) // as when the process is asked to end
	err := <-done
	select {
	case <-waits: // of the first
	default:
	}
	if !errors.Is(err, store.ErrBlobsAway) || strings.Contains(strings.Join(d.notes, " "), "finish") || d.state(t, pushed()) != "running" {
		t.Errorf("handed back: error %v, the host was asked %q, the run is %q", err, d.notes, d.state(t, pushed()))
	}
	go work(t.Context())
	select {
	case <-waits:
	case err := <-done:
		t.Fatalf("it does not wait: error %v, the host was asked %q", err, d.notes)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || d.state(t, pushed()) != "finished PASS" {
		t.Errorf("error %v, the run is %q", err, d.state(t, pushed()))
	}
}

// A silentBucket accepts and does not answer.
type silentBucket struct {
	blobs.Bucket
	asked chan struct{}
}

func (b silentBucket) Put(ctx context.Context, _ string, _ []byte) error {
	select {
	case b.asked <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return ctx.Err()
}

// A stop ends a run also while the bucket does not answer, in the middle of it or when it has its
// result, and that is posted.
func TestWorkBlobsSilent(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"in the middle", "at the end"} {
		for _, where := range []string{"SQLite", "PostgreSQL"} {
			t.Run(when+" on "+where, func(t *testing.T) {
				t.Parallel()
				url := ""
				if where == "PostgreSQL" {
					url = databases.Database(t)
				}
				bucket := silentBucket{blobs.File{Dir: t.TempDir()}, make(chan struct{}, 1)}
				d := newDeskWith(t, url, bucket)
				d.lastCopy = time.Second
				write := func(a Assignment) {
					if err := os.WriteFile(filepath.Join(a.Dir, "large.txt"), make([]byte, 1<<20), 0o600); err != nil {
						t.Error(err)
					}
				}
				d.live = func(a Assignment, l Link) {
					write(a)
					if when == "in the middle" {
						_ = l.Wrote() // is logged
						if err := l.Kept(); err != nil {
							d.verify = func(context.Context) (*report.Report, error) { return nil, err }
						}
					}
				}
				d.enqueue(t, pushed())
				ctx, cancel := context.WithCancelCause(t.Context())
				done := make(chan error, 1)
				go func() { done <- d.Work(ctx, pushed()) }()
				<-bucket.asked
				cancel(&queue.Cancelled{Reason: queue.Stopped})
				select {
				case err := <-done:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(3 * time.Minute):
					t.Fatal("the job does not end")
				}
				if got := d.state(t, pushed()); !strings.HasPrefix(got, "stopped") {
					t.Errorf("the run is %q, the host was asked %q", got, d.notes)
				}
			})
		}
	}
}

// A writeFunc is a function as an io.Writer.
type writeFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// What cannot get better is published at once and not tried again: a comment that asked is answered, and else
// there is nothing besides the result.
func TestWorkPermanent(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.learn = &Permanent{errors.New("line 3: unknown key @all")}
	d.enqueue(t, pushed())
	if err := d.Work(t.Context(), pushed()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.notes, "\n"); !strings.Contains(got, "begin run1") || !strings.Contains(got, "finish run1 none") ||
		strings.Contains(got, "reply") || d.state(t, pushed()) != "failed" {
		t.Errorf("asked\n%s\nrun is %q", got, d.state(t, pushed()))
	}
	person := asked(event.VerbVerify, 8)
	d.enqueue(t, person)
	if err := d.Work(t.Context(), person); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.notes, "\n"); !strings.Contains(got, "reply #4 given-up: Not verified: line 3") || strings.Contains(got, " @all") {
		t.Errorf("asked\n%s", got)
	}
}

// A question is answered once, though the server does so at once and the queue later.
func TestAnswerOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	running := pushed()
	stop := asked(event.VerbStop, 8)
	d.enqueue(t, running, stop)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := d.Work(t.Context(), stop); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	d.want(t, "seen 8", "reply #4 stop: The run was stopped. Comment `/verify` to start another.")
	if entry, err := d.Queue.Get(t.Context(), running.ID); err != nil || entry.Cancel != queue.Stopped {
		t.Errorf("the run is %+v, %v", entry, err)
	}
}

// A stop happens though GitHub takes no reaction to the comment.
func TestStopWithoutReaction(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.seen = errors.New("502")
	stop := asked(event.VerbStop, 8)
	d.enqueue(t, pushed(), stop)
	if err := d.Work(t.Context(), stop); err != nil {
		t.Error(err)
	}
	if entry, err := d.Queue.Get(t.Context(), pushed().ID); err != nil || entry.Cancel != queue.Stopped {
		t.Errorf("the run is %+v, %v", entry, err)
	}
	d.want(t, "seen 8", "reply #4 stop: The run was stopped. Comment `/verify` to start another.")
}

// A stop that cannot be answered at once is tried again: the queue's turn comes when the run is over.
func TestStopIsTriedAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	stop := asked(event.VerbStop, 8)
	d.enqueue(t, pushed(), stop)
	hosts, tries := d.Hosts, 0
	d.Hosts = func(ctx context.Context, j job.Job) (Host, error) {
		if tries++; tries == 1 {
			return nil, errors.New("502")
		}
		return hosts(ctx, j)
	}
	ctx, end := context.WithCancel(t.Context())
	answered := make(chan bool)
	go func() { d.Answer(ctx); close(answered) }()
	d.Hasten(stop)
	d.noted(t, "reply #4 stop: The run was stopped. Comment `/verify` to start another.")
	end()
	<-answered
	if entry, err := d.Queue.Get(t.Context(), pushed().ID); err != nil || entry.Cancel != queue.Stopped {
		t.Errorf("the run is %+v, %v", entry, err)
	}
}

// A stop that GitHub delivers late leaves alone what was asked for after it.
func TestStopOfThen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	run, stop := pushed(), asked(event.VerbStop, 8)
	run.At, stop.At = time.Unix(1000, 0), time.Unix(999, 0)
	d.enqueue(t, run, stop)
	if err := d.Work(t.Context(), stop); err != nil {
		t.Error(err)
	}
	if entry, err := d.Queue.Get(t.Context(), run.ID); err != nil || entry.Cancel != "" {
		t.Errorf("the run is %+v, %v", entry, err)
	}
	d.want(t, "seen 8", "reply #4 stop: Nothing was running.")
}

// Who may not write stops nothing and learns nothing.
func TestStopNeedsPermission(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.facts.Actor = "read"
	d.enqueue(t, pushed())
	verbs := slices.Sorted(maps.Keys((&Worker{}).answers()))
	for i, verb := range verbs {
		if err := d.Work(t.Context(), asked(verb, int64(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	if len(verbs) == 0 || len(d.notes) != len(verbs) {
		t.Errorf("%q got %d replies", verbs, len(d.notes))
	}
	for _, n := range d.notes {
		if !strings.HasPrefix(n, "reply #4 no-permission") {
			t.Errorf("asked %q", n)
		}
	}
	if entry, err := d.Queue.Get(t.Context(), pushed().ID); err != nil || entry.Cancel != "" {
		t.Errorf("the run is %+v, %v", entry, err)
	}
}

// The button of a check run stops its run and no other, and never that of another
// repository.
func TestStopButton(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	mine, other, foreign := pushed(), asked(event.VerbVerify, 2), pushed()
	foreign.Repo = event.Repo{ID: 6, Owner: "evil", Name: "sums"}
	foreign.ID = foreign.Identity()
	d.enqueue(t, mine, other, foreign)
	press := func(again string) {
		t.Helper()
		j := job.Job{Verb: event.VerbStop, Trigger: job.TriggerRerequest, Repo: mine.Repo, Again: again, Request: "delivery:" + again, Actor: mine.Actor, Installation: 9}
		j.ID = j.Identity()
		if err := d.Work(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	press(foreign.ID)
	press(mine.ID)
	for j, want := range map[*job.Job]queue.Reason{&mine: queue.Stopped, &other: "", &foreign: ""} {
		if entry, err := d.Queue.Get(t.Context(), j.ID); err != nil || entry.Cancel != want {
			t.Errorf("the run of %s, request %q, is cancelled %q, want %q (%v)", j.Repo.FullName(), j.Request, entry.Cancel, want, err)
		}
	}
}

// A run whose job is over though it never ended is ended, with a hint; one that is at work,
// or has only just begun, is left alone.
func TestOrphans(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	waiting := pushed()
	d.enqueue(t, waiting)
	for _, r := range []store.Run{
		{ID: "old", Job: "gone"}, {ID: "young", Job: "gone too", Started: d.now}, {ID: "alive", Job: waiting.ID},
	} {
		r.Repo, r.Number, r.HeadSHA, r.State = "acme/sums", 4, headOID, store.Running
		if r.Started.IsZero() {
			r.Started = d.now.Add(-time.Hour)
		}
		if err := errors.Join(d.DB.SaveRun(t.Context(), r), d.DB.Record(t.Context(), "job/"+r.ID, `{"id": "`+r.Job+`", "number": 4}`)); err != nil {
			t.Fatal(err)
		}
	}
	// Another process begins with it while this one is at it: it is posted once.
	other := make(chan error, 1)
	d.finishing = func() {
		d.finishing = nil
		go func() { other <- d.Orphans(t.Context()) }()
		select {
		case err := <-other:
			t.Errorf("it was not waited for: %v", err)
			other <- err
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err := errors.Join(d.Orphans(t.Context()), <-other); err != nil {
		t.Fatal(err)
	}
	d.want(t, "finish old none")
	for id, want := range map[string]store.RunState{"old": store.Failed, "young": store.Running, "alive": store.Running} {
		run, err := d.DB.Run(t.Context(), id)
		if err != nil || run.State != want {
			t.Errorf("run %s is %s, want %s (%v)", id, run.State, want, err)
		}
		if id == "old" && !strings.Contains(run.Reason, "/verify") {
			t.Errorf("reason %q has no hint", run.Reason)
		}
	}
}

// Each command of a comment is answered, but for those that become a run or need no worker.
func TestEveryCommandIsAnswered(t *testing.T) {
	t.Parallel()
	answers := (&Worker{}).answers()
	ann := event.User{ID: 1, Login: "ann", Type: "User"}
	for _, v := range event.Verbs() {
		understood := false
		for _, after := range []string{"", " 0123abc"} {
			body := "/verify " + string(v) + after
			c, _ := event.ParseCommand(body)
			understood = understood || c.Verb == v && c.Reason == ""
			d := job.Admit(&event.Event{
				Kind: event.Commented, Action: "created", Number: 4, Sender: ann, Comment: &event.Comment{ID: 1, Author: ann, Body: body},
			}, job.Rules{App: true})
			if answers[v] == nil && d.Run && d.Job.Verb == v {
				t.Errorf("nothing answers `%s`: add it to answers", body)
			}
		}
		if !understood {
			t.Errorf("`/verify %s` is no command as this test writes it: have it write what may follow", v)
		}
	}
}
