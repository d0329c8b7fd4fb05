package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/transcript"
)

// todoTool is the tool with which an agent keeps its list.
const todoTool = "todo_write"

// sideBySide is how many calls of one message run at the same time.
const sideBySide = 4

// interrupted is the answer to a call that got none of its own.
func interrupted(ctx context.Context) string {
	if ctx.Err() == nil {
		return "interrupted"
	}
	_, reason := interruption(ctx)
	return "interrupted (" + reason + ")"
}

// An answer is what came of a call, as the journal keeps it.
type answer struct {
	Text       string          `json:"text"`
	Errored    bool            `json:"errored,omitempty"`
	Evidence   []string        `json:"evidence,omitempty"`
	Denied     *tool.Denied    `json:"denied,omitempty"`
	Final      json.RawMessage `json:"final,omitempty"`
	Images     []tool.Image    `json:"images,omitempty"`
	Approved   string          `json:"approved,omitempty"`
	DurationMS int64           `json:"duration_ms"`
	err        error           // no answer: cancelled, or infrastructure
}

// work makes the calls of one answer and puts all their answers into the
// history. The leading run of calls that are safe side by side is made so, the
// others one after another. After an error the calls that are left are answered
// as interrupted; their ids are returned with it.
func (t *turn) work(ctx context.Context, said model.Message) (done Outcome, orphaned []string, err error) {
	calls := said.Calls
	msg := model.Message{Role: model.Assistant, Calls: slices.Clone(calls), Kept: said.Kept}
	if len(said.Kept) > 0 {
		msg.Text = said.Text // what a provider wants back as it gave it stays whole
	}
	for i, c := range calls {
		if args, err := t.args(c); err == nil {
			msg.Calls[i].Args = string(args)
		} else {
			msg.Calls[i].Args = "{}" // what is no object cannot be sent back
		}
	}
	t.add(msg)
	lead := t.leading(calls)
	ready := t.together(ctx, calls[:lead])
	for i, c := range calls {
		var a answer
		switch {
		case err != nil && (i >= lead || ready[i].err != nil):
			a.err = err
		case i < lead:
			a = ready[i]
		default:
			a = t.one(ctx, i, c)
		}
		if a.err != nil {
			if err == nil || errors.Is(err, context.Canceled) {
				err = a.err
			}
			orphaned = append(orphaned, c.ID)
			t.add(model.Message{Role: model.Tool, CallID: c.ID, Text: interrupted(ctx)})
			continue
		}
		outcome, answerErr := t.answered(i, c, a)
		if outcome != "" {
			done = outcome
		}
		if err == nil {
			err = answerErr
		}
	}
	return done, orphaned, err
}

// leading counts the calls at the front that may run side by side.
func (t *turn) leading(calls []model.Call) int {
	for i, c := range calls {
		if tl, ok := t.tools[t.canonical(c.Name)]; ok && !tl.Parallel {
			return i
		}
	}
	return len(calls)
}

// together makes calls side by side and returns their answers in order.
func (t *turn) together(ctx context.Context, calls []model.Call) []answer {
	answers := make([]answer, len(calls))
	slots := make(chan struct{}, sideBySide)
	var wg sync.WaitGroup
	for i, c := range calls {
		// Here and not beside the call, so that the events of a run are always in the same order.
		if err := t.starts(i, c); err != nil {
			answers[i].err = err
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			answers[i] = t.answer(ctx, i, c)
		})
	}
	wg.Wait()
	return answers
}

func (t *turn) one(ctx context.Context, i int, c model.Call) answer {
	if ctx.Err() != nil {
		return answer{err: context.Cause(ctx)}
	}
	if err := t.starts(i, c); err != nil {
		return answer{err: err}
	}
	return t.answer(ctx, i, c)
}

func (t *turn) starts(i int, c model.Call) error {
	return t.send(Event{Type: transcript.ToolStart, N: t.end.Iterations, Call: eventCall(i, c)})
}

// answer makes one call, or takes its answer from the journal.
func (t *turn) answer(ctx context.Context, i int, c model.Call) answer {
	var a answer
	if ok, err := t.recall(kindTool, t.callKey(i), &a); ok || err != nil {
		a.err = err
		return a
	}
	if ctx.Err() != nil {
		return answer{err: context.Cause(ctx)}
	}
	began := t.cfg.Now()
	a = t.dispatch(ctx, c)
	a.DurationMS = t.cfg.Now().Sub(began).Milliseconds()
	if a.err == nil {
		a.err = t.keep(c, t.callKey(i), a)
	}
	return a
}

