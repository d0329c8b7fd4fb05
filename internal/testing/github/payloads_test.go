package githubtest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	gh "github.com/google/go-github/v66/github"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// All events are such as go-github reads, with numeric ids, and arrive signed.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.AddRepo("acme", "widgets")
	s.AddUser("alice", 11, "User")
	app := s.AddApp(7, "ycbot")
	installation := s.Install(app, map[string]string{"checks": "write"}, widgets)
	head := s.Push(widgets, githubtest.Commit{Branch: "topic", Files: map[string]string{"a": "a"}})
	n := s.OpenPull(widgets, githubtest.Pull{Title: "X", Author: "alice", Head: "topic"})
	comment := s.AddComment(widgets, n, "alice", "/verify")
	c, err := github.New(github.Options{BaseURL: s.URL, App: &github.App{ID: 7, Key: app.Key, Installation: installation}, Now: s.Now})
	if err != nil {
		t.Fatal(err)
	}
	run, err := c.CreateCheckRun(t.Context(), widgets, github.CheckRun{Name: "ycbot", HeadSHA: head, ExternalID: "job"})
	if err != nil {
		t.Fatal(err)
	}

	got := make(chan any, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := gh.ValidatePayload(r, []byte("s3cret"))
		if err != nil {
			t.Error(err)
		}
		event, err := gh.ParseWebHook(gh.WebHookType(r), body)
		if err != nil || gh.DeliveryID(r) == "" {
			t.Error(gh.DeliveryID(r), err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		got <- event
	}))
	defer hook.Close()
	deliver := func(event string, body []byte) any {
		t.Helper()
		if status := s.Deliver(t.Context(), hook.URL, "s3cret", event, body); status != http.StatusOK {
			t.Errorf("%s: %d", event, status)
		}
		return <-got
	}

	labeled := deliver("pull_request", s.PullEvent(widgets, n, "labeled", "alice", "ycbot")).(*gh.PullRequestEvent)
	if labeled.GetNumber() != n || labeled.GetLabel().GetName() != "ycbot" || labeled.GetPullRequest().GetHead().GetSHA() != head ||
		labeled.GetSender().GetID() != 11 || labeled.GetInstallation().GetID() != installation {
		t.Errorf("labeled: %v", labeled)
	}
	commented := deliver("issue_comment", s.CommentEvent(widgets, comment.ID, "created", "alice")).(*gh.IssueCommentEvent)
	if !commented.GetIssue().IsPullRequest() || commented.GetComment().GetID() != comment.ID || commented.GetComment().GetUser().GetID() != 11 {
		t.Errorf("comment: %v", commented)
	}
	pressed := deliver("check_run", s.CheckRunEvent(widgets, run.ID, "requested_action", "alice", "again")).(*gh.CheckRunEvent)
	if pressed.GetCheckRun().GetApp().GetID() != 7 || pressed.RequestedAction.Identifier != "again" || len(pressed.GetCheckRun().PullRequests) != 1 {
		t.Errorf("check run: %v", pressed)
	}
	suite := deliver("check_suite", s.CheckSuiteEvent(widgets, app, head, "rerequested", "alice")).(*gh.CheckSuiteEvent)
	if suite.GetCheckSuite().GetHeadSHA() != head || suite.GetCheckSuite().PullRequests[0].GetNumber() != n {
		t.Errorf("suite: %v", suite)
	}
	dispatched := deliver("workflow_dispatch", s.DispatchEvent(widgets, "main", "alice", map[string]string{"pr": "1"})).(*gh.WorkflowDispatchEvent)
	if dispatched.GetRef() != "refs/heads/main" || string(dispatched.Inputs) == "" {
		t.Errorf("dispatch: %v", dispatched)
	}
	queued := deliver("merge_group", s.MergeGroupEvent(widgets, "main", head, "alice")).(*gh.MergeGroupEvent)
	if queued.GetMergeGroup().GetHeadSHA() != head || queued.GetMergeGroup().GetBaseSHA() != s.Head(widgets, "main") {
		t.Errorf("merge group: %v", queued)
	}
	finished := deliver("workflow_run", s.WorkflowRunEvent(widgets, n, 5, "success", "alice")).(*gh.WorkflowRunEvent)
	if finished.GetWorkflowRun().GetID() != 5 || finished.GetWorkflowRun().GetHeadSHA() != head || len(finished.GetWorkflowRun().PullRequests) != 1 {
		t.Errorf("workflow run: %v", finished)
	}
}
