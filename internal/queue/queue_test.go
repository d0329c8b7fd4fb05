package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// eventually waits until what holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline, tick := time.Now().Add(5*time.Minute), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: does not come about", what)
		}
		<-tick.C
	}
}

// at is a job for a head of pull request number of repository repo.
func at(repo int64, number int, head string) job.Job {
	j := job.Job{Number: number, HeadSHA: head, Installation: 1}
	j.Repo.ID = repo
	j.ID = j.Identity()
	return j
}

// asked is the job that a person asks for.
func asked(j job.Job, request string) job.Job {
	j.Request = request
	j.ID = j.Identity()
	return j
}

// quick looks often, so that tests need not wait.
func quick(o Options) Options {
	o.Watch = 20 * time.Millisecond
	if o.Backoff == nil {
		o.Backoff = func(int) time.Duration { return time.Millisecond }
	}
	o.Log = slog.New(slog.DiscardHandler)
	return o
}

func newQueue(t *testing.T, where string, o Options) *Queue {
	t.Helper()
	q, err := New(openAt(t, where), quick(o))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// run starts q and returns what ends it and returns its error.
func run(t *testing.T, q *Queue, work func(context.Context, job.Job) error) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, work) }()
	var once sync.Once
	var err error
	stop = func() error {
		once.Do(func() { cancel(); err = <-ended })
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return stop
}

func enqueue(t *testing.T, q *Queue, j job.Job) Receipt {
	t.Helper()
	r, err := q.Enqueue(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func state(t *testing.T, q *Queue, j job.Job) State {
	t.Helper()
	e, err := q.Get(t.Context(), j.ID)
	if err != nil {
		t.Fatal(err)
	}
	return e.State
}

// A log keeps what work was called with.
type log struct {
	mu   sync.Mutex
	text []string
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.text)
}

// The same work is done once, however often and wherever it is called for at the same
// time, and also when it is called for again after it was done, failed or cancelled.
func TestIdentity(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q, other := newQueue(t, where, Options{Workers: 2, Attempts: 1}), newQueue(t, where, Options{})
		jobs := map[string]job.Job{"done": at(1, 1, "a"), "fails": at(1, 2, "a"), "stopped": at(1, 3, "a")}
		var wg sync.WaitGroup
		var fresh log
		for i := range 20 {
			for name, j := range jobs {
				wg.Go(func() {
					r, err := []*Queue{q, other}[i%2].Accept(t.Context(), store.Delivery{ID: fmt.Sprint(name, i)}, &j)
					if err != nil || r.ID != j.ID {
						t.Error(r, err)
					}
					if r.Fresh {
						fresh.add("%s", name)
					}
				})
			}
		}
		wg.Wait()
		got := fresh.all()
		slices.Sort(got)
		if d := cmp.Diff([]string{"done", "fails", "stopped"}, got); d != "" {
			t.Error(d)
		}
		if ok, err := q.Cancel(t.Context(), jobs["stopped"].ID, Stopped); !ok || err != nil {
			t.Fatal(ok, err)
		}
		var calls log
		run(t, q, func(_ context.Context, j job.Job) error {
			calls.add("%d", j.Number)
			if j.Number == 2 {
				return errors.New("broken")
			}
			return nil
		})
		eventually(t, "both are over", func() bool { return state(t, q, jobs["done"]) == Done && state(t, q, jobs["fails"]) == Ended })
		for name, j := range jobs {
			if enqueue(t, q, j).Fresh {
				t.Errorf("%s: is fresh again", name)
			}
		}
		got = calls.all()
		slices.Sort(got)
		if d := cmp.Diff([]string{"1", "2"}, got); d != "" {
			t.Error(d)
		}
		if d, ok, err := q.db.Delivery(t.Context(), "done7"); !ok || err != nil || d.Received.IsZero() {
			t.Errorf("a delivery of known work is not stored: %v, %v, %v", d, ok, err)
		}
		if _, err := q.Accept(t.Context(), store.Delivery{ID: "nothing to do"}, nil); err != nil {
			t.Error(err)
		}
		if _, err := q.Enqueue(t.Context(), job.Job{}); err == nil {
			t.Error("a job without identity was taken")
		}
	})
}

