package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// hallsOfBoth runs test with a hall on either database.
func hallsOfBoth(t *testing.T, test func(t *testing.T, h *hall)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { t.Parallel(); test(t, newHall(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { t.Parallel(); test(t, newHallAt(t, databases.Database(t))) })
}

// deliver has the queue accept an event for the work of j: as what came of it in the queue.
func (h *hall) deliver(id, action string, j job.Job) (job.Job, bool) {
	h.t.Helper()
	j.Action, j.Delivery = action, id
	r, err := h.Queue.Accept(h.t.Context(), store.Delivery{ID: id}, &j)
	if err != nil {
		h.t.Fatal(err)
	}
	j.ID = r.ID
	return j, r.Fresh
}

// wantRun holds the state of the run of a job.
func (h *hall) wantRun(j job.Job, want store.RunState) {
	h.t.Helper()
	if run, err := h.DB.RunOfJob(h.t.Context(), j.ID); err != nil || run.State != want {
		h.t.Errorf("the run of %s is %q (%v), want %q", j.Action, run.State, err, want)
	}
}

// Work that was skipped is done when an event calls for it for which it is not skipped; work that
// ended well is not done again, nor for a delivery that comes again.
func TestAgainAfterDraft(t *testing.T) {
	t.Parallel()
	hallsOfBoth(t, func(t *testing.T, h *hall) {
		t.Helper()
		base := h.open()
		draft := h.facts[base.Number]
		draft.Draft = true
		h.setFacts(base.Number, draft)
		opened, _ := h.deliver("d1", "opened", base)
		h.over(opened)
		h.wantRun(opened, store.Skipped)
		draft.Draft = false
		h.setFacts(base.Number, draft)
		if _, fresh := h.deliver("d1", "opened", base); fresh {
			t.Error("a delivery that comes again is work")
		}
		ready, fresh := h.deliver("d2", "ready_for_review", base)
		if !fresh {
			t.Fatal("nothing is run when the draft is ready for review")
		}
		<-h.begun
		if _, fresh := h.deliver("d3", "reopened", base); fresh {
			t.Error("what is at work is begun once more")
		}
		h.release <- struct{}{}
		h.over(ready)
		h.wantRun(ready, store.Finished)
		for i, action := range []string{"opened", "ready_for_review", "reopened"} {
			if _, fresh := h.deliver(fmt.Sprint("d", i+1), action, base); fresh {
				t.Errorf("a delivery of %s that comes again is work", action)
			}
		}
		if _, fresh := h.deliver("d4", "reopened", base); fresh {
			t.Error("what ended well is done again")
		}
		h.shows("at the end", base.HeadSHA, "completed skipped Not verified: the pull request is a draft", "completed success PASS: no file changed")
	})
}

func (h *hall) setFacts(n int, f job.Facts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.facts[n] = f
}

// A head that comes back is verified, where its run was superseded, stopped or given up.
func TestAgainAfterPush(t *testing.T) {
	t.Parallel()
	hallsOfBoth(t, func(t *testing.T, h *hall) {
		t.Helper()
		first := h.open()
		a, _ := h.deliver("d1", "opened", first)
		<-h.begun
		of := h.facts[first.Number]
		second := first
		second.HeadSHA = h.PullHead(sums, h.open().Number) // any other commit
		second.ID = second.Identity()
		now := of
		now.HeadSHA = second.HeadSHA
		h.setFacts(first.Number, now)
		b, _ := h.deliver("d2", "synchronize", second)
		h.setFacts(first.Number, of)
		again, fresh := h.deliver("d3", "synchronize", first)
		if !fresh || again.ID == a.ID {
			t.Fatal("nothing is run for the head that came back")
		}
		h.over(a)
		h.wantRun(a, store.Superseded)
		h.over(b)
		<-h.begun
		if _, err := h.Queue.Cancel(t.Context(), again.ID, queue.Stopped); err != nil {
			t.Fatal(err)
		}
		h.over(again)
		h.wantRun(again, store.Stopped)
		last, fresh := h.deliver("d4", "reopened", first)
		if !fresh {
			t.Fatal("nothing is run after a stop")
		}
		<-h.begun
		h.release <- struct{}{}
		h.over(last)
		h.wantRun(last, store.Finished)
	})
}

// A head that comes back after another one came to a verdict is verified again, as the comment is about
// the other; once.
func TestAgainAfterAnotherVerdict(t *testing.T) {
	t.Parallel()
	hallsOfBoth(t, func(t *testing.T, h *hall) {
		t.Helper()
		first := h.open()
		of := h.facts[first.Number]
		second := first
		second.HeadSHA = h.PullHead(sums, h.open().Number) // any other commit
		second.ID = second.Identity()
		verify := func(id string, j job.Job, want bool) {
			t.Helper()
			now := of
			now.HeadSHA = j.HeadSHA
			h.setFacts(first.Number, now)
			j, fresh := h.deliver(id, "synchronize", j)
			if fresh != want {
				t.Fatalf("delivery %s: is work: %v, want %v", id, fresh, want)
			}
			if fresh {
				<-h.begun
				h.release <- struct{}{}
				h.over(j)
				h.wantRun(j, store.Finished)
			}
		}
		verify("d1", first, true)
		verify("d2", first, false)
		verify("d3", second, true)
		verify("d4", first, true)
		verify("d5", first, false)
		verify("d6", second, true)
	})
}

// otherBases make a job, and what is known of its pull request, be for another base: of another commit, or another
// branch at the same one.
var otherBases = map[string]func(*job.Job, *job.Facts){
	"another commit": func(j *job.Job, f *job.Facts) { j.Base, j.BaseSHA, f.BaseSHA = "lax", headOID, headOID },
	"another branch": func(j *job.Job, f *job.Facts) { j.Base, f.Base = "lax", "lax" },
	"not named":      func(j *job.Job, f *job.Facts) { j.Base, j.BaseSHA, f.BaseSHA = "", headOID, headOID },
}

// What was verified against one base is verified again where the pull request went into another one in
// between: the newest check run of its commit is about that.
func TestAgainAfterAnotherBase(t *testing.T) {
	t.Parallel()
	for name, other := range otherBases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hallsOfBoth(t, func(t *testing.T, h *hall) {
				t.Helper()
				main := h.open()
				main.Base = "main"
				of := h.facts[main.Number]
				lax, ofLax := main, of
				other(&lax, &ofLax)
				lax.ID = lax.Identity()
				verified := func(id, action string, j job.Job, f job.Facts) {
					t.Helper()
					h.setFacts(j.Number, f)
					j, fresh := h.deliver(id, action, j)
					if !fresh {
						t.Fatalf("%s: nothing is run", id)
					}
					select {
					case <-h.begun:
					case <-time.After(time.Minute):
						t.Fatalf("%s: no run is begun", id)
					}
					if _, fresh := h.deliver(id+" again", action, j); fresh {
						t.Errorf("%s: what is at work is begun once more", id)
					}
					h.release <- struct{}{}
					h.over(j)
					h.wantRun(j, store.Finished)
				}
				verified("d1", "opened", main, of)
				verified("d2", "synchronize", lax, ofLax)
				verified("d3", "synchronize", main, of)
				verified("d4", "synchronize", lax, ofLax)
				if _, fresh := h.deliver("d5", "reopened", lax); fresh {
					t.Error("what ended well is done again")
				}
			})
		})
	}
}

