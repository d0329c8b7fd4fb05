// Package transcript is what happened while agents worked: the events, the log
// that keeps them, and what people and programs read of them afterwards.
//
// events.jsonl holds one event a line in the order in which they were
// persisted. Events are deterministic but for their times: a run that is
// resumed emits the events of what it replays again, and [Log.Append] knows them
// by [Event.Key] and drops them. Transcripts and sidechains are pure functions
// of the events and are never written while the run goes.
package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// A Type says what an event is. The strings are stored: do not change them.
type Type string

// The events of an agent. N is the number of the model's answer, from 1, in the
// events that end something the number of answers.
const (
	TurnStart         Type = "turn_start"         // Text the task, Meta who and with what
	IterationStart    Type = "iteration_start"    // N, Max
	ContentToken      Type = "content_token"      // Text a piece of the answer; not kept
	ReasoningToken    Type = "reasoning_token"    // Text; not kept
	ContentReset      Type = "content_reset"      // the answer broke off and is asked again; not kept
	Message           Type = "assistant_message"  // Text, Calls, Usage of one whole answer
	UserMessage       Type = "user_message"       // Text that the host put in, Reason why
	ToolStart         Type = "tool_start"         // Call
	ToolResult        Type = "tool_result"        // Call, Text the answer, Errored, Evidence, DurationMS
	CallDenied        Type = "denied"             // Call, Denied; its tool_result follows
	IterationContinue Type = "iteration_continue" // N, Reason tool_calls or truncated_output, Count of the calls: the turn goes on
	StreamProgress    Type = "stream_progress"    // N, Count of the bytes that came so far; not kept
	ContextUsage      Type = "context_usage"      // N, Count of the tokens that the conversation now has
	ContextCompacted  Type = "context_compacted"  // N, Count of the characters that were dropped from old answers
	ApprovalAuto      Type = "approval_auto"      // Call, Reason the rule or grant that lets it run, Text who wants it; its tool_result follows
	TodoUpdate        Type = "todo_update"        // Call, Text the list
	Fallback          Type = "fallback"           // Text what was wanted and what is used, Reason why
	IterCap           Type = "iter_cap"           // Max
	Failure           Type = "error"              // Text
	TurnDone          Type = "turn_done"          // Done
	TurnInterrupted   Type = "turn_interrupted"   // Reason, Orphaned, Text the partial answer, Done

	SubagentStart    Type = "subagent_start"    // Text the task, Meta
	SubagentProgress Type = "subagent_progress" // Text one line; not kept
	SubagentDone     Type = "subagent_done"     // Done
	// SubagentBackgroundDone follows the subagent_done of work that no one waited for.
	SubagentBackgroundDone Type = "subagent_background_done" // Done
)

// The events of the run itself. They have no ID; Step says what they are about.
const (
	RunStart     Type = "run_start"   // Text the run's id
	RunResumed   Type = "run_resumed" // the same, of a run that was begun before
	StageStart   Type = "stage_start"
	StageDone    Type = "stage_done"    // DurationMS, Reason why it did not end well
	Note         Type = "note"          // Text what those who watch should know
	CommandStart Type = "command_start" // DurationMS how long it took last time, where that is known
	CommandDone  Type = "command_done"  // DurationMS, Evidence
	RunDone      Type = "run_done"      // Text the verdict, Reason the outcome
)

// Transient reports whether events of this type are shown and not kept.
func (t Type) Transient() bool {
	switch t {
	case ContentToken, ReasoningToken, ContentReset, StreamProgress, SubagentProgress:
		return true
	}
	return false
}

