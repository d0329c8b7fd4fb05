package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
)

// lively is a turn with all that a journal has to bring back: calls side by side
// and in a row, a refusal, a bad call, a hint, a shortened history, a reply in
// two parts, a corrective turn.
const lively = `
-- model --
> read {"path": "a"}
> long {}
> run_bash {"command": "go test"}
---
> write_file {"path": "x"}
> read {"path":
> run_bash {"command": "go vet"}
---
> read {"path": "a"}
---
> read {"path": "a"}
---
! overflow 4500
! length
First half,
---
! overflow 2500
 second half.
---
Report with {{evidence 2}}.

VERDICT: PASS
`

// asked is a model that writes down what it is asked.
type asked struct {
	model.Model
	mu   sync.Mutex
	reqs []string
}

func (a *asked) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	raw, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	resp, err := a.Model.Generate(ctx, req, on)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.reqs = append(a.reqs, string(raw))
	}
	return resp, err
}

// A life is one process that works on the turn, with its run directory.
type life struct {
	b       *bench
	model   *asked
	journal *journal.Journal
	log     *agent.EventLog
	after   []int // events that the log had when the journal got its n-th entry
	history []model.Message
	end     agent.End
}

func live(t *testing.T, dir string) *life {
	t.Helper()
	l := &life{model: &asked{Model: parse(t, lively)}, journal: openJournal(t, dir)}
	l.b = newBench(l.model)
	l.b.setup(t, "max 9\nverdict")
	l.b.cfg.Journal = l.journal
	for _, e := range l.journal.Entries("tool") {
		if bytes.Contains(e.Data, []byte(`"evidence":`)) {
			l.b.bash++
		}
	}
	var err error
	if l.log, err = agent.OpenEvents(filepath.Join(dir, "events.jsonl"), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.log.Close(); err != nil {
			t.Error(err)
		}
	})
	kept := 0
	l.b.emit = func(e agent.Event) error {
		for len(l.after) < len(l.journal.Entries("")) {
			l.after = append(l.after, kept)
		}
		fresh, err := l.log.Append(e)
		if fresh && !e.Type.Transient() {
			kept++
		}
		return err
	}
	l.end, l.history, err = l.b.turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(data)))
}

func write(t *testing.T, path string, lines []string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A process that is killed after any journal entry, and with any of the events
// that it had emitted by then, is continued by another one to the same history,
// end and events. Nothing in the journal is asked or run again, and what is
// asked is what would have been asked.
func TestKilledAtEveryEntry(t *testing.T) {
	t.Parallel()
	first := t.TempDir()
	whole := live(t, first)
	if whole.end.Outcome != agent.Completed || agent.Verdict(whole.end.Text) != "PASS" {
		t.Fatalf("the whole turn: %+v", whole.end)
	}
	entries, events := lines(t, filepath.Join(first, "journal.jsonl")), lines(t, filepath.Join(first, "events.jsonl"))
	if len(entries) < 15 {
		t.Fatalf("only %d journal entries", len(entries))
	}
	for k := range len(entries) + 1 {
		least, most := 0, len(events)
		if k > 0 && k <= len(whole.after) {
			least = whole.after[k-1]
		}
		if k < len(whole.after) {
			most = whole.after[k]
		}
		for _, n := range []int{least, most} {
			t.Run(fmt.Sprintf("%d entries %d events", k, n), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				write(t, filepath.Join(dir, "journal.jsonl"), append(slices.Clone(entries[:k]), `{"seq":99,"torn`))
				write(t, filepath.Join(dir, "events.jsonl"), append(slices.Clone(events[:n]), `{"type":"torn`))
				again := live(t, dir)
				if diff := cmp.Diff(whole.history, again.history); diff != "" {
					t.Errorf("history: %s", diff)
				}
				if diff := cmp.Diff(whole.end, again.end); diff != "" {
					t.Errorf("end: %s", diff)
				}
				if diff := cmp.Diff(events, lines(t, filepath.Join(dir, "events.jsonl"))); diff != "" {
					t.Errorf("events: %s", diff)
				}
				answers := strings.Count(strings.Join(entries[:k], ""), `"kind":"model"`)
				if diff := cmp.Diff(whole.model.reqs[answers:], again.model.reqs, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("questions: %s", diff)
				}
				var left []string // commands whose answer was not journaled
				for _, c := range commands(whole.b.ran) {
					if !strings.Contains(journaled(t, entries[:k]), strings.TrimPrefix(c, "run_bash ")) {
						left = append(left, c)
					}
				}
				if diff := cmp.Diff(left, commands(again.b.ran), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("commands that ran again: %s", diff)
				}
			})
		}
	}
}

