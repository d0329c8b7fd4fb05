package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/githubtest"
)

// The verdict that a merge robot reads is that of the commit's own check run, by the
// expected App.
func TestVerdict(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	head := h.PullHead(h.repo, h.pull)
	look := func(want int, says string, args ...string) {
		t.Helper()
		if len(args) == 0 {
			args = []string{"--app-id", "15368"}
		}
		s := ended(t, h.command(t, "push", []byte("{}"), nil, append([]string{"verdict", "--repo", h.repo.String(), "--sha", head}, args...)...))
		if s.code != want || !strings.Contains(s.log, says) || strings.Count(s.log, "\n") != 1 {
			t.Errorf("exit %d, want %d: %s", s.code, want, s.log)
		}
	}
	look(3, "no check run of App")
	forger := h.Token("", mayPost, "actions")
	forge := func(r github.CheckRun) {
		t.Helper()
		c, err := github.New(github.Options{BaseURL: h.URL, Token: forger, Now: time.Now})
		if err == nil {
			r.Name, r.HeadSHA = "ycbot", head
			_, err = c.CreateCheckRun(t.Context(), h.repo, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	passed := &github.Output{Title: "PASS: all is well", Summary: "x"}
	forge(github.CheckRun{Status: "completed", Conclusion: "success", ExternalID: "mine", Output: passed})
	look(3, "1 others")
	if s := h.step(t, "pull_request", h.opened(), nil); s.code != 0 {
		t.Fatal(s.log)
	}
	look(0, "PASS: acme/sums at "+head)
	look(0, "PASS", "--require", "pass", "--app-id", "15368")
	look(3, "no check run of App 77", "--app-id", "77")
	id := strings.Repeat("a", 64)
	forge(github.CheckRun{Status: "completed", Conclusion: "neutral", ExternalID: id, Output: &github.Output{Title: "PARTIAL: x", Summary: "x"}})
	look(2, "PARTIAL")
	forge(github.CheckRun{Status: "completed", Conclusion: "failure", ExternalID: id, Output: &github.Output{Title: "FAIL: x", Summary: "x"}})
	look(1, "FAIL")
	forge(github.CheckRun{Status: "completed", Conclusion: "skipped", ExternalID: id, Output: passed})
	look(3, "skipped")
	forge(github.CheckRun{Status: "completed", Conclusion: "failure", ExternalID: id, Output: &github.Output{Title: "could not verify", Summary: "x"}})
	look(3, "could not verify")
	forge(github.CheckRun{Status: "in_progress", ExternalID: id})
	look(3, "is not completed")
}

// The verdict of the Action is that of an artifact which the default branch's workflow left
// of this very commit, computed again. A check named ycbot that another workflow makes does
// not fool it, and neither does an artifact of another workflow, of a changed one, of a
// fork, of another commit, or one that was written by hand.
func TestVerdictOfAction(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	const path = ".github/workflows/ycbot.yml"
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "workflow", Files: map[string]string{path: "on: pull_request\n"}})
	base := h.Head(h.repo, "main")
	head := h.Push(h.repo, githubtest.Commit{Branch: "work", Message: "work", Files: map[string]string{path: "on: pull_request\n"}})
	s := h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "synchronize", "alice", ""), nil)
	if s.code != 0 || s.outputs["verdict"] != "PASS" {
		t.Fatal(s.log)
	}
	archive := zipped(t, s.outputs["report-dir"])
	h.token = h.Token("github-actions[bot]", map[string]string{"contents": "read", "checks": "read", "pull_requests": "read", "actions": "read"}, "actions")
	look := func(want int, says string, args ...string) {
		t.Helper()
		s := ended(t, h.command(t, "push", []byte("{}"), nil, append([]string{"verdict", "--repo", h.repo.String(), "--sha", head}, args...)...))
		if s.code != want || !strings.Contains(s.log, says) {
			t.Errorf("exit %d, want %d and %q: %s", s.code, want, says, s.log)
		}
	}
	look(3, "no artifact") // although there is a check of ycbot's that says PASS

	h.AddFork(h.repo, "mallory")
	fork := github.Repo{Owner: "mallory", Name: h.repo.Name}
	changed := h.Push(h.repo, githubtest.Commit{Branch: "evil", Message: "evil", Files: map[string]string{path: "on: pull_request # and forge it\n"}})
	good := githubtest.WorkflowRun{Path: path, Event: "pull_request", HeadSHA: head, From: h.repo, Bases: []string{base}}
	with := func(change func(*githubtest.WorkflowRun)) githubtest.WorkflowRun {
		r := good
		change(&r)
		return r
	}
	for name, run := range map[string]githubtest.WorkflowRun{
		"another workflow":               with(func(r *githubtest.WorkflowRun) { r.Path = ".github/workflows/forge.yml" }),
		"a fork":                         with(func(r *githubtest.WorkflowRun) { r.From, r.Bases = fork, nil }),
		"a fork that names a base":       with(func(r *githubtest.WorkflowRun) { r.From = fork }),
		"no pull request":                with(func(r *githubtest.WorkflowRun) { r.Bases = nil }),
		"another commit":                 with(func(r *githubtest.WorkflowRun) { r.HeadSHA = base }),
		"a base that changes it":         with(func(r *githubtest.WorkflowRun) { r.Bases = []string{changed} }),
		"dispatched where it is changed": with(func(r *githubtest.WorkflowRun) { r.Event, r.HeadSHA = "workflow_dispatch", changed }),
		"a schedule":                     with(func(r *githubtest.WorkflowRun) { r.Event = "schedule" }),
	} {
		h.AddArtifactOf(h.repo, "ycbot", run, archive)
		look(3, "no artifact")
		if t.Failed() {
			t.Fatalf("%s counts", name)
		}
	}
	h.AddArtifactOf(h.repo, "other", good, archive)
	look(3, "no artifact")

	h.AddArtifactOf(h.repo, "ycbot", good, archive)
	look(0, "computed again")
	look(0, "computed again", "--artifact", "other")
	look(3, "no such file", "--workflow", ".github/workflows/none.yml")
	h.AddArtifactOf(h.repo, "ycbot", with(func(r *githubtest.WorkflowRun) { r.Event, r.HeadSHA, r.Bases = "issue_comment", base, nil }), archive)
	look(0, "computed again")

	forged := t.TempDir()
	if err := os.CopyFS(forged, os.DirFS(s.outputs["report-dir"])); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(forged, "evidence.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(forged, "evidence.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(forged, "evidence.jsonl"), strings.Replace(string(log), `"exit":0`, `"exit":1`, 1))
	h.AddArtifactOf(h.repo, "ycbot", good, zipped(t, forged))
	look(3, "not intact")

	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "another workflow", Files: map[string]string{path: "on: push\n"}})
	look(3, "no artifact") // what the default branch has now did not run
}
