package bench_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-github/v66/github"

	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench/benchtest"
)

// TestCommands holds who may say /verify, where and how, and what everybody else
// is answered. The comments are real ones, and so are their webhooks.
func TestCommands(t *testing.T) {
	variants.Only(t) // a stand-in for all of GitHub; TestAppVerifiesPullRequest of cmd/ycbot has comments
	t.Parallel()
	g := benchtest.Start(t)
	repo := g.Repo("commands", map[string]string{".github/ycbot.yml": settings, "test.sh": "echo all is well\n", "a.txt": "1\n"})
	head := repo.Push("bob", "feature", "main", map[string]string{"a.txt": "2\n"})
	n := repo.OpenPull("bob", "feature", "Count on").GetNumber()
	issue := repo.OpenIssue("bob", "It does not count").GetNumber()
	token := g.JobToken()

	for _, test := range []struct {
		name, body, edited string
		as                 *github.Client
		number             int
		answer             string // empty: there is none
		code               string
	}{
		{name: "reader", as: g.As("rita"), body: "/verify", answer: "permission", code: "no-permission"},
		{name: "stranger", as: g.As("mallory"), body: "/verify " + head, answer: "permission", code: "no-permission"},
		{name: "bot", as: g.AsBot(), body: "/verify", code: "bot"},
		{name: "edited", as: g.As("bob"), body: "Nice.", edited: "/verify", code: "edited"},
		{name: "unknown word", as: g.As("bob"), body: "/verify everything", answer: "/verify help", code: "unknown-command"},
		{name: "issue", as: g.As("bob"), body: "/verify", number: issue, answer: "issue", code: "not-a-pull"},
		{name: "stop", as: g.As("bob"), body: "/verify stop", answer: "GitHub App", code: "app-only"},
		{name: "other commit", as: g.As("bob"), body: "/verify 0123456789ab", answer: head, code: "sha-mismatch"},
		{name: "talk", as: g.As("bob"), body: "Please /verify this.", code: "no-command"},
	} {
		t.Run(test.name, func(t *testing.T) {
			number := test.number
			if number == 0 {
				number = n
			}
			before := len(repo.BotComments(number))
			id := repo.Comment(test.as, number, test.body)
			event := g.AwaitComment("created", id)
			if test.edited != "" {
				repo.EditComment(test.as, id, test.edited)
				event = g.AwaitComment("edited", id)
			}
			r := g.Step(benchtest.Step{Repo: repo, Event: event, Token: token})
			if r.Exit != 0 {
				t.Errorf("exit %d:\n%s%s", r.Exit, r.Stdout, r.Stderr)
			}
			if r.Outputs["report-dir"] != "" || r.Outputs["verdict"] != "" {
				t.Errorf("there was a run: %v", r.Outputs)
			}
			if !strings.Contains(r.Stdout, "("+test.code+")") {
				t.Errorf("the log does not name %s:\n%s", test.code, r.Stdout)
			}
			after := repo.BotComments(number)
			switch {
			case test.answer == "" && len(after) != before:
				t.Errorf("answered: %q", after[len(after)-1].GetBody())
			case test.answer != "" && (notices(after) != 1 || !slices.ContainsFunc(after, says(test.answer))):
				t.Errorf("want one notice that says %q: %v", test.answer, after)
			}
			if len(repo.CheckRuns(head)) != 0 {
				t.Error("there is a check run")
			}
		})
	}

	t.Run("writer", func(t *testing.T) {
		id := repo.Comment(g.As("bob"), n, "/verify -- does it still count?")
		r := g.Step(benchtest.Step{Repo: repo, Event: g.AwaitComment("created", id), Token: token})
		if r.Exit != 0 || r.Outputs["verdict"] == "" {
			t.Fatalf("exit %d, outputs %v:\n%s%s", r.Exit, r.Outputs, r.Stdout, r.Stderr)
		}
		if got := repo.Reactions(id); !slices.Equal(got, []string{"eyes"}) {
			t.Errorf("reactions to the command are %v, want eyes", got)
		}
		checks := repo.CheckRuns(head)
		if len(checks) != 1 || checks[0].GetStatus() != "completed" {
			t.Errorf("check runs are %v, want one that is completed", checks)
		}
		if !slices.ContainsFunc(repo.BotComments(n), func(c *github.IssueComment) bool {
			return strings.Contains(c.GetBody(), r.Outputs["verdict"])
		}) {
			t.Errorf("no comment has the verdict %s", r.Outputs["verdict"])
		}
	})
}

