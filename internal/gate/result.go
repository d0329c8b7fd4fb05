package gate

import (
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/compare"
)

// A Side is one of the two trees that are compared.
type Side string

// The two sides. The strings are stored: do not change them.
const (
	Base Side = "base" // the merge base
	Head Side = "head" // the change
)

// A Stage is a sort of step. The strings are stored: do not change them.
type Stage string

// The stages of the gate, in the order in which they happen.
const (
	StageSetup      Stage = "setup"
	StageBuild      Stage = "build"
	StageLint       Stage = "lint"
	StageTest       Stage = "test"
	StageRerun      Stage = "rerun"
	StageFailToPass Stage = "fail_to_pass" // head's tests over base's sources
	StageKept       Stage = "kept"         // base's tests, data, support and steering over head's sources
	StageProbe      Stage = "probe"
	StageMutation   Stage = "mutation"
	StageWarm       Stage = "warm" // fills the build cache; decides nothing
	StageList       Stage = "list" // what packages there are; decides nothing by itself
)

// A Step is one command that the gate ran.
type Step struct {
	Stage       Stage         `json:"stage"`
	Side        Side          `json:"side"`
	Unit        string        `json:"unit"`    // folder in the repository, "." for its top
	Command     string        `json:"command"` // as a person would type it
	Evidence    string        `json:"evidence"`
	Exit        int           `json:"exit"`
	TimedOut    bool          `json:"timed_out"`
	Duration    time.Duration `json:"duration"`
	Output      string        `json:"output"`                // for people, cut; only of steps that failed
	PerTest     bool          `json:"per_test"`              // its output told each test apart
	NoTests     bool          `json:"no_tests,omitempty"`    // its runner reported no test
	Lacks       string        `json:"lacks,omitempty"`       // the program for want of which it failed
	Environment string        `json:"environment,omitempty"` // why the failure says nothing about the change, such as a registry out of reach
}

// Failed says whether the command ended badly.
func (s Step) Failed() bool { return s.Exit != 0 || s.TimedOut }

// An ID names a test across both sides. A package-level result (it does not
// compile, it panicked outside of a test) has no Test; a command without
// per-test output has only a Command.
type ID struct {
	Unit    string `json:"unit"`
	Package string `json:"package,omitempty"`
	Test    string `json:"test,omitempty"`
	Command string `json:"command,omitempty"`
}

func (id ID) String() string {
	switch {
	case id.Command != "":
		if id.Unit != "." && id.Unit != "" {
			return id.Unit + ": " + id.Command
		}
		return id.Command
	case id.Test == "":
		return id.Package
	default:
		return id.Package + " " + id.Test
	}
}

// Top returns the top-level test that id belongs to.
func (id ID) Top() string {
	top, _, _ := strings.Cut(id.Test, "/")
	return top
}

// parent returns the test that id is a subtest of, and false for a top-level one.
func (id ID) parent() (ID, bool) {
	i := strings.LastIndexByte(id.Test, '/')
	if i < 0 {
		return ID{}, false
	}
	id.Test = id.Test[:i]
	return id, true
}

// A Status is how a test ended.
type Status string

// How a test ends. NotRun is neither passed nor failed: the program ended before it.
const (
	Passed  Status = "pass"
	Failed  Status = "fail"
	Skipped Status = "skip"
	NotRun  Status = "not_run"
)

// A Test is what one run said of one test.
type Test struct {
	Status   Status        `json:"status"`
	Output   string        `json:"output,omitempty"` // of failed tests, cut
	Evidence string        `json:"evidence"`
	Elapsed  time.Duration `json:"elapsed"`
	Eco      string        `json:"-"`                 // name of the ecosystem of its command
	Leaf     bool          `json:"leaf"`              // has no subtests, so that it counts as one test
	Broken   bool          `json:"broken,omitempty"`  // package level: it did not compile
	Lacks    string        `json:"lacks,omitempty"`   // a command: the program for want of which it failed
	Cut      bool          `json:"cut,omitempty"`     // package level: its program ended before it had run all tests
	Masked   bool          `json:"masked,omitempty"`  // failed, or began and did not end, inside a package that passes
	Retried  bool          `json:"retried,omitempty"` // its runner ran it again after a failure, as it was asked to

	ended Status // package level: what its program itself ended with
}

// flipped says that it failed and passed in one run.
func (t Test) flipped() bool { return t.Retried && t.Status == Passed }

// A Suite is the test results of one side.
type Suite map[ID]Test

// add puts the results of other in, of tests that both have the worse one.
func (s Suite) add(other Suite) {
	for id, t := range other {
		merge(s, id, t)
	}
}

// of marks all results as those of a command of an ecosystem.
func (s Suite) of(eco string) {
	for id, t := range s {
		t.Eco = eco
		s[id] = t
	}
}

// count returns how many leaf tests have each status.
func (s Suite) count() map[Status]int {
	n := map[Status]int{}
	for id, t := range s {
		if t.Leaf && (id.Test != "" || id.Command != "") {
			n[t.Status]++
		}
	}
	return n
}

// A Case is a test that is worth naming, with what it said on the head (on the
// base for those that are only there).
type Case struct {
	ID       ID       `json:"id"`
	Output   string   `json:"output,omitempty"`
	Evidence []string `json:"evidence"`
	Broken   bool     `json:"broken,omitempty"` // its package did not compile
}

