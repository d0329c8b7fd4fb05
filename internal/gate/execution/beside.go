package execution

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/databases"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// Beside is what is started with each command that runs tests, and the variables by which
// tests find it. Both come from the base's files.
type Beside struct {
	Services []databases.Started
	Env      []string
}

// start puts the services beside a command that runs tests, where its loopback interface
// is its own.
func (b Beside) start(stage results.Stage, run *sandbox.Command) {
	switch stage {
	case results.StageTest, results.StageRerun, results.StageFailToPass, results.StageKept, results.StageProbe, results.StageMutation:
		if len(b.Services) > 0 && run.Network == sandbox.NetworkNone {
			run.Argv, run.Env = databases.Beside(run.Argv, b.Services), slices.Concat(b.Env, run.Env)
		}
	case results.StageSetup, results.StageBuild, results.StageLint, results.StageWarm, results.StageList:
	}
}