// What is for one base is superseded when the pull request goes into another.
func TestAnotherBaseSupersedes(t *testing.T) {
	t.Parallel()
	for name, other := range otherBases {
		if name == "not named" {
			continue // then it cannot be known
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hallsOfBoth(t, func(t *testing.T, h *hall) {
				t.Helper()
				h.busy()
				main := h.open()
				main.Base = "main"
				lax := main
				other(&lax, &job.Facts{})
				lax.ID = lax.Identity()
				a, _ := h.deliver("d1", "opened", main)
				b, fresh := h.deliver("d2", "synchronize", lax)
				if !fresh {
					t.Fatal("nothing is run for the other base")
				}
				again, fresh := h.deliver("d3", "synchronize", main)
				if !fresh {
					t.Fatal("nothing is run for the base that it went back to")
				}
				for _, j := range []job.Job{a, b} {
					if e, err := h.Queue.Get(t.Context(), j.ID); err != nil || e.Cancel != queue.Superseded {
						t.Errorf("the job for %s is cancelled %q, %v", j.Base, e.Cancel, err)
					}
				}
				h.release <- struct{}{}
				<-h.begun
				h.release <- struct{}{}
				h.over(again)
				h.wantRun(again, store.Finished)
			})
		})
	}
}

// Two events for the same work that has no run yet are decided about one after the other, as the
// configuration may want one of them only; it is run once.
func TestAgainWhileItWaits(t *testing.T) {
	t.Parallel()
	hallsOfBoth(t, func(t *testing.T, h *hall) {
		t.Helper()
		h.busy()
		base := h.open()
		opened, _ := h.deliver("d1", "opened", base)
		if _, fresh := h.deliver("d2", "opened", base); fresh {
			t.Error("the same event is work of its own")
		}
		ready, fresh := h.deliver("d3", "ready_for_review", base)
		if !fresh {
			t.Error("the other event is not decided about")
		}
		h.pass()
		h.release <- struct{}{}
		<-h.begun
		h.release <- struct{}{}
		h.over(opened)
		h.over(ready)
		h.wantRun(opened, store.Finished)
		if run, err := h.DB.RunOfJob(t.Context(), ready.ID); err == nil {
			t.Errorf("it is run twice: %+v", run)
		}
		h.shows("at the end", base.HeadSHA, "completed success PASS: no file changed")
	})
}

