package bench_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench/benchtest"
)

// TestOtherTriggers runs the first workflow of docs/action.md, as it stands there, for what
// starts it beside a pull request: a push to the default branch, the merge queue, and
// a person by hand. Each leaves a check run on the commit that it is about, and an artifact.
func TestOtherTriggers(t *testing.T) {
	variants.Only(t) // act builds the program for each event
	t.Parallel()
	workflow := workflows(t)["ycbot"]
	g := benchtest.Start(t)
	repo := g.Repo("triggers", map[string]string{".github/ycbot.yml": settings, "test.sh": "echo all is well\n", "a.txt": "1\n"})
	head := repo.Push("bob", "feature", "main", map[string]string{"a.txt": "2\n"})
	n := repo.OpenPull("bob", "feature", "Count on").GetNumber()
	var opened map[string]any
	if err := json.Unmarshal(g.AwaitPull("opened", head).Body, &opened); err != nil {
		t.Fatal(err)
	}
	base := opened["pull_request"].(map[string]any)["base"].(map[string]any)["sha"].(string)
	queue := "gh-readonly-queue/main/pr-1-" + base
	queued := repo.Push("alice", queue, "main", map[string]string{"a.txt": "2\n", "test.sh": "echo test.sh:1: it broke; exit 1\n"})
	merged := repo.Push("alice", "main", "main", map[string]string{"a.txt": "3\n"})
	action := g.StageAction()
	for i, c := range []struct {
		event, sha, conclusion string
		body                   map[string]any
	}{
		{"push", merged, "success", map[string]any{"ref": "refs/heads/main", "before": base, "after": merged}},
		{"merge_group", queued, "failure", map[string]any{"action": "checks_requested", "merge_group": map[string]any{
			"head_sha": queued, "head_ref": "refs/heads/" + queue, "base_sha": base, "base_ref": "refs/heads/main",
		}}},
		{"workflow_dispatch", head, "success", map[string]any{"ref": "refs/heads/main", "inputs": map[string]any{"pr": strconv.Itoa(n)}}},
	} {
		c.body["repository"], c.body["sender"] = opened["repository"], opened["sender"]
		text, err := json.Marshal(c.body)
		if err != nil {
			t.Fatal(err)
		}
		run := g.Act(benchtest.Workflow{
			Repo: repo, Text: workflow, Event: benchtest.Delivery{Event: c.event, Body: text}, Token: g.JobToken(), Action: action, RunID: strconv.Itoa(i + 1),
		})
		checks := repo.CheckRuns(c.sha)
		if len(checks) != 1 || checks[0].GetStatus() != "completed" || checks[0].GetConclusion() != c.conclusion || g.Artifact(run, "ycbot") == "" {
			t.Errorf("%s: check runs %v, want one that ends as %s\n%s", c.event, checks, c.conclusion, run.Log)
		}
	}
	if comments := repo.BotComments(n); len(comments) != 1 || !strings.Contains(comments[0].GetBody(), "PASS") {
		t.Errorf("comments %v, want one, of the dispatch", comments)
	}
}
