package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/report"
)

// corrective asks once for what a reply that owes a verdict lacks: a verdict line that
// can be read, and checks that the log carries.
func (w *work) corrective(name, id string) func(string) (string, bool) {
	if Helps(name) {
		return nil
	}
	return func(final string) (string, bool) {
		objections := w.objections(name, id, final)
		if len(objections) == 0 {
			return "", false
		}
		return "Your report was compared with the log of what was run. It does not count as it stands:\n- " + strings.Join(objections, "\n- ") +
			"\n\nWrite the whole report again, without tools. Copy each command and each line of output as the log has it, and cite its id, such as " +
			"\"**Evidence:** E12\". Leave out what nothing in the log shows, and do not change a result to make it fit. End with one line that is exactly " +
			"\"VERDICT: PASS\", \"VERDICT: FAIL\" or \"VERDICT: PARTIAL\".", true
	}
}

// objections are what keeps a reply from counting as its author means it.
func (w *work) objections(name, id, final string) []string {
	r := report.ParseAgentReport(final)
	if !readable(r) {
		objections := append([]string{"it does not end in a verdict line that can be read"}, r.Problems...)
		if len(r.Checks) == 0 {
			objections = append(objections, amount(0))
		}
		return objections
	}
	if r.Verdict == report.Partial {
		return nil
	}
	out, _, ok := w.audited(name, id, final)
	if !ok {
		return nil
	}
	objections := slices.Clone(r.Problems)
	failing, attacks, passing := 0, 0, 0
	for _, k := range out.Checks {
		switch {
		case k.Result == report.ResultSkip, k.Aside && k.Support != report.Supported:
		case k.Support != report.Supported:
			objections = append(objections, fmt.Sprintf("check %q: %s", k.Title, k.Reason))
		case k.Result == report.ResultFail:
			failing++
		default:
			passing++
			if k.Adversarial {
				attacks++
			}
		}
	}
	switch {
	case r.Verdict == report.Fail && failing == 0:
		objections = append(objections, "VERDICT: FAIL needs a check with Result: FAIL that the log carries: "+amount(len(r.Checks)))
	case r.Verdict == report.Pass && passing == 0:
		objections = append(objections, "VERDICT: PASS needs checks with Result: PASS that the log carries, one of them marked as [adversarial]: "+amount(len(r.Checks)))
	case r.Verdict == report.Pass && attacks == 0:
		objections = append(objections, "no check is marked as [adversarial]: mark the one that tried to break the change, if there is one")
	}
	return objections
}

// amount says how many checks were read from a reply, and of none how one is written: the
// author of a report in a form that is not read cannot know.
func amount(checks int) string {
	switch checks {
	case 0:
		return "no check was read. Each begins with a heading such as \"### Check: what it shows\" and has the lines \"**Command run:**\", \"**Output observed:**\" and \"**Result: PASS**\" or \"**Result: FAIL**\", not in a fence, a quote or a table"
	case 1:
		return "1 check was read"
	}
	return fmt.Sprintf("%d checks were read", checks)
}

// readable says whether a reply has a verdict that counts.
func readable(r report.AgentReport) bool {
	return r.Form == report.FormStrict || r.Form == report.FormDecorated && r.Verdict != report.Pass
}

// audited is what a reply comes to that was not handed in yet.
func (w *work) audited(name, id, final string) (report.AgentOutcome, []Claim, bool) {
	a := Audit{Dir: w.dir.Path, Journal: w.dir.Journal, Tree: w.sides.Head.OID, Records: w.dir.Evidence.Records()}
	out, claims, err := a.Outcome(agent.Result{ID: id, Agent: name, End: agent.End{Outcome: agent.Completed, Text: final}})
	return out, claims, err == nil // an output that cannot be read ends the run where the reply is judged
}

// repaired says which of two replies counts: the corrected one, unless it is worse, or better
// than its agent's word was. One that drops a failure which the log carries does not take it
// back, whether or not the verdict of the first can be read, and none makes a PASS of a FAIL.
func (w *work) repaired(name, id string) func(before, after string) string {
	if Helps(name) {
		return nil
	}
	return func(before, after string) string {
		was, now := report.ParseAgentReport(before), report.ParseAgentReport(after)
		if readable(was) && (!readable(now) || was.Verdict == report.Fail && now.Verdict == report.Pass) {
			return before
		}
		first, claims, ok := w.audited(name, id, before)
		second, others, alsoOK := w.audited(name, id, after)
		switch {
		case !ok || !alsoOK:
			return after
		case failed(first, claims) > failed(second, others), carried(first) > 0 && carried(second) == 0:
			return before
		}
		return after
	}
}

// carried counts the checks that the log carries.
func carried(out report.AgentOutcome) int {
	n := 0
	for _, k := range out.Checks {
		if k.Support == report.Supported {
			n++
		}
	}
	return n
}

// failed counts the failing checks that the log carries, or whose command it has as failed
// though the check does not quote it as it was.
func failed(out report.AgentOutcome, claims []Claim) int {
	n := 0
	for i, k := range out.Checks {
		shown := len(claims[i].Audited.Records) > 0 && claims[i].Audited.Exit != 0
		if k.Result == report.ResultFail && (k.Support == report.Supported || shown) {
			n++
		}
	}
	return n
}
