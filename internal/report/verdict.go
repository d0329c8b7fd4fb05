package report

import (
	"fmt"
	"slices"
	"strings"
)

// Outcomes of an agent, as the subagent runner has them, that the verdict depends on.
const (
	RunnerCompleted = "runner_completed" // it came to an end of its own
	RunnerErrored   = "runner_errored"   // infrastructure failed
	RunnerTimedOut  = "runner_timeout"
)

// An AgentOutcome is what one agent that owes a verdict left behind, after the
// audit of its claims and the re-execution of its failing checks.
type AgentOutcome struct {
	Agent    string        // name, for the reasons
	Task     string        // id of its work, by which its result is known
	Outcome  string        // runner_* of the subagent runner
	Cause    string        // for people: what cap or fault ended it; empty for RunnerCompleted
	Verdict  Verdict       // as ParseAgentReport read it
	Form     VerdictForm   // likewise
	Checks   []JudgedCheck // in the order of the reply
	Helper   bool          // it owes no verdict: only its failing checks that stand, and what its commands changed, count
	Tripwire []string      // tracked files that its commands changed
	Moved    []string      // HEAD, the index or refs, by their names in git, likewise
	Denied   int           // calls that were refused
	Failed   int           // commands of its own that the log has as failed
}

// A JudgedCheck is an agent's check with what audit and re-execution made of it.
type JudgedCheck struct {
	Check
	Adversarial bool
	Borrowed    bool   // all that was run for it others ran, such as the gate
	Aside       bool   // it is the command of a finding: it counts only where it stands
	Reason      string // why Support is not better
}

// Combine computes the verdict of a run and why it is not better. Gate is what
// the gate concluded, empty or ERROR where it did not get that far.
//
// Nothing an agent says raises the gate's verdict. What an agent says lowers it
// only as far as the log and the re-execution carry it; reasons are empty for
// PASS alone.
func Combine(gate Verdict, gateReasons []string, agents ...AgentOutcome) (Verdict, []string) {
	verdict, reasons := gate, slices.Clone(gateReasons)
	if gate.Validate() != nil {
		verdict, reasons = Error, append(reasons, "the gate came to no conclusion")
	}
	for _, a := range agents {
		v, why := a.judge()
		verdict = Worst(verdict, v)
		for _, w := range why {
			reasons = append(reasons, a.name()+": "+w)
		}
	}
	if verdict == Pass {
		return Pass, nil
	}
	return verdict, reasons
}

func (a AgentOutcome) name() string {
	if a.Agent == "" {
		return "agent"
	}
	return a.Agent
}

// judge is the verdict that one agent's work carries. An agent that did not get
// to one makes PARTIAL; where the gate did not conclude either, its ERROR is
// the worse of the two.
//
// A failure that stands counts however the agent ended: at a limit, without a
// verdict line, or beside a verdict that says otherwise. The harness saw it.
func (a AgentOutcome) judge() (Verdict, []string) {
	failing := a.standing()
	if a.Helper {
		return a.helped(failing)
	}
	switch {
	case len(failing) > 0 && a.Outcome != RunnerCompleted:
		return Fail, append(failing, a.ending())
	case len(failing) > 0:
		return Fail, failing
	case a.Outcome != RunnerCompleted:
		return Partial, []string{a.ending()}
	case a.Form == FormEcho:
		return Partial, []string{"its last line repeats the alternatives instead of choosing a verdict"}
	case a.Form != FormStrict && a.Form != FormDecorated, a.Verdict.Validate() != nil, a.Verdict == Error:
		return Partial, []string{"no verdict line after one corrective turn"}
	case a.Verdict == Fail:
		return Partial, a.fallen()
	case a.Verdict == Partial:
		return Partial, []string{a.limited()}
	}
	if why := a.shortOfPass(); len(why) > 0 {
		return Partial, why
	}
	return Pass, nil
}

// helped is what a helper's work comes to. What it says decides nothing, what was seen to
// fail by running it again does.
func (a AgentOutcome) helped(failing []string) (Verdict, []string) {
	why := append(failing, a.spoiled()...)
	switch {
	case len(failing) > 0:
		return Fail, why
	case len(why) > 0:
		return Partial, why
	}
	return Pass, nil
}

func (a AgentOutcome) ending() string {
	s := "did not complete (" + a.Outcome + ")"
	if a.Outcome == "" {
		s = "did not complete"
	}
	if a.Cause != "" {
		s += ": " + a.Cause
	}
	return s
}

