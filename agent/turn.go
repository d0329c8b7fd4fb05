package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/transcript"
)

// errTimeout is the cause of a turn's context when its own Timeout is over.
var errTimeout = errors.New("the agent's time is over")

// What the host says to a model in the middle of a turn.
const (
	sayContinue  = "Your answer was cut at the output limit. Go on exactly where it stopped; do not repeat what you wrote and do not start over."
	sayThinkLess = "Your answer reached the output limit before it said or did anything. Think less before you answer, and go on."
	sayPlan      = "First write a short numbered plan as plain text: what you will do, in which order, and how you will know that it worked. No tools yet."
	sayCarryOut  = "Now carry out the plan, and change it where what you see calls for it."
	sayReflect   = "Before this counts, read your reply against the task once more: what does it claim without having seen it, and what did it leave out? Correct that, with tools where you need them, then give the whole final reply again."
	sayReport    = "This is your last answer: %s. No more tools. Give the final report now, in the form that was asked for, from what you have seen; say what you could not check."
	sayHandIn    = "This is your last answer: %s. Call %s now with what you have; say in it what you could not check."
	sayWhole     = " Write it whole, from its beginning: what was cut before does not count."
	sayInbox     = "While you work, someone who may says this about the task:\n\n%s"
	sayWake      = "Your background tasks have finished. Take their results into account and give the whole final reply:\n\n%s"
	saySubmit    = "You have not submitted a result. Call %s with it now."
	emptyReply   = "(no reply)"

	whyRefused = "the model's provider refused to answer (content filter): another model may not, or a narrower task (--task)"
)

// A turn is the state of one Turn. All of it follows from the journaled answers,
// so that replaying them leads to the same state.
type turn struct {
	cfg     *Config
	history *[]model.Message
	emit    Emit
	system  string
	tools   map[string]tool.Tool
	specs   []model.ToolSpec
	started time.Time

	end     End
	cap     int      // questions that may be asked; the corrective one is granted on top
	parts   []string // of a reply that the output limit cut
	cuts    int      // answers in a row that it cut
	last    string   // the last thing the model said, for a partial result
	draft   string   // a whole reply that was asked to be corrected
	repeats repeats
	window  window
	noCalls bool       // for the next question
	stop    model.Stop // of the last answer
	refused bool       // the draft is of an answer that the provider's filter cut
	fault   error      // emit's first error, which ends the turn

	planning, reflected, corrected, reminded bool

	stuck     string  // why the agent makes no progress
	reportBy  int     // number of the last question that the final report may take
	reporting Outcome // the limit that comes near: this question asks for the final report
	nearness  string  // and why
}

func newTurn(cfg *Config, history *[]model.Message, emit Emit) (*turn, error) {
	t := &turn{cfg: cfg, history: history, emit: emit, system: cfg.System, tools: map[string]tool.Tool{}}
	t.cap = cfg.MaxIterations
	if t.cap <= 0 {
		t.cap = DefaultIterations
	}
	t.cap = min(t.cap, MaxIterations)
	t.started, t.window.tokens = cfg.Now(), cfg.Window
	for _, tl := range cfg.Tools {
		if _, ok := t.tools[tl.Name]; ok {
			return nil, fmt.Errorf("agent %s: tool %s is there twice", cfg.Name, tl.Name)
		}
		t.tools[tl.Name] = tl
		t.specs = append(t.specs, model.ToolSpec{Name: tl.Name, Description: tl.Description, Schema: tl.Schema})
	}
	// Sorted, so that the same set of tools is the same bytes in every request.
	sorted.By(t.specs, func(a, b model.ToolSpec) int { return strings.Compare(a.Name, b.Name) })
	return t, nil
}

