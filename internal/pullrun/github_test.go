package pullrun

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// A pull request that GitHub shows as it was before the event is not known yet, and no job is superseded by it;
// one that is newer than the event supersedes.
func TestOlderThanTheEvent(t *testing.T) {
	t.Parallel()
	server, repo := githubtest.New(t), github.Repo{Owner: "acme", Name: "sums"}
	server.AddUser("alice", 11, "User")
	made := server.AddRepo(repo.Owner, repo.Name)
	server.Push(repo, githubtest.Commit{Branch: "topic", Message: "Add", Files: map[string]string{"a": "x"}})
	n := server.OpenPull(repo, githubtest.Pull{Title: "A", Author: "alice", Head: "topic"})
	client, err := github.New(github.Options{BaseURL: server.URL, Token: server.Token("", nil, "actions"), Now: server.Now})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := client.Pull(t.Context(), repo, n)
	if err != nil {
		t.Fatal(err)
	}
	same := job.Job{
		Trigger: job.TriggerPullRequest, Action: "synchronize", Repo: event.Repo{ID: made.ID, Owner: repo.Owner, Name: repo.Name}, Number: n,
		HeadSHA: shown.Head.SHA, Base: shown.Base.Name,
	}
	pushed, elsewhere, asked := same, same, same
	pushed.HeadSHA, elsewhere.Base = strings.Repeat("a", 40), "release"
	asked.Trigger, asked.HeadSHA, asked.Base = job.TriggerComment, "", ""
	for _, test := range []struct {
		name  string
		job   job.Job
		after time.Duration // of the event, since the pull request was changed as it is shown
		want  bool
	}{
		{"the same", same, time.Second, false},
		{"a push", pushed, time.Second, true},
		{"a push before that", pushed, -time.Second, false},
		{"a push in the same second", pushed, 0, false},
		{"another base", elsewhere, time.Second, true},
		{"a comment", asked, time.Second, false},
	} {
		j := test.job
		j.At = shown.Updated.Add(test.after)
		_, err := (&GitHub{Client: client}).Learn(t.Context(), &event.Event{}, j)
		if github.IsNotFound(err) != test.want || !test.want && err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	server.SetDraft(repo, n, true)
	ready := same
	ready.Action, ready.At = "ready_for_review", server.Now().Add(time.Second)
	if _, err := (&GitHub{Client: client}).Learn(t.Context(), &event.Event{}, ready); !github.IsNotFound(err) {
		t.Errorf("a draft that is ready: %v", err)
	}
}