// Stands reports whether the check fails, the log carries that, and the change is
// answerable for it.
func (c JudgedCheck) Stands() bool {
	return c.Result == ResultFail && c.Support == Supported && c.Blames()
}

// standing returns the failing checks that the log carries and that the change
// is answerable for. They stand whichever verdict the line names.
func (a AgentOutcome) standing() []string {
	var out []string
	for _, c := range a.Checks {
		if c.Stands() {
			out = append(out, fmt.Sprintf("check %q fails (%s)", c.Title, c.Reproduction))
		}
	}
	return out
}

// Blames reports whether a failure that reproduces like this is the change's. What an
// agent says of something that only the head has needs an oracle besides: the check
// may be as wrong as the code.
func (c Check) Blames() bool {
	switch c.Reproduction {
	case Introduced, Unfulfilled:
		return true
	case HeadOnly:
		return c.Kind != KindAgent || c.Oracle != ""
	case PreExisting, NotReproduced, Unclear, NotRun:
	}
	return false
}

// fallen says why a FAIL does not stand.
func (a AgentOutcome) fallen() []string {
	var out []string
	for _, c := range a.Checks {
		if c.Result != ResultFail || c.Aside {
			continue
		}
		switch {
		case c.Support != Supported:
			out = append(out, c.unsupported("failing"))
		case c.Reproduction == PreExisting:
			out = append(out, fmt.Sprintf("check %q fails on the base as well", c.Title))
		case c.Reproduction == NotReproduced:
			out = append(out, fmt.Sprintf("check %q did not fail like that when it was run again", c.Title))
		case c.Reproduction == Unclear:
			out = append(out, fmt.Sprintf("check %q fails on the base as well, in another way, or does not run there", c.Title))
		case c.Reproduction == HeadOnly:
			out = append(out, fmt.Sprintf("check %q is about something that only the head has, and shows neither a crash of the project's code nor a quoted sentence of the task or the head's documentation that it contradicts", c.Title))
		default:
			out = append(out, fmt.Sprintf("check %q was not run again", c.Title))
		}
	}
	if len(out) == 0 {
		out = append(out, "VERDICT: FAIL names no failing check")
	}
	return out
}

func (c JudgedCheck) unsupported(kind string) string {
	s := fmt.Sprintf("%s check %q is not supported by the log", kind, c.Title)
	if c.Support == Related {
		s = fmt.Sprintf("%s check %q is only partly supported by the log", kind, c.Title)
	}
	if c.Reason != "" {
		s += ": " + c.Reason
	}
	return s
}

// limited words a PARTIAL. One that shows neither a failed attempt nor a
// refused call is marked: giving up without trying is not a limit.
func (a AgentOutcome) limited() string {
	if a.Denied == 0 && a.Failed == 0 {
		return "VERDICT: PARTIAL, unsupported: no command failed and no call was refused"
	}
	return "VERDICT: PARTIAL"
}

// shortOfPass lists what a PASS would need and does not have.
func (a AgentOutcome) shortOfPass() []string {
	var why []string
	if a.Form != FormStrict {
		why = append(why, "its PASS is not in the strict form")
	}
	passed, attacked, borrowed := 0, 0, 0
	for _, c := range a.Checks {
		switch {
		case c.Aside: // a finding of the report says what became of it
		case c.Result == ResultFail:
			why = append(why, fmt.Sprintf("check %q fails beside VERDICT: PASS", c.Title))
		case c.Result == ResultPass && c.Support != Supported:
			why = append(why, c.unsupported("passing"))
		case c.Result == ResultPass && c.Reproduction == NotReproduced:
			why = append(why, fmt.Sprintf("check %q held once, and not when it was run again", c.Title))
		case c.Result == ResultPass:
			passed++
			switch {
			case c.Adversarial && c.Borrowed:
				borrowed++
			case c.Adversarial:
				attacked++
			}
		}
	}
	if passed == 0 {
		why = append(why, "no passing check that the log supports")
	}
	switch {
	case attacked == 0 && borrowed > 0:
		why = append(why, "no adversarial check that it ran itself: the one it names was run by others")
	case attacked == 0:
		why = append(why, "no adversarial check that the log supports")
	}
	return append(why, a.spoiled()...)
}

// spoiled says what its commands changed and must not change.
func (a AgentOutcome) spoiled() []string {
	all := slices.Clone(a.Tripwire)
	for _, name := range a.Moved {
		all = append(all, "git's "+name)
	}
	if len(all) == 0 {
		return nil
	}
	return []string{"its commands changed tracked files or refs: " + strings.Join(all, ", ")}
}