// TestPushDuringRun holds that a run whose head moves says so, of the commit that
// it verified, and claims nothing of the new one.
func TestPushDuringRun(t *testing.T) {
	variants.Only(t) // TestActionSuperseded of cmd/ycbot shows it without a stand-in for all of GitHub
	t.Parallel()
	g := benchtest.Start(t)
	repo := g.Repo("moving", map[string]string{".github/ycbot.yml": settings, "test.sh": "echo all is well\n", "a.txt": "1\n"})
	head := repo.Push("bob", "feature", "main", map[string]string{"a.txt": "2\n"})
	n := repo.OpenPull("bob", "feature", "Count on").GetNumber()
	event := g.AwaitPull("opened", head)

	var moved string
	var once sync.Once
	g.During(func(c benchtest.Call) {
		if c.Method == "POST" && strings.HasSuffix(c.Path, "/check-runs") { // the run has begun
			once.Do(func() { moved = repo.Push("bob", "feature", "feature", map[string]string{"a.txt": "3\n"}) })
		}
	})
	r := g.Step(benchtest.Step{Repo: repo, Event: event, Token: g.JobToken()})
	if moved == "" {
		t.Fatalf("no check run was made, exit %d:\n%s%s", r.Exit, r.Stdout, r.Stderr)
	}
	checks := repo.CheckRuns(head)
	if len(checks) != 1 || checks[0].GetStatus() != "completed" || checks[0].GetConclusion() != "cancelled" {
		t.Errorf("check runs of the old head are %v, want one that was cancelled", checks)
	}
	if got := repo.CheckRuns(moved); len(got) != 0 {
		t.Errorf("the new head has check runs: %v", got)
	}
	comments := repo.BotComments(n)
	if len(comments) != 1 || !strings.Contains(strings.ToLower(comments[0].GetBody()), "superseded") || !strings.Contains(comments[0].GetBody(), moved[:7]) {
		t.Errorf("comments are %v, want one that says superseded by %s", comments, moved[:7])
	}
	if t.Failed() {
		t.Logf("exit %d:\n%s%s", r.Exit, r.Stdout, r.Stderr)
	}
}

// lookAround prints all variables that a command can get at, its own and those of
// every process that it sees.
const lookAround = "echo the environment:; env; for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ; done 2>/dev/null; echo end\n"

