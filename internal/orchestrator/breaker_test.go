package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/rundir"
)

// refusing is a model that gives each question the same error; nil: an answer.
type refusing struct {
	name  string
	err   error
	asked int
}

func (r *refusing) Name() string { return r.name }

func (r *refusing) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
	r.asked++
	if r.err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, r.err)
	}
	return &model.Response{Message: model.Message{Role: model.Assistant, Text: "yes"}}, nil
}

func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// testDir is the directory of a run that has begun.
func testDir(t *testing.T) *rundir.Dir {
	t.Helper()
	d, err := rundir.Create(t.TempDir(), rundir.Identity{Run: "run1"}, rundir.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// An error for good ends the questions with the same key, or to the same model, and
// no others; one that is about a question ends none.
func TestBreaker(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name          string
		err           error
		same, sibling bool // whether the model itself and another with its key are still asked
		note          string
	}{
		{"key", model.ErrAuth, false, false, "no model is asked with this key any more: a: the provider refused the key"},
		{"quota", model.ErrQuota, false, false, "no model is asked with this key any more: a: "},
		{"model", model.ErrModel, false, true, "model a is not asked any more: a: "},
		{"question", model.ErrRequest, true, true, ""},
		{"too long", model.ErrOverflow, true, true, ""},
		{"down", model.ErrDown, true, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := &Agents{dir: testDir(t), emit: func(agent.Event) error { return nil }}
			if err := a.openLog(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = a.Close() })
			w := &work{agents: a, now: clock}
			first, second, third := &refusing{name: "a", err: tc.err}, &refusing{name: "b"}, &refusing{name: "a"}
			failing, sibling, other := w.guard(first, ""), w.guard(second, ""), w.guard(third, "elsewhere")
			req := &model.Request{Agent: "x", ID: "1"}
			for range 2 {
				if _, err := failing.Generate(t.Context(), req, nil); !errors.Is(err, tc.err) {
					t.Errorf("got %v, want %v", err, tc.err)
				}
			}
			if got := first.asked == 2; got != tc.same {
				t.Errorf("asked %d times", first.asked)
			}
			if _, err := sibling.Generate(t.Context(), req, nil); (err == nil) != tc.sibling {
				t.Errorf("another model with the key: %v", err)
			}
			if _, err := other.Generate(t.Context(), req, nil); err != nil {
				t.Errorf("with another key: %v", err)
			}
			notes := w.breaker.all()
			if tc.note == "" && len(notes) > 0 || tc.note != "" && (len(notes) != 1 || !strings.HasPrefix(notes[0], tc.note)) {
				t.Errorf("notes %q, want one with %q", notes, tc.note)
			}
		})
	}
}
