package checks

import (
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// What results are made of stands in package results, and has the same names here.
type (
	// A Side is one of the two trees that are compared.
	Side = results.Side
	// A Stage is a sort of step.
	Stage = results.Stage
	// An ID names a test across both sides.
	ID = results.ID
	// A Test is what one run reported of one test.
	Test = results.Test
	// A Suite is the test results of one side.
	Suite = results.Suite
	// A Case is a test that is worth naming.
	Case = results.Case
	// A Step is one command that the gate ran.
	Step = ecosystem.Step
)

// The values of these that checks use.
const (
	Base = results.Base
	Head = results.Head

	StageTest     = results.StageTest
	StageProbe    = results.StageProbe
	StageMutation = results.StageMutation

	Passed  = results.Passed
	Failed  = results.Failed
	Skipped = results.Skipped
	NotRun  = results.NotRun
)