// TestFork holds that with a fork's token, which only reads, nothing is written and
// the job summary has the result; that a fork's commands run by trust, in tier full
// or not at all; and that they find no secret.
func TestFork(t *testing.T) {
	variants.Only(t) // TestActionOnForkRefused and TestActionOnForkSecrets of cmd/ycbot show it without a stand-in for all of GitHub
	t.Parallel()
	g := benchtest.Start(t)
	repo := g.Repo("forked", map[string]string{".github/ycbot.yml": settings, "test.sh": "echo all is well\n"})
	head := repo.Fork("mallory").Push("mallory", "outside", "main", map[string]string{"test.sh": lookAround})
	n := repo.OpenPull("mallory", "mallory:outside", "Look around").GetNumber()
	token := g.Token(map[string]string{"contents": "read", "issues": "read", "pull_requests": "read", "checks": "read", "metadata": "read"})
	r := stepWithSecrets(g, repo, g.AwaitPull("opened", head), token)
	if r.Outputs["verdict"] == "" {
		t.Fatalf("exit %d, outputs %v:\n%s%s", r.Exit, r.Outputs, r.Stdout, r.Stderr)
	}
	if c, checks := repo.BotComments(n), repo.CheckRuns(head); len(c) != 0 || len(checks) != 0 {
		t.Errorf("a token that only reads left %v and %v", c, checks)
	}
	if !strings.Contains(r.Summary, r.Outputs["verdict"]) || !strings.Contains(r.Summary, "Not posted") {
		t.Errorf("the summary does not have the verdict and what was not posted: %q", r.Summary)
	}
	rep := reported(t, r.Outputs["report-dir"])
	if rep.Trust != "untrusted" {
		t.Errorf("trust is %q", rep.Trust)
	}
	switch ran := commandsFoundNothing(t, r.Outputs["report-dir"], token); {
	case ran && rep.Sandbox.Tier != "full":
		t.Errorf("a fork's code ran in tier %s", rep.Sandbox.Tier)
	case !ran && (r.Exit == 0 || r.Outputs["verdict"] == "PASS"):
		t.Errorf("exit %d, %s, though nothing ran:\n%s", r.Exit, r.Outputs["verdict"], r.Summary)
	case !ran:
		t.Logf("nothing was executed: this machine has tier %s", rep.Sandbox.Tier)
	}
}

// TestSecrets holds that commands of the team's own pull requests find no secret
// either.
func TestSecrets(t *testing.T) {
	variants.Only(t) // TestStrangerGetsNoCredentials shows it without act
	t.Parallel()
	g := benchtest.Start(t)
	repo := g.Repo("secrets", map[string]string{".github/ycbot.yml": settings, "test.sh": "echo all is well\n"})
	head := repo.Push("bob", "feature", "main", map[string]string{"test.sh": lookAround})
	repo.OpenPull("bob", "feature", "Look around")
	token := g.JobToken()
	r := stepWithSecrets(g, repo, g.AwaitPull("opened", head), token)
	dir := r.Outputs["report-dir"]
	if dir == "" {
		t.Fatalf("exit %d:\n%s%s", r.Exit, r.Stdout, r.Stderr)
	}
	if !commandsFoundNothing(t, dir, token) {
		if rep := reported(t, dir); rep.Sandbox.Tier != "none" {
			t.Errorf("nothing was executed in tier %s:\n%s", rep.Sandbox.Tier, r.Summary)
		}
		t.Skip("this machine has no sandbox")
	}
}

// The secrets that a step is given, beside its token.
const (
	apiKey      = "sk-this-is-very-secret"
	deployToken = "deploy-me-if-you-can"
)

func stepWithSecrets(g *benchtest.GitHub, repo *benchtest.Repo, e benchtest.Delivery, token string) benchtest.Result {
	return g.Step(benchtest.Step{
		Repo: repo, Event: e, Token: token, Inputs: map[string]string{"api-key": apiKey}, Env: map[string]string{"DEPLOY_TOKEN": deployToken},
	})
}

// commandsFoundNothing looks for secrets in all that a run left, and says whether
// the command that looked around was executed.
func commandsFoundNothing(t *testing.T, dir, token string) (ran bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, secret := range []string{token, apiKey, deployToken} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s has the secret %s…", path, secret[:6])
			}
		}
		if !strings.HasPrefix(string(text), "the environment:") {
			return nil
		}
		ran = true
		// Redaction is a second line: a command must not have had them at all.
		for _, name := range []string{"DEPLOY_TOKEN", "INPUT_", "GITHUB_"} {
			if strings.Contains(string(text), name) {
				t.Errorf("%s: a command had %s… in its environment", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ran
}

// says recognises the notice that has these words.
func says(words string) func(*github.IssueComment) bool {
	return func(c *github.IssueComment) bool {
		return strings.Contains(c.GetBody(), " notice -->") && strings.Contains(c.GetBody(), words)
	}
}

// notices counts the comments that say why nothing was run: one at most.
func notices(comments []*github.IssueComment) int {
	n := 0
	for _, c := range comments {
		if says("")(c) {
			n++
		}
	}
	return n
}
