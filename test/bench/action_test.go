package bench_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench"
	"github.com/ycbot/ycbot/test/bench/benchtest"
)

// settings make a repository cheap to verify: one command, no toolchain.
const settings = "version: 1\ncommands: {test: [sh test.sh]}\n"

// TestTeamWorkflow runs the first workflow of docs/action.md, as it stands there,
// on a pull request that breaks a test: comment, completed check run, outputs,
// summary, and an artifact that ycbot check accepts. The same event again leaves
// one comment and one check run, and ycbot never sees the runner's own tokens.
func TestTeamWorkflow(t *testing.T) {
	variants.Only(t) // act and a stand-in for all of GitHub; TestActionOnPull of cmd/ycbot has the Action without them
	t.Parallel()
	workflow, ok := workflows(t)["ycbot"]
	if !ok {
		t.Fatal("docs/action.md has no workflow named ycbot")
	}
	g := benchtest.Start(t)
	repo := g.Repo("team", map[string]string{".github/ycbot.yml": settings, "test.sh": "echo all is well\n"})
	head := repo.Push("bob", "feature", "main", map[string]string{"test.sh": "echo test.sh:1: it broke; exit 1\n"})
	n := repo.OpenPull("bob", "feature", "Make it faster").GetNumber()
	w := benchtest.Workflow{
		Repo: repo, Text: workflow, Event: g.AwaitPull("opened", head), Token: g.JobToken(),
		Action: g.StageAction(),
	}

	first := g.Act(w)
	if first.OK || first.Steps["ycbot.run"] != "failure" {
		t.Errorf("a FAIL leaves the job green: %v, steps %v", first.OK, first.Steps)
	}
	for _, step := range []string{"ycbot.prepare", "ycbot.install", "ycbot.5", "ycbot.6"} {
		if first.Steps[step] != "success" {
			t.Errorf("step %s is %q, want success", step, first.Steps[step])
		}
	}
	published(t, repo, n, head)
	out := first.Outputs["ycbot"]
	if out["verdict"] != "FAIL" || out["run-id"] == "" || out["report-dir"] == "" || out["comment-url"] == "" || out["check-url"] == "" || out["tokens"] == "" {
		t.Errorf("outputs are %v", out)
	}
	if !strings.Contains(first.Summary, "FAIL") {
		t.Errorf("the job summary is %q", first.Summary)
	}
	if !slices.Contains(first.Masks, w.Token) {
		t.Error("the token is not masked")
	}
	artifact(t, g, first)

	w.RunID = "2"
	spy := filepath.Join(t.TempDir(), "environment")
	spyOn(t, w.Action, spy)
	second := g.Act(w)
	if second.Steps["ycbot.run"] != "failure" {
		t.Errorf("the second run: steps %v", second.Steps)
	}
	published(t, repo, n, head)
	environment, err := os.ReadFile(spy)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(environment)) {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "ACTIONS_") {
			t.Errorf("ycbot has %s in its environment", name)
		}
	}
	if t.Failed() {
		t.Logf("the first run:\n%s\nthe second:\n%s", first.Log, second.Log)
	}
}

// published holds what a reader of the pull request finds: one comment and one
// completed check run, with annotations.
func published(t *testing.T, repo *benchtest.Repo, n int, head string) {
	t.Helper()
	comments := repo.BotComments(n)
	if len(comments) != 1 || !strings.Contains(comments[0].GetBody(), "FAIL") {
		t.Errorf("%d comments, want one with the verdict: %v", len(comments), comments)
	}
	checks := repo.CheckRuns(head)
	if len(checks) != 1 {
		t.Errorf("%d check runs for the commit, want 1", len(checks))
		return
	}
	c := checks[0]
	if c.GetName() != "ycbot" || c.GetStatus() != "completed" || c.GetConclusion() != "failure" || !strings.HasPrefix(c.GetOutput().GetTitle(), "FAIL") {
		t.Errorf("the check run is %s, %s, %s, %q", c.GetName(), c.GetStatus(), c.GetConclusion(), c.GetOutput().GetTitle())
	}
	if len(repo.Annotations(c.GetID())) == 0 {
		t.Error("the check run has no annotations")
	}
}

// artifact holds that the run directory was uploaded whole.
func artifact(t *testing.T, g *benchtest.GitHub, run *benchtest.WorkflowRun) {
	t.Helper()
	dir := g.Artifact(run, "ycbot")
	if dir == "" {
		t.Fatal("there is no artifact")
	}
	if r := g.Ycbot(nil, "check", dir); r.Exit != 0 {
		t.Errorf("ycbot check says %d of the artifact:\n%s%s", r.Exit, r.Stdout, r.Stderr)
	}
	if got := reported(t, dir).Verdict; got != "FAIL" {
		t.Errorf("the artifact's report says %q", got)
	}
}

// spyOn has the action write down the environment that ycbot is started with.
func spyOn(t *testing.T, action, to string) {
	t.Helper()
	script := `#!/usr/bin/env bash
set -euo pipefail
{ echo '#!/usr/bin/env bash'; echo 'env >>"` + to + `"'; echo 'exec "` + benchtest.Need(t, bench.Ycbot) + `" "$@"'; } >"$RUNNER_TEMP/spy"
chmod +x "$RUNNER_TEMP/spy"
echo "bin=$RUNNER_TEMP/spy" >>"$GITHUB_OUTPUT"
`
	if err := os.WriteFile(filepath.Join(action, "action", "install.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}
