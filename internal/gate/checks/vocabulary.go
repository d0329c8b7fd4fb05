package checks

import "github.com/ycbot/ycbot/internal/gate/ecosystem"

type (
	// Side is [ecosystem.Side], and so on.
	Side   = ecosystem.Side
	Stage  = ecosystem.Stage
	ID     = ecosystem.ID
	Status = ecosystem.Status
	Test   = ecosystem.Test
	Suite  = ecosystem.Suite
	Case   = ecosystem.Case
	Step   = ecosystem.Step
)

const (
	Base = ecosystem.Base
	Head = ecosystem.Head

	StageTest     = ecosystem.StageTest
	StageRerun    = ecosystem.StageRerun
	StageProbe    = ecosystem.StageProbe
	StageMutation = ecosystem.StageMutation

	Passed  = ecosystem.Passed
	Failed  = ecosystem.Failed
	Skipped = ecosystem.Skipped
	NotRun  = ecosystem.NotRun
)