// run is the loop.
func (t *turn) run(parent context.Context) (End, error) {
	ctx, cancel := t.bound(parent)
	defer cancel()
	if err := t.begin(); err != nil {
		return t.broken(ctx, "", nil, err)
	}
	for {
		if err := t.reserve(ctx); err != nil {
			return t.broken(ctx, "", nil, err)
		}
		if outcome, reason := t.mustStop(ctx); outcome != "" {
			if outcome == Canceled || outcome == TimedOut {
				return t.broken(ctx, "", nil, context.Cause(ctx))
			}
			if t.draft != "" {
				return t.without()
			}
			return t.finish(outcome, reason, nil)
		}
		resp, late, err := t.askInTime(ctx)
		if late { // what is left of the time is for the report, which is asked for next
			continue
		}
		if err != nil && t.optional() && ctx.Err() == nil && t.fault == nil && !errors.Is(err, errRecord) {
			t.log().WarnContext(ctx, "the last question was not answered, and the turn ends without it", "agent", t.cfg.Name, "error", err)
			return t.without()
		}
		if err != nil {
			return t.broken(ctx, partial(resp), nil, err)
		}
		done, orphaned, err := t.take(ctx, resp)
		if err != nil {
			return t.broken(ctx, "", orphaned, err)
		}
		if done != "" {
			return t.finish(done, t.end.Reason, nil)
		}
	}
}

func (t *turn) bound(parent context.Context) (context.Context, context.CancelFunc) {
	if t.cfg.Timeout <= 0 {
		return context.WithCancel(parent)
	}
	return context.WithTimeoutCause(parent, t.cfg.Timeout, errTimeout)
}

// begin opens the conversation, from the journal where it has one.
func (t *turn) begin() error {
	if err := t.open(); err != nil {
		return err
	}
	if err := model.Validate(*t.history); err != nil {
		return fmt.Errorf("agent %s: %w", t.cfg.Name, err)
	}
	meta := &transcript.Meta{Model: t.cfg.Model.Name(), Background: t.cfg.Background, Max: t.cap}
	for _, s := range t.specs {
		meta.Tools = append(meta.Tools, s.Name)
	}
	task := (*t.history)[len(*t.history)-1].Text
	if err := t.send(Event{Type: transcript.TurnStart, Text: task, Meta: meta}); err != nil {
		return err
	}
	if t.cfg.Mode == PlanAndSolve {
		t.planning, t.noCalls = true, true
		return t.say("plan", sayPlan)
	}
	return nil
}

// mustStop says why no further question may be asked, "" for none. What the
// journal has was paid for before: only the cap holds for it.
func (t *turn) mustStop(ctx context.Context) (Outcome, string) {
	if ctx.Err() != nil {
		return interruption(ctx)
	}
	if t.reporting != "" {
		if t.end.Iterations >= t.reportBy {
			return t.reporting, t.nearness
		}
		return "", ""
	}
	if t.end.Iterations >= t.cap {
		return IterCapped, fmt.Sprintf("it asked the model %d times, which is its cap", t.end.Iterations)
	}
	if t.journaled(kindModel, t.key(t.end.Iterations+1)) {
		return "", ""
	}
	if reason := t.cfg.Budget.Exceeded(); reason != "" {
		return OverBudget, reason
	}
	if most := t.cfg.OutputTokens; most > 0 && t.end.Usage.Output >= most {
		return OverBudget, fmt.Sprintf("its limit of %d output tokens is used (%d)", most, t.end.Usage.Output)
	}
	return "", ""
}

// interruption says what a context that is done stands for.
func interruption(ctx context.Context) (Outcome, string) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errTimeout):
		return TimedOut, cause.Error()
	case cause == context.DeadlineExceeded: //nolint:errorlint // itself: another has words of its own
		return TimedOut, "the run's time is over"
	case errors.Is(cause, context.DeadlineExceeded):
		return TimedOut, cause.Error()
	case cause == nil || errors.Is(cause, context.Canceled):
		return Canceled, "canceled"
	}
	return Canceled, cause.Error()
}

