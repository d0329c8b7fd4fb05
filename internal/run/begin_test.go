package run

import (
	"testing"

	"github.com/ycbot/ycbot/agents"
)

// TestAgentsDir: the command that repeats a run names the folder of agents that the user
// named, or one of the base, and none of a server.
func TestAgentsDir(t *testing.T) {
	t.Parallel()
	folders := []agents.Folder{{Origin: agents.User, Path: "/home/u/agents"}, {Origin: agents.Operator, Path: "/srv/agents"}}
	for _, tt := range []struct {
		folders []agents.Folder
		job     Job
		want    string
	}{
		{folders, Job{Trigger: "cli"}, "/srv/agents"},
		{folders[:1], Job{Trigger: "cli"}, ""},
		{folders, Job{Trigger: "comment"}, ""},
		{folders, Job{Trigger: "pull_request", AgentsDir: "ops"}, "ops"},
	} {
		if got := (&Runner{Agents: tt.folders}).agentsDir(tt.job); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.job, got, tt.want)
		}
	}
}
