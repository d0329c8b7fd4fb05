package publish

import (
	"context"
	"fmt"
	"testing"
)

func (b *bench) queue(p *Publisher, t Target) bool {
	b.t.Helper()
	shown, err := p.Queued(b.t.Context(), t, "queued at position 3", "Position 3 of 7.")
	if err != nil {
		b.t.Fatal(err)
	}
	return shown
}

// TestQueued: the check run that says that a job waits is the one that its run takes over
// and completes, whichever process does what, and showing it again changes nothing.
func TestQueued(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store, tgt := memory{}, b.target(1)
	for range 2 {
		if !b.queue(b.publisher(store), tgt) {
			t.Error("it says that there is none")
		}
	}
	run := b.checksOf(b.head)[0]
	if run.Status != "queued" || run.ExternalID != "job1" || run.Output.Title != "queued at position 3" || run.Output.Summary != "Position 3 of 7." {
		t.Errorf("waiting: %+v %+v", run, run.Output)
	}
	p := b.publisher(memory{}) // of another machine
	b.begin(p, tgt)
	if now := b.checksOf(b.head)[0]; now.ID != run.ID || now.Status != inProgress || now.Output.Title != "verifying" {
		t.Errorf("begun: %+v %+v", now, now.Output)
	}
	b.queue(b.publisher(store), tgt) // too late
	if now := b.checksOf(b.head)[0]; now.Status != inProgress {
		t.Errorf("shown again while it runs: %+v", now)
	}
	b.finish(p, tgt, b.passing(), Ending{})
	if _, now := b.one(b.head); now.ID != run.ID || now.Conclusion != success {
		t.Errorf("ended: %+v", now)
	}
	if err := b.publisher(store).Unqueue(t.Context(), tgt, Ending{Kind: Stopped}, ""); err != nil {
		t.Fatal(err)
	}
	if _, now := b.one(b.head); now.Conclusion != success {
		t.Errorf("a result is taken back: %+v", now)
	}
	off := b.publisher(store)
	off.Check = false
	if b.queue(off, b.target(2)) || len(b.checksOf(b.head)) != 1 {
		t.Error("shown though no check run is wanted")
	}
}

// TestUnqueue: the check run of a job that is over before it began is cancelled, and says why.
func TestUnqueue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		e          Ending
		why, title string
	}{
		{Ending{Kind: Superseded}, "", "superseded"},
		{Ending{Kind: Stopped}, "", "stopped"},
		{Ending{Kind: Removed}, "", "stopped: ycbot lost access to the repository"},
		{Ending{}, "Nothing was run: closed.", "not run"},
	} {
		b := newBench(t)
		p := b.publisher(memory{})
		p.App = true
		b.queue(p, b.target(1))
		for range 2 {
			if err := p.Unqueue(t.Context(), b.target(1), tt.e, tt.why); err != nil {
				t.Fatal(err)
			}
		}
		runs := b.checksOf(b.head)
		if len(runs) != 1 || runs[0].Status != completed || runs[0].Conclusion != cancelled || runs[0].Output.Title != tt.title || len(runs[0].Actions) != 1 {
			t.Errorf("%v: %+v", tt.e, runs)
		}
		if tt.why != "" && runs[0].Output.Summary != tt.why {
			t.Errorf("summary %q", runs[0].Output.Summary)
		}
	}
}

// TestDeclineQueued: a job that waited and then is not verified ends its own check run, but
// hides no FAIL behind a skipped one: that is cancelled instead.
func TestDeclineQueued(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(memory{})
	b.queue(p, b.target(1))
	if err := p.Decline(t.Context(), b.target(1), "Not verified: a draft.", true); err != nil {
		t.Fatal(err)
	}
	if runs := b.checksOf(b.head); len(runs) != 1 || runs[0].Conclusion != skipped {
		t.Errorf("%+v", runs)
	}
	b.open()
	b.finish(p, b.target(1), b.failing(0), Ending{})
	b.queue(p, b.target(2))
	if err := p.Decline(t.Context(), b.target(2), "Not verified: a draft.", true); err != nil {
		t.Fatal(err)
	}
	if err := p.Unqueue(t.Context(), b.target(2), Ending{}, "Nothing was run: a draft."); err != nil {
		t.Fatal(err)
	}
	if runs := b.checksOf(b.head); len(runs) != 2 || runs[0].Conclusion != failure || runs[1].Conclusion != cancelled {
		t.Errorf("%+v", runs)
	}
}

// TestKilledWhileQueued: whatever happens to a call, and at whichever call the process dies,
// there is one check run in the end, that of the run.
func TestKilledWhileQueued(t *testing.T) {
	t.Parallel()
	for _, d := range deaths() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for n, through := 1, false; !through; n++ {
				b.open()
				store := memory{}
				whole := func(ctx context.Context) error {
					p := b.publisher(store)
					if _, err := p.Queued(ctx, b.target(1), "queued", "It waits."); err != nil {
						return err
					}
					return p.Begin(ctx, b.target(1))
				}
				ctx, kill := context.WithCancel(t.Context())
				b.FailAt(n, d.fault(kill))
				before := len(b.Calls())
				err := whole(ctx)
				through = len(b.Calls())-before < n
				b.Heal()
				kill()
				if through && err != nil {
					t.Fatalf("untouched: %v", err)
				}
				if !d.keeps {
					store = memory{}
				}
				if err := whole(t.Context()); err != nil {
					t.Fatalf("call %d, again: %v", n, err)
				}
				if runs := b.checksOf(b.head); len(runs) != 1 || runs[0].Status != inProgress {
					t.Errorf("call %d: %s", n, fmt.Sprintf("%+v", runs))
				}
			}
		})
	}
}
