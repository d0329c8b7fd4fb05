// Package report is what was concluded: the record that becomes report.json,
// the rules that turn checks into a verdict, and how both read to people.
//
// A Report is built once, at the end of a run, from what the harness recorded;
// nothing in it comes from a file that the change could have written.
package report

import (
	"fmt"
	"time"

	"github.com/ycbot/ycbot/internal/change"
)

// Schema names the form of report.json; docs/report.schema.json describes it.
const Schema = "ycbot.report/v1"

// A Verdict is the conclusion of a run. The strings are stored: do not change them.
type Verdict string

// The verdicts, from best to worst as [Worst] orders them.
const (
	Pass    Verdict = "PASS"
	Partial Verdict = "PARTIAL" // a requirement for PASS was not met
	Error   Verdict = "ERROR"   // no verdict: the run itself did not get to one
	Fail    Verdict = "FAIL"
)

// rank orders verdicts: FAIL > ERROR > PARTIAL > PASS. Anything else is worse than all.
func (v Verdict) rank() int {
	switch v {
	case Pass:
		return 1
	case Partial:
		return 2
	case Error:
		return 3
	case Fail:
		return 4
	}
	return 5
}

// Worst returns the worst of vs, PASS for none.
func Worst(vs ...Verdict) Verdict {
	w := Pass
	for _, v := range vs {
		if v.rank() > w.rank() {
			w = v
		}
	}
	return w
}

// Validate reports a verdict that is none of the four.
func (v Verdict) Validate() error {
	if v.rank() > 4 {
		return fmt.Errorf("verdict %q: want PASS, FAIL, PARTIAL or ERROR", string(v))
	}
	return nil
}

// A Report is report.json.
type Report struct {
	Schema       string        `json:"schema"`
	RunID        string        `json:"run_id"`
	Repo         string        `json:"repo"`
	PR           int           `json:"pr"` // 0: no pull request
	BaseSHA      string        `json:"base_sha"`
	HeadSHA      string        `json:"head_sha"`
	MergeBase    string        `json:"merge_base"`
	Dirty        bool          `json:"dirty"`   // the head is a snapshot of an uncommitted working tree
	Subject      string        `json:"subject"` // of the pull request or head commit, untrusted
	Title        string        `json:"title"`   // the verdict and the remarks that a reader of it needs, gravest first
	Phase        Phase         `json:"phase"`
	Trigger      string        `json:"trigger"` // cli|pull_request|comment|rerequest|merge_group|dispatch|push
	Actor        string        `json:"actor"`
	Trust        string        `json:"trust"` // trusted|untrusted|local
	Verdict      Verdict       `json:"verdict"`
	Outcome      Outcome       `json:"outcome"`
	Reasons      []string      `json:"reasons"` // why not better; empty only for PASS
	Checks       []Check       `json:"checks"`
	Findings     []Finding     `json:"findings"`
	NotCovered   []string      `json:"not_covered"`
	Denied       []Denial      `json:"denied"`
	Tests        *Tests        `json:"tests,omitempty"`        // the gate's comparison of both sides, where it got that far
	Expectations *Expectations `json:"expectations,omitempty"` // where the gate ran the base's tests over the head
	Accepted     []Acceptance  `json:"accepted"`
	Statistics   []Statistic   `json:"statistics"`
	Believed     Belief        `json:"believed"`
	Executed     *Executed     `json:"executed,omitempty"`
	Unprobed     bool          `json:"unprobed,omitempty"` // it passes without a probe, although a line that can run changed
	Behaviour    []Difference  `json:"behaviour"`          // changed functions, command lines and requests that do something else, of each those that no test says first
	API          []Interface   `json:"api"`                // what other modules could use and cannot any more
	Previous     *Previous     `json:"previous,omitempty"` // the last run's checks, run again
	Changes      Changes       `json:"changes"`
	Subagents    []Subagent    `json:"subagents"`
	Sandbox      Sandbox       `json:"sandbox"`
	Usage        Usage         `json:"usage"`
	Timings      Timings       `json:"timings"`
	Model        string        `json:"model"` // empty: gate only
	Versions     Versions      `json:"versions"`
	Notes        []string      `json:"notes"`     // what a reader should know and no verdict depends on
	Reproduce    string        `json:"reproduce"` // the command that repeats this run, empty where there is none
	Interim      bool          `json:"-"`         // the run goes on, and what follows can only lower the verdict
	ReportDir    string        `json:"-"`
	Where        Where         `json:"-"`
}

