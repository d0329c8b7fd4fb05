package main

import (
	"os"
	"strings"
	"testing"
)

// The workflow that is written is the one that docs/action.md shows, which is run
// by a test.
func TestInitWorkflow(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/action.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "## Pull requests of a team\n")
	_, block, found := strings.Cut(section, "```yaml\n")
	shown, _, ended := strings.Cut(block, "```")
	if !ok || !found || !ended {
		t.Fatal("docs/action.md has no such workflow")
	}
	_, written, _ := strings.Cut(workflowTemplate, "\nname: ")
	if "name: "+written != shown {
		t.Error("initfiles/workflow.yml is not the workflow of docs/action.md")
	}
	if strings.Count(workflowTemplate, toolsMark) != 1 || strings.Count(configTemplate, commandsMark) != 1 {
		t.Error("a mark is missing")
	}
}
