package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/hook"
	"github.com/ycbot/ycbot/internal/report"
)

// The operator's hooks are called where things happen: those that can refuse
// something (RunStart, SubagentStart, PreToolUse) before it, the others by the
// event that tells of it, once, also when the run is continued. A run that is
// driven again to be compared calls none.

// input is what hooks of an event are told of the run.
func (s *session) input(e hook.Event) hook.Input {
	c := s.src.Change
	return hook.Input{
		Event: e, RunID: s.id, Dir: s.dir, Repo: c.Repo, PR: c.PR, Base: c.BaseSHA, Head: c.HeadSHA, Trust: s.job.Trust,
	}
}

// hooked says whether there are hooks of an event.
func (s *session) hooked(e hook.Event) bool { return !s.driven && s.Runner != nil && s.Hooks.Has(e) }

// admitted asks whether the run may begin.
func (s *session) admitted(ctx context.Context) error {
	if !s.hooked(hook.RunStart) {
		return nil
	}
	if no := s.Hooks.Call(ctx, s.input(hook.RunStart)); no != "" {
		return &UsageError{fmt.Errorf("the operator's hook refuses this run: %s", no)}
	}
	return ctx.Err()
}

// ended tells of the end of a run that was admitted, whatever came of it.
func (s *session) ended(ctx context.Context, rep *report.Report, err error) {
	if !s.hooked(hook.RunEnd) {
		return
	}
	in := s.input(hook.RunEnd)
	in.Outcome = string(report.Errored)
	if rep != nil {
		in.Outcome, in.Verdict, in.Result = string(rep.Outcome), string(rep.Verdict), strings.Join(rep.Reasons, "\n")
	}
	if err != nil {
		in.Outcome, in.Result = string(report.Errored), string(s.redact([]byte(err.Error())))
	}
	s.Hooks.Call(context.WithoutCancel(ctx), in)
}

// asksHook is the last word about a call; nil where nobody has one.
func (s *session) asksHook() func(agent.HookCall) string {
	if !s.hooked(hook.PreToolUse) {
		return nil
	}
	return func(c agent.HookCall) string {
		in := s.input(hook.PreToolUse)
		in.Agent, in.ID, in.Tool = c.Agent, c.ID, c.Tool
		for _, t := range c.Targets {
			in.Targets = append(in.Targets, string(s.redact([]byte(t))))
		}
		return s.Hooks.Call(context.Background(), in) // its own time bounds it
	}
}

// admit asks whether a subagent may begin.
func (s *session) admit(ctx context.Context, rec agent.Record, isolation string) error {
	if !s.hooked(hook.SubagentStart) {
		return nil
	}
	in := s.input(hook.SubagentStart)
	in.Agent, in.ID, in.Parent, in.Isolation = rec.Agent, rec.ID, rec.Parent, isolation
	in.Prompt = string(s.redact([]byte(rec.Prompt)))
	if no := s.Hooks.Call(ctx, in); no != "" {
		return errors.New("the operator's hook refuses it: " + no)
	}
	return ctx.Err()
}

// tellHooks calls the hooks that an event is for.
func (s *session) tellHooks(e agent.Event) {
	var in hook.Input
	switch {
	case e.Type == agent.EventToolResult && e.Call != nil && s.hooked(hook.PostToolUse):
		in = s.input(hook.PostToolUse)
		in.Tool, in.Output, in.Errored = e.Call.Name, e.Text, e.Errored
		if json.Valid([]byte(e.Call.Args)) {
			in.Args = json.RawMessage(s.redact([]byte(e.Call.Args)))
		}
	case e.Type == agent.EventSubagentDone && e.Done != nil && s.hooked(hook.SubagentStop):
		in = s.input(hook.SubagentStop)
		in.Outcome, in.Result, in.Verdict = stopWord(e), e.Done.Text, e.Done.Verdict
		in.Isolation = e.Done.Isolation
	default:
		return
	}
	in.Agent, in.ID, in.Parent = e.Agent, e.ID, e.Parent
	s.Hooks.Call(context.Background(), in)
}

// stopWord is how a subagent ended, in the words of hooks.
func stopWord(e agent.Event) string {
	switch o := agent.Outcome(e.Done.Outcome); {
	case o == agent.Completed:
		return "ok"
	case o == agent.TimedOut:
		return "timeout"
	case o == agent.Errored && strings.Contains(e.Done.Error, " panicked: "):
		return "crash"
	case o == agent.Errored:
		return "error"
	}
	return "incomplete"
}
