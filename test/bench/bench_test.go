package bench_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-github/v66/github"

	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench/benchtest"
)

// TestGitHub proves the bench: what the other tests take for granted.
func TestGitHub(t *testing.T) {
	variants.Only(t) // a stand-in for all of GitHub; TestApp has it as well
	t.Parallel()
	g := benchtest.Start(t)
	repo := g.Repo("proof", map[string]string{"test.sh": "exit 0\n"})
	head := repo.Push("bob", "feature", "main", map[string]string{"test.sh": "exit 1\n"})
	pull := repo.OpenPull("bob", "feature", "Change the test")
	if got := pull.GetHead().GetSHA(); got != head {
		t.Errorf("head is %s, want %s", got, head)
	}
	opened := g.AwaitPull("opened", head)
	if _, err := github.ParseWebHook(opened.Event, opened.Body); err != nil {
		t.Error(err)
	}
	moved := repo.Push("bob", "feature", "feature", map[string]string{"test.sh": "exit 2\n"})
	g.AwaitPull("synchronize", moved)

	for login, want := range map[string]string{"alice": "admin", "bob": "write", "rita": "read", "mallory": "read"} {
		level, _, err := g.As("alice").Repositories.GetPermissionLevel(t.Context(), "acme", "proof", login)
		if err != nil || level.GetPermission() != want {
			t.Errorf("%s has %q (%v), want %q", login, level.GetPermission(), err, want)
		}
	}
	fork := repo.Fork("mallory")
	outside := fork.Push("mallory", "outside", "main", map[string]string{"other.sh": "exit 0\n"})
	pull = repo.OpenPull("mallory", "mallory:outside", "From outside")
	var event struct {
		PullRequest struct {
			Head struct {
				Repo struct {
					Fork     bool
					FullName string `json:"full_name"`
				}
			}
		} `json:"pull_request"`
	}
	if err := json.Unmarshal(g.AwaitPull("opened", outside).Body, &event); err != nil {
		t.Fatal(err)
	}
	if from := event.PullRequest.Head.Repo; !from.Fork || from.FullName != "mallory/proof" {
		t.Errorf("the head is from %+v, want a fork", from)
	}
	id := repo.Comment(g.AsBot(), pull.GetNumber(), "hello")
	g.AwaitComment("created", id)
	repo.EditComment(g.AsBot(), id, "hello again")
	g.AwaitComment("edited", id)
	if got := repo.Comments(pull.GetNumber()); len(got) != 1 || got[0].GetUser().GetType() != "Bot" {
		t.Errorf("comments are %v, want one of a bot's", got)
	}
}
