package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/hook"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// hooks are the operator's hooks in a run. They are called where things happen: those
// that can refuse something (RunStart, SubagentStart, PreToolUse) before it, the
// others by the event of it, once, also when the run is continued. A run that is
// done again to be compared calls none: its hooks are nil.
type hooks struct {
	runner *hook.Runner
	run    hook.Input // what hooks are given of the run
	redact func([]byte) []byte
}

// hooks are those of a run from its checkout on.
func (r *Runner) hooks(b *begun, src rundir.Source) *hooks {
	if b.repeats != nil {
		return nil
	}
	c := src.Change
	return &hooks{runner: r.Hooks, redact: b.dir.Redact, run: hook.Input{
		RunID: b.dir.ID, Dir: b.dir.Path, Repo: c.Repo, PR: c.PR, Base: c.BaseSHA, Head: c.HeadSHA, Trust: b.job.Trust,
	}}
}

// has says whether there are hooks of an event.
func (h *hooks) has(e hook.Event) bool { return h != nil && h.runner.Has(e) }

// input is what hooks of an event are given of the run.
func (h *hooks) input(e hook.Event) hook.Input {
	in := h.run
	in.Event = e
	return in
}

// runStart asks whether the run may begin.
func (h *hooks) runStart(ctx context.Context) error {
	if !h.has(hook.RunStart) {
		return nil
	}
	if no := h.runner.Call(ctx, h.input(hook.RunStart)); no != "" {
		return &rundir.UsageError{Err: fmt.Errorf("the operator's hook refuses this run: %s", no)}
	}
	return ctx.Err()
}

// runEnd reports the end of a run that was begun, whatever came of it.
func (h *hooks) runEnd(ctx context.Context, rep *report.Report, err error) {
	if !h.has(hook.RunEnd) {
		return
	}
	in := h.input(hook.RunEnd)
	in.Outcome = string(report.Errored)
	if rep != nil {
		in.Outcome, in.Verdict, in.Result = string(rep.Outcome), string(rep.Verdict), strings.Join(rep.Reasons, "\n")
	}
	if err != nil {
		in.Outcome, in.Result = string(report.Errored), string(h.redact([]byte(err.Error())))
	}
	h.runner.Call(context.WithoutCancel(ctx), in)
}

// preToolUse is the last word about a call; nil where there are no hooks for it.
func (h *hooks) preToolUse() func(agent.HookCall) string {
	if !h.has(hook.PreToolUse) {
		return nil
	}
	return func(c agent.HookCall) string {
		in := h.input(hook.PreToolUse)
		in.Agent, in.ID, in.Tool = c.Agent, c.ID, c.Tool
		for _, t := range c.Targets {
			in.Targets = append(in.Targets, string(h.redact([]byte(t))))
		}
		return h.runner.Call(context.Background(), in) // its own time bounds it
	}
}

// subagentStart asks whether a subagent may begin.
func (h *hooks) subagentStart(ctx context.Context, rec agent.Record, isolation string) error {
	if !h.has(hook.SubagentStart) {
		return nil
	}
	in := h.input(hook.SubagentStart)
	in.Agent, in.ID, in.Parent, in.Isolation = rec.Agent, rec.ID, rec.Parent, isolation
	in.Prompt = string(h.redact([]byte(rec.Prompt)))
	if no := h.runner.Call(ctx, in); no != "" {
		return errors.New("the operator's hook refuses it: " + no)
	}
	return ctx.Err()
}

// event calls the hooks that an event is for.
func (h *hooks) event(e agent.Event) {
	var in hook.Input
	switch {
	case e.Type == agent.EventToolResult && e.Call != nil && h.has(hook.PostToolUse):
		in = h.input(hook.PostToolUse)
		in.Tool, in.Output, in.Errored = e.Call.Name, e.Text, e.Errored
		if json.Valid([]byte(e.Call.Args)) {
			in.Args = json.RawMessage(redact.InJSON(h.redact, []byte(e.Call.Args)))
		}
	case e.Type == agent.EventSubagentDone && e.Done != nil && h.has(hook.SubagentStop):
		in = h.input(hook.SubagentStop)
		in.Outcome, in.Result, in.Verdict = stopWord(e), e.Done.Text, e.Done.Verdict
		in.Isolation = e.Done.Isolation
	default:
		return
	}
	in.Agent, in.ID, in.Parent = e.Agent, e.ID, e.Parent
	h.runner.Call(context.Background(), in)
}

// stopWord is how a subagent ended, in the words of hooks.
func stopWord(e agent.Event) string {
	switch o := agent.Outcome(e.Done.Outcome); {
	case o == agent.Completed:
		return "ok"
	case o == agent.TimedOut:
		return "timeout"
	case o == agent.Errored && e.Done.Panicked:
		return "crash"
	case o == agent.Errored:
		return "error"
	}
	return "incomplete"
}
