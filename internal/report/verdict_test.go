package report

import (
	"strings"
	"testing"
)

func judged(result Result, support Support, repro Reproduction, adversarial bool) JudgedCheck {
	return JudgedCheck{Check: Check{Title: "c", Kind: KindAgent, Result: result, Support: support, Reproduction: repro}, Adversarial: adversarial}
}

// The table reads like the rules: what the gate concluded, what the agent left
// behind, the verdict, and a word of the reason.
func TestCombine(t *testing.T) {
	t.Parallel()
	passing := judged(ResultPass, Supported, NotRun, false)
	attack := judged(ResultPass, Supported, NotRun, true)
	failing := func(s Support, r Reproduction) AgentOutcome {
		return AgentOutcome{Outcome: RunnerCompleted, Verdict: Fail, Form: FormStrict, Checks: []JudgedCheck{attack, judged(ResultFail, s, r, false)}}
	}
	with := func(change func(*AgentOutcome)) AgentOutcome {
		a := AgentOutcome{Outcome: RunnerCompleted, Verdict: Pass, Form: FormStrict, Checks: []JudgedCheck{passing, attack}}
		change(&a)
		return a
	}
	good := with(func(*AgentOutcome) {})
	ended := func(outcome string) AgentOutcome { return AgentOutcome{Outcome: outcome, Cause: "why"} }
	for _, tt := range []struct {
		rule   string
		gate   Verdict
		agents []AgentOutcome
		want   Verdict
		reason string
	}{
		{"without a model the gate's PASS stands", Pass, nil, Pass, ""},
		{"without a model the gate's PARTIAL stands", Partial, nil, Partial, "gate says"},
		{"a PASS needs both", Pass, []AgentOutcome{good}, Pass, ""},
		{"an agent never raises a PARTIAL", Partial, []AgentOutcome{good}, Partial, "gate says"},
		{"an agent never raises a FAIL", Fail, []AgentOutcome{good}, Fail, "gate says"},
		{"an agent never raises an ERROR", Error, []AgentOutcome{good}, Error, "gate says"},
		{"no gate is no verdict", "", []AgentOutcome{good}, Error, "no conclusion"},
		{"a gate FAIL stands beside an agent's PARTIAL", Fail, []AgentOutcome{ended("runner_timeout")}, Fail, "gate says"},

		{"introduced stands", Pass, []AgentOutcome{failing(Supported, Introduced)}, Fail, "introduced"},
		{"head-only with an oracle stands", Pass, []AgentOutcome{with(func(a *AgentOutcome) {
			*a = failing(Supported, HeadOnly)
			a.Checks[1].Oracle = "ended by SIGSEGV"
		})}, Fail, "head-only"},
		{"head-only without one does not", Pass, []AgentOutcome{failing(Supported, HeadOnly)}, Partial, "only the head has"},
		{"another failure on the base does not count", Pass, []AgentOutcome{failing(Supported, Unclear)}, Partial, "in another way"},
		{"unfulfilled stands", Pass, []AgentOutcome{failing(Supported, Unfulfilled)}, Fail, "unfulfilled"},
		{"FAIL is worse than ERROR", Error, []AgentOutcome{failing(Supported, Introduced)}, Fail, "introduced"},
		{"pre-existing blames no one", Pass, []AgentOutcome{failing(Supported, PreExisting)}, Partial, "base as well"},
		{"not reproduced blames no one", Pass, []AgentOutcome{failing(Supported, NotReproduced)}, Partial, "run again"},
		{"not run again blames no one", Pass, []AgentOutcome{failing(Supported, NotRun)}, Partial, "not run again"},
		{"related is not enough for a FAIL", Pass, []AgentOutcome{failing(Related, Introduced)}, Partial, "only partly"},
		{"absent is not enough for a FAIL", Pass, []AgentOutcome{failing(Absent, Introduced)}, Partial, "not supported"},
		{"a FAIL without a failing check", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Verdict = Fail })}, Partial, "no failing check"},
		{"one failing check that stands is enough", Pass, []AgentOutcome{with(func(a *AgentOutcome) {
			a.Verdict = Fail
			a.Checks = append(a.Checks, judged(ResultFail, Absent, NotRun, false), judged(ResultFail, Supported, Introduced, false))
		})}, Fail, "introduced"},
		{"a decorated FAIL counts", Pass, []AgentOutcome{with(func(a *AgentOutcome) {
			*a = failing(Supported, Introduced)
			a.Form = FormDecorated
		})}, Fail, "introduced"},
		{"a proven failure stands beside VERDICT: PARTIAL", Pass, []AgentOutcome{with(func(a *AgentOutcome) {
			*a = failing(Supported, Introduced)
			a.Verdict = Partial
		})}, Fail, "introduced"},
		{"a proven failure stands beside VERDICT: PASS", Pass, []AgentOutcome{with(func(a *AgentOutcome) {
			*a = failing(Supported, Introduced)
			a.Verdict = Pass
		})}, Fail, "introduced"},
		{"a failure that does not stand is no PASS either", Pass, []AgentOutcome{with(func(a *AgentOutcome) {
			*a = failing(Supported, PreExisting)
			a.Verdict = Pass
		})}, Partial, "beside VERDICT: PASS"},

		{"PASS must be strict", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Form = FormDecorated })}, Partial, "strict"},
		{"every PASS check supported: one related", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Checks[0].Support = Related })}, Partial, "only partly"},
		{"every PASS check supported: one absent", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Checks[0].Support = Absent })}, Partial, "not supported"},
		{"one adversarial check", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Checks = a.Checks[:1] })}, Partial, "adversarial"},
		{"an adversarial check that is only related", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Checks[1].Support = Related })}, Partial, "adversarial"},
		{"no check at all", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Checks = nil })}, Partial, "no passing check"},
		{"skips do not count and do not hurt", Pass, []AgentOutcome{with(func(a *AgentOutcome) {
			a.Checks = append(a.Checks, judged(ResultSkip, Absent, NotRun, false))
		})}, Pass, ""},
		{"a tracked file changed", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Tripwire = []string{"go.mod"} })}, Partial, "go.mod"},
		{"a ref moved", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Moved = []string{"refs/heads/x"} })}, Partial, "git's refs/heads/x"},
		{"a helper moved HEAD", Pass, []AgentOutcome{with(func(*AgentOutcome) {}), {Agent: "risks", Outcome: RunnerCompleted, Helper: true, Moved: []string{"HEAD"}}}, Partial, "risks: its commands changed tracked files or refs: git's HEAD"},

		{"the agent's own PARTIAL after a failed attempt", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Verdict, a.Failed = Partial, 1 })}, Partial, "VERDICT: PARTIAL"},
		{"a PARTIAL after a refused call", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Verdict, a.Denied = Partial, 1 })}, Partial, "VERDICT: PARTIAL"},
		{"a PARTIAL without an attempt is marked", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Verdict = Partial })}, Partial, "unsupported"},

		{"iteration cap", Pass, []AgentOutcome{ended("runner_iter_cap")}, Partial, "runner_iter_cap"},
		{"timeout", Pass, []AgentOutcome{ended("runner_timeout")}, Partial, "runner_timeout"},
		{"budget", Pass, []AgentOutcome{ended("runner_budget")}, Partial, "runner_budget"},
		{"no progress", Pass, []AgentOutcome{ended("runner_no_progress")}, Partial, "runner_no_progress"},
		{"provider down", Pass, []AgentOutcome{ended("runner_errored")}, Partial, "why"},
		{"no outcome at all", Pass, []AgentOutcome{{}}, Partial, "did not complete"},
		{"a cap where the gate did not conclude", Error, []AgentOutcome{ended("runner_timeout")}, Error, "runner_timeout"},
		{"a cap where there was no gate", "", []AgentOutcome{ended("runner_timeout")}, Error, "no conclusion"},
		{"a report after a cap does not count", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Outcome = "runner_iter_cap" })}, Partial, "runner_iter_cap"},
		{"a proven failure stands after a cap", Pass, []AgentOutcome{with(func(a *AgentOutcome) {
			*a = failing(Supported, Introduced)
			a.Outcome, a.Cause = "runner_budget", "its budget is used"
		})}, Fail, "did not complete (runner_budget)"},
		{"a proven failure stands without a verdict line", Error, []AgentOutcome{with(func(a *AgentOutcome) {
			*a = failing(Supported, Introduced)
			a.Verdict, a.Form = "", FormNone
		})}, Fail, "introduced"},
		{"no verdict line", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Verdict, a.Form = "", FormNone })}, Partial, "no verdict line"},
		{"alternatives echoed", Pass, []AgentOutcome{with(func(a *AgentOutcome) { a.Verdict, a.Form = "", FormEcho })}, Partial, "alternatives"},
		{"no verdict line where the gate did not conclude", Error, []AgentOutcome{with(func(a *AgentOutcome) { a.Verdict, a.Form = "", FormNone })}, Error, "no verdict line"},

		{"the worst of several agents", Pass, []AgentOutcome{good, failing(Supported, Introduced), ended("runner_timeout")}, Fail, "introduced"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			var why []string
			if tt.gate != Pass && tt.gate != "" {
				why = []string{"gate says"}
			}
			got, reasons := Combine(tt.gate, why, tt.agents...)
			if got != tt.want {
				t.Fatalf("Combine = %s %q, want %s", got, reasons, tt.want)
			}
			if (got == Pass) != (len(reasons) == 0) {
				t.Errorf("%s with reasons %q", got, reasons)
			}
			if !strings.Contains(strings.Join(reasons, "\n"), tt.reason) {
				t.Errorf("reasons %q, want one with %q", reasons, tt.reason)
			}
		})
	}
}
