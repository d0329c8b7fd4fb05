package bench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench"
	"github.com/ycbot/ycbot/test/bench/benchtest"
)

// TestKilled holds that a run that was killed in the middle is brought to its end
// by the action's own last steps: the check run and the comment do not stay
// "in progress", and the evidence is uploaded.
func TestKilled(t *testing.T) {
	t.Parallel()
	variants.Only(t) // TestActionKilled of cmd/ycbot has the same without act
	g := benchtest.Start(t)
	repo := g.Repo("killed", map[string]string{".github/ycbot.yml": settings, "test.sh": "echo all is well\n"})
	head := repo.Push("bob", "feature", "main", map[string]string{"test.sh": "exec sleep 60\n"})
	n := repo.OpenPull("bob", "feature", "Sleep on it").GetNumber()
	action := g.StageAction()

	killOn(t, action)
	run := g.Act(benchtest.Workflow{Repo: repo, Text: workflows(t)["ycbot"], Event: g.AwaitPull("opened", head), Token: g.JobToken(), Action: action})
	defer func() {
		if t.Failed() {
			t.Log(run.Log)
		}
	}()
	if run.OK || run.Steps["ycbot.run"] != "failure" || run.Steps["ycbot.5"] != "success" || run.Steps["ycbot.6"] != "success" {
		t.Errorf("ok %v, steps %v: want that the run fails and the steps after it do not", run.OK, run.Steps)
	}
	checks := repo.CheckRuns(head)
	if len(checks) != 1 || checks[0].GetStatus() != "completed" || checks[0].GetConclusion() == "success" {
		t.Errorf("check runs are %v, want one that is completed and no success", checks)
	}
	if c := repo.BotComments(n); len(c) != 1 || !strings.Contains(c[0].GetBody(), "ERROR") {
		t.Errorf("comments are %v, want one that says ERROR", c)
	}
	if g.Artifact(run, "ycbot") == "" {
		t.Error("there is no artifact")
	}
}

// killOn has the action kill "ycbot action" as soon as the first command has
// ended, which is the base's test: the head's takes a minute.
func killOn(t *testing.T, action string) {
	t.Helper()
	script := `#!/usr/bin/env bash
set -euo pipefail
cat >"$RUNNER_TEMP/mortal" <<'X'
#!/usr/bin/env bash
[[ $1 == action ]] || exec "` + benchtest.Need(t, bench.Ycbot) + `" "$@"
"` + benchtest.Need(t, bench.Ycbot) + `" "$@" &
ended() { local f; for f in "$RUNNER_TEMP"/ycbot/*/evidence.jsonl; do [[ -s $f ]] && return; done; return 1; }
until ended || ((SECONDS > 60)); do sleep 0.05; done
kill -9 $!
wait $!
X
chmod +x "$RUNNER_TEMP/mortal"
echo "bin=$RUNNER_TEMP/mortal" >>"$GITHUB_OUTPUT"
`
	if err := os.WriteFile(filepath.Join(action, "action", "install.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}
