package gate

import (
	"context"

	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/runs"
)

// What results are made of stands in packages ecosystem, whose parsers make them, and
// checks. It has the same names here, for those who read a [Result].
type (
	// A Side is one of the two trees that are compared.
	Side = ecosystem.Side
	// A Stage is a sort of step.
	Stage = ecosystem.Stage
	// An ID names a test across both sides.
	ID = ecosystem.ID
	// A Status is how a test ended.
	Status = ecosystem.Status
	// A Test is what one run reported of one test.
	Test = ecosystem.Test
	// A Suite is the test results of one side.
	Suite = ecosystem.Suite
	// A Case is a test that is worth naming.
	Case = ecosystem.Case
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
	// A Remark is a finding of a check that changes no verdict.
	Remark = checks.Remark
	// A Mark is a line by which code can recognise a test run.
	Mark = ecosystem.Mark
	// A FileClass says what a file of a repository is for.
	FileClass = ecosystem.FileClass
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
	Base = ecosystem.Base
	Head = ecosystem.Head
)

// The stages of the gate, in the order in which they happen.
const (
	StageSetup      = ecosystem.StageSetup
	StageBuild      = ecosystem.StageBuild
	StageLint       = ecosystem.StageLint
	StageTest       = ecosystem.StageTest
	StageRerun      = ecosystem.StageRerun
	StageFailToPass = ecosystem.StageFailToPass
	StageKept       = ecosystem.StageKept
	StageProbe      = ecosystem.StageProbe
	StageMutation   = ecosystem.StageMutation
	StageWarm       = ecosystem.StageWarm
	StageList       = ecosystem.StageList
)

// How a test ends.
const (
	Passed  = ecosystem.Passed
	Failed  = ecosystem.Failed
	Skipped = ecosystem.Skipped
	NotRun  = ecosystem.NotRun
)

// The classes of files, by path alone.
const (
	ClassTest     = ecosystem.ClassTest
	ClassData     = ecosystem.ClassData
	ClassSteering = ecosystem.ClassSteering
	ClassSource   = ecosystem.ClassSource
	ClassDoc      = ecosystem.ClassDoc
	ClassOther    = ecosystem.ClassOther
)

// Classify returns the class of the file with this path. It is the classification
// by which [Gate.Run] lays tests over the base.
func Classify(name string) FileClass { return ecosystem.Classify(name) }

// FindToolchains looks for programs in the search path of env, which is a program's
// environment in the form of os.Environ. See [ecosystem.FindToolchains].
func FindToolchains(ctx context.Context, env []string) (*Toolchains, error) {
	return ecosystem.FindToolchains(ctx, env)
}

// FailureLine is the line of a failed command's output that says why it failed.
func FailureLine(output string) string { return ecosystem.FailureLine(output) }

// Leaves are the cases that are no parents of others: each test counts once.
func Leaves(cases []Case) []Case { return ecosystem.Leaves(cases) }
