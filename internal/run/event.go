package run

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ycbot/ycbot/internal/gate"
)

// An Event is one line of events.jsonl: what happened, as people may watch it.
type Event struct {
	Time       time.Time `json:"time"`
	Type       EventType `json:"type"`
	Run        string    `json:"run,omitempty"`
	Stage      string    `json:"stage,omitempty"` // of the run, or of the gate for commands
	Side       string    `json:"side,omitempty"`
	Unit       string    `json:"unit,omitempty"`
	Command    string    `json:"command,omitempty"`
	Evidence   string    `json:"evidence,omitempty"`
	Exit       *int      `json:"exit,omitempty"`
	TimedOut   bool      `json:"timed_out,omitempty"`
	DurationMS int64     `json:"duration_ms,omitempty"`
	Verdict    string    `json:"verdict,omitempty"`
	Text       string    `json:"text,omitempty"`
	Error      string    `json:"error,omitempty"`
}

// An EventType is a sort of event. The strings are stored: do not change them.
type EventType string

// The sorts of event.
const (
	RunStart     EventType = "run_start"
	RunResumed   EventType = "run_resumed" // a run that was begun before goes on
	StageStart   EventType = "stage_start"
	StageDone    EventType = "stage_done"
	CommandStart EventType = "command_start"
	CommandDone  EventType = "command_done"
	RunDone      EventType = "run_done"
)

// emit writes an event, then shows it. An event that cannot be written ends
// the run at the next stage.
func (s *session) emit(e Event) {
	e.Time = s.Now().UTC()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = s.events.Write(append(s.redact(line), '\n'))
	}
	if err != nil && s.emitErr == nil {
		s.emitErr = fmt.Errorf("events: %w", err)
	}
	if s.Observe != nil {
		s.Observe(e)
	}
}

// gateProgress makes events of the gate's steps.
func (s *session) gateProgress(p gate.Progress) {
	e := Event{Type: CommandStart, Stage: string(p.Stage), Side: string(p.Side), Unit: p.Unit, Command: p.Command}
	if p.Done {
		e.Type, e.Evidence, e.Exit = CommandDone, p.Step.Evidence, &p.Step.Exit
		e.TimedOut, e.DurationMS = p.Step.TimedOut, p.Step.Duration.Milliseconds()
	}
	s.emit(e)
}
