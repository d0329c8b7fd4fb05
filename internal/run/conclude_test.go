package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// The verdict is the worst of gate and agents, and says why it is not better;
// only a run that was cancelled, or whose gate came to nothing, has none.
func TestConclude(t *testing.T) {
	t.Parallel()
	supported := report.Check{Kind: report.KindAgent, Reproduction: report.NotRun, Title: "attack", Result: report.ResultPass, Support: report.Supported, Evidence: []string{"E1"}}
	failing := report.Check{Kind: report.KindAgent, Title: "bug", Result: report.ResultFail, Support: report.Supported, Reproduction: report.Introduced, Evidence: []string{"E2"}}
	agents := func(v report.Verdict, o agent.Outcome, checks ...report.Check) *judgement {
		a := report.AgentOutcome{Agent: "verification", Outcome: string(o), Verdict: v, Form: report.FormStrict}
		for _, c := range checks {
			a.Checks = append(a.Checks, report.JudgedCheck{Check: c, Adversarial: true})
		}
		return &judgement{Agents: []report.AgentOutcome{a}}
	}
	passing := agents(report.Pass, agent.Completed, supported)
	limit := &timeLimit{time.Minute}
	fault := errors.New("disk on fire")
	down := fmt.Errorf("ask: %w", model.ErrDown)
	steps := []gate.Step{{Stage: gate.StageTest, Side: gate.Head, Evidence: "E1"}}
	for _, tc := range []struct {
		name           string
		gate           gate.Verdict
		cause          error // of the end of the run's context
		failure        error // of the gate
		model          bool
		judged         *judgement
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
		{name: "cancelled when all was done", gate: gate.Pass, model: true, cause: context.Canceled, judged: passing, verdict: report.Pass, outcome: report.Completed},
		{name: "the gate broke", failure: fault, verdict: report.Error, outcome: report.Errored, reason: "could not verify: disk on fire"},
		{name: "the gate broke, though the agents pass", failure: fault, model: true, judged: passing, verdict: report.Error, outcome: report.Errored, reason: "disk on fire"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := bare(t)
			if tc.model {
				s.job.Cast = &Cast{}
			}
			s.around, _ = s.circumstances()
			ctx, cancel := context.WithCancelCause(t.Context())
			if tc.cause != nil {
				cancel(tc.cause)
			}
			defer cancel(nil)
			var result *gate.Result
			if tc.gate != "" {
				result = &gate.Result{Verdict: tc.gate, Steps: steps}
				if tc.gate != gate.Pass {
					result.Reasons = []string{"gate's reason"}
				}
			}
			rep, err := s.report(ctx, result, tc.judged, tc.failure, tc.agentsFailure)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Verdict != tc.verdict || rep.Outcome != tc.outcome {
				t.Errorf("%s (%s), want %s (%s): %q", rep.Verdict, rep.Outcome, tc.verdict, tc.outcome, rep.Reasons)
			}
			if why := strings.Join(rep.Reasons, "\n"); !strings.Contains(why, tc.reason) || (why == "") != (tc.verdict == report.Pass) {
				t.Errorf("reasons %q, want %q in them", why, tc.reason)
			}
			if err := s.seal(rep); err != nil {
				t.Error(err)
			}
		})
	}
}

// bare is a session that has got as far as its gate.
func bare(t *testing.T) *session {
	t.Helper()
	git, err := workspace.NewGit("git", []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Skipf("git: %v", err)
	}
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.jsonl"), now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	s := &session{
		journal: j,
		Runner:  &Runner{Git: git, Sandbox: outdoors{}, Now: now, OS: "linux/amd64"},
		job:     Job{Trigger: "cli", Trust: "local"}, dir: t.TempDir(), id: "run1", began: now(), config: config.Default(),
	}
	c := &s.src.Change
	c.BaseSHA, c.HeadSHA = strings.Repeat("a", 40), strings.Repeat("b", 40)
	c.MergeBase = c.BaseSHA
	if s.events, err = agent.OpenEvents(s.dir+"/events.jsonl", nil); err != nil {
		t.Fatal(err)
	}
	if s.log, err = evidence.Open(s.dir, s.id, evidence.Options{Now: now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(s.events.Close(), s.log.Close()) })
	return s
}

// outdoors is a sandbox that runs nothing.
type outdoors struct{ sandbox.Sandbox }

func (outdoors) Status() sandbox.Status { return sandbox.Status{Tier: sandbox.TierNone} }
