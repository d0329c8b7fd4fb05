package preparation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// TestBroken holds what is said not to build: packages where the go command
// names them, else the command.
func TestBroken(t *testing.T) {
	t.Parallel()
	step := func(stage results.Stage, unit, cmd, out string, exit int) ecosystem.Step {
		return ecosystem.Step{Side: results.Head, Stage: stage, Unit: unit, Command: cmd, Output: out, Exit: exit}
	}
	prep := of(sides.Plan{})
	prep.Steps = ecosystem.Steps{
		step(results.StageBuild, ".", "go build ./...", "# m/b\nb.go:1: x\n# m/a [m/a.test]\na.go:1: y\n# m/b\n", 1),
		step(results.StageBuild, "sub", "go build ./...", "go: errors parsing go.mod", 1),
		step(results.StageBuild, ".", "make", "# a remark of make\nno rule", 2),
		step(results.StageSetup, ".", "npm ci", "lock file does not match", 1),
		step(results.StageSetup, ".", "again", "not at first", 1),
		step(results.StageSetup, ".", "again", "", 0),
		step(results.StageBuild, ".", "fine", "", 0),
		step(results.StageTest, ".", "go test", "# m/t\n", 1),
		{Side: results.Base, Stage: results.StageBuild, Unit: ".", Command: "base", Exit: 1},
		{Side: results.Head, Stage: results.StageBuild, Unit: ".", Command: "slow", TimedOut: true},
	}
	if diff := cmp.Diff([]string{"m/a", "m/b", "make", "npm ci", "slow", "sub: go build ./..."}, prep.Broken(results.Head)); diff != "" {
		t.Errorf("head: %s", diff)
	}
	if diff := cmp.Diff([]string{"base"}, prep.Broken(results.Base)); diff != "" {
		t.Errorf("base: %s", diff)
	}
}

// TestInstallsTheSame holds when the head's setup is a copy of the base's.
func TestInstallsTheSame(t *testing.T) {
	t.Parallel()
	install := ecosystem.Command{Stage: results.StageSetup, Unit: "web", Text: "npm ci", Installs: "node_modules"}
	other := install
	other.Text = "npm install"
	for _, tt := range []struct {
		what   string
		head   ecosystem.Command
		base   []ecosystem.Command
		failed bool
		paths  []string
		want   bool
	}{
		{"only sources changed", install, []ecosystem.Command{install}, false, []string{"web/src/a.js", "package.json"}, true},
		{"a lockfile changed", install, []ecosystem.Command{install}, false, []string{"web/package-lock.json"}, false},
		{"settings changed", install, []ecosystem.Command{install}, false, []string{"web/.npmrc"}, false},
		{"another command", install, []ecosystem.Command{other}, false, nil, false},
		{"it failed at the base", install, []ecosystem.Command{install}, true, nil, false},
		{"scripts run with it", ecosystem.Command{Stage: results.StageSetup, Unit: "web", Text: "npm ci"}, []ecosystem.Command{install}, false, nil, false},
	} {
		prep := of(sides.Plan{Setup: tt.base})
		for _, p := range tt.paths {
			prep.Change.Files = append(prep.Change.Files, change.File{Path: p, Status: change.Modified})
		}
		prep.Steps = ecosystem.Steps{{Stage: results.StageSetup, Side: results.Base, Unit: "web", Command: "npm ci", Exit: map[bool]int{true: 1}[tt.failed]}}
		if got := prep.installsTheSame(tt.head); got != tt.want {
			t.Errorf("%s: %v", tt.what, got)
		}
	}
}

// of prepares a base that is planned so.
func of(base sides.Plan) *Preparation {
	plans := map[results.Side]*sides.Plan{results.Base: &base}
	return New(Preparation{Executor: execution.New(execution.Machine{}, execution.Job{Plans: plans})})
}