// An Outcome says how the run itself ended. The strings are stored: do not change them.
type Outcome string

// How a run ends.
const (
	Completed Outcome = "completed"
	Cancelled Outcome = "cancelled" // a signal, a stop or a newer head
	TimedOut  Outcome = "timed_out" // the run's own time limit
	Errored   Outcome = "error"     // infrastructure
	Refused   Outcome = "refused"   // nothing was executed: trust needs more than the machine gives
)

// A Phase says how much of a run the report is about. The strings are stored: do not change them.
type Phase string

// The phases of a run. A verdict of the first can only get worse.
const (
	PhaseFirst Phase = "first" // build, tests of both sides, fail-to-pass and kept expectations
	PhaseEnd   Phase = "end"
)

// Changes counts what the change touches.
type Changes struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

// A Check is one thing that was tried. A check without evidence is a SKIP.
type Check struct {
	ID           string       `json:"id"`
	Title        string       `json:"title"`
	Test         string       `json:"test"` // name of the test that it is about, as in Tests; empty: none
	Kind         Kind         `json:"kind"`
	Result       Result       `json:"result"`
	Command      string       `json:"command"`
	Before       string       `json:"before,omitempty"` // of an agent's check: shell text that makes what the command found
	Evidence     []string     `json:"evidence"`         // ids of evidence.jsonl
	Support      Support      `json:"support"`
	Reproduction Reproduction `json:"reproduction"`
	Expected     string       `json:"expected"`
	Actual       string       `json:"actual"`           // for people: one line, or the cut output
	Oracle       string       `json:"oracle,omitempty"` // of an agent's head-only failure: the crash, or the sentence that it contradicts
}

// A Kind is a sort of check. The strings are stored: do not change them.
type Kind string

// The sorts of check.
const (
	KindBuild      Kind = "build"
	KindTest       Kind = "test"
	KindLint       Kind = "lint"
	KindFailToPass Kind = "fail_to_pass"
	KindKept       Kind = "kept" // base's tests over the head's sources
	KindProbe      Kind = "probe"
	KindMutation   Kind = "mutation"
	KindBehaviour  Kind = "behaviour"
	KindAPI        Kind = "api"
	KindAgent      Kind = "agent"
)

func kinds() []Kind {
	return []Kind{KindBuild, KindTest, KindLint, KindFailToPass, KindKept, KindProbe, KindMutation, KindBehaviour, KindAPI, KindAgent}
}

// A Result is how a check ended. The strings are stored: do not change them.
type Result string

// How a check ends.
const (
	ResultPass Result = "PASS"
	ResultFail Result = "FAIL"
	ResultSkip Result = "SKIP" // not run, or it could not decide
)

// Support says how well the log carries a check. The strings are stored: do not change them.
type Support string

// How well the log carries a check.
const (
	Supported Support = "supported"
	Related   Support = "related"
	Absent    Support = "absent"
)

// Reproduction says what running a failing check again showed. The strings are stored: do not change them.
type Reproduction string

// What running a failing check again shows.
const (
	Introduced    Reproduction = "introduced"     // fails on head, passes on base
	PreExisting   Reproduction = "pre-existing"   // fails on both in the same way
	Unfulfilled   Reproduction = "unfulfilled"    // fails on both, and the task says that the change fixes it
	NotReproduced Reproduction = "not-reproduced" // passes on head when run again
	HeadOnly      Reproduction = "head-only"      // the check is about something that only the head has
	Unclear       Reproduction = "unclear"        // fails on both in different ways, or does not run on the base
	NotRun        Reproduction = "none"           // not run again
)

// A Finding is something that a maintainer should look at.
type Finding struct {
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	Path     string   `json:"path"`
	Line     int      `json:"line"` // 1-based; 0: the whole file, or no file
	Evidence []string `json:"evidence"`
	Repro    string   `json:"repro"`
	Detail   string   `json:"detail"` // output or diff for people; may be long
	// Mark says that the line can detect a test run, or decide the results of tests.
	Mark bool `json:"mark,omitempty"`
}

// A Severity says how bad a finding is. The strings are stored: do not change them.
type Severity string

// How bad a finding is.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityInfo    Severity = "info"
)

