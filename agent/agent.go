// Package agent is the loop that asks a model and runs the tools it calls, and
// the runner that does so for subagents.
//
// [Turn] is the only place that talks to a model or runs a tool. It knows no
// pull request: what an agent may do comes as tools, what it is to know as text.
//
// Three kinds of trouble are distinguished where they happen. The model's mistakes
// go back to the model as the answer to its call. Expected ends (a cap, a
// budget, no progress, cancelled) are an [Outcome]. Everything else is
// infrastructure and is returned as an error, with an End that says how far
// the work came. Whatever the end, the history that is left is one that the
// strictest provider accepts.
//
// With a journal a turn survives its process: see journal.go for the keys.
package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/transcript"
)

// Event is what consumers get; see package transcript.
type Event = transcript.Event

// An Emit takes an event: it persists it first and shows it then. Its error
// ends the turn as infrastructure. Agents that run side by side share it, so it
// is safe for concurrent use.
type Emit func(Event) error

// A Config is an agent that is ready to work. It is not changed by Turn.
type Config struct {
	Name   string // of the agent, such as "verification"
	ID     string // unique in the run and the same when the run is resumed
	Parent string // id of the agent that started it, if any
	System string

	Model model.Model
	Tools []tool.Tool // what is offered; the order does not matter
	// Known are tools that exist and that this agent does not get, such as the
	// mutators. They are not offered; calling them is refused and recorded.
	Known   map[string]tool.Class
	Aliases map[string]string // other spellings that are taken at dispatch
	// Classes is checked again when a call is dispatched: nil allows what Tools has.
	Classes []tool.Class
	// Decide refuses a call before it runs; nil refuses nothing.
	Decide func(ctx context.Context, t tool.Tool, args json.RawMessage) *tool.Denied
	// Approved names the rule or grant by which a call runs that Decide let pass;
	// "" for one that needs none. May be nil.
	Approved   func(t tool.Tool, args json.RawMessage) string
	Background bool // no one waits: refusals of mutators say so
	// Inbox returns what people said since it was last called. It is read between
	// rounds of tools and before a final reply counts. May be nil.
	Inbox func() []string

	// Wake waits for what the agent has in the background and returns what that came
	// to, "" for nothing new. It is asked before a final reply counts. May be nil.
	Wake func(ctx context.Context) string

	MaxIterations int           // questions to the model; 0: DefaultIterations
	Timeout       time.Duration // of this turn in this process; 0: only ctx's
	Budget        *Budget       // shared with other agents; nil: none
	Charged       int           // journaled answers that Budget was charged with in this process already
	MaxOut        int           // output tokens of one answer; 0: the provider's own
	Window        int           // input tokens that the model takes; 0: it is not known
	OutputTokens  int           // output tokens of the whole turn; 0: no limit
	Price         Price         // nil: the cost is not known
	Effort        model.Effort  // how long the model may think; "": as its provider decides
	// Reserve is the share of every limit (time, tokens, money) that is kept for the
	// final report, such as 0.1: where no more is left, and where the cap of
	// questions is reached, one last question asks for it. The outcome is the
	// limit's all the same. 0: none.
	Reserve float64

	Mode Mode
	// Corrective is asked about a final reply. Where ok is true the prompt is sent
	// once, without tools. Where no answer comes, the reply stands.
	Corrective func(final string) (prompt string, ok bool)
	// Repaired says which reply counts: the one before that prompt or the one after
	// it. nil: the one after it.
	Repaired func(before, after string) string
	// Submit names the tool with which a result must be handed in; a reply without
	// it is reminded once and then no result.
	Submit string

	Journal *journal.Journal // nil: nothing survives the process
	Now     func() time.Time
	// Wait pauses before a question is tried again that a provider could not answer; nil:
	// there is no pause.
	Wait func(ctx context.Context, d time.Duration) error
	Log  *slog.Logger // nil: silent
}

// A Mode is a small addition to the plain loop.
type Mode string

// The modes.
const (
	React        Mode = ""               // the plain loop
	PlanAndSolve Mode = "plan_and_solve" // one plan without tools comes first
	Reflexion    Mode = "reflexion"      // the first final reply is looked over once by its author
)

// DefaultIterations bounds a Config that says nothing.
const DefaultIterations = 40

// MaxIterations bounds every agent, whatever its definition says.
const MaxIterations = 100

// A Price says what usage costs in US dollars; ok is false where that is not known.
type Price func(u model.Usage) (usd float64, ok bool)

// An Outcome says how a turn ended. The strings are stored: do not change them.
type Outcome string

// How a turn ends.
const (
	Completed    Outcome = "runner_completed"
	Canceled     Outcome = "runner_canceled"       // stopped, superseded, or the process is ending
	IterCapped   Outcome = "runner_iter_cap"       // as many questions as it may ask
	Errored      Outcome = "runner_errored"        // infrastructure: provider, journal, a tool's own failure
	NoFinalReply Outcome = "runner_no_final_reply" // the model stopped and said nothing
	TimedOut     Outcome = "runner_timeout"
	OverBudget   Outcome = "runner_budget"
	NoProgress   Outcome = "runner_no_progress" // the same calls gave the same answers, also after a hint
)

// A Category says what a caller may do about an outcome.
type Category string

// The categories of outcomes.
const (
	Success   Category = "success"
	Retryable Category = "retryable" // one more run of the agent may succeed
	Capacity  Category = "capacity"  // its limits were too small: another run ends the same way
	Fatal     Category = "fatal"     // no agent of this run can work
)

// An End is how a turn ended and what it used.
type End struct {
	Outcome    Outcome         `json:"outcome"`
	Reason     string          `json:"reason,omitempty"` // in words, where the outcome is not Completed
	Text       string          `json:"text"`             // the final reply, or what there was of one
	Submitted  json.RawMessage `json:"submitted,omitempty"`
	Truncated  string          `json:"truncated,omitempty"` // why the model did not see the whole conversation, where it did not
	Usage      model.Usage     `json:"usage"`
	CostUSD    float64         `json:"cost_usd"`
	CostKnown  bool            `json:"cost_known"`
	Iterations int             `json:"iterations"`
	ToolCalls  int             `json:"tool_calls"`
	Denied     []tool.Denied   `json:"denied,omitempty"`
	Evidence   []string        `json:"evidence,omitempty"`
}

// Turn works on history until the agent has its final reply or cannot go on.
// The caller has put the user's message into history; Turn appends to it, and
// leaves it valid whatever happens. A turn that the journal knows is rebuilt
// from it first: the journaled opening replaces history and System, no journaled
// question is asked again, no journaled call is made again.
//
// The error is not nil for infrastructure only; the End says how far it came.
func Turn(ctx context.Context, cfg *Config, history *[]model.Message, emit Emit) (End, error) {
	t, err := newTurn(cfg, history, emit)
	if err != nil {
		return End{Outcome: Errored, Reason: err.Error()}, err
	}
	return t.run(ctx)
}