// A request that the database refuses does not spoil those it came with.
func TestSpoiltBatch(t *testing.T) {
	t.Parallel()
	q := newQueue(t, server.Database(t), Options{})
	var wg sync.WaitGroup
	for i := range 30 {
		j := at(1, i+1, "a")
		if i%10 == 3 {
			j.HeadSHA = "\x00" // PostgreSQL has no such text
		}
		wg.Go(func() {
			r, err := q.Enqueue(t.Context(), j)
			if bad := j.HeadSHA == "\x00"; bad != (err != nil) || bad == r.Fresh {
				t.Error(j.Number, r, err)
			}
		})
	}
	wg.Wait()
}

// Requests that share a transaction get what each would get alone: the first of those that
// are the same is fresh, each head ends the older ones of its pull request and no others, and
// a person's job ends none; and each is worked on, with its own number and priority.
func TestBatch(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 1})
		enqueue(t, q, at(1, 1, "old"))
		jobs := []job.Job{at(1, 1, "a"), at(1, 2, "a"), at(1, 1, "a"), at(1, 1, "b"), at(2, 1, "b"), asked(at(2, 1, "c"), "comment:1"), at(1, 1, "old")}
		var batch []*request
		for i := range jobs {
			r := &request{delivery: store.Delivery{ID: fmt.Sprint("d", i%5)}, job: &jobs[i]}
			r.receipt.ID = jobs[i].ID
			batch = append(batch, r)
		}
		batch = append(batch, &request{delivery: store.Delivery{ID: "none"}})
		if err := q.accept(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range batch {
			got = append(got, fmt.Sprintf("%t %d", r.receipt.Fresh, len(r.receipt.Superseded)))
		}
		want := []string{"true 1", "true 0", "false 0", "true 1", "true 0", "true 0", "false 0", "false 0"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("receipts (-want +got):\n%s", diff)
		}
		for _, id := range []string{"d0", "d4", "none"} {
			if _, ok, err := q.db.Delivery(t.Context(), id); !ok || err != nil {
				t.Errorf("delivery %s: stored %t, %v", id, ok, err)
			}
		}
		var worked log
		run(t, q, func(_ context.Context, j job.Job) error {
			worked.add("%d %d %s", j.Repo.ID, j.Number, j.HeadSHA)
			return nil
		})
		eventually(t, "all are worked on", func() bool { return len(worked.all()) == 4 })
		// The person's comes first; the first of all was handed over before.
		if got, want := strings.Join(worked.all(), ", "), "2 1 c, 1 2 a, 1 1 b, 2 1 b"; got != want {
			t.Errorf("worked on %s; want %s", got, want)
		}
	})
}