// take makes the model's answer part of the history and does what it asks for.
// It returns how the turn ends with it, "" if it goes on, and on an error the
// calls that got no answer of their own.
func (t *turn) take(ctx context.Context, resp *model.Response) (done Outcome, orphaned []string, err error) {
	if err := t.account(resp); err != nil {
		return "", nil, err
	}
	msg, text := resp.Message, strings.TrimSpace(resp.Message.Text)
	if text != "" {
		t.last = msg.Text
	}
	if t.noCalls && len(msg.Calls) > 0 {
		msg.Calls, msg.Kept = nil, nil // what belongs to calls that are not there cannot go back
	}
	t.noCalls = false
	if resp.Stop != model.StopLength || len(msg.Calls) > 0 {
		t.cuts = 0
	}
	if len(msg.Calls) > 0 {
		t.parts = nil
		return t.round(ctx, msg)
	}
	if text != "" {
		t.join(msg.Text)
	}
	if text == "" {
		msg.Text, msg.Kept = emptyReply, nil
	}
	t.add(model.Message{Role: model.Assistant, Text: msg.Text, Kept: msg.Kept})
	if t.cuts++; resp.Stop == model.StopLength && t.cuts <= mostCuts {
		say := sayThinkLess
		if text != "" {
			say = sayContinue
		}
		t.noCalls = t.reporting != "" && t.cfg.Submit == ""
		return "", nil, errors.Join(t.goesOn("truncated_output", 0), t.say("truncated_output", say))
	}
	if text != "" || resp.Stop == model.StopLength {
		text = strings.Join(t.parts, "")
	}
	t.parts, t.cuts = nil, 0
	done, err = t.reply(ctx, text)
	return done, nil, err
}

// mostCuts is how many answers in a row that the output limit cut are gone on with. What
// is there by then counts: some servers say of every answer that it was cut.
const mostCuts = 8

// join adds what a model says to the parts of a reply that was cut. One that starts over in
// place of going on makes what was said before void.
func (t *turn) join(text string) {
	t.last = strings.Join(t.parts, "")
	if start := headLine(t.last); start != "" && headLine(text) == start {
		t.parts = nil
	}
	t.parts = append(t.parts, text)
	t.last = strings.Join(t.parts, "")
}

// headLine is the line with which a text begins, "" where it may be cut or is so short that
// others are like it: what goes on in the middle of a reply does not begin with the reply's.
func headLine(text string) string {
	line, _, whole := strings.Cut(strings.TrimLeft(text, " \t\r\n"), "\n")
	if line = strings.TrimSpace(line); !whole || len(line) < 8 {
		return ""
	}
	return line
}

// round makes the calls of an answer. What people said meanwhile comes after
// their answers.
func (t *turn) round(ctx context.Context, msg model.Message) (done Outcome, orphaned []string, err error) {
	done, orphaned, err = t.work(ctx, msg)
	if err != nil || done != "" {
		return done, orphaned, err
	}
	if err := t.goesOn("tool_calls", len(msg.Calls)); err != nil {
		return "", nil, err
	}
	_, err = t.listen()
	return "", nil, err
}

func (t *turn) goesOn(reason string, calls int) error {
	return t.send(Event{Type: transcript.IterationContinue, N: t.end.Iterations, Reason: reason, Count: calls})
}

// account counts what an answer used and reports it.
func (t *turn) account(resp *model.Response) error {
	t.end.Iterations++
	t.stop = resp.Stop
	t.end.Usage = t.end.Usage.Add(resp.Usage)
	usd, known := 0.0, false
	if t.cfg.Price != nil {
		usd, known = t.cfg.Price(resp.Usage)
	}
	t.end.CostUSD += usd
	t.end.CostKnown = known && (t.end.CostKnown || t.end.Iterations == 1)
	if t.end.Iterations > t.cfg.Charged {
		t.cfg.Budget.Charge(resp.Usage, usd, known)
	}
	if err := t.measure(resp); err != nil {
		return err
	}
	e := Event{Type: transcript.Message, N: t.end.Iterations, Text: resp.Message.Text, Usage: usage(resp.Usage)}
	if resp.Stop == model.StopLength || resp.Stop == model.StopFilter {
		e.Reason = string(resp.Stop)
	}
	for i, c := range resp.Message.Calls {
		e.Calls = append(e.Calls, transcript.Call{ID: c.ID, Index: i, Name: c.Name, Args: c.Args})
	}
	if err := t.send(e); err != nil {
		return err
	}
	return t.send(Event{Type: transcript.ContextUsage, N: t.end.Iterations, Count: resp.Usage.Input + resp.Usage.Output})
}