// desksOfBoth runs test with a desk on either database.
func desksOfBoth(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { t.Parallel(); test(t, newDesk(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { t.Parallel(); test(t, newDeskAt(t, databases.Database(t))) })
}

// A run that came to its end and could not be posted is posted with its report, also by a process
// that has nothing of it on its disk.
func TestReportOfAnotherMachine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end func(t *testing.T, d *desk) error
	}{
		"orphan": {func(t *testing.T, d *desk) error {
			t.Helper()
			d.forgotten(t)
			return d.Orphans(t.Context())
		}},
		"given up": {func(t *testing.T, d *desk) error {
			t.Helper()
			d.GiveUp(t.Context(), pushed(), errors.New("502"))
			return nil
		}},
		"stopped too late": {func(t *testing.T, d *desk) error {
			t.Helper()
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(&queue.Cancelled{Reason: queue.Stopped})
			return d.Work(ctx, pushed())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			desksOfBoth(t, func(t *testing.T, d *desk) {
				t.Helper()
				d.live = func(a Assignment, _ Link) {
					for name, text := range map[string]string{"journal.jsonl": "{}\n", "report.json": `{"verdict": "PASS"}`, "SHA256SUMS": ""} {
						if err := os.WriteFile(filepath.Join(a.Dir, name), []byte(text), 0o600); err != nil {
							t.Error(err)
						}
					}
				}
				d.finish = errors.New("502")
				d.enqueue(t, pushed())
				if err := d.Work(t.Context(), pushed()); !errors.Is(err, d.finish) {
					t.Fatal(err)
				}
				d.finish, d.now, d.Runs = nil, d.now.Add(time.Hour), t.TempDir()
				if err := test.end(t, d); err != nil {
					t.Fatal(err)
				}
				if last := d.notes[len(d.notes)-1]; !slices.Contains(d.notes, "finish run1 PASS") || d.state(t, pushed()) != "finished PASS" {
					t.Errorf("last %q, the run is %q, want %q", last, d.state(t, pushed()), "finished PASS")
				}
				if run, err := d.DB.RunOfJob(t.Context(), pushed().ID); err != nil || strings.Contains(run.Reason, "502") || strings.Contains(run.Reason, "restarted") {
					t.Errorf("the run ended so because of %q, %v", run.Reason, err)
				}
			})
		})
	}
}