// A newer head ends the older jobs of its pull request, waiting or running here or
// elsewhere, and no other: not those of other pull requests, of the same head, of a head
// that is not known yet, nor what was reported later and came first.
func TestSupersede(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q, server := newQueue(t, where, Options{Workers: 3, PerRepo: 3}), newQueue(t, where, Options{})
		begun, ended := &log{}, &log{}
		release := make(chan struct{}) // until then no place becomes free
		run(t, q, func(ctx context.Context, j job.Job) error {
			begun.add("%s", j.ID)
			<-ctx.Done()
			<-release
			ended.add("%s %v", j.HeadSHA, context.Cause(ctx))
			return ctx.Err()
		})
		running, otherPull, unpinned := at(1, 1, "old"), at(1, 2, "old"), asked(at(1, 1, ""), "comment 1")
		for _, j := range []job.Job{running, otherPull, unpinned} {
			enqueue(t, server, j)
		}
		eventually(t, "three run", func() bool { return len(begun.all()) == 3 })
		waiting := at(1, 1, "older, waits")
		waiting.At = time.Unix(100, 0)
		if r := enqueue(t, server, waiting); !cmp.Equal(r.Superseded, []string{running.ID}) {
			t.Errorf("superseded %v, want what runs", r.Superseded)
		}
		late := at(1, 1, "reported before")
		late.At = time.Unix(99, 0)
		if r := enqueue(t, server, late); len(r.Superseded) > 0 {
			t.Errorf("an older report superseded %v", r.Superseded)
		}
		newer := at(1, 1, "new")
		newer.At = time.Unix(101, 0)
		r := enqueue(t, server, newer)
		slices.Sort(r.Superseded)
		want := []string{waiting.ID, late.ID}
		slices.Sort(want)
		if d := cmp.Diff(want, r.Superseded); d != "" {
			t.Error(d)
		}
		close(release)
		eventually(t, "the running one ends", func() bool { return state(t, q, running) == Ended })
		eventually(t, "the newest begins", func() bool { return slices.Contains(begun.all(), newer.ID) })
		for _, id := range []string{waiting.ID, late.ID} {
			if slices.Contains(begun.all(), id) {
				t.Errorf("%s began though it was superseded", id)
			}
		}
		if e, err := q.Get(t.Context(), running.ID); err != nil || e.Cancel != Superseded || e.Job.HeadSHA != "old" || e.Starts != 1 {
			t.Errorf("Get = %+v, %v", e, err)
		}

		unpinned.HeadSHA = "head that it found"
		if ids, err := server.Pin(t.Context(), unpinned); err != nil || len(ids) != 0 {
			t.Errorf("Pin superseded %v, %v, want nothing: newer is newer", ids, err)
		}
		newest := at(1, 1, "newest")
		r = enqueue(t, q, newest)
		slices.Sort(r.Superseded)
		want = []string{unpinned.ID, newer.ID}
		slices.Sort(want)
		if d := cmp.Diff(want, r.Superseded); d != "" {
			t.Errorf("after Pin: %s", d)
		}
		if active, err := q.Active(t.Context(), otherPull); err != nil || len(active) != 1 || active[0].State != Working {
			t.Errorf("the other pull request: %v, %v", active, err)
		}
		named := asked(at(1, 2, "named"), "comment 2")
		named.Want = "named"
		enqueue(t, q, named)
		if ids, err := q.Pin(t.Context(), named); len(ids) > 0 || err != nil {
			t.Errorf("a commit that a person named superseded %v, %v", ids, err)
		}
		pinned := asked(at(1, 2, "pinned"), "comment 3")
		enqueue(t, q, pinned)
		if ids, err := q.Pin(t.Context(), pinned); len(ids) != 2 || err != nil {
			t.Errorf("Pin superseded %v, %v, want the two before", ids, err)
		}
		if _, err := q.Pin(t.Context(), at(9, 9, "")); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
		eventually(t, "those that ran know why", func() bool {
			return len(slices.DeleteFunc(ended.all(), func(s string) bool { return !strings.HasSuffix(s, "job was superseded") })) >= 3
		})
	})
}

// Of two pushes in the same second the older one ends nothing, whichever is reported first; the newer one
// ends what it was pushed over, or what there is when it is found to be the head.
func TestSupersedeInASecond(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{})
		pushed := func(number int, head, before string) job.Job {
			j := at(1, number, head)
			j.At, j.Before = time.Unix(100, 0), before
			return j
		}
		for _, tt := range []struct {
			name        string
			first, then job.Job
			want, pin   bool // the first is superseded by the other at once, or when that is begun
		}{
			{"in order", pushed(1, "a", ""), pushed(1, "b", "a"), true, false},
			{"the newer first", pushed(2, "b", "a"), pushed(2, "a", "of main"), false, false},
			{"with one between them", pushed(3, "a", ""), pushed(3, "c", "b"), false, true},
		} {
			enqueue(t, q, tt.first)
			if r := enqueue(t, q, tt.then); (len(r.Superseded) > 0) != tt.want {
				t.Errorf("%s: superseded %v, want %v", tt.name, r.Superseded, tt.want)
			}
			if !tt.pin {
				continue
			}
			if ids, err := q.Pin(t.Context(), tt.then); len(ids) != 1 || err != nil {
				t.Errorf("%s: Pin superseded %v, %v", tt.name, ids, err)
			}
		}
	})
}