// A Denial is a call that was refused.
type Denial struct {
	Agent  string `json:"agent"`
	Tool   string `json:"tool"`
	Target string `json:"target"`
	Code   string `json:"code"`
	Rule   string `json:"rule"`
	Source string `json:"source"` // whose rule it is: ycbot, grant, agent, hook, or FILE:LINE
	Hint   string `json:"hint"`   // what the agent was advised to do instead
}

// Tests is the comparison of test results of both sides.
type Tests struct {
	BasePassed  int      `json:"base_passed"`
	BaseFailed  int      `json:"base_failed"`
	BaseSkipped int      `json:"base_skipped"`
	HeadPassed  int      `json:"head_passed"`
	HeadFailed  int      `json:"head_failed"`
	HeadSkipped int      `json:"head_skipped"`
	Regressed   []string `json:"regressed"`    // passed on base, fail on head
	NewFailing  []string `json:"new_failing"`  // only on head, fail there
	Fixed       []string `json:"fixed"`        // failed on base, pass on head
	PreExisting []string `json:"pre_existing"` // fail on both
	Flaky       []string `json:"flaky"`        // gave both results when run again
	Removed     []string `json:"removed"`      // only on base
	NotRun      []string `json:"not_run"`      // did not run on head because something before them ended the program
	FailToPass  []string `json:"fail_to_pass"` // fail with the change's tests over the base sources, pass on head
	PassOnBase  []string `json:"pass_on_base"` // tests of the change that also pass over the base sources
}

// A Subagent is one agent's part in a run.
type Subagent struct {
	ID         string  `json:"id"`
	Agent      string  `json:"agent"`
	Model      string  `json:"model"`
	Status     string  `json:"status"`
	Outcome    string  `json:"outcome"`
	Verdict    string  `json:"verdict"`
	Iterations int     `json:"iterations"`
	ToolCalls  int     `json:"tool_calls"`
	Tokens     int     `json:"tokens"`
	CostUSD    float64 `json:"cost_usd"`
	DurationMS int64   `json:"duration_ms"`
	Isolation  string  `json:"isolation"`
	Transcript string  `json:"transcript"` // path in the run directory
}

// Sandbox says how commands were contained.
type Sandbox struct {
	Tier     string   `json:"tier"` // full|strong|basic|none
	Layers   []string `json:"layers"`
	Missing  []string `json:"missing"`
	SelfTest []Canary `json:"self_test"`
}

// A Canary is one thing that was tried in the sandbox and must not work.
type Canary struct {
	Name string `json:"name"`
	Held bool   `json:"held"`
	Note string `json:"note,omitempty"`
}

// Usage counts what the run used.
type Usage struct {
	Commands     int      `json:"commands"` // executed commands in evidence.jsonl
	InputTokens  int      `json:"input_tokens"`
	OutputTokens int      `json:"output_tokens"`
	CachedTokens int      `json:"cached_tokens"`
	Estimated    bool     `json:"estimated,omitempty"` // a provider did not count, so that some of it is a guess from the length
	CostUSD      *float64 `json:"cost_usd"`            // null: the model's price is unknown
}

// Timings says where the time went.
type Timings struct {
	Started    time.Time `json:"started"`
	DurationMS int64     `json:"duration_ms"`
	Stages     []Stage   `json:"stages"`
	Cached     []string  `json:"cached,omitempty"` // what was not done because its result was known
}

// A Stage is one stage of the run.
type Stage struct {
	Name       string `json:"name"`
	DurationMS int64  `json:"duration_ms"`
}

// Versions says what verified the change.
type Versions struct {
	Ycbot      string            `json:"ycbot"`
	Git        string            `json:"git"`
	OS         string            `json:"os"`
	Toolchains map[string]string `json:"toolchains"` // such as "go": "go1.26.8"
}

// FromChange fills in what the report says of c.
func (r *Report) FromChange(c change.Change) {
	r.Repo, r.PR, r.Subject, r.Dirty = c.Repo, c.PR, c.Title, c.Dirty
	r.BaseSHA, r.HeadSHA, r.MergeBase = c.BaseSHA, c.HeadSHA, c.MergeBase
	r.Changes.Files = len(c.Files)
	for _, f := range c.Files {
		r.Changes.Added += f.Added
		r.Changes.Deleted += f.Deleted
	}
}
