package checks

import "github.com/ycbot/ycbot/internal/gate/ecosystem"

// What results are made of stands in package ecosystem, and has the same names here.
type (
	// A Side is one of the two trees that are compared.
	Side = ecosystem.Side
	// A Stage is a sort of step.
	Stage = ecosystem.Stage
	// An ID names a test across both sides.
	ID = ecosystem.ID
	// A Test is what one run reported of one test.
	Test = ecosystem.Test
	// A Suite is the test results of one side.
	Suite = ecosystem.Suite
	// A Case is a test that is worth naming.
	Case = ecosystem.Case
	// A Step is one command that the gate ran.
	Step = ecosystem.Step
)

// The values of these that checks use.
const (
	Base = ecosystem.Base
	Head = ecosystem.Head

	StageTest     = ecosystem.StageTest
	StageProbe    = ecosystem.StageProbe
	StageMutation = ecosystem.StageMutation

	Passed  = ecosystem.Passed
	Failed  = ecosystem.Failed
	Skipped = ecosystem.Skipped
	NotRun  = ecosystem.NotRun
)