// A job is stopped wherever it is: before it began nothing is called; while it runs its
// context ends, also when another process says so; between two attempts the work is
// called once more with a context that is cancelled, to end what people see.
func TestStop(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 4, Backoff: func(int) time.Duration { return time.Hour }})
		server := newQueue(t, where, Options{})
		before, here, elsewhere, between := at(1, 1, "a"), at(1, 2, "a"), at(1, 3, "a"), at(1, 4, "a")
		enqueue(t, q, before)
		if ok, err := server.Cancel(t.Context(), before.ID, Stopped); !ok || err != nil {
			t.Fatal(ok, err)
		}
		calls := &log{}
		var latency [2]time.Duration
		var stopped [2]time.Time
		run(t, q, func(ctx context.Context, j job.Job) error {
			calls.add("%d", j.Number)
			if j.Number == 4 && ctx.Err() == nil {
				return errors.New("try again")
			}
			<-ctx.Done()
			if i := j.Number - 2; i < 2 {
				latency[i] = time.Since(stopped[i])
			}
			calls.add("%d %v", j.Number, context.Cause(ctx))
			return nil
		})
		for _, j := range []job.Job{here, elsewhere, between} {
			enqueue(t, q, j)
		}
		eventually(t, "all were called", func() bool { return len(calls.all()) == 3 && state(t, q, between) == Waiting })
		for i, by := range []*Queue{q, server, server} {
			j := []job.Job{here, elsewhere, between}[i]
			if i < 2 {
				stopped[i] = time.Now()
			}
			if ok, err := by.Cancel(t.Context(), j.ID, Stopped); !ok || err != nil {
				t.Fatal(ok, err)
			}
			eventually(t, "ends", func() bool { return state(t, q, j) == Ended })
			if ok, err := by.Cancel(t.Context(), j.ID, Stopped); ok || err != nil {
				t.Errorf("a job that is over was stopped: %v, %v", ok, err)
			}
		}
		t.Logf("context ended after %v here, %v elsewhere (looked for every 20ms)", latency[0], latency[1])
		got := calls.all()
		slices.Sort(got)
		want := []string{"2", "2 job was stopped", "3", "3 job was stopped", "4", "4", "4 job was stopped"}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if state(t, q, before) != Ended {
			t.Error("the first is", state(t, q, before))
		}
	})
}

// No more jobs of a repository or installation run at once than its cap; another
// repository does not wait for the backlog of the first; what people ask for is first.
func TestTurns(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 4, PerRepo: 2, PerInstallation: 3})
		var all []job.Job
		for i := range 12 {
			all = append(all, at(1, i+1, "a"))
		}
		second, third := at(2, 1, "a"), asked(at(1, 50, "a"), "comment")
		foreign := at(3, 1, "a")
		foreign.Installation = 2
		all = append(all, second, third, foreign)
		for _, j := range all {
			enqueue(t, q, j)
		}
		var mu sync.Mutex
		var order []string
		repo, installation := map[int64]int{}, map[int64]int{}
		most, mostInstallation, mostAll := 0, 0, 0
		count := func(j job.Job, n int) {
			mu.Lock()
			defer mu.Unlock()
			repo[j.Repo.ID] += n
			installation[j.Installation] += n
			most, mostInstallation = max(most, repo[j.Repo.ID]), max(mostInstallation, installation[j.Installation])
			mostAll = max(mostAll, installation[1]+installation[2])
			if n > 0 {
				order = append(order, j.ID)
			}
		}
		full := make(chan struct{})
		run(t, q, func(_ context.Context, j job.Job) error {
			count(j, 1)
			defer count(j, -1)
			<-full
			return nil
		})
		eventually(t, "all workers are busy", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return mostAll == 4 // two of the first repository, one of the second, the other installation's
		})
		close(full)
		for _, j := range all {
			eventually(t, "is done", func() bool { return state(t, q, j) == Done })
		}
		if most != 2 || mostInstallation != 3 {
			t.Errorf("at once: %d of a repository, want 2; %d of an installation, want 3", most, mostInstallation)
		}
		// The first two were handed over when they came; no one overtakes them.
		for name, j := range map[string]job.Job{"the other repository": second, "the other installation": foreign, "what a person asks for": third} {
			if i := slices.Index(order, j.ID); i > 6 {
				t.Errorf("%s came as number %d of %d", name, i+1, len(order))
			}
		}
	})
}

// What a person asks for overtakes what waits, also what River has already.
func TestPriority(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 1})
		var want []string
		for i := range 4 {
			enqueue(t, q, at(1, i+1, "a"))
			want = append(want, fmt.Sprint(i+1))
		}
		enqueue(t, q, asked(at(1, 9, ""), "comment"))
		order := &log{}
		gate := make(chan struct{})
		run(t, q, func(_ context.Context, j job.Job) error {
			order.add("%d", j.Number)
			<-gate
			return nil
		})
		close(gate)
		eventually(t, "all are done", func() bool { return len(order.all()) == 5 })
		// The window of two was full when the request came: one place after those at most.
		if i := slices.Index(order.all(), "9"); i > 2 {
			t.Errorf("the request was number %d: %v", i+1, order.all())
		}
		if d := cmp.Diff(want, slices.DeleteFunc(order.all(), func(s string) bool { return s == "9" })); d != "" {
			t.Error(d)
		}
	})
}

