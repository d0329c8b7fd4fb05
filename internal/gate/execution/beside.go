package execution

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/databases"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
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
func (b Beside) start(stage ecosystem.Stage, run *sandbox.Command) {
	switch stage {
	case ecosystem.StageTest, ecosystem.StageRerun, ecosystem.StageFailToPass, ecosystem.StageKept, ecosystem.StageProbe, ecosystem.StageMutation:
		if len(b.Services) > 0 && run.Network == sandbox.NetworkNone {
			run.Argv, run.Env = databases.Beside(run.Argv, b.Services), slices.Concat(b.Env, run.Env)
		}
	case ecosystem.StageSetup, ecosystem.StageBuild, ecosystem.StageLint, ecosystem.StageWarm, ecosystem.StageList:
	}
}
