package gate

import (
	"github.com/ycbot/ycbot/internal/gate/kept"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/runs"
)

// A Reproduction is what the change's tests say over the base's sources.
type Reproduction struct {
	State      ReproState `json:"state"`
	Note       string     `json:"note"`         // one sentence for people
	Proven     []Case     `json:"proven"`       // fail over the base sources, pass on the head
	PassOnBase []Case     `json:"pass_on_base"` // pass over the base sources as well
	Files      []string   `json:"files"`        // test files and data that were laid over the base
	Dropped    []string   `json:"dropped"`      // test files that do not compile there
	Evidence   []string   `json:"evidence"`
}

// A ReproState is a case of fail-to-pass. The strings are stored: do not change them.
type ReproState string

// The cases of fail-to-pass.
const (
	ReproProven      ReproState = "proven"       // at least one test fails on base and passes on head
	ReproPassOnBase  ReproState = "pass_on_base" // the change's tests do not need the change
	ReproNeedsAPI    ReproState = "needs_api"    // they do not compile over the base sources
	ReproNeedsDeps   ReproState = "needs_deps"   // they need dependencies that only the change has
	ReproNoTests     ReproState = "no_tests"     // the change adds no tests
	ReproTestsOnly   ReproState = "tests_only"   // it brings nothing but tests: there is nothing to undo
	ReproNothing     ReproState = "nothing"      // no runnable line changed: there is nothing to reproduce
	ReproEnvironment ReproState = "environment"  // they could not be run there
	ReproUnsupported ReproState = "unsupported"  // needs per-test results, which these commands do not give
	ReproNotRun      ReproState = "not_run"      // stopped before it
)

// A Result is all that the gate found out.
type Result struct {
	Verdict    Verdict          `json:"verdict"`
	First      Verdict          `json:"first,omitempty"` // of the decisive part; empty where it is all that was asked, or was not reached
	Reasons    []string         `json:"reasons"`         // why not better
	Detected   []string         `json:"detected"`
	Steps      []Step           `json:"steps"`
	Broken     []string         `json:"broken"`      // packages or commands whose build only the head breaks
	BrokenBoth []string         `json:"broken_both"` // the same on both sides
	Lint       []Case           `json:"lint"`        // complaints that only the head has
	Tests      runs.Comparison  `json:"tests"`
	Phantoms   []Case           `json:"phantoms,omitempty"` // failures inside of passing tests that the base shows as well
	FailToPass Reproduction     `json:"fail_to_pass"`
	Statistics []runs.Statistic `json:"statistics"` // of tests that were run again because the sides disagree
	// Expectations is nil where the kept arm was not reached.
	Expectations *kept.Expectations `json:"expectations,omitempty"`
	Facts        Facts              `json:"facts"` // what the verdict follows from, see [Decide]
	Probes       []Probe            `json:"probes"`
	Cached       *known.Cached      `json:"cached,omitempty"`    // the base's tests were not run, but known; nil: they ran
	Merge        *Merge             `json:"merge,omitempty"`     // nil: base has not moved, or not reached
	Mutation     *Mutation          `json:"mutation,omitempty"`  // nil: nothing to mutate, or not reached
	Behaviour    *Behaviour         `json:"behaviour,omitempty"` // nil: no function was called on both sides, or not reached
	Programs     *Programs          `json:"programs,omitempty"`  // nil: no command line was run on both sides, or not reached
	Believed     *Believed          `json:"believed,omitempty"`  // nil: no test was planted
	Executed     *Executed          `json:"executed,omitempty"`  // nil: which changed lines ran is not known
	Rewrote      []string           `json:"rewrote,omitempty"`   // tracked files that the base's own setup, build and tests change
	Marks        []Mark             `json:"marks,omitempty"`     // by which code can recognise a test run
	Remarks      []Remark           `json:"remarks,omitempty"`   // of checks
	NotCovered   []string           `json:"not_covered"`
	Notes        []string           `json:"notes"`
	Toolchains   map[string]string  `json:"toolchains"`
	Runnable     bool               `json:"runnable"` // a line that can run changed
}