// What fails is tried again as often as was said, panics too, and then given up and
// reported; what succeeds is not.
func TestRetry(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		calls := &log{}
		q := newQueue(t, where, Options{Workers: 2, Attempts: 3, GaveUp: func(_ context.Context, j job.Job, err error) {
			calls.add("gave up %d: %.12s", j.Number, err.Error())
		}})
		recovers, fails, panics := at(1, 1, "a"), at(2, 2, "a"), at(3, 3, "a")
		var mu sync.Mutex
		tried := map[int]int{}
		run(t, q, func(_ context.Context, j job.Job) error {
			mu.Lock()
			defer mu.Unlock()
			tried[j.Number]++
			switch {
			case j.Number == 1 && tried[1] < 3:
				return errors.New("not yet")
			case j.Number == 2:
				return errors.New("never")
			case j.Number == 3:
				panic("oh")
			}
			return nil
		})
		for _, j := range []job.Job{recovers, fails, panics} {
			enqueue(t, q, j)
		}
		eventually(t, "all are over", func() bool {
			return state(t, q, recovers) == Done && state(t, q, fails) == Ended && state(t, q, panics) == Ended
		})
		mu.Lock()
		defer mu.Unlock()
		if d := cmp.Diff(map[int]int{1: 3, 2: 3, 3: 3}, tried); d != "" {
			t.Error(d)
		}
		got := calls.all()
		slices.Sort(got)
		if d := cmp.Diff([]string{"gave up 2: never", "gave up 3: panic: oh\ngo"}, got); d != "" {
			t.Error(d)
		}
	})
}

// What work depends on outside may be away for hours: that uses up no attempt, nor is the worker taken
// for one that dies. A job that is as old as that is tried as often as others.
func TestOutside(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		calls := &log{}
		q := newQueue(t, where, Options{Workers: 3, Attempts: 1, Starts: 2, GaveUp: func(_ context.Context, j job.Job, err error) {
			calls.add("gave up %d: %v", j.Number, err)
		}})
		recovers, old, stopped := at(1, 1, "a"), at(2, 2, "a"), at(3, 3, "a")
		for _, j := range []job.Job{recovers, old, stopped} {
			enqueue(t, q, j)
		}
		err := q.db.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `update jobs set created = $1 where id = $2`, store.Micros(time.Now().Add(-outsideFor)), old.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		tried := map[int]int{}
		run(t, q, func(ctx context.Context, j job.Job) error {
			mu.Lock()
			defer mu.Unlock()
			tried[j.Number]++
			if j.Number == 1 && tried[1] == 4 || ctx.Err() != nil {
				return nil
			}
			until := time.Now().Add(100 * time.Millisecond)
			if j.Number == 3 {
				until = until.Add(time.Hour)
			}
			return fmt.Errorf("learn: %w", &Outside{Err: errors.New("502"), Until: until})
		})
		eventually(t, "one is begun", func() bool { mu.Lock(); defer mu.Unlock(); return tried[3] == 1 })
		eventually(t, "it waits", func() bool { return state(t, q, stopped) == Waiting })
		if _, err := q.Cancel(t.Context(), stopped.ID, Stopped); err != nil {
			t.Fatal(err)
		}
		eventually(t, "all are over", func() bool {
			return state(t, q, recovers) == Done && state(t, q, old) == Ended && state(t, q, stopped) == Ended
		})
		mu.Lock()
		defer mu.Unlock()
		if d := cmp.Diff(map[int]int{1: 4, 2: 1, 3: 2}, tried); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"gave up 2: learn: 502"}, calls.all()); d != "" {
			t.Error(d)
		}
	})
}