func commands(ran []string) []string {
	return slices.DeleteFunc(slices.Clone(ran), func(r string) bool { return !strings.HasPrefix(r, "run_bash ") })
}

// journaled is the text of all answers to calls in entries.
func journaled(t *testing.T, entries []string) string {
	t.Helper()
	var all string
	for _, line := range entries {
		var e journal.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		var a struct{ Text string }
		if e.Kind == "tool" {
			if err := json.Unmarshal(e.Data, &a); err != nil {
				t.Fatal(err)
			}
		}
		all += a.Text + "\n"
	}
	return all
}

// A turn that was cancelled is continued from where it was: its orphaned calls
// are made, its half answer is asked again.
func TestContinuedAfterCancel(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir())
	says := "-- model --\n> run_bash {\"command\": \"a\"}\n> run_bash {\"command\": \"b\"}\n---\nDone.\n"
	b := newBench(parse(t, says))
	b.cfg.Journal = j
	b.stopAt = "tool_result 1"
	end, history, err := b.turn(t.Context())
	if err != nil || end.Outcome != agent.Canceled || history[3].Text != "interrupted (superseded)" {
		t.Fatalf("first process: %+v, %v, %+v", end, err, history)
	}
	heard := &asked{Model: parse(t, says)}
	again := newBench(heard)
	again.cfg.Journal = j
	again.cfg.System = "Another prompt, of a newer version."
	end, history, err = again.turn(t.Context())
	if err != nil || end.Outcome != agent.Completed || !strings.Contains(history[3].Text, `"b"`) {
		t.Errorf("second process: %+v, %v, %+v", end, err, history)
	}
	if len(heard.reqs) != 1 || !strings.Contains(heard.reqs[0], "You verify.") {
		t.Errorf("a conversation goes on under the prompt that it began with; asked %v", heard.reqs)
	}
	if diff := cmp.Diff([]string{`run_bash {"command": "b"}`}, again.ran); diff != "" {
		t.Errorf("ran: %s", diff)
	}
}

// What can no longer be persisted ends the turn as infrastructure, with a valid history.
func TestNotPersisted(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	says := "-- model --\n> read {\"path\": \"a\"}\n> run_bash {}\n---\nDone.\n"
	for _, at := range []agent.EventType{
		agent.EventTurnStart, agent.EventIterationStart, agent.EventContentToken, agent.EventMessage, agent.EventToolStart, agent.EventToolResult, agent.EventTurnDone,
	} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			b := newBench(parse(t, says))
			b.emit = func(e agent.Event) error {
				if e.Type == at {
					return full
				}
				return nil
			}
			end, history, err := b.turn(t.Context())
			if !errors.Is(err, full) || end.Outcome != agent.Errored {
				t.Errorf("end %+v, error %v", end, err)
			}
			if err := model.Validate(history); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("journal", func(t *testing.T) {
		t.Parallel()
		j, err := journal.Open(filepath.Join(t.TempDir(), "journal.jsonl"), noon)
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(parse(t, says))
		b.cfg.Journal = j
		b.emit = func(e agent.Event) error {
			if e.Type == agent.EventToolStart {
				return j.Close() // the answer can no longer be journaled
			}
			return nil
		}
		end, history, err := b.turn(t.Context())
		if err == nil || end.Outcome != agent.Errored || end.Outcome.Category(err) != agent.Fatal {
			t.Errorf("end %+v, error %v", end, err)
		}
		if err := model.Validate(history); err != nil {
			t.Error(err)
		}
	})
}

