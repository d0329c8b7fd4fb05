package run

import (
	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/gate"
)

// emit writes an event and then shows it. It may be called side by side. What
// cannot be written also ends the run at its next stage.
func (s *session) emit(e agent.Event) error {
	if e.Time.IsZero() {
		e.Time = s.Now().UTC()
	}
	fresh, err := s.events.Append(e)
	if err == nil && fresh {
		s.tellHooks(e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failure = err
		return err
	}
	if fresh && s.Observe != nil {
		s.Observe(e)
	}
	return nil
}

// tell emits an event of the run itself; see failed for what becomes of an error.
func (s *session) tell(e agent.Event) { _ = s.emit(e) }

// failed returns the first event that could not be written.
func (s *session) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// gateProgress makes events of the gate's steps.
func (s *session) gateProgress(p gate.Progress) {
	e := agent.Event{Type: agent.EventCommandStart, Step: &agent.Step{
		Stage: string(p.Stage), Side: string(p.Side), Unit: p.Unit, Command: p.Command, Rest: p.Rest,
	}}
	if !p.Done {
		e.DurationMS = s.estimates.of(p)
	} else {
		s.estimates.took(p)
		e.Type, e.Evidence, e.DurationMS = agent.EventCommandDone, []string{p.Step.Evidence}, p.Step.Duration.Milliseconds()
		e.Step.Exit, e.Step.TimedOut = &p.Step.Exit, p.Step.TimedOut
	}
	s.tell(e)
}
