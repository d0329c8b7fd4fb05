package agent_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
)

// A stage is a coordinator and its subagents in a scenario. Its setup has a line
// for each of
//
//	wait                              the coordinator waits for what it left in the background
//	panics AGENT                      making this one's environment ready does
//	fallback AGENT MODEL              this one should have had that model
//	at AGENT EVENT N ACTION           what happens with an event:
//	   cancel-turn                      the coordinator's turn is stopped
//	   cancel-run                       the run is superseded
//	   stop AGENT                       a person stops its task
//	   stop-all                         all tasks are superseded
//	   say AGENT|all WORDS              someone says this
//	hold AGENT EVENT N until AGENT EVENT N   an event waits for another one
//
// An event is identified by its type and its N, as the want section has them. One that
// waits does so before what happens with it.
type stage struct {
	*cast
	actions map[string][]func()
	holds   map[string]string

	mu   sync.Mutex
	seen map[string]chan struct{}
	ids  map[string]string // of the latest task, by agent
}

// point is an event as setup names it.
func point(e agent.Event) string { return fmt.Sprintf("%s %s %d", e.Agent, e.Type, e.N) }

// came is closed when an event has been.
func (s *stage) came(point string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[point] == nil {
		s.seen[point] = make(chan struct{})
	}
	return s.seen[point]
}

func (s *stage) emit(ctx context.Context, keep agent.Emit) agent.Emit {
	var once sync.Map // a point comes once for each token
	return func(e agent.Event) error {
		s.mu.Lock()
		s.ids[e.Agent] = e.ID
		s.mu.Unlock()
		if !e.Type.Transient() {
			if err := keep(e); err != nil {
				return err
			}
		}
		at := point(e)
		if _, again := once.LoadOrStore(at, true); again {
			return nil
		}
		if until, ok := s.holds[at]; ok {
			select {
			case <-s.came(until):
			case <-ctx.Done():
			}
		}
		for _, act := range s.actions[at] {
			act()
		}
		close(s.came(at))
		return nil
	}
}

// id is the task that an agent has.
func (s *stage) id(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[name]
}

func (s *stage) setup(t *testing.T, text string, turn, run context.CancelCauseFunc) {
	t.Helper()
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		switch {
		case len(w) == 1 && w[0] == "wait":
			s.waits = true
		case len(w) == 2 && w[0] == "panics":
			s.provide(w[1], func(*agent.Environment) { panic("no environment") })
		case len(w) == 3 && w[0] == "fallback":
			s.provide(w[1], func(env *agent.Environment) {
				env.Fallback = &agent.Fallback{Wanted: w[2], Why: "the provider has no such model"}
			})
		case len(w) == 8 && w[0] == "hold" && w[4] == "until":
			s.holds[strings.Join(w[1:4], " ")] = strings.Join(w[5:], " ")
		case len(w) > 4 && w[0] == "at":
			at := strings.Join(w[1:4], " ")
			s.actions[at] = append(s.actions[at], s.action(t, w[4:], turn, run))
		default:
			t.Fatalf("setup: %q", line)
		}
	}
}

// provide changes the environment of an agent.
func (s *stage) provide(name string, change func(*agent.Environment)) {
	provision := s.Provision
	s.Provision = func(ctx context.Context, spec agent.Spec, rec agent.Record) (*agent.Environment, error) {
		env, err := provision(ctx, spec, rec)
		if spec.Name == name && err == nil {
			change(env)
		}
		return env, err
	}
}

func (s *stage) action(t *testing.T, w []string, turn, run context.CancelCauseFunc) func() {
	t.Helper()
	switch {
	case w[0] == "cancel-turn" && len(w) == 1:
		return func() { turn(agent.ErrStopped) }
	case w[0] == "cancel-run" && len(w) == 1:
		return func() { run(agent.ErrSuperseded) }
	case w[0] == "stop" && len(w) == 2:
		return func() {
			if !s.Cancel(s.id(w[1])) {
				t.Errorf("there is no task of %s to stop", w[1])
			}
		}
	case w[0] == "stop-all" && len(w) == 1:
		return func() { s.CancelAll(agent.ErrSuperseded) }
	case w[0] == "say" && len(w) > 2:
		return func() {
			id := s.id(w[1])
			if w[1] == "all" {
				id = ""
			}
			s.Inject(id, strings.Join(w[2:], " "))
		}
	}
	t.Fatalf("setup: action %q", w)
	return nil
}

// playCast plays a scenario with subagents until all of them are over.
func (s scenario) playCast(t *testing.T, m model.Model) (string, []model.Message) {
	t.Helper()
	c := newCast(t, s.says)
	c.model = m
	on := &stage{cast: c, actions: map[string][]func(){}, holds: map[string]string{}, seen: map[string]chan struct{}{}, ids: map[string]string{}}
	limit, cancel := context.WithTimeout(t.Context(), time.Minute) // for a scenario whose parts wait for one another
	defer cancel()
	run, endRun := context.WithCancelCause(limit)
	defer endRun(nil)
	turn, endTurn := context.WithCancelCause(run)
	defer endTurn(nil)
	on.setup(t, s.setup, endTurn, endRun)
	c.Emit = on.emit(limit, c.Emit)
	end, history, err := c.coordinate(turn, run, t, nil)
	over := make(chan struct{})
	go func() {
		c.Drain()
		close(over)
	}()
	select {
	case <-over:
	case <-limit.Done():
		t.Fatalf("tasks are still at work: %+v", c.List())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := map[string][]agent.Event{}
	for _, e := range c.events {
		of[e.ID] = append(of[e.ID], e)
	}
	out := render(of[coordinatorID], history, end, err)
	tasks := c.List()
	slices.SortFunc(tasks, func(a, b agent.Record) int { return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID)) })
	for _, rec := range tasks {
		out += "\n" + ended(rec) + "\n"
		for _, e := range of[rec.ID] {
			out += line(e) + "\n"
		}
	}
	return out, history
}

// ended is how a task ended.
func ended(rec agent.Record) string {
	s := fmt.Sprintf("task %s %s: %s, %s, %s", rec.Agent, rec.ID, rec.Status, rec.Result.Status, rec.Result.Outcome)
	if rec.Background {
		s += ", in the background"
	}
	if rec.CanceledByUser {
		s += ", by a person"
	}
	if rec.Result.Reason != "" {
		s += " (" + rec.Result.Reason + ")"
	}
	if err := rec.Result.Err; err != nil && !errors.Is(err, context.Canceled) {
		s += " error"
	}
	return s + " " + strconv.Quote(rec.Result.Text)
}
