package conclude

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/report"
)

// A run that its time limit ended says so once, in its own words, and keeps what the
// gate has against the change besides.
func TestIncompleteIsSaidOnce(t *testing.T) {
	t.Parallel()
	facts := goodFacts(compare.Strict, gate.Changed{Class: compare.Regressed, Count: 1})
	facts.Incomplete = "the gate's own words"
	result := concluded(facts)
	result.Steps = []gate.Step{{Stage: gate.StageTest, Side: gate.Head, Evidence: "E1"}}
	if len(result.Reasons) < 2 {
		t.Fatalf("reasons %q", result.Reasons)
	}
	header := &report.Report{Notes: []string{"kept"}}
	rep := Report(Input{Header: header, Outcome: report.TimedOut, Gate: result, Cause: errors.New("20m are over")})
	if slices.ContainsFunc(rep.Reasons, func(r string) bool { return r == "not finished: the gate's own words" }) ||
		rep.Reasons[len(rep.Reasons)-1] != "not finished: 20m are over" || len(rep.Reasons) != len(result.Reasons) {
		t.Errorf("reasons %q of %q", rep.Reasons, result.Reasons)
	}
	// It is why the rest is missing, where nothing is broken.
	facts = goodFacts(compare.Acknowledge, gate.Changed{Class: compare.Silent, Count: 1})
	facts.Incomplete = "the gate's own words"
	result = concluded(facts)
	rep = Report(Input{Header: header, Outcome: report.TimedOut, Gate: result, Cause: errors.New("20m are over")})
	if rep.Reasons[0] != "not finished: 20m are over" || len(rep.Reasons) != len(result.Reasons) {
		t.Errorf("reasons %q of %q", rep.Reasons, result.Reasons)
	}
	if len(header.Notes) != 1 || header.Verdict != "" {
		t.Errorf("the header was changed: %+v", header)
	}
}

// What agents have nothing against stays PARTIAL, with its reason, where the time was over.
func TestReasonStays(t *testing.T) {
	t.Parallel()
	rep := &report.Report{Outcome: report.TimedOut, Verdict: report.Partial, Reasons: []string{"not finished: 20m are over"}}
	passes := report.AgentOutcome{
		Agent: "verification", Outcome: report.RunnerCompleted, Verdict: report.Pass, Form: report.FormStrict,
		Checks: []report.JudgedCheck{{Adversarial: true, Check: report.Check{Title: "attack", Kind: report.KindAgent, Result: report.ResultPass, Support: report.Supported}}},
	}
	byAgents(rep, Agents{Judged: &Judged{Outcomes: []report.AgentOutcome{passes}}}, report.Pass)
	if rep.Verdict != report.Partial || len(rep.Reasons) != 1 {
		t.Errorf("%s, reasons %q", rep.Verdict, rep.Reasons)
	}
}

// A helper's check that stands makes FAIL and is shown; what it only claims is not a check
// of the report, and a fault that two agents found is shown once.
func TestHelpersChecks(t *testing.T) {
	t.Parallel()
	check := func(title, command string, r report.Reproduction) report.JudgedCheck {
		return report.JudgedCheck{Check: report.Check{
			Title: title, Kind: report.KindAgent, Command: command, Result: report.ResultFail, Support: report.Supported, Reproduction: r,
		}}
	}
	passes := report.AgentOutcome{
		Agent: "verification", Task: "v", Outcome: report.RunnerCompleted, Verdict: report.Pass, Form: report.FormStrict,
		Checks: []report.JudgedCheck{{Adversarial: true, Check: report.Check{Title: "attack", Kind: report.KindAgent, Result: report.ResultPass, Support: report.Supported}}},
	}
	helper := func(task string, checks ...report.JudgedCheck) report.AgentOutcome {
		return report.AgentOutcome{Agent: "prober", Task: task, Outcome: report.RunnerCompleted, Helper: true, Checks: checks}
	}
	for name, tt := range map[string]struct {
		helpers []report.AgentOutcome
		want    report.Verdict
		checks  int
	}{
		"nothing that stands": {[]report.AgentOutcome{helper("a", check("old", "sh old", report.PreExisting), check("once", "sh once", report.NotReproduced))}, report.Pass, 1},
		"one that stands":     {[]report.AgentOutcome{helper("a", check("new", "sh new", report.Introduced))}, report.Fail, 2},
		"the same twice":      {[]report.AgentOutcome{helper("a", check("new", "sh new", report.Introduced)), helper("b", check("it breaks", "sh new", report.Introduced))}, report.Fail, 2},
		"two faults":          {[]report.AgentOutcome{helper("a", check("new", "sh new", report.Introduced)), helper("b", check("other", "sh other", report.Introduced))}, report.Fail, 3},
	} {
		rep := &report.Report{Outcome: report.Completed, Verdict: report.Pass}
		byAgents(rep, Agents{Judged: &Judged{Outcomes: append([]report.AgentOutcome{passes}, tt.helpers...)}}, report.Pass)
		if rep.Verdict != tt.want || len(rep.Checks) != tt.checks {
			t.Errorf("%s: %s, %d checks, reasons %q; want %s, %d", name, rep.Verdict, len(rep.Checks), rep.Reasons, tt.want, tt.checks)
		}
		if tt.want == report.Fail && !strings.HasPrefix(rep.Reasons[0], "prober: check \"new\" fails") {
			t.Errorf("%s: the reason of the verdict does not come first: %q", name, rep.Reasons)
		}
	}
}

