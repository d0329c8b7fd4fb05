package results

import (
	"cmp"
	"io"
	"strings"
	"time"
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

// FillsCaches says whether commands of a stage decide nothing, and are run or not by what the
// caches of the machine hold.
func (s Stage) FillsCaches() bool { return s == StageWarm || s == StageList }

// An ID names a test across both sides. A package-level result (it does not
// compile, it panicked outside of a test) has no Test; a command without
// per-test output has only a Command.
type ID struct {
	Unit    string `json:"unit"`
	Package string `json:"package,omitempty"`
	Test    string `json:"test,omitempty"`
	Command string `json:"command,omitempty"`
}

// String names the test for people.
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

// Compare orders tests by folder, package and name.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Unit, other.Unit), cmp.Compare(id.Package, other.Package),
		cmp.Compare(id.Test, other.Test), cmp.Compare(id.Command, other.Command))
}

// Top returns the top-level test that id belongs to.
func (id ID) Top() string {
	top, _, _ := strings.Cut(id.Test, "/")
	return top
}

// Parent returns the test that id is a subtest of, and false for a top-level one.
func (id ID) Parent() (ID, bool) {
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
	Eco      string        `json:"eco,omitempty"`      // name of the ecosystem of its command
	Leaf     bool          `json:"leaf"`               // has no subtests, so that it counts as one test
	Broken   bool          `json:"broken,omitempty"`   // package level: it did not compile
	Lacks    string        `json:"lacks,omitempty"`    // a command: the program for want of which it failed
	NoTests  bool          `json:"no_tests,omitempty"` // a command: its runner reported no test
	Cut      bool          `json:"cut,omitempty"`      // package level: its program ended before it had run all tests
	Masked   bool          `json:"masked,omitempty"`   // failed, or began and did not end, inside a package that passes
	Retried  bool          `json:"retried,omitempty"`  // its runner ran it again after a failure, as it was asked to
	Place    string        `json:"place,omitempty"`    // in its file, by which [Suite.NameBy] finds it
	Nameless bool          `json:"nameless,omitempty"` // it failed before it had a name of its own

	Ended Status `json:"-"` // package level: what its program itself ended with
}

// Flipped says that it failed and passed in one run.
func (t Test) Flipped() bool { return t.Retried && t.Status == Passed }

// A Suite is the test results of one side.
type Suite map[ID]Test

// Add puts the results of other in, of tests that both have the worse one.
func (s Suite) Add(other Suite) {
	for id, t := range other {
		merge(s, id, t)
	}
}

// SetEcosystem marks all results as those of a command of an ecosystem.
func (s Suite) SetEcosystem(eco string) {
	for id, t := range s {
		t.Eco = eco
		s[id] = t
	}
}

// Count returns how many leaf tests have each status.
func (s Suite) Count() map[Status]int {
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

// A Collector turns what a command writes to its standard output into results,
// while it comes.
type Collector interface {
	io.Writer
	// Suite returns the results once the command has ended. evidence is the id of
	// the record that holds its output; wd is cut out of outputs, so that those of
	// both sides compare.
	Suite(evidence, wd string) Suite
	// Rest returns what was no result, such as errors of the runner.
	Rest() string
	// Gap says why the results are not those of a whole run: there are none, they
	// cannot be read, or they contradict themselves. It is called after suite; much
	// says that there is more output than is kept.
	Gap() (why string, much bool)
	// None says whether the runner reported a whole run that has no test.
	None() bool
}
