package bench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench/benchtest"
)

// TestApp is the life of a pull request with the App, by real webhooks, on both databases.
// The App is installed where it was not: nothing is run of itself. Opened, the pull request gets a check run and a comment; a push supersedes the run of the old head; a
// server that is killed goes on with the new one when it is started again; a person stops a
// run; and the check run that is asked for again is made again.
func TestApp(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"SQLite", "PostgreSQL"} {
		variants.Run(t, place, place == "PostgreSQL", func(t *testing.T) { // TestAppAnotherWorkerGoesOn of cmd/ycbot has it
			t.Parallel()
			g := benchtest.Start(t)
			database := ""
			if place == "PostgreSQL" {
				database = storetest.Postgres(t)
			}
			g.Uninstall()
			data, hold := t.TempDir(), filepath.Join(t.TempDir(), "hold")
			app := g.App(data, database)
			held := "echo >" + hold + "-begun\nwhile test -e " + hold + "; do sleep 0.1; done\necho all is well\n"
			repo := g.Repo("served", map[string]string{".github/ycbot.yml": settings, "test.sh": held, "a.txt": "1\n"})

			repo.Push("bob", "early", "main", map[string]string{"a.txt": "0\n"})
			early := repo.OpenPull("bob", "early", "Before it was installed")
			g.Install()
			app.Says("delivery stored", "event=installation", "status=accepted")

			head := repo.Push("bob", "feature", "main", map[string]string{"a.txt": "2\n"})
			n := repo.OpenPull("bob", "feature", "Count on").GetNumber()
			app.Says("run has ended", "state=finished")
			completed(t, repo, head, 1, "")
			if c := repo.BotComments(n); len(c) != 1 {
				t.Errorf("comments are %v, want one", c)
			}
			if checks := repo.CheckRuns(early.GetHead().GetSHA()); len(checks) != 0 {
				t.Errorf("check runs of what was open before it was installed: %v", checks)
			}

			release := holdUp(t, hold)
			second := repo.Push("bob", "feature", "feature", map[string]string{"a.txt": "3\n"})
			begun(t, hold)
			third := repo.Push("bob", "feature", "feature", map[string]string{"a.txt": "4\n"})
			app.Says("run has ended", "state=superseded")
			completed(t, repo, second, 1, "cancelled")
			begun(t, hold)
			app.Kill()
			release()
			app = g.App(data, database)
			app.Says("run has ended", "state=finished")
			completed(t, repo, third, 1, "")
			if c := repo.BotComments(n); len(c) != 1 || !strings.Contains(c[0].GetBody(), third[:7]) {
				t.Errorf("comments are %v, want one of %.7s", c, third)
			}

			// Nothing changed, so the verdict is taken over; in full it is made again.
			again := repo.CheckRuns(third)[0]
			if _, err := g.As("bob").Checks.ReRequestCheckRun(t.Context(), "acme", "served", again.GetID()); err != nil {
				t.Fatal(err)
			}
			app.Says("run has ended", "state=finished")
			completed(t, repo, third, 1, again.GetConclusion()) // GitHub shows the latest of a name
			if repo.CheckRuns(third)[0].GetID() == again.GetID() {
				t.Error("there is no other check run")
			}

			release = holdUp(t, hold)
			repo.Comment(g.As("bob"), n, "/verify full")
			begun(t, hold)
			stop := repo.Comment(g.As("bob"), n, "/verify stop")
			app.Says("run has ended", "state=stopped")
			release()
			completed(t, repo, third, 1, "cancelled")
			if got := repo.Reactions(stop); len(got) != 1 || got[0] != "eyes" {
				t.Errorf("reactions to the stop are %v, want eyes", got)
			}
		})
	}
}

// holdUp has the repository's test wait until what it returns is called.
func holdUp(t *testing.T, hold string) (release func()) {
	t.Helper()
	_ = os.Remove(hold + "-begun")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(hold); err != nil {
			t.Fatal(err)
		}
	}
}

// begun waits until the repository's test is run, once more for each call.
func begun(t *testing.T, hold string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(5 * time.Minute); os.Remove(hold+"-begun") != nil; {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the test is not run")
		}
	}
}

// completed wants n check runs on a commit, all at their end, and that conclusion where it
// is not empty.
func completed(t *testing.T, repo *benchtest.Repo, head string, n int, conclusion string) {
	t.Helper()
	checks := repo.CheckRuns(head)
	ok := len(checks) == n && (conclusion == "" || has(checks, conclusion))
	for _, c := range checks {
		ok = ok && c.GetStatus() == "completed" && c.GetName() == "ycbot"
	}
	if !ok {
		t.Errorf("check runs of %.7s are %v, want %d, %s", head, checks, n, conclusion)
	}
}

func has(checks []*github.CheckRun, conclusion string) bool {
	for _, c := range checks {
		if c.GetConclusion() == conclusion {
			return true
		}
	}
	return false
}
