package publish

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/report"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A death is what happens at one API call of a publish.
type death struct {
	name  string
	fault func(kill func()) githubtest.Fault
	keeps bool // the ledger is there afterwards, else it is another machine
}

func deaths() []death {
	killed := func(phase string) func(func()) githubtest.Fault {
		return func(kill func()) githubtest.Fault {
			return githubtest.Fault{Drop: phase, Hook: func(int, *http.Request, string) { kill() }}
		}
	}
	return []death{
		{"killed before the call", killed("before"), true},
		{"killed after the call", killed("after"), true},
		{"killed before the call, new ledger", killed("before"), false},
		{"killed after the call, new ledger", killed("after"), false},
		{"call lost", func(func()) githubtest.Fault { return githubtest.Before() }, true},
		{"answer lost", func(func()) githubtest.Fault { return githubtest.After() }, true},
		{"answer lost, new ledger", func(func()) githubtest.Fault { return githubtest.After() }, false},
		{"server error", func(func()) githubtest.Fault { return githubtest.Status(http.StatusBadGateway) }, true},
	}
}

// TestKilledAfterEachCall: a publish is killed at its first API call, its second, and so
// on until one goes through untouched. Each time it is run again, and the outside ends
// the same: one comment, one completed check run with the verdict and each annotation
// once, one pair of eyes (or none where only these were lost), one reply.
func TestKilledAfterEachCall(t *testing.T) {
	t.Parallel()
	step := 3 // each call takes a publisher's whole work twice
	if variants.Asked() {
		step = 1
	}
	for _, d := range deaths() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for n, through := 1, false; !through; n += step {
				if n > 40 {
					t.Fatal("no publish goes through")
				}
				b.open()
				store := memory{}
				rep := b.failing(120)
				ctx, kill := context.WithCancel(t.Context())
				b.FailAt(n, d.fault(kill))
				before := len(b.Calls())
				err := whole(ctx, b, store, rep)
				calls := b.Calls()[before:]
				through = len(calls) < n
				eyes := 1
				if err == nil && !through && strings.HasSuffix(calls[n-1].Path, "/reactions") {
					eyes = 0 // nothing waits for them
				}
				b.Heal()
				kill()
				if through && err != nil {
					t.Fatalf("untouched: %v", err)
				}
				if !d.keeps {
					store = memory{}
				}
				if err := whole(t.Context(), b, store, rep); err != nil {
					t.Fatalf("call %d, again: %v", n, err)
				}
				b.checkEnd(fmt.Sprintf("call %d of %d", n, len(b.Calls())-before), eyes)
			}
		})
	}
}

// whole is what one process does.
func whole(ctx context.Context, b *bench, store Store, rep *report.Report) error {
	p := b.publisher(store)
	if err := p.Begin(ctx, b.target(1)); err != nil {
		return err
	}
	if err := p.Notice(ctx, b.target(1), "A hint."); err != nil {
		return err
	}
	_, err := p.Finish(ctx, b.target(1), rep, Ending{})
	return err
}

func (b *bench) checkEnd(name string, leastEyes int) {
	b.t.Helper()
	var results, replies int
	for _, c := range b.ours() {
		if strings.HasSuffix(c.Body, "\nA hint.") {
			replies++
			continue
		}
		results++
		if !strings.Contains(c.Body, "ycbot: FAIL") || strings.Contains(c.Body, "Earlier:") {
			b.t.Errorf("%s: comment\n%s", name, c.Body)
		}
	}
	if results != 1 || replies != 1 {
		b.t.Errorf("%s: %d comments and %d replies, want one of each", name, results, replies)
	}
	rs := b.checksOf(b.head)
	if len(rs) != 1 || rs[0].Status != "completed" || rs[0].Conclusion != "failure" {
		b.t.Fatalf("%s: check runs %+v", name, rs)
	}
	seen := map[string]int{}
	for _, a := range rs[0].Output.Annotations {
		seen[a.Title]++
	}
	if len(rs[0].Output.Annotations) != 120 || len(seen) != 120 {
		b.t.Errorf("%s: %d annotations, %d different, want 120", name, len(rs[0].Output.Annotations), len(seen))
	}
	if eyes := b.Reactions(calc, b.ask); len(eyes) > 1 || len(eyes) < leastEyes {
		b.t.Errorf("%s: %d reactions", name, len(eyes))
	}
}

// TestKilledWhileEditing: the same for a second run, which edits what the first one
// left, with its history.
func TestKilledWhileEditing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n, through := 1, false; !through; n++ {
		b.open()
		first := b.head
		b.finish(b.publisher(nil), b.target(1), b.failing(0), Ending{})
		b.push(fmt.Sprint("fix", b.n-1))
		rep := b.passing()
		ctx, kill := context.WithCancel(t.Context())
		b.FailAt(n, githubtest.Fault{Drop: "after", Hook: func(int, *http.Request, string) { kill() }})
		before := len(b.Calls())
		_, err := b.publisher(nil).Finish(ctx, b.target(2), rep, Ending{})
		through = len(b.Calls())-before < n
		b.Heal()
		kill()
		if through && err != nil {
			t.Fatalf("untouched: %v", err)
		}
		b.finish(b.publisher(nil), b.target(2), rep, Ending{})
		comment, run := b.one(b.head)
		if run.Conclusion != "success" || strings.Count(comment.Body, "FAIL at "+first[:7]) != 1 || len(parseState(comment.Body).Earlier) != 1 {
			t.Errorf("call %d: %s\n%s", n, run.Conclusion, comment.Body)
		}
	}
}