// A job that is stopped while it is being begun is begun once: who stops it cannot know whether that
// was stored already, and nothing is counted twice.
func TestStoppedWhileBegun(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 1})
		j := at(1, 1, "a")
		enqueue(t, q, j)
		release, err := q.alive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := release(); err != nil {
				t.Error(err)
			}
		}()
		ctx, end := q.enter(t.Context(), j.ID)
		defer end()
		q.cancelHere([]string{j.ID}, Stopped)
		if _, starts, _, err := q.begin(ctx, j.ID); starts != 1 || err != nil {
			t.Errorf("begun %d times: %v", starts, err)
		}
		if err := q.notBegun(ctx, j); err != nil {
			t.Error(err)
		}
		if _, starts, _, err := q.begin(ctx, j.ID); starts != 1 || err != nil {
			t.Errorf("begun %d times after it was taken back: %v", starts, err)
		}
		if _, starts, _, err := q.begin(ctx, j.ID); starts != 2 || err != nil {
			t.Errorf("begun %d times: %v", starts, err)
		}
		young := q.waitsOutside(ctx, j)
		if _, starts, _, err := q.begin(ctx, j.ID); !young || starts != 2 || err != nil {
			t.Errorf("begun %d times after it waited (%t): %v", starts, young, err)
		}
	})
}

// A worker that ends lets its jobs finish; those that do not finish in time are handed
// back, begun again by the next worker and have lost no attempt; begun too often, a job
// is given up.
func TestDrain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		begun, release := make(chan struct{}, 2), make(chan struct{})
		first := newQueue(t, where, Options{Workers: 2, Attempts: 1, Drain: 100 * time.Millisecond})
		quickJob, slow := at(1, 1, "a"), at(1, 2, "a")
		stop := run(t, first, func(ctx context.Context, j job.Job) error {
			begun <- struct{}{}
			if j.Number == 1 {
				<-release
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		enqueue(t, first, quickJob)
		enqueue(t, first, slow)
		<-begun
		<-begun
		time.AfterFunc(10*time.Millisecond, func() { close(release) })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if a, b := state(t, first, quickJob), state(t, first, slow); a != Done || b != Waiting {
			t.Errorf("after draining: %s, %s", a, b)
		}
		calls := &log{}
		second := newQueue(t, where, Options{Workers: 2, Attempts: 2})
		stop = run(t, second, func(ctx context.Context, j job.Job) error {
			calls.add("%d", j.Number)
			if len(calls.all()) == 1 {
				return errors.New("the first of two attempts, then")
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		eventually(t, "it is begun again", func() bool { return len(calls.all()) == 2 })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		third := newQueue(t, where, Options{Workers: 1, Starts: 3, GaveUp: func(_ context.Context, _ job.Job, err error) { calls.add("%v", err) }})
		run(t, third, func(context.Context, job.Job) error { calls.add("begun too often"); return nil })
		eventually(t, "it is given up", func() bool { return state(t, third, slow) == Ended })
		if d := cmp.Diff([]string{"2", "2", errDied.Error()}, calls.all()); d != "" {
			t.Error(d)
		}
	})
}

// Jobs that are over are forgotten after their time, and no others.
func TestSweep(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{})
		over, waits := at(1, 1, "a"), at(1, 2, "a")
		enqueue(t, q, over)
		enqueue(t, q, waits)
		if _, err := q.Cancel(t.Context(), over.ID, Stopped); err != nil {
			t.Fatal(err)
		}
		if n, err := q.Sweep(t.Context(), time.Now().Add(-time.Hour)); n != 0 || err != nil {
			t.Error(n, err)
		}
		if n, err := q.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 1 || err != nil {
			t.Error(n, err)
		}
		if _, err := q.Get(t.Context(), over.ID); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
		if d, err := q.Depth(t.Context()); err != nil || d[Waiting] != 1 {
			t.Error(d, err)
		}
	})
}

// Two processes on one SQLite file do not both work: one would take the other's jobs
// for those of a dead worker.
func TestOneWorkerOnSQLite(t *testing.T) {
	t.Parallel()
	where := t.TempDir() + "/db"
	q, other := newQueue(t, where, Options{Workers: 1}), newQueue(t, where, Options{Workers: 1})
	stop := run(t, q, func(context.Context, job.Job) error { return nil })
	j := at(1, 1, "a")
	enqueue(t, other, j) // that it may
	eventually(t, "is done", func() bool { return state(t, q, j) == Done })
	if err := other.Run(t.Context(), nil); !errors.Is(err, ErrBusy) {
		t.Errorf("a second worker: %v", err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	run(t, other, func(context.Context, job.Job) error { return nil })
	next := at(1, 2, "a")
	enqueue(t, q, next)
	eventually(t, "is done by the other", func() bool { return state(t, q, next) == Done })
}