// A Comparison is how the test results of both sides differ, after the
// disagreements were run again.
type Comparison struct {
	Base, Head  map[Status]int
	Regressed   []Case `json:"regressed"`    // passed on base each time, failed on head each time
	NewFailing  []Case `json:"new_failing"`  // not on base, failed on head each time
	Fixed       []Case `json:"fixed"`        // failed or skipped on base, pass on head
	PreExisting []Case `json:"pre_existing"` // failed on both
	Flaky       []Case `json:"flaky"`        // gave both results on one side
	FlakyNew    []Case `json:"flaky_new"`    // the same, of tests that the change brings
	// NewFlakiness are tests of the base that fail at random with the change, and
	// never on base.
	NewFlakiness []Case `json:"new_flakiness"`
	Unsettled    []Case `json:"unsettled"` // failed on head each time, in too few runs to decide
	Removed      []Case `json:"removed"`   // only on base
	Skipped      []Case `json:"skipped"`   // passed on base, skipped on head
	NotRun       []Case `json:"not_run"`   // passed on base, is there on head and did not run
	Unknown      []Case `json:"unknown"`   // failed on head, which could not be compared with base or seen again
}

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
	ReproNoTests     ReproState = "no_tests"     // the change brings no tests
	ReproTestsOnly   ReproState = "tests_only"   // it brings nothing but tests: there is nothing to undo
	ReproNothing     ReproState = "nothing"      // no runnable line changed: there is nothing to reproduce
	ReproEnvironment ReproState = "environment"  // they could not be run there
	ReproUnsupported ReproState = "unsupported"  // needs per-test results, which these commands do not give
	ReproNotRun      ReproState = "not_run"      // stopped before it
)

// Expectations is what became of the tests that pass on the base when they ran, as
// the base has them, over the head's sources (DESIGN.md section 5, rule 2).
type Expectations struct {
	Policy  compare.Policy `json:"policy"`
	Held    int            `json:"held"`    // leaf tests that still pass
	Changed []Expectation  `json:"changed"` // those that do not hold, the gravest class first
	Note    string         `json:"note"`    // one sentence for people, such as "41 of 41 old expectations hold"
}

// An Expectation is a test that passes on the base and does not hold on the head.
type Expectation struct {
	ID            ID             `json:"id"`
	Class         compare.Class  `json:"class"`
	Effect        compare.Effect `json:"effect"`
	Path          string         `json:"path"`           // of the file whose difference decides, in the repository; empty: not known
	Line          int            `json:"line"`           // of the first changed line there, on the head; 0: not known
	Old           string         `json:"old"`            // the lines that the change takes away, cut
	New           string         `json:"new"`            // the lines that it brings, cut
	Message       string         `json:"message"`        // what the test or its runner said in the kept arm, cut
	SubjectStands bool           `json:"subject_stands"` // of a dropped one: what it tested is still in the head's tree
	Evidence      []string       `json:"evidence"`
}

// A Probe is one attack on the change beyond its own tests.
type Probe struct {
	Title     string   `json:"title"`
	Target    string   `json:"target,omitempty"` // the fuzz target; empty: it ran tests
	Input     string   `json:"input,omitempty"`  // the file of an input that fails the target; Command tries it
	Command   string   `json:"command"`
	Ran       bool     `json:"ran"`  // it came to a result
	Note      string   `json:"note"` // why not, or what it showed
	Evidence  []string `json:"evidence"`
	Regressed []Case   `json:"regressed"`       // race with changed code on the head alone, or fail by themselves there alone
	NewFlaky  []Case   `json:"new_flaky"`       // tests of the change that fail by themselves, and not each time
	Flaky     []Case   `json:"flaky"`           // failed under the probe alone, or also on base
	Races     []string `json:"races,omitempty"` // reports of the race detector with changed functions in their stacks
}

// A Result is all that the gate found out.
type Result struct {
	Verdict    Verdict      `json:"verdict"`
	Reasons    []string     `json:"reasons"` // why not better
	Detected   []string     `json:"detected"`
	Steps      []Step       `json:"steps"`
	Broken     []string     `json:"broken"`      // packages or commands whose build only the head breaks
	BrokenBoth []string     `json:"broken_both"` // the same on both sides
	Lint       []Case       `json:"lint"`        // complaints that only the head has
	Tests      Comparison   `json:"tests"`
	Phantoms   []Case       `json:"phantoms,omitempty"` // failures inside of passing tests that the base shows as well
	FailToPass Reproduction `json:"fail_to_pass"`
	Statistics []Statistic  `json:"statistics"` // of tests that were run again because the sides disagree
	// Expectations is nil where the kept arm was not reached.
	Expectations *Expectations     `json:"expectations,omitempty"`
	Facts        Facts             `json:"facts"` // what the verdict follows from, see [Decide]
	Probes       []Probe           `json:"probes"`
	Cached       *Cached           `json:"cached,omitempty"`   // the base's tests were not run, but known; nil: they ran
	Merge        *Merge            `json:"merge,omitempty"`    // nil: base has not moved, or not reached
	Mutation     *Mutation         `json:"mutation,omitempty"` // nil: nothing to mutate, or not reached
	Believed     *Believed         `json:"believed,omitempty"` // nil: no test was planted
	Executed     *Executed         `json:"executed,omitempty"` // nil: which changed lines ran is not known
	Marks        []Mark            `json:"marks,omitempty"`    // by which code can tell a test run
	NotCovered   []string          `json:"not_covered"`
	Notes        []string          `json:"notes"`
	Toolchains   map[string]string `json:"toolchains"`
	Runnable     bool              `json:"runnable"` // a line that can run changed
}
