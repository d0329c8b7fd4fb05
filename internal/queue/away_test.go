package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

// A PostgreSQL that is stopped and started in the middle of jobs is waited for: no worker
// ends, what is at work stays where it is, what fails for it costs no attempt, and nothing
// is lost or done twice.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	var own storetest.Server
	t.Cleanup(own.Stop)
	where := own.Database(t)
	receiver := newQueue(t, where, Options{})
	workers := []*Queue{newQueue(t, where, Options{Workers: 2, Attempts: 1}), newQueue(t, where, Options{Workers: 2, Attempts: 1})}
	var begun, ended log
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error, len(workers)+1)
	go func() { results <- receiver.Run(ctx, nil) }()
	for _, q := range workers {
		go func() {
			results <- q.Run(ctx, func(ctx context.Context, j job.Job) error {
				begun.add("%d", j.Number)
				select {
				case <-ctx.Done():
					return fmt.Errorf("job %d was ended: %w", j.Number, context.Cause(ctx))
				case <-release:
				}
				err := q.db.Record(ctx, "done/"+j.ID, "1") // fails while the database is away
				if err == nil {
					ended.add("%d", j.Number)
				}
				return err
			})
		}()
	}
	jobs := []job.Job{at(1, 1, "a"), at(2, 2, "a"), at(3, 3, "a"), at(4, 4, "a")}
	for _, j := range jobs {
		enqueue(t, receiver, j)
	}
	eventually(t, "all are at work", func() bool { return len(begun.all()) == len(jobs) })

	own.Away(t)
	eventually(t, "the workers notice", func() bool {
		_, one := workers[0].outage()
		_, two := workers[1].outage()
		return one && two
	})
	if _, err := receiver.Enqueue(t.Context(), at(5, 5, "a")); err == nil {
		t.Error("a job was stored without a database")
	}
	own.Back(t)
	eventually(t, "the workers have their leases", func() bool {
		_, one := workers[0].outage()
		_, two := workers[1].outage()
		return !one && !two
	})
	if n := len(begun.all()); n != len(jobs) {
		t.Errorf("%d jobs were begun, want %d: one that is at work was begun again", n, len(jobs))
	}

	own.Away(t)
	close(release) // all fail now
	own.Back(t)
	late := at(6, 6, "a")
	eventually(t, "a job is stored again", func() bool {
		_, err := receiver.Enqueue(t.Context(), late)
		return err == nil
	})
	for _, j := range append(jobs, late) {
		eventually(t, fmt.Sprintf("job %d is done", j.Number), func() bool {
			e, err := receiver.Get(t.Context(), j.ID)
			if err != nil {
				t.Fatal(err)
			}
			if e.State == Ended {
				t.Fatalf("job %d was given up", j.Number)
			}
			return e.State == Done
		})
	}
	if n := len(ended.all()); n != len(jobs)+1 {
		t.Errorf("%d jobs were done, want %d: %v", n, len(jobs)+1, ended.all())
	}
	select {
	case err := <-results:
		t.Errorf("a process ended: %v", err)
	default:
	}
	cancel()
	for range len(workers) + 1 {
		select {
		case err := <-results:
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("a process does not end")
		}
	}
}

// What fails while the process drains is handed back and not given up, and the process ends
// as soon as it failed.
func TestFailsAtTheEnd(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		q := newQueue(t, where, Options{Workers: 1, Attempts: 1, Drain: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		begun, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- q.Run(ctx, func(context.Context, job.Job) error {
				close(begun)
				eventually(t, "the queue drains", q.ending)
				return errors.New("GitHub does not answer")
			})
		}()
		j := at(1, 1, "a")
		enqueue(t, q, j)
		<-begun
		began := time.Now()
		cancel()
		if err := <-ended; err != nil || time.Since(began) > 20*time.Second {
			t.Errorf("it ended after %v: %v", time.Since(began), err)
		}
		if s := state(t, q, j); s != Waiting {
			t.Errorf("the job is %s, want it to wait for the next process", s)
		}
	})
}

// River's counts are logged only where all is; its warnings always.
func TestRiverIsQuiet(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l := slog.New(quiet{slog.NewTextHandler(&out, nil), func() bool { return false }}).With("a", "b").WithGroup("g")
	l.Info("job counts")
	l.Warn("no leader")
	if got := out.String(); strings.Contains(got, "job counts") || !strings.Contains(got, "no leader") {
		t.Errorf("logged: %s", got)
	}
}

// That River's services stop is an error unless they were asked to.
func TestQuietEnd(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	ends := false
	l := slog.New(quiet{slog.NewTextHandler(&out, nil), func() bool { return ends }}).With("a", "b")
	for _, ends = range []bool{false, true} {
		l.Error("listener", "attempt", 14, "err", errors.New("service stopped"))
		l.Error("listener", "err", errors.New("no connection"))
	}
	if got := out.String(); strings.Count(got, "service stopped") != 1 || strings.Count(got, "no connection") != 2 {
		t.Errorf("it logs\n%s", got)
	}
}