// That a job is given up is reported later where GitHub does not answer then, also where no run of it
// was begun: by the chore of each hour, of whatever process.
func TestGivenUpWhileGitHubIsAway(t *testing.T) {
	t.Parallel()
	away := &queue.Outside{Err: errors.New("502")}
	for name, j := range map[string]job.Job{"a push": pushed(), "a request": asked(event.VerbVerify, 8)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			desksOfBoth(t, func(t *testing.T, d *desk) {
				t.Helper()
				d.enqueue(t, j)
				d.learn, d.begin, d.finish, d.reply = away, away, away, away
				if err := d.Work(t.Context(), j); !errors.Is(err, away) {
					t.Fatal(err)
				}
				d.GiveUp(t.Context(), j, away)
				d.forgotten(t)
				d.now = d.now.Add(time.Hour)
				if err := d.Orphans(t.Context()); !errors.Is(err, away) {
					t.Errorf("still away: %v", err)
				}
				d.learn, d.begin, d.finish, d.reply, d.notes = nil, nil, nil, nil, nil
				for range 2 {
					if err := d.Orphans(t.Context()); err != nil {
						t.Error(err)
					}
				}
				want := []string{"begin run1 https://y.example/runs/run1", "finish run1 none"}
				if j.HeadSHA == "" {
					want = nil
				}
				if j.Comment != 0 {
					want = append(want, "reply #4 given-up: Not verified: 502")
				}
				d.want(t, want...)
				run, err := d.DB.RunOfJob(t.Context(), j.ID)
				if err != nil || run.State != store.Failed || run.Reason != "502" || run.Untold {
					t.Errorf("the run is %+v, %v", run, err)
				}
			})
		})
	}
}

// forgotten has the queue know no job any more.
func (d *desk) forgotten(t *testing.T) {
	t.Helper()
	err := d.DB.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `delete from jobs`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A process that holds the lock of a check run or of answers and does not let go of it keeps no job
// for ever: it is begun again later, and one that is stopped ends.
func TestLockOfAnother(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		job  job.Job
		lock func(j job.Job) string
	}{
		"queued": {pushed(), func(j job.Job) string { return queuedLock(j) }},
		"answer": {asked(event.VerbStatus, 8), func(j job.Job) string { return answerLock(j) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			desksOfBoth(t, func(t *testing.T, d *desk) {
				t.Helper()
				d.enqueue(t, test.job)
				d.lockWait = time.Second
				err := d.DB.Write(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Exec(t.Context(), `update jobs set queued_check = 2 where id = $1`, test.job.ID)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				held, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
				go func() {
					done <- d.DB.Exclusively(t.Context(), test.lock(test.job), func(context.Context) error { close(held); <-release; return nil })
				}()
				<-held
				defer func() {
					close(release)
					if err := <-done; err != nil {
						t.Error(err)
					}
				}()
				ended := make(chan error, 1)
				work := func(ctx context.Context) { ended <- d.Work(ctx, test.job) }
				within := func(what string, most time.Duration) (err error) {
					t.Helper()
					select {
					case err = <-ended:
					case <-time.After(most):
						t.Fatalf("%s: the job does not end", what)
					}
					return err
				}
				go work(t.Context())
				var outside *queue.Outside
				if err := within("locked", 30*d.lockWait); !errors.As(err, &outside) {
					t.Errorf("locked: %v", err)
				}
				d.lockWait = time.Hour
				ctx, cancel := context.WithCancelCause(t.Context())
				go work(ctx)
				time.Sleep(100 * time.Millisecond)
				cancel(&queue.Cancelled{Reason: queue.Stopped})
				_ = within("stopped", lockWait/2) // the queue looks at why ctx ended
			})
		})
	}
}

// What a person asks for is done once, whatever became of it.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	j := h.comment(h.open().Number)
	j, _ = h.deliver("d1", "created", j)
	<-h.begun
	if _, err := h.Queue.Cancel(t.Context(), j.ID, queue.Stopped); err != nil {
		t.Fatal(err)
	}
	h.over(j)
	if _, fresh := h.deliver("d2", "created", j); fresh {
		t.Error("a request is done twice")
	}
}
