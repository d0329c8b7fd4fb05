package bench_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/test/bench/benchtest"
)

// TestInitOnPublicRepositories makes a pull request of a past commit of each repository that
// YCBOT_BENCH_PULLS names (DIR/OWNER+NAME@COMMIT, by spaces), writes the workflow with "ycbot
// init", and runs it as it stands there, under act. What comes of it is the table in
// docs/action.md; each must end with a verdict, and with an artifact that ycbot check accepts.
// The toolchains are this machine's, and the registries are on the network.
func TestInitOnPublicRepositories(t *testing.T) {
	pulls := strings.Fields(os.Getenv("YCBOT_BENCH_PULLS"))
	if len(pulls) == 0 {
		t.Skip("YCBOT_BENCH_PULLS names no clones")
	}
	for _, pull := range pulls {
		dir, commit, _ := strings.Cut(pull, "@")
		t.Run(filepath.Base(dir), func(t *testing.T) { initialised(t, dir, commit) })
	}
}

var setsUp = regexp.MustCompile(`uses: (\S*setup\S*@\S+)(?: # (\S+))?`)

func initialised(t *testing.T, dir, commit string) {
	t.Helper()
	g := benchtest.Start(t)
	home := t.TempDir()
	_, name, _ := strings.Cut(filepath.Base(dir), "+")
	repo, head := g.Import(name, dir, commit, func(dir string) {
		for _, own := range []string{"ycbot.yml", "workflows/ycbot.yml"} {
			if _, err := os.Stat(filepath.Join(dir, ".github", own)); err == nil {
				t.Fatalf("%s is there already", own)
			}
		}
		if r := g.Ycbot(map[string]string{"HOME": home}, "init", "-C", dir, "--forks", "never"); r.Exit != 0 {
			t.Fatal(r.Stderr)
		}
	})
	workflow, err := os.ReadFile(filepath.Join(repo.Dir, ".github", "workflows", "ycbot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	n := repo.OpenPull("bob", "feature", "A past change").GetNumber()
	began := time.Now()
	run := g.Act(benchtest.Workflow{
		Repo: repo, Text: string(workflow), Event: g.AwaitPull("opened", head), Token: g.JobToken(), Action: g.StageAction(),
		Env: map[string]string{"https_proxy": "", "GOFLAGS": ""}, Within: 25 * time.Minute,
	})
	artifact := g.Artifact(run, "ycbot")
	if artifact == "" {
		t.Fatalf("no artifact: steps %v\n%s", run.Steps, run.Log)
	}
	rep := reported(t, artifact)
	if r := g.Ycbot(nil, "check", artifact); r.Exit != 0 {
		t.Errorf("ycbot check says %d:\n%s%s", r.Exit, r.Stdout, r.Stderr)
	}
	if checks := repo.CheckRuns(head); len(checks) != 1 || checks[0].GetStatus() != "completed" || len(repo.BotComments(n)) != 1 {
		t.Errorf("check runs %v, %d comments", checks, len(repo.BotComments(n)))
	}
	var tools bytes.Buffer
	for _, m := range setsUp.FindAllStringSubmatch(string(workflow), -1) {
		action, _, _ := strings.Cut(m[1], "@")
		fmt.Fprintf(&tools, "%s %s ", action, m[2])
	}
	t.Logf("| %s | `%s` | %s | %s | %s| %d s |", strings.Replace(filepath.Base(dir), "+", "/", 1), commit, rep.Verdict, rep.Title, &tools, int(time.Since(began).Seconds()))
	for _, reason := range rep.Reasons {
		t.Logf("reason: %s", reason)
	}
	for _, a := range run.Annotations {
		t.Logf("%s: %s", a.Level, a.Text)
	}
}