// An agent's own time limit is a timeout, as is the run's; a stop is not.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(parse(t, "-- model --\n! hang\nHalf of\n"))
			ctx := t.Context()
			if own {
				b.cfg.Timeout = 5 * time.Minute
			} else {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
				defer cancel()
			}
			end, history, err := b.turn(ctx)
			if err != nil || end.Outcome != agent.TimedOut || end.Text != "Half of" {
				t.Errorf("own %v: end %+v, error %v", own, end, err)
			}
			if err := model.Validate(history); err != nil {
				t.Error(err)
			}
			if last := b.events[len(b.events)-1]; last.Type != agent.EventTurnInterrupted {
				t.Errorf("last event %s", last.Type)
			}
		})
	}
}

// Four calls run at a time, no more.
func TestSideBySideLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(parse(t, "-- model --\n"+strings.Repeat("> read {}\n", 9)+"---\nDone.\n"))
		var mu sync.Mutex
		now := 0
		release, over := make(chan struct{}), make(chan struct{})
		read := &b.cfg.Tools[slices.IndexFunc(b.cfg.Tools, isRead)]
		run := read.Run
		read.Run = func(ctx context.Context, args json.RawMessage) (toolResult, error) {
			mu.Lock()
			now++
			mu.Unlock()
			<-release
			return run(ctx, args)
		}
		go func() {
			defer close(over)
			if _, _, err := b.turn(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait() // until nothing can go on
		mu.Lock()
		if now != 4 {
			t.Errorf("%d at a time", now)
		}
		mu.Unlock()
		close(release)
		<-over
	})
}

// What may be done about an end follows from the outcome and its error.
func TestCategory(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		outcome agent.Outcome
		err     error
		want    agent.Category
	}{
		{agent.Completed, nil, agent.Success},
		{agent.Errored, fmt.Errorf("x: %w", model.ErrDown), agent.Retryable},
		{agent.Errored, fmt.Errorf("x: %w", model.ErrAuth), agent.Fatal},
		{agent.Errored, fmt.Errorf("x: %w", model.ErrRequest), agent.Fatal},
		{agent.Errored, fmt.Errorf("x: %w", model.ErrOverflow), agent.Capacity},
		{agent.Errored, errors.New("disk full"), agent.Fatal},
		{agent.Canceled, nil, agent.Fatal},
		{agent.IterCapped, nil, agent.Capacity},
		{agent.TimedOut, nil, agent.Capacity},
		{agent.OverBudget, nil, agent.Capacity},
		{agent.NoProgress, nil, agent.Capacity},
		{agent.NoFinalReply, nil, agent.Capacity},
	} {
		if got := tc.outcome.Category(tc.err); got != tc.want {
			t.Errorf("%s, %v: %s, want %s", tc.outcome, tc.err, got, tc.want)
		}
	}
}

// A provider that is overloaded is asked again after pauses that grow; one that stays silent
// was waited for already.
func TestPausesBetweenRounds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want []time.Duration
	}{
		"overloaded": {model.ErrDown, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second}},
		"silent":     {fmt.Errorf("%w: %w", model.ErrDown, model.ErrSilent), nil},
	} {
		b := newBench(fails{tc.err})
		clock := noon()
		var paused []time.Duration
		b.cfg.Now = func() time.Time { return clock }
		b.cfg.Wait = func(_ context.Context, d time.Duration) error {
			paused = append(paused, d)
			clock = clock.Add(d)
			return nil
		}
		if end, err := agent.Work(t.Context(), &b.cfg, "Verify.", b.emit); end.Outcome != agent.Errored || !errors.Is(err, tc.err) || !slices.Equal(paused, tc.want) {
			t.Errorf("%s: %s %v, pauses %v", name, end.Outcome, err, paused)
		}
		paused = nil
		b.cfg.Wait = func(ctx context.Context, _ time.Duration) error { return context.Canceled }
		if end, err := agent.Work(t.Context(), &b.cfg, "Verify.", b.emit); end.Outcome != agent.Errored || !errors.Is(err, tc.err) {
			t.Errorf("%s, and the time ends in a pause: %s %v", name, end.Outcome, err)
		}
	}
}

// fails is a model whose provider answers nothing.
type fails struct{ err error }

func (f fails) Name() string { return "m" }

func (f fails) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
	return nil, f.err
}
