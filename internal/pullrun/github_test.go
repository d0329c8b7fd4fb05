package pullrun

import (
	"fmt"
	"testing"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// Of a change with more files than GitHub lists the paths are not known, so that paths_ignore does not
// leave it alone for those which are listed.
func TestPathsOfManyFiles(t *testing.T) {
	t.Parallel()
	server, repo := githubtest.New(t), github.Repo{Owner: "acme", Name: "sums"}
	server.AddUser("alice", 11, "User")
	made := server.AddRepo(repo.Owner, repo.Name)
	client, err := github.New(github.Options{BaseURL: server.URL, Token: server.Token("", nil, "actions"), Now: server.Now})
	if err != nil {
		t.Fatal(err)
	}
	ignoring := config.On{PathsIgnore: []string{"docs/**"}}
	for _, test := range []struct {
		docs  int
		other string
		known bool
		left  bool // alone
	}{
		{2, "", true, true},
		{2, "src/pay.go", true, false},
		{3000, "src/pay.go", false, false},
	} {
		branch := fmt.Sprintf("topic-%d-%v", test.docs, test.other != "")
		files := map[string]string{}
		for i := range test.docs {
			files[fmt.Sprintf("docs/%04d.md", i)] = "a\n"
		}
		if test.other != "" {
			files[test.other] = "package src\n"
		}
		server.Push(repo, githubtest.Commit{Branch: branch, Message: "Add", Files: files})
		n := server.OpenPull(repo, githubtest.Pull{Title: "A", Author: "alice", Head: branch})
		h := &GitHub{Client: client}
		facts, err := h.Learn(t.Context(), &event.Event{}, job.Job{Repo: event.Repo{ID: made.ID, Owner: repo.Owner, Name: repo.Name}, Number: n})
		if err != nil {
			t.Fatal(err)
		}
		if known := len(facts.Paths) == len(files); known != test.known || ignoring.Ignores(facts.Paths) != test.left {
			t.Errorf("%d files, %d of them listed: %d paths are known, it is left alone: %v", len(files), len(h.Pull.Files), len(facts.Paths), ignoring.Ignores(facts.Paths))
		}
	}
}
