// Package checks is what the gate does to a change after its first verdict, which each
// of them can only lower: tests are repeated, shuffled and raced, existing fuzz targets
// are given time, the suite has to notice a planted failure and small changes of the
// changed lines, changed functions are called on both sides with the same inputs, and so
// are programs by the command lines that the tree has.
//
// A check receives a [Subject], values and the few things that it can have done, and
// returns [Findings]. A new one is one file here, one line of [All] and one row of
// docs/checks.md; what it has to say are [Remark]s. One that also decides, or that has a line
// of its own in reports, wants a field of Findings, which the gate keeps (gate/checks.go) and
// package conclude prints.
//
// What runs nothing is no check. What only reads the files of both sides is a step of the gate
// (gate/marks.go, over package sides), and can lower the verdict by a fact of gate/verdict.go.
// What only reads the text of the change (internal/run/hidden.go) needs no gate.
package checks

import (
	"context"
	"io"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A Check is one of them.
type Check struct {
	Name string // of errors

	// Early says that it comes before the merge and before what the change cannot affect.
	Early bool

	// Run makes the check. Its findings count also where it ended with an error.
	Run func(context.Context, *Subject) (Findings, error)
}

// All are the checks in their order.
func All() []Check {
	return []Check{
		{Name: "probes", Early: true, Run: Repeat},
		{Name: "fuzzing", Run: Fuzz},
		{Name: "planted test", Run: Plant},
		{Name: "mutants", Run: Mutate},
		{Name: "behaviour", Run: Behave},
		{Name: "programs", Run: Use},
	}
}

// Findings are what a check found out.
type Findings struct {
	Probes       []Probe
	NewFlakiness []Case     // tests of the base that fail at random with the change, and never on base
	Mutation     *Mutation  // nil: no mutant was made
	Behaviour    *Behaviour // nil: no function was called
	Programs     *Programs  // nil: no command line was run
	Believed     *Believed  // nil: no test was planted
	Unbelieved   []string   // why results of tests are not believed, for people
	Remarks      []Remark
}

// A Remark is what a check has to say that changes no verdict. It becomes a finding.
type Remark struct {
	Title    string   `json:"title"`
	Note     string   `json:"note,omitempty"`
	Path     string   `json:"path,omitempty"` // in the repository
	Line     int      `json:"line,omitempty"` // on the head; 0: the whole file, or no file
	Evidence []string `json:"evidence"`
}

// A Subject is a prepared change whose first verdict is known.
type Subject struct {
	Change     change.Change
	Base, Head *workspace.Tree
	Suites     map[Side]Suite
	Files      map[Side][]string   // of the commits, sorted
	Packages   []ecosystem.Package // of the head
	Affected   map[string]bool     // import paths of those that the change can influence
	Tests      map[Side][]ecosystem.Command
	Build      []ecosystem.Command // of the head
	Projects   []ecosystem.Project // of the base that the change can affect
	Tools      *ecosystem.Toolchains
	Candidates func() []Candidate // tests of the change that are not known to fail without it

	Runnable     bool // a line that can run changed
	Unprepared   bool // a side could not be set up or built
	Fails        bool // the change's build or tests do not all pass, by whosever fault
	Failed       bool // the verdict is FAIL, whatever a check shows
	Apart        bool // commands see nothing of one another
	MutantsAlone bool // each mutant is compiled by itself

	Proven []Case // tests that fail without the change

	StepLimit, MutationTime, FuzzTime, BehaviourTime time.Duration // negative: none

	Now   func() time.Time
	Steps func() []Step // that ran so far

	// Notes for people, and what is not covered; the last one says each thing once.
	Note, NotCovered, NotCoveredOnce func(format string, args ...any)

	Runs
	Copies
}

// Runs are the commands that a check can have run in the tree of a side.
type Runs struct {
	// Reset makes a side what it was when it was prepared.
	Reset func(context.Context, Side) error
	// Exec runs a command, and stdout, which may be nil, sees its output.
	Exec func(ctx context.Context, side Side, c ecosystem.Command, stdout io.Writer) (Step, error)
	// AsLaid is Exec, but that tracked files which differ from the commit, as those that a
	// check has laid, are left alone.
	AsLaid func(ctx context.Context, side Side, c ecosystem.Command, stdout io.Writer) (Step, error)
	// Home is the HOME of a side's commands.
	Home func(Side) string
	// Run runs a test command as the side is, RunFresh after a Reset.
	Run, RunFresh func(context.Context, Side, ecosystem.Command) (Suite, Step, error)
	// Collect is what a command reported that ran in a tree of a side.
	Collect func(side Side, tree *workspace.Tree, c ecosystem.Command, out results.Collector, s Step) Suite
	// PackageTests are a side's test commands of a group, made into others.
	PackageTests func(side Side, g ecosystem.Group, stage Stage, as func(ecosystem.Command) ecosystem.Command) []ecosystem.Command
	// OfOthers says whether other commands alone reported on a package or file of tests.
	OfOthers func(c ecosystem.Command, pkg string) bool
	// Warm compiles by commands of the base what both sides need. Warming is what the
	// race detector needs.
	Warm    func(context.Context, []ecosystem.Command) error
	Warming []ecosystem.Command
	// Alone and Parted run tests again: without the others of their packages, and in them.
	Alone, Parted func(context.Context, Side, []ID) (Suite, error)
	// Settle runs tests again until it is known what they are.
	Settle func(context.Context, Question) (Answer, error)
	// ReadFile reads a file of a side's commit; Added are the lines of the head that the
	// change adds to one.
	ReadFile func(ctx context.Context, side Side, name string) ([]byte, error)
	Added    func(context.Context, change.File) (map[int]bool, error)
}

// Copies are what mutants need to run side by side.
type Copies struct {
	// InHead is the place in the head itself, CopyOf the n-th copy of the prepared head,
	// with a HOME of its own. GiveBack keeps a copy for those who need one next.
	InHead   func() Place
	CopyOf   func(ctx context.Context, n int) (Place, error)
	GiveBack func(Place)
	// Close removes the copies.
	Close func() error
	// At runs a command in a place. It is safe for concurrent use, and leaves what ran
	// to Record.
	At     func(ctx context.Context, at Place, c ecosystem.Command, stdout io.Writer) (Step, error)
	Record func(Step)
	// Begin and End report a command of the head to those who watch.
	Begin func(stage Stage, unit, command string)
	End   func(stage Stage, unit, command string, s Step)
}

// A Place is where a command runs, and when it is recorded.
type Place struct {
	Tree  *workspace.Tree
	Home  string
	After <-chan struct{} // its record comes after this; nil: when it has ended
}

// A Probe is one attack on the change beyond its own tests.
type Probe struct {
	Title     string   `json:"title"`
	Target    string   `json:"target,omitempty"` // the fuzz target; empty: it ran tests
	Input     string   `json:"input,omitempty"`  // the file of an input that fails the target; Command tries it
	Command   string   `json:"command"`
	Ran       bool     `json:"ran"`               // it came to a result
	NoTime    bool     `json:"no_time,omitempty"` // it was left out, or cut, and the base's tests alone are too slow for its share of the time
	Note      string   `json:"note"`              // why not, or what it showed
	Evidence  []string `json:"evidence"`
	Regressed []Case   `json:"regressed"`       // race with changed code on the head alone, or fail by themselves there alone
	NewFlaky  []Case   `json:"new_flaky"`       // tests of the change that fail by themselves, and not each time
	Flaky     []Case   `json:"flaky"`           // failed under the probe alone, or also on base
	Races     []string `json:"races,omitempty"` // reports of the race detector with changed functions in their stacks
}

// A Question is about tests that failed under a check on the head.
type Question struct {
	Regressed, NewFailing []Case // that pass on the base, and that it does not have
	// Once runs tests again at a side.
	Once func(ctx context.Context, side Side, ids []ID) (Suite, error)
	// Single says that they are not tests of the suite: that one fails at random is no
	// property of the suite.
	Single bool
}

// An Answer is what the runs of both sides have shown.
type Answer struct {
	Regressed, NewFailing, NewFlakiness, FlakyNew, Flaky, PreExisting, Unsettled, Unknown []Case
}

// A check is one that is at work.
type check struct {
	in    *Subject
	found Findings
}

func (s *Subject) tree(side Side) *workspace.Tree {
	if side == Base {
		return s.Base
	}
	return s.Head
}

func (s *Subject) has(side Side, pkg ID) bool {
	_, ok := s.Suites[side][pkg]
	return ok
}