// A check of the last run that held and fails now is for a person to look at; one that
// failed and still does is a failure.
func TestWhatHeld(t *testing.T) {
	t.Parallel()
	for now, want := range map[report.Became]report.Verdict{report.Broke: report.Partial, report.StillFails: report.Fail, report.Holds: report.Pass} {
		rep := &report.Report{Outcome: report.Completed, Verdict: report.Pass}
		c := report.Revisit{Title: "zero is paid", Command: "sh pay 0", Now: now, Reproduction: report.Introduced, Evidence: []string{"E7"}}
		if now == report.Holds {
			c.Reproduction = ""
		}
		byPrevious(rep, Previous{Last: &report.Previous{Checks: []report.Revisit{c}}})
		said := strings.Contains(strings.Join(rep.Reasons, "\n"), "zero is paid")
		if rep.Verdict != want || said != (want != report.Pass) || (len(rep.Checks) == 1) != (want == report.Fail) || (len(rep.Findings) == 1) != (want == report.Partial) {
			t.Errorf("%s: %s, %+v", now, rep.Verdict, rep)
		}
	}
}

// Where the time is over before a command of the gate has run there is no verdict; after one
// there is, and it is no PASS.
func TestTimeBeforeACommand(t *testing.T) {
	t.Parallel()
	for steps, want := range []report.Verdict{report.Error, report.Partial} {
		facts := goodFacts(compare.Report)
		facts.Incomplete = "the time limit"
		result := concluded(facts)
		result.Steps = make([]gate.Step, steps)
		rep := Report(Input{Header: &report.Report{}, Outcome: report.TimedOut, Gate: result, Cause: errors.New("20m are over")})
		if rep.Verdict != want || !slices.Contains(rep.Reasons, "not finished: 20m are over") {
			t.Errorf("%d commands: %s %q, want %s", steps, rep.Verdict, rep.Reasons, want)
		}
	}
}

// TestReusedResults: the report says how many results of the base were reused, from when, and what
// that saved.
func TestReusedResults(t *testing.T) {
	t.Parallel()
	for tests, want := range map[int]string{1: "1 base test result from 2026-11-30 12:00:00, saving 1.2s", 300: "300 base test results from 2026-11-30 12:00:00, saving 1.2s"} {
		result := concluded(goodFacts(compare.Report))
		result.Cached = &known.Cached{When: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Saved: 1234 * time.Millisecond, Tests: tests}
		rep := Report(Input{Header: &report.Report{Phase: report.PhaseEnd, Believed: report.Belief{OK: true}}, Outcome: report.Completed, Gate: result})
		if got := strings.Join(rep.Timings.Cached, "|"); got != want || !strings.Contains(rep.Markdown(), "reused: "+want) {
			t.Errorf("%q, want %q, in\n%s", got, want, rep.Markdown())
		}
	}
}

// TestUnprobed: a PASS for which no probe ran says so, where a line that can run changed.
func TestUnprobed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		runnable, late bool
		probes         int
		want           string
	}{
		{true, true, 0, "PASS (probes not run)"},
		{true, true, 1, "PASS"},
		{false, true, 0, "PASS"},
		{true, false, 0, "PARTIAL"},
	} {
		facts := goodFacts(compare.Report)
		facts.Runnable, facts.NoProbes, facts.Probes = tt.runnable, tt.late, tt.probes
		rep := Report(Input{Header: &report.Report{Phase: report.PhaseEnd, Believed: report.Belief{OK: true}}, Outcome: report.Completed, Gate: concluded(facts)})
		if rep.Title != tt.want || rep.Unprobed != strings.Contains(tt.want, report.NotProbed) {
			t.Errorf("%+v: %q", tt, rep.Title)
		}
	}
}
