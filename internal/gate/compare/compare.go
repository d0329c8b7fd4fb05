// Package compare decides what the results of the four arms of a test mean. It
// is pure: it knows no commands, trees or files.
//
// The arms are base's tests over base's sources (what held before), head's tests
// over base's sources (fail-to-pass), base's tests over head's sources (kept
// expectations) and head's tests over head's sources. A kept expectation is a test
// that passes in the first arm.
package compare

import "slices"

// A Status is how a test ended in one arm.
type Status string

// The ways in which a test ends. Absent also stands for an arm that did not run it.
const (
	Passed  Status = "pass"
	Failed  Status = "fail"
	Skipped Status = "skip"
	Absent  Status = "absent"
)

// A FileClass is what a file is to the tests of a change.
type FileClass string

// The classes of files. A file that fits several is the first of Steering,
// Support, Test and Data; what fits none is Source.
const (
	Steering FileClass = "steering" // decides what a test command does
	Support  FileClass = "support"  // shared by tests: setup files, conftest.py, TestMain
	Test     FileClass = "test"
	Data     FileClass = "data" // read by tests, such as golden files and fixtures
	Source   FileClass = "source"
)

// A Class is what became of a kept expectation. The strings are those of
// report.json: do not change them.
type Class string

// The classes of kept expectations. ClassOf says when each applies.
const (
	Holds        Class = "held"
	Regressed    Class = "regressed"
	Silenced     Class = "silenced"
	Silent       Class = "silent"
	Dropped      Class = "dropped"
	Rewritten    Class = "rewritten"
	DataChanged  Class = "data"
	Weakened     Class = "weakened"
	SupportMade  Class = "support"
	SteeringMade Class = "steering"
	NeedsOldAPI  Class = "needs_api"
	CannotApply  Class = "cannot_apply"
)

// Classes are all classes but Holds, in the order of a report: the gravest first.
func Classes() []Class {
	return []Class{
		Regressed, Silenced, Silent, SteeringMade, Weakened, SupportMade, Dropped,
		CannotApply, NeedsOldAPI, Rewritten, DataChanged,
	}
}

// An Observation is what is known of one test that passes on the base.
type Observation struct {
	Kept Status // base's tests over head's sources
	// NotApplied says that the kept arm could not be compiled, collected or started
	// for this test, and NamesRemoved that the error names what the change removed
	// or renamed.
	NotApplied, NamesRemoved bool

	Head Status // head's tests over head's sources
	// Stands says that the test still stands in the head's tree by its own name,
	// whatever its file's name, tags or place. EditSkips says that an edit of the
	// test itself skips it on the head.
	Stands, EditSkips bool
	// Gone says that the change deletes the file of which it is a row, or the function of which it is an example.
	Gone bool

	// Replaced says that the head has a new test in its place that fails without the change.
	Replaced bool

	// OverBase is head's version of the test over base's sources.
	OverBase Status
	// Lenient says that head's version is expected to fail or retried.
	Lenient bool
	// Lost says that head's version has no check in place of one that the base's version has.
	Lost bool
	// Wraps says that head's version differs in nothing but the form in which it takes what it
	// tests, so that it passes over both.
	Wraps bool

	// Made are the classes of files of which the head's version makes the kept arm
	// pass: those that do so alone, else all that do so together.
	Made []FileClass
	// Beside says that the files of tests among them have nothing to do with this one, but
	// that they run in one process with it.
	Beside bool
	// Shared says that this one stands in none of the files of tests among them, and may hold by
	// what they give to others.
	Shared bool
}

// ClassOf is the class of a kept expectation (docs/gate.md, "The four arms").
func ClassOf(o Observation) Class {
	switch {
	case o.NotApplied && o.NamesRemoved && o.Lost:
		return Weakened
	case o.NotApplied && o.NamesRemoved:
		return NeedsOldAPI
	case o.NotApplied:
		return CannotApply
	case o.Kept == Passed:
		return Holds
	case o.Kept == Absent && o.Head == Absent && o.Gone:
		return Dropped
	case o.Kept != Failed:
		return Silent
	case o.Head == Failed:
		return Regressed
	case o.Head == Skipped && o.EditSkips:
		return Weakened
	case o.Head != Passed && o.Stands:
		return Silenced
	case o.Head != Passed && o.Replaced:
		return Rewritten
	case o.Head != Passed:
		return Dropped
	}
	return madeBy(o)
}

// madeBy is the class of a test that fails in the kept arm and passes on the head.
func madeBy(o Observation) Class {
	made := func(c FileClass) bool { return slices.Contains(o.Made, c) }
	weak := o.OverBase == Passed && !o.Wraps || o.OverBase == Skipped || o.Lenient || o.Lost
	switch {
	case made(Steering):
		return SteeringMade
	case made(Test) && o.Beside:
		return Silenced
	case made(Test) && o.Shared:
		return SupportMade
	case made(Test) && weak:
		return Weakened
	case made(Support):
		return SupportMade
	case made(Test):
		return Rewritten
	case made(Data) && weak:
		return Weakened
	case made(Data):
		return DataChanged
	}
	return Regressed // nothing that the head changes of its tests explains the pass
}