// keep puts an answer into the journal. One that was only read is read again where it
// is missing there, and comes to disk with the next entry: the model's next answer,
// before anything is done by that.
func (t *turn) keep(c model.Call, key string, a answer) error {
	if tl, ok := t.tools[t.canonical(c.Name)]; !ok || tl.Class != tool.Read {
		return t.record(kindTool, key, a)
	}
	return t.recordSoon(kindTool, key, a)
}

// answered puts an answer into the history, and says whether it ends the turn.
func (t *turn) answered(i int, c model.Call, a answer) (Outcome, error) {
	t.end.ToolCalls++
	t.end.Evidence = append(t.end.Evidence, a.Evidence...)
	if strings.TrimSpace(a.Text) == "" {
		a.Text = "(no output)"
	}
	var done Outcome
	if a.Denied != nil {
		t.end.Denied = append(t.end.Denied, *a.Denied)
	}
	if a.Final != nil {
		t.end.Submitted, t.end.Text = a.Final, a.Text
		done = Completed
		if t.reporting != "" {
			done, t.end.Reason = t.reporting, t.nearness
		}
	}
	n := t.end.Iterations
	switch r := t.repeats.note(n, c.Name, c.Args, a); {
	case r.hint:
		a.Text += r.text()
	case r.stop && done == "" && t.cfg.Reserve > 0:
		t.stuck = r.reason(c.Name) // the report is asked for next
	case r.stop && done == "":
		done = NoProgress
		t.end.Reason = r.reason(c.Name)
	}
	msg := model.Message{Role: model.Tool, CallID: c.ID, Text: a.Text}
	for _, i := range a.Images {
		msg.Images = append(msg.Images, model.Image(i))
	}
	t.add(msg)
	if a.Denied != nil {
		d := transcript.Denied(*a.Denied)
		if err := t.send(Event{Type: transcript.CallDenied, N: n, Call: eventCall(i, c), Denied: &d}); err != nil {
			return done, err
		}
	}
	if a.Approved != "" {
		e := Event{Type: transcript.ApprovalAuto, N: n, Call: eventCall(i, c), Text: "[subagent:" + t.cfg.Name + "]", Reason: a.Approved}
		if err := t.send(e); err != nil {
			return done, err
		}
	}
	if !a.Errored && t.canonical(c.Name) == todoTool {
		if err := t.send(Event{Type: transcript.TodoUpdate, N: n, Call: eventCall(i, c), Text: a.Text}); err != nil {
			return done, err
		}
	}
	return done, t.send(Event{
		Type: transcript.ToolResult, N: n, Call: eventCall(i, c), Text: a.Text,
		Errored: a.Errored, Evidence: a.Evidence, DurationMS: a.DurationMS,
	})
}

// dispatch is the decision chain: a tool that is not there, arguments that are
// none, a class that was not granted and what Decide says each end in an answer
// that says to the model why; what is left is run.
func (t *turn) dispatch(ctx context.Context, c model.Call) answer {
	name := t.canonical(c.Name)
	tl, ok := t.tools[name]
	if !ok {
		return t.refuse(c, t.unprovisioned(name, c.Args))
	}
	if t.cfg.Classes != nil && !slices.Contains(t.cfg.Classes, tl.Class) {
		return t.refuse(c, t.ungranted(tl.Class))
	}
	args, err := t.args(c)
	if err != nil {
		why := ""
		if t.stop == model.StopLength {
			why = "Your answer was cut at the output limit: say less in one call. "
		}
		return mistake(fmt.Sprintf("%v. It was not run. %sYou wrote: %s", err, why, clip(c.Args, 200)))
	}
	if t.cfg.Decide != nil {
		if d := t.cfg.Decide(ctx, tl, args); d != nil {
			return t.refuse(c, *d)
		}
	}
	approved := ""
	if t.cfg.Approved != nil {
		approved = t.cfg.Approved(tl, args)
	}
	inTime, cancel := t.working(ctx)
	defer cancel()
	res, err := t.call(inTime, tl, args)
	var bad *tool.BadCall
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(context.Cause(inTime), errWorkTime):
		return mistake("it was stopped: " + errWorkTime.Error())
	case errors.As(err, &bad):
		return mistake(bad.Text)
	case err != nil && ctx.Err() != nil:
		return answer{err: context.Cause(ctx)}
	case err != nil:
		return answer{err: fmt.Errorf("agent %s: tool %s: %w", t.cfg.Name, name, err)}
	case res.Denied != nil:
		a := t.refuse(c, *res.Denied)
		a.Evidence = res.Evidence
		return a
	case res.Errored:
		a := mistake(res.Text)
		a.Evidence, a.Approved = res.Evidence, approved
		return a
	}
	return answer{Text: res.Text, Evidence: res.Evidence, Final: res.Final, Images: res.Images, Approved: approved}
}

