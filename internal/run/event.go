package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// progress writes down what happens in a run, when, and shows it.
type progress struct {
	dir     *rundir.Dir
	observe func(agent.Event) // may be nil
	now     func() time.Time
	hooks   *hooks // are called for events from the checkout on; nil before

	stages []report.Stage // that have ended

	mu      sync.Mutex
	failure error // of writing an event
}

// emit writes an event and then shows it. It may be called side by side. What
// cannot be written also ends the run at its next stage.
func (p *progress) emit(e agent.Event) error {
	if e.Time.IsZero() {
		e.Time = p.now().UTC()
	}
	fresh, err := p.dir.Events.Append(e)
	if err == nil && fresh {
		p.hooks.event(e)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.failure = err
		return err
	}
	if fresh && p.observe != nil {
		p.observe(e)
	}
	return nil
}

// note emits an event of the run itself; see failed for what becomes of an error.
func (p *progress) note(e agent.Event) { _ = p.emit(e) }

// failed returns the first event that could not be written.
func (p *progress) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// stage returns what fn gives, or gave when this run was begun before: its
// result is in the journal before the next stage begins. What a stage gives
// beside an error is returned and not recorded.
func stage[T any](ctx context.Context, p *progress, name string, fn func(context.Context) (T, error)) (T, error) {
	return perform(ctx, p, name, journal.Once[T], fn)
}

// quick is stage for what takes no time to do again, should the machine stop.
func quick[T any](ctx context.Context, p *progress, name string, fn func(context.Context) (T, error)) (T, error) {
	return perform(ctx, p, name, journal.OnceSoon[T], fn)
}

// recorded is [journal.Once], or [journal.OnceSoon].
type recorded[T any] func(j *journal.Journal, kind, key string, fn func() (T, error)) (T, error)

func perform[T any](ctx context.Context, p *progress, name string, once recorded[T], fn func(context.Context) (T, error)) (T, error) {
	began := p.now()
	p.note(agent.Event{Type: agent.EventStageStart, Step: &agent.Step{Stage: name}})
	var partial T // what fn gave beside an error
	v, err := once(p.dir.Journal, "stage", name, func() (T, error) {
		var err error
		partial, err = fn(ctx)
		return partial, err
	})
	if err != nil {
		v = partial
		err = fmt.Errorf("%s: %w", name, err)
	}
	took := p.now().Sub(began).Milliseconds()
	p.stages = append(p.stages, report.Stage{Name: name, DurationMS: took})
	p.note(agent.Event{Type: agent.EventStageDone, Step: &agent.Step{Stage: name}, DurationMS: took, Reason: errText(err)})
	return v, errors.Join(err, p.failed())
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// gateProgress makes events of the gate's steps.
func (b *begun) gateProgress(p gate.Progress) {
	e := agent.Event{Type: agent.EventCommandStart, Step: &agent.Step{
		Stage: string(p.Stage), Side: string(p.Side), Unit: p.Unit, Command: p.Command, Rest: p.Rest,
	}}
	if !p.Done {
		if text := b.estimates.progress(p); text != "" {
			b.progress.note(agent.Event{Type: agent.EventNote, Text: text})
		}
		e.DurationMS = b.estimates.of(p)
	} else {
		b.estimates.took(p)
		e.Type, e.Evidence, e.DurationMS = agent.EventCommandDone, []string{p.Step.Evidence}, p.Step.Duration.Milliseconds()
		e.Step.Exit, e.Step.TimedOut = &p.Step.Exit, p.Step.TimedOut
	}
	b.progress.note(e)
}