// reply decides about an answer without calls; text is "" for a blank one.
func (t *turn) reply(ctx context.Context, text string) (Outcome, error) {
	if t.planning {
		t.planning = false
		return "", t.say("plan", sayCarryOut)
	}
	if t.reporting != "" {
		t.end.Text, t.end.Reason = text, t.nearness
		return t.reporting, nil
	}
	if heard, err := t.listen(); heard || err != nil {
		return "", err
	}
	if woke, err := t.wake(ctx); woke || err != nil {
		return "", err
	}
	switch {
	case t.cfg.Mode == Reflexion && !t.reflected && text != "":
		t.reflected = true
		return "", t.say("reflexion", sayReflect)
	case t.cfg.Submit != "" && !t.reminded:
		t.reminded = true
		return "", t.say("submit", fmt.Sprintf(saySubmit, t.cfg.Submit))
	case t.cfg.Submit != "":
		t.end.Text, t.end.Reason = text, "no result was submitted"
		return NoFinalReply, nil
	}
	whole := false
	if t.cfg.Corrective != nil && !t.corrected {
		whole = text != ""
		if prompt, ok := t.cfg.Corrective(text); ok {
			t.corrected, t.noCalls, t.draft, t.refused = true, true, text, t.stop == model.StopFilter
			t.cap = max(t.cap, t.end.Iterations+1)
			return "", t.say("corrective", prompt)
		}
	}
	if t.stop == model.StopFilter && !whole {
		if t.draft == "" || t.refused {
			t.end.Text, t.end.Reason = text, whyRefused
			return NoFinalReply, nil
		}
		text = t.draft // the reply stands that was to be corrected
	} else if t.draft != "" && t.cfg.Repaired != nil {
		text = t.cfg.Repaired(t.draft, text)
	}
	if text == "" {
		t.end.Reason = "the model stopped without a reply"
		return NoFinalReply, nil
	}
	t.end.Text = text
	return Completed, nil
}

// say puts a message of the host's into the history. Beside a user's message it
// becomes part of it, because some providers want the two to take turns.
func (t *turn) say(reason, text string) error {
	h := *t.history
	if last := &h[len(h)-1]; last.Role == model.User {
		last.Text += "\n\n" + text
	} else {
		t.add(model.Message{Role: model.User, Text: text})
	}
	return t.send(Event{Type: transcript.UserMessage, N: t.end.Iterations, Text: text, Reason: reason})
}

func (t *turn) add(m model.Message) { *t.history = append(*t.history, m) }

func (t *turn) done() *transcript.Done {
	d := &transcript.Done{
		Outcome: string(t.end.Outcome), Text: t.end.Text,
		Iterations: t.end.Iterations, ToolCalls: t.end.ToolCalls, Usage: *usage(t.end.Usage),
		DurationMS: t.cfg.Now().Sub(t.started).Milliseconds(),
	}
	if t.end.CostKnown {
		d.CostUSD = &t.end.CostUSD
	}
	if t.end.Outcome == Errored {
		d.Error = t.end.Reason
	}
	return d
}

// send completes e and emits it. After emit's first error nothing is emitted.
func (t *turn) send(e Event) error {
	if t.fault != nil {
		return t.fault
	}
	e.Time, e.Agent, e.ID, e.Parent = t.cfg.Now().UTC(), t.cfg.Name, t.cfg.ID, t.cfg.Parent
	if err := t.emit(e); err != nil {
		t.fault = fmt.Errorf("agent %s: event %s: %w", t.cfg.Name, e.Type, err)
	}
	return t.fault
}

func usage(u model.Usage) *transcript.Usage {
	return &transcript.Usage{Input: u.Input, Output: u.Output, Cached: u.Cached, Written: u.Written, Estimated: u.Estimated}
}

func partial(resp *model.Response) string {
	if resp == nil {
		return ""
	}
	return resp.Message.Text
}