// call runs a tool; a panic of it is an answer that did not work.
func (t *turn) call(ctx context.Context, tl tool.Tool, args json.RawMessage) (res tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.log().ErrorContext(ctx, "tool panicked", "agent", t.cfg.Name, "tool", tl.Name, "panic", p, "stack", string(debug.Stack()))
			res, err = tool.Result{Text: fmt.Sprintf("error: %s panicked: %v", tl.Name, p), Errored: true}, nil
		}
	}()
	return tl.Run(ctx, args)
}

// unprovisioned refuses a tool that this agent does not have.
func (t *turn) unprovisioned(name, args string) tool.Denied {
	var have []string
	for _, s := range t.specs {
		have = append(have, s.Name)
	}
	if class, ok := t.cfg.Known[name]; ok {
		if d := mutation(class, args); d != nil {
			return *d
		}
		return t.ungranted(class)
	}
	return tool.Denied{Code: "not_provisioned", Rule: "unknown tool", Source: "registry", Hint: "there is no such tool; available: " + strings.Join(have, ", ")}
}

// ungranted refuses a class of tools.
func (t *turn) ungranted(class tool.Class) tool.Denied {
	d := tool.Denied{Code: "not_provisioned", Rule: "class " + string(class), Source: "grant"}
	switch class {
	case tool.Write, tool.GitWrite, tool.Publish:
		return *refusal(policy.Mutation("class "+string(class), ""))
	case tool.Delegate:
		d.Hint = "a subagent cannot start subagents; do the work with the tools you have"
	default:
		d.Hint = "this agent was not given it; work with the tools you have, and say what could not be done"
	}
	return d
}

// mutation refuses a call that would change or publish something, by its class or by the
// words of its command; nil for another call.
func mutation(class tool.Class, args string) *tool.Denied {
	switch class {
	case tool.Write, tool.GitWrite, tool.Publish:
		return refusal(policy.Mutation("class "+string(class), ""))
	case tool.Exec:
		var a struct{ Command string }
		if json.Unmarshal([]byte(args), &a) == nil {
			return refusal(policy.CheckMutation(a.Command))
		}
	}
	return nil
}

// refuse answers a call with d, completed and as JSON.
func (t *turn) refuse(c model.Call, d tool.Denied) answer {
	if d.Tool == "" {
		d.Tool = c.Name
	}
	if d.Target == "" {
		d.Target = target(c.Args)
	}
	text, err := json.Marshal(d)
	if err != nil {
		return answer{err: fmt.Errorf("agent %s: denial: %w", t.cfg.Name, err)} // strings always marshal
	}
	return answer{Text: string(text), Errored: true, Denied: &d}
}

// target is what a call is about: its command or path, else its arguments.
func target(args string) string {
	var a struct{ Command, Path, URL, Pattern string }
	if err := json.Unmarshal([]byte(args), &a); err == nil {
		for _, s := range []string{a.Command, a.Path, a.URL, a.Pattern} {
			if s != "" {
				return clip(s, 200)
			}
		}
	}
	return clip(args, 200)
}

func (t *turn) canonical(name string) string {
	if _, ok := t.tools[name]; ok {
		return name
	}
	if to, ok := t.cfg.Aliases[name]; ok {
		return to
	}
	return name
}

func (t *turn) log() *slog.Logger {
	if t.cfg.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return t.cfg.Log
}

// mistake is an answer that did not work, and says so in its first word, as that of
// a command and a subagent's task_error do.
func mistake(text string) answer {
	if !strings.HasPrefix(text, "error") && !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "<task_error ") {
		text = "error: " + text
	}
	return answer{Text: text, Errored: true}
}

func eventCall(i int, c model.Call) *transcript.Call {
	return &transcript.Call{ID: c.ID, Index: i, Name: c.Name, Args: c.Args}
}

// clip cuts s to n runes.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
