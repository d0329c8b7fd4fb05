package bench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"
	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench"
	"github.com/ycbot/ycbot/test/bench/benchtest"
)

// aFork is a pull request from a fork that changes nothing which matters.
func aFork(t *testing.T, g *benchtest.GitHub, name string) (repo *benchtest.Repo, n int, head string) {
	t.Helper()
	repo = g.Repo(name, map[string]string{".github/ycbot.yml": settings, "test.sh": "echo all is well\n", "a.txt": "1\n"})
	head = repo.Fork("mallory").Push("mallory", "outside", "main", map[string]string{"a.txt": "2\n"})
	return repo, repo.OpenPull("mallory", "mallory:outside", "Count on").GetNumber(), head
}

// TestMaintainersWorkflow runs the second workflow of docs/action.md, as it stands
// there: a maintainer names the commit of a fork, one job executes it and
// publishes nothing, the other publishes and executes nothing.
func TestMaintainersWorkflow(t *testing.T) {
	variants.Only(t) // act builds the program for each event; TestActionOnForkSecrets of cmd/ycbot has a fork
	t.Parallel()
	workflow, ok := workflows(t)["ycbot for forks"]
	if !ok {
		t.Fatal("docs/action.md has no workflow named ycbot for forks")
	}
	g := benchtest.Start(t)
	repo, n, head := aFork(t, g, "maintained")
	comment := repo.Comment(g.As("bob"), n, "/verify "+head[:12])
	run := g.Act(benchtest.Workflow{
		Repo: repo, Text: workflow, Event: g.AwaitComment("created", comment), Token: g.JobToken(), Action: g.StageAction(),
	})
	defer func() {
		if t.Failed() {
			t.Log(run.Log)
		}
	}()
	if !run.OK {
		t.Error("a job failed")
	}
	verdict := reported(t, g.Artifact(run, "ycbot")).Verdict
	checks := repo.CheckRuns(head)
	want := map[string]string{"PASS": "success", "PARTIAL": "failure"}[verdict] // PARTIAL: this machine may not execute it
	if len(checks) != 1 || checks[0].GetStatus() != "completed" || checks[0].GetConclusion() != want {
		t.Errorf("%s: check runs are %v, want one with %q", verdict, checks, want)
	}
	if c := repo.BotComments(n); len(c) != 1 || !strings.Contains(c[0].GetBody(), verdict) {
		t.Errorf("comments are %v, want one with %s", c, verdict)
	}
}

// A summary is what the tests read of a report.
type summary struct {
	Verdict, Title, Trust string
	Reasons               []string
	Sandbox               struct{ Tier string }
}

// reported reads the report of a run directory.
func reported(t *testing.T, dir string) (rep summary) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err == nil {
		err = json.Unmarshal(body, &rep)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// given are the inputs that a workflow of docs/action.md gives to ycbot.
func given(t *testing.T, name string) map[string]string {
	t.Helper()
	var w struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(workflows(t)[name]), &w); err != nil {
		t.Fatal(err)
	}
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if strings.HasPrefix(step.Uses, "ycbot/ycbot@") {
				return step.With
			}
		}
	}
	t.Fatalf("docs/action.md has no workflow %s with a step of ycbot", name)
	return nil
}

// TestClaims holds that what a fork's own workflow left is published, as the two
// workflows of docs/action.md for that have it, and never as a success; and that it cannot speak of another commit than its own.
func TestClaims(t *testing.T) {
	variants.Only(t) // act runs two workflows; TestActionPublishesClaims of cmd/ycbot has them without
	t.Parallel()
	g := benchtest.Start(t)
	repo, n, head := aFork(t, g, "claimed")
	opened := g.AwaitPull("opened", head)
	reads := g.Token(map[string]string{"contents": "read", "issues": "read", "pull_requests": "read", "checks": "read", "metadata": "read"})
	gate := g.Step(benchtest.Step{Repo: repo, Event: opened, Token: reads, Inputs: given(t, "ycbot gate")})
	dir := gate.Outputs["report-dir"]
	if dir == "" {
		t.Fatalf("exit %d:\n%s%s", gate.Exit, gate.Stdout, gate.Stderr)
	}
	claims := given(t, "ycbot publish")
	if claims["publish"] != "${{ runner.temp }}/ycbot-run" { // where the workflow puts what it downloads
		t.Errorf("inputs %q", claims)
	}
	claims["publish"] = dir
	publish := func(sha string) benchtest.Result {
		return g.Step(benchtest.Step{Repo: repo, Event: workflowEnded(t, opened, sha), Token: g.JobToken(), Inputs: claims})
	}

	if r := publish(strings.Repeat("1", 40)); r.Exit == 0 {
		t.Errorf("published for a workflow of another commit:\n%s%s", r.Stdout, r.Stderr)
	}
	if len(repo.BotComments(n)) != 0 || len(repo.CheckRuns(head)) != 0 {
		t.Error("something was posted for a workflow of another commit")
	}
	for range 2 {
		if r := publish(head); r.Exit != 0 {
			t.Errorf("exit %d:\n%s%s", r.Exit, r.Stdout, r.Stderr)
		}
		checks := repo.CheckRuns(head)
		if len(checks) != 1 || checks[0].GetStatus() != "completed" || checks[0].GetConclusion() == "success" {
			t.Errorf("check runs are %v, want one that is no success", checks)
		}
		if c := repo.BotComments(n); len(c) != 1 || !strings.Contains(c[0].GetBody(), gate.Outputs["verdict"]) {
			t.Errorf("comments are %v, want one with %s", c, gate.Outputs["verdict"])
		}
	}
}

// workflowEnded is the webhook of GitHub's own examples that says that a workflow
// ended, made to be about the head of the pull request that was opened.
func workflowEnded(t *testing.T, opened benchtest.Delivery, sha string) benchtest.Delivery {
	t.Helper()
	modules := benchtest.Need(t, bench.Node)
	body, err := os.ReadFile(filepath.Join(modules, "@octokit/webhooks-examples/api.github.com/index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name     string
		Examples []map[string]any
	}
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	var pull github.PullRequestEvent
	if err := json.Unmarshal(opened.Body, &pull); err != nil {
		t.Fatal(err)
	}
	for _, event := range all {
		for _, example := range event.Examples {
			if event.Name != "workflow_run" || example["action"] != "completed" {
				continue
			}
			example["repository"] = pull.GetRepo()
			run := example["workflow_run"].(map[string]any)
			run["event"], run["head_sha"], run["pull_requests"] = "pull_request", sha, []any{}
			run["head_repository"], run["repository"] = pull.GetPullRequest().GetHead().GetRepo(), pull.GetRepo()
			text, err := json.Marshal(example)
			if err != nil {
				t.Fatal(err)
			}
			return benchtest.Delivery{Event: "workflow_run", Action: "completed", Body: text}
		}
	}
	t.Fatal("there is no example of workflow_run")
	return benchtest.Delivery{}
}
