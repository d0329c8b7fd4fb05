package agent

import (
	"io"

	"github.com/ycbot/ycbot/internal/transcript"
)

// The events that a consumer may want to distinguish; package transcript says
// what is in them. They stand here as well because consumers import agent.
const (
	EventTurnStart              = transcript.TurnStart
	EventIterationStart         = transcript.IterationStart
	EventContentToken           = transcript.ContentToken
	EventReasoningToken         = transcript.ReasoningToken
	EventContentReset           = transcript.ContentReset
	EventMessage                = transcript.Message
	EventUserMessage            = transcript.UserMessage
	EventToolStart              = transcript.ToolStart
	EventToolResult             = transcript.ToolResult
	EventDenied                 = transcript.CallDenied
	EventIterationContinue      = transcript.IterationContinue
	EventStreamProgress         = transcript.StreamProgress
	EventContextUsage           = transcript.ContextUsage
	EventContextCompacted       = transcript.ContextCompacted
	EventApprovalAuto           = transcript.ApprovalAuto
	EventTodoUpdate             = transcript.TodoUpdate
	EventFallback               = transcript.Fallback
	EventSubagentBackgroundDone = transcript.SubagentBackgroundDone
	EventIterCap                = transcript.IterCap
	EventFailure                = transcript.Failure
	EventTurnDone               = transcript.TurnDone
	EventTurnInterrupted        = transcript.TurnInterrupted
	EventSubagentStart          = transcript.SubagentStart
	EventSubagentProgress       = transcript.SubagentProgress
	EventSubagentDone           = transcript.SubagentDone

	EventRunStart     = transcript.RunStart
	EventRunResumed   = transcript.RunResumed
	EventStageStart   = transcript.StageStart
	EventStageDone    = transcript.StageDone
	EventNote         = transcript.Note
	EventCommandStart = transcript.CommandStart
	EventCommandDone  = transcript.CommandDone
	EventRunDone      = transcript.RunDone
)

// A Step is what an event of the run itself is about.
type Step = transcript.Step

// A Call is one tool call, as events have it.
type Call = transcript.Call

// EventType is what an event is.
type EventType = transcript.Type

// EventLog is events.jsonl.
type EventLog = transcript.Log

// OpenEvents opens events.jsonl for appending; see transcript.Open.
func OpenEvents(path string, redact func([]byte) []byte) (*EventLog, error) {
	return transcript.Open(path, redact)
}

// ReadEvents reads an events.jsonl.
func ReadEvents(r io.Reader) ([]Event, error) { return transcript.Read(r) }

// EventIDs returns the ids of the agents in events, in the order of their first.
func EventIDs(events []Event) []string { return transcript.Agents(events) }

// Markdown renders the transcript of one agent.
func Markdown(events []Event, id string) string { return transcript.Markdown(events, id) }

// Sidechain renders the sidechain of one agent.
func Sidechain(events []Event, id string) ([]byte, error) { return transcript.Sidechain(events, id) }