// An Event is one thing that happened. Which fields are set depends on the type.
type Event struct {
	Type   Type      `json:"type"`
	Time   time.Time `json:"time"`
	Agent  string    `json:"agent,omitempty"` // name of the agent that it happened to
	ID     string    `json:"id,omitempty"`    // and its id in the run; empty: the run itself
	Parent string    `json:"parent,omitempty"`

	N          int      `json:"n,omitempty"`
	Max        int      `json:"max,omitempty"`
	Count      int      `json:"count,omitempty"`
	Text       string   `json:"text,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Call       *Call    `json:"call,omitempty"`
	Calls      []Call   `json:"calls,omitempty"`
	Errored    bool     `json:"errored,omitempty"`
	Evidence   []string `json:"evidence,omitempty"`
	Denied     *Denied  `json:"denied,omitempty"`
	DurationMS int64    `json:"duration_ms,omitempty"`
	Orphaned   []string `json:"orphaned,omitempty"` // ids of calls that got no answer of their own
	Usage      *Usage   `json:"usage,omitempty"`
	Meta       *Meta    `json:"meta,omitempty"`
	Done       *Done    `json:"done,omitempty"`
	Step       *Step    `json:"step,omitempty"`
}

// A Step is a stage of the run, or a command of one that no agent asked for.
type Step struct {
	Stage    string `json:"stage"`
	Side     string `json:"side,omitempty"` // base or head
	Unit     string `json:"unit,omitempty"` // folder in the repository
	Command  string `json:"command,omitempty"`
	Rest     bool   `json:"rest,omitempty"` // of the gate: it is of what the change does not touch
	Exit     *int   `json:"exit,omitempty"`
	TimedOut bool   `json:"timed_out,omitempty"`
}

// A Call is one tool call.
type Call struct {
	ID    string `json:"id"`
	Index int    `json:"index"` // position among the calls of its message
	Name  string `json:"name"`
	Args  string `json:"args"`
}

// Denied says why a call was refused.
type Denied struct {
	Code   string `json:"code"`
	Tool   string `json:"tool"`
	Target string `json:"target"`
	Rule   string `json:"rule"`
	Source string `json:"source"`
	Hint   string `json:"hint"`
}

// Usage counts tokens.
type Usage struct {
	Input     int  `json:"input"`
	Output    int  `json:"output"`
	Cached    int  `json:"cached"`
	Written   int  `json:"written,omitempty"`
	Estimated bool `json:"estimated,omitempty"`
}

// Meta is what an agent was started with.
type Meta struct {
	Model       string   `json:"model,omitempty"`
	Description string   `json:"description,omitempty"`
	Source      string   `json:"source,omitempty"`      // builtin, project, user, operator
	SourcePath  string   `json:"source_path,omitempty"` // file of the definition
	Background  bool     `json:"background"`
	Isolation   string   `json:"isolation,omitempty"`
	Tools       []string `json:"tools,omitempty"` // the tools that it was really given
	Max         int      `json:"max_iterations,omitempty"`
}

// Done is how an agent's work ended.
type Done struct {
	Outcome    string   `json:"outcome"`
	Status     string   `json:"status,omitempty"`
	Verdict    string   `json:"verdict,omitempty"`
	Text       string   `json:"text,omitempty"` // the string that the parent got
	Iterations int      `json:"iterations"`
	ToolCalls  int      `json:"tool_calls"`
	Usage      Usage    `json:"usage"`
	CostUSD    *float64 `json:"cost_usd"` // null: the model's price is unknown
	DurationMS int64    `json:"duration_ms"`
	Isolation  string   `json:"isolation,omitempty"`
	Error      string   `json:"error,omitempty"`
	Panicked   bool     `json:"panicked,omitempty"` // Error is a fault of the program itself
	Ran        int      `json:"commands,omitempty"` // that really ran
	Failed     int      `json:"failed,omitempty"`   // of those
	Denied     int      `json:"denied,omitempty"`   // calls that were refused
	ByUser     bool     `json:"canceled_by_user,omitempty"`
}

// Key names what the event says, the same each time a resumed run says it again.
func (e Event) Key() string {
	key := fmt.Sprintf("%s %s %d", e.ID, e.Type, e.N)
	switch {
	case e.Call != nil:
		key += fmt.Sprintf(".%d", e.Call.Index)
	case e.Done != nil:
		key += " " + e.Done.Outcome
	case e.Type == UserMessage:
		key += " " + e.Reason
	}
	return key
}

// envelopeType is the type of what an agent's event is sent in.
const envelopeType = "subagent_event"

// An envelope is an agent's event as it is stored and sent: consumers see at its top whose
// it is.
type envelope struct {
	Agent   string          `json:"agentType"`
	Event   json.RawMessage `json:"event"`
	Session string          `json:"sessionId"`
	Type    string          `json:"type"`
}

// A bare event is one without its envelope.
type bare Event

// An ended event is that of an agent that is done, with what interfaces show of it.
type ended struct {
	bare
	Kind    string   `json:"kind"`
	Payload *payload `json:"payload"`
}

type payload struct {
	ID         string   `json:"subagent_id"`
	Iterations int      `json:"iterations"`
	ToolCalls  int      `json:"tool_calls_made"`
	CostUSD    *float64 `json:"cost_usd"`
	DurationMS int64    `json:"duration_ms"`
	Isolation  string   `json:"isolation"`
}

// MarshalJSON puts the event of an agent into its envelope; those of the run have none.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.ID == "" {
		return plainJSON(bare(e))
	}
	var inner any = bare(e)
	if e.Type == SubagentDone && e.Done != nil {
		inner = ended{bare(e), "subagent", &payload{e.ID, e.Done.Iterations, e.Done.ToolCalls, e.Done.CostUSD, e.Done.DurationMS, e.Done.Isolation}}
	}
	raw, err := plainJSON(inner)
	if err != nil {
		return nil, err
	}
	return plainJSON(envelope{e.Agent, raw, e.ID, envelopeType})
}

// UnmarshalJSON takes an event out of its envelope; those of older versions have none.
func (e *Event) UnmarshalJSON(data []byte) error {
	var out envelope
	if err := json.Unmarshal(data, &out); err == nil && out.Type == envelopeType && out.Event != nil {
		data = out.Event
	}
	return json.Unmarshal(data, (*bare)(e))
}

// plainJSON is JSON with <, > and & as they are: HTML is encoded where it is written.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
