package gate

import (
	"context"

	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/kept"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/lines"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/gate/tester"
)

// What results are made of stands in package results, whose parsers make them. It has the same
// names here, for those who read a [Result].
type (
	// A Side is one of the two trees that are compared.
	Side = results.Side
	// A Stage is a sort of step.
	Stage = results.Stage
	// An ID names a test across both sides.
	ID = results.ID
	// A Status is how a test ended.
	Status = results.Status
	// A Test is what one run reported of one test.
	Test = results.Test
	// A Suite is the test results of one side.
	Suite = results.Suite
	// A Case is a test that is worth naming.
	Case = results.Case
	// A Step is one command that the gate ran.
	Step = ecosystem.Step
	// A Comparison is how the test results of both sides differ.
	Comparison = runs.Comparison
	// A Statistic is what all runs of one test on both sides said.
	Statistic = runs.Statistic
	// Flips is in how many of a project's runs a test flipped.
	Flips = runs.Flips
	// Flakes keeps from one run to the next which tests gave both results on the same code.
	Flakes = runs.Flakes
	// FlakeFile is a file of Flakes.
	FlakeFile = runs.FlakeFile
	// Limits are how long one command may take.
	Limits = tester.Limits
	// A Probe is one attack on the change beyond its own tests.
	Probe = checks.Probe
	// A Kill is a mutant that tests noticed.
	Kill = checks.Kill
	// A Vacuous test is one that nothing makes fail.
	Vacuous = checks.Vacuous
	// A Mutation is what the tests notice of small changes of the changed lines.
	Mutation = checks.Mutation
	// A Survivor is a mutant with which all tests still pass.
	Survivor = checks.Survivor
	// Behaviour is what changed functions return on both sides for the same inputs.
	Behaviour = checks.Behaviour
	// Difference is a function that does something else with the change.
	Difference = checks.Difference
	// Programs is what command lines of the project's programs do on both sides.
	Programs = checks.Programs
	// LineDifference is a command line that does something else with the change.
	LineDifference = checks.LineDifference
	// A Believed is what became of the tests that were planted.
	Believed = checks.Believed
	// Executed is which of the changed lines tests ran.
	Executed = lines.Executed
	// An Unloaded file is a changed source that no command compiled or loaded.
	Unloaded = lines.Unloaded
	// Expectations is what became of the tests that pass on the base.
	Expectations = kept.Expectations
	// An Expectation is a test that passes on the base and does not hold on the head.
	Expectation = kept.Expectation
	// BaseResults keeps what tests of bases said from one run to the next.
	BaseResults = known.BaseResults
	// ResultFiles is a folder of BaseResults.
	ResultFiles = known.ResultFiles
	// Cached says that the tests of the base were not run.
	Cached = known.Cached
	// A Known is what results of a base that were kept say of one test.
	Known = known.Known
	// A Remark is a finding of a check that changes no verdict.
	Remark = checks.Remark
	// A Mark is a line by which code can recognise a test run.
	Mark = classes.Mark
	// A FileClass says what a file of a repository is for.
	FileClass = languages.FileClass
	// Toolchains are the programs of this machine.
	Toolchains = ecosystem.Toolchains
	// A GoToolchain is the Go of this machine.
	GoToolchain = ecosystem.GoToolchain
	// A Machine is what every command is given.
	Machine = execution.Machine
	// A Network says when commands may use the network.
	Network = execution.Network
	// A Progress is one step that begins or has ended.
	Progress = execution.Progress
)

// Agent is the name under which the gate's commands stand in the evidence log.
const Agent = execution.Agent

// When commands may use the network.
const (
	NetworkNone       = execution.NetworkNone
	NetworkSetup      = execution.NetworkSetup
	NetworkFull       = execution.NetworkFull
	NetworkRegistries = execution.NetworkRegistries
)

// FlakeName is the file of Flakes beside what is kept of the base's tests.
const FlakeName = runs.FlakeName

// The two sides.
const (
	Base = results.Base
	Head = results.Head
)

// The stages of the gate, in the order in which they happen.
const (
	StageSetup      = results.StageSetup
	StageBuild      = results.StageBuild
	StageLint       = results.StageLint
	StageTest       = results.StageTest
	StageRerun      = results.StageRerun
	StageFailToPass = results.StageFailToPass
	StageKept       = results.StageKept
	StageProbe      = results.StageProbe
	StageMutation   = results.StageMutation
	StageWarm       = results.StageWarm
	StageList       = results.StageList
)

// How a test ends.
const (
	Passed  = results.Passed
	Failed  = results.Failed
	Skipped = results.Skipped
	NotRun  = results.NotRun
)

// The classes of files, by path alone.
const (
	ClassTest     = languages.ClassTest
	ClassData     = languages.ClassData
	ClassSteering = languages.ClassSteering
	ClassSource   = languages.ClassSource
	ClassDoc      = languages.ClassDoc
	ClassOther    = languages.ClassOther
)

// Classify returns the class of the file with this path. It is the classification
// by which [Gate.Run] lays tests over the base.
func Classify(name string) FileClass { return languages.Classify(name) }

// FindToolchains looks for programs in the search path of env, which is a program's
// environment in the form of os.Environ. See [ecosystem.FindToolchains].
func FindToolchains(ctx context.Context, env []string) (*Toolchains, error) {
	return ecosystem.FindToolchains(ctx, env)
}

// ReadKnown finds in results of a base, as they are kept, those of the tests that reports
// call by a name. See [known.ReadKnown].
func ReadKnown(data []byte, name string) ([]Known, error) { return known.ReadKnown(data, name) }

// FailureLine is the line of a failed command's output that says why it failed.
func FailureLine(output string) string { return results.FailureLine(output) }

// Leaves are the cases that are no parents of others: each test counts once.
func Leaves(cases []Case) []Case { return results.Leaves(cases) }
