package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// The verdict is the worst of gate and agents, and says why it is not better;
// only a run that was cancelled, or whose gate came to nothing, has none.
func TestConclude(t *testing.T) {
	t.Parallel()
	supported := report.Check{Kind: report.KindAgent, Reproduction: report.NotRun, Title: "attack", Result: report.ResultPass, Support: report.Supported, Evidence: []string{"E1"}}
	failing := report.Check{Kind: report.KindAgent, Title: "bug", Result: report.ResultFail, Support: report.Supported, Reproduction: report.Introduced, Evidence: []string{"E2"}}
	agents := func(v report.Verdict, o agent.Outcome, checks ...report.Check) *orchestrator.Judgement {
		a := report.AgentOutcome{Agent: "verification", Outcome: string(o), Verdict: v, Form: report.FormStrict}
		for _, c := range checks {
			a.Checks = append(a.Checks, report.JudgedCheck{Check: c, Adversarial: true})
		}
		return &orchestrator.Judgement{Agents: []report.AgentOutcome{a}}
	}
	passing := agents(report.Pass, agent.Completed, supported)
	limit := &timeLimit{time.Minute}
	fault := errors.New("disk on fire")
	down := fmt.Errorf("ask: %w", model.ErrDown)
	steps := []gate.Step{{Stage: gate.StageTest, Side: gate.Head, Evidence: "E1"}}
	for _, tc := range []struct {
		name           string
		gate           gate.Verdict
		first          gate.Verdict
		cause          error // of the end of the run's context
		failure        error // of the gate
		model          bool
		judged         *orchestrator.Judgement
		agentsFailure  error
		verdict        report.Verdict
		outcome        report.Outcome
		reason, absent string
	}{
		{name: "gate alone", gate: gate.Pass, verdict: report.Pass, outcome: report.Completed},
		{name: "gate alone fails", gate: gate.Fail, verdict: report.Fail, outcome: report.Completed, reason: "gate's reason"},
		{name: "both pass", gate: gate.Pass, model: true, judged: passing, verdict: report.Pass, outcome: report.Completed},
		{name: "a gate's FAIL stands", gate: gate.Fail, model: true, judged: passing, verdict: report.Fail, outcome: report.Completed},
		{name: "an agent raises nothing", gate: gate.Partial, model: true, judged: passing, verdict: report.Partial, outcome: report.Completed, reason: "gate's reason"},
		{name: "an agent's FAIL", gate: gate.Pass, model: true, judged: agents(report.Fail, agent.Completed, failing), verdict: report.Fail, outcome: report.Completed, reason: `"bug" fails (introduced)`},
		{name: "an agent at its cap", gate: gate.Pass, model: true, judged: agents("", agent.IterCapped), verdict: report.Partial, outcome: report.Completed, reason: "runner_iter_cap"},
		{name: "no agent looked", gate: gate.Pass, model: true, verdict: report.Partial, outcome: report.Completed, reason: "no agent"},
		{name: "the provider is down", gate: gate.Pass, model: true, agentsFailure: down, verdict: report.Partial, outcome: report.Completed, reason: "the model could not be asked"},
		{name: "the provider is down, and the gate fails", gate: gate.Fail, model: true, agentsFailure: down, verdict: report.Fail, outcome: report.Completed},
		{name: "time was over while agents worked", gate: gate.Pass, model: true, cause: limit, judged: agents("", agent.TimedOut), agentsFailure: limit, verdict: report.Partial, outcome: report.TimedOut, reason: "the time limit of 1m was reached"},
		{name: "time was over before agents worked", gate: gate.Pass, model: true, cause: limit, agentsFailure: limit, verdict: report.Partial, outcome: report.TimedOut, reason: "the time limit of 1m was reached"},
		{name: "time was over in the gate", gate: gate.Partial, cause: limit, failure: limit, verdict: report.Partial, outcome: report.TimedOut, reason: "not finished: the time limit of 1m was reached"},
		{name: "cancelled", gate: gate.Pass, model: true, cause: context.Canceled, judged: passing, agentsFailure: context.Canceled, verdict: report.Error, outcome: report.Cancelled, reason: "cancelled before there was a verdict"},
		{name: "cancelled after the first verdict", gate: gate.Partial, first: gate.Fail, cause: context.Canceled, failure: context.Canceled, verdict: report.Error, outcome: report.Cancelled, reason: "cancelled after the first verdict, which was FAIL: it was stopped from outside\ngate's reason"},
		{name: "cancelled when all was done", gate: gate.Pass, model: true, cause: context.Canceled, judged: passing, verdict: report.Pass, outcome: report.Completed},
		{name: "the gate broke", failure: fault, verdict: report.Error, outcome: report.Errored, reason: "could not verify: disk on fire"},
		{name: "the gate broke, though the agents pass", failure: fault, model: true, judged: passing, verdict: report.Error, outcome: report.Errored, reason: "disk on fire"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := bare(t)
			p.begun.settings.Model = tc.model
			ctx, cancel := context.WithCancelCause(t.Context())
			if tc.cause != nil {
				cancel(tc.cause)
			}
			defer cancel(nil)
			var result *gate.Result
			if tc.gate != "" {
				result = &gate.Result{Verdict: tc.gate, First: tc.first, Steps: steps}
				if tc.gate != gate.Pass {
					result.Reasons = []string{"gate's reason"}
				}
			}
			rep, err := p.report(ctx, Found{Gate: result, Judged: tc.judged, Failure: tc.failure, AgentsFailure: tc.agentsFailure})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Verdict != tc.verdict || rep.Outcome != tc.outcome {
				t.Errorf("%s (%s), want %s (%s): %q", rep.Verdict, rep.Outcome, tc.verdict, tc.outcome, rep.Reasons)
			}
			if why := strings.Join(rep.Reasons, "\n"); !strings.Contains(why, tc.reason) || (why == "") != (tc.verdict == report.Pass) {
				t.Errorf("reasons %q, want %q in them", why, tc.reason)
			}
			if err := p.begun.seal(rep, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// bare is a run that has got as far as its gate.
func bare(t *testing.T) *prepared {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	dir, err := rundir.Create(t.TempDir(), rundir.Identity{Run: "run1"}, rundir.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	r := &Runner{Sandbox: outdoors{}, Now: now, OS: "linux/amd64"}
	b := &begun{
		job: Job{Trigger: "cli", Trust: "local"}, dir: dir, began: now(), progress: &progress{dir: dir, now: now},
		settings: rundir.Settings{Began: now(), Trigger: "cli", Trust: "local", Sandbox: r.Sandbox.Status(), Versions: report.Versions{OS: r.OS}},
	}
	p := &prepared{runner: r, begun: b}
	c := &p.source.Change
	c.BaseSHA, c.HeadSHA = strings.Repeat("a", 40), strings.Repeat("b", 40)
	c.MergeBase = c.BaseSHA
	return p
}

// outdoors is a sandbox that runs nothing.
type outdoors struct{ sandbox.Sandbox }

func (outdoors) Status() sandbox.Status { return sandbox.Status{Tier: sandbox.TierNone} }
