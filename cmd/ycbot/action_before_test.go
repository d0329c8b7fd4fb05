package main

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// What ends before a run is an error at its place, and completes the check.
func TestActionBeforeARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		inputs map[string]string
		log    string
	}{
		"configuration": {"version: 1\nfail_on: always\n", nil, "::error file=.github/ycbot.yml,line=2,"},
		"input":         {"version: 1\n", map[string]string{"timeout": "soon"}, "input timeout"},
		"check":         {"version: 1\n", map[string]string{"check": "ture"}, "input check"},
		"config":        {"version: 1\n", map[string]string{"config": "../x.yml"}, "input config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, good)
			h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "configure", Files: map[string]string{".github/ycbot.yml": c.config}})
			_, asks := h.says("mallory", "/verify "+h.PullHead(h.repo, h.pull))
			if s := h.step(t, "issue_comment", asks, c.inputs); s.code != 3 && name == "configuration" || len(h.CheckRuns(h.repo)) != 0 {
				t.Errorf("a stranger: exit %d, check runs %+v\n%s", s.code, h.CheckRuns(h.repo), s.log)
			}
			s := h.step(t, "pull_request", h.opened(), c.inputs)
			checks := h.CheckRuns(h.repo)
			if s.code != 3 || !strings.Contains(s.log, "::error ") || !strings.Contains(s.log, c.log) || !strings.Contains(s.summary, "could not verify") {
				t.Errorf("exit %d\n%s\nsummary: %s", s.code, s.log, s.summary)
			}
			if len(checks) != 1 || checks[0].Conclusion != "failure" || checks[0].Output.Title != "could not verify" || len(h.posted()) != 0 {
				t.Errorf("check runs %+v", checks)
			}
		})
	}
}

// What is wrong with the model and the token is said by the names of the inputs.
func TestActionNamesInputs(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	for want, inputs := range map[string]map[string]string{
		"input model is empty": {"agents": "review"},
		"input github-token":   {"github_token": "ghs_unknown"},
	} {
		if s := h.step(t, "pull_request", h.opened(), inputs); s.code != 3 || !strings.Contains(s.log, want) || strings.Contains(s.log, "--help") || strings.Contains(s.log, "--model") {
			t.Errorf("exit %d, want %q\n%s", s.code, want, s.log)
		}
	}
}

// What the base's configuration excludes completes the check as skipped, and what its
// rule for outsiders refuses as a PARTIAL.
func TestActionSkipsCompleteTheCheck(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	h.RequireByRule(h.repo, "main", "ycbot")
	configure := func(text string) {
		h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "configure", Files: map[string]string{".github/ycbot.yml": "version: 1\ncommands: {test: sh test.sh}\n" + text}})
	}
	last := func(s step, title, conclusion string) {
		t.Helper()
		checks := h.CheckRuns(h.repo)
		if s.code != 0 || len(checks) == 0 || checks[len(checks)-1].Conclusion != conclusion || !strings.Contains(checks[len(checks)-1].Output.Title, title) {
			t.Errorf("exit %d, check runs %+v\n%s", s.code, checks, s.log)
		}
	}
	configure("on: {paths_ignore: ['**']}\n")
	last(h.step(t, "pull_request", h.opened(), nil), "paths_ignore", "skipped")
	h.fork(t, "true\n")
	configure("on: {outsiders: never}\n")
	last(h.step(t, "pull_request_target", h.PullEvent(h.repo, h.pull, "opened", "mallory", ""), nil), "comes from a fork", "action_required")
}

// Where the workflow of a fork's pull request left nothing, the one that publishes completes
// the check, and by the configuration of the base alone.
func TestActionForkLeftNothing(t *testing.T) {
	variants.Only(t) // TestActionOnForkRefused has a fork
	t.Parallel()
	for name, tt := range map[string]struct {
		config            string
		change            map[string]string // of the fork, beside its test
		draft, ran, moved bool              // ran: by the workflow as init writes it
		title, conclusion string            // empty: no check run
		code              int
	}{
		"paths_ignore":                  {config: "on: {paths_ignore: ['**']}\n", ran: true, title: "paths_ignore", conclusion: "skipped"},
		"outsiders: never":              {config: "on: {outsiders: never}\n", ran: true, title: "comes from a fork", conclusion: "action_required"},
		"a typo":                        {config: "outsider: never\n", ran: true, title: "could not verify", conclusion: "failure", code: 3},
		"no event":                      {config: "on: {pull_request: [labeled]}\n", ran: true, title: "on.pull_request", conclusion: "skipped"},
		"a draft":                       {draft: true, ran: true, title: "a draft", conclusion: "action_required"},
		"the fork chose the event":      {config: "on: {pull_request: [opened]}\n", title: "left nothing", conclusion: "action_required"},
		"the fork excludes itself":      {change: map[string]string{".github/ycbot.yml": "version: 1\non: {paths_ignore: ['**']}\n"}, title: "left nothing", conclusion: "action_required"},
		"the fork changed its workflow": {title: "left nothing", conclusion: "action_required"},
		"the head moved":                {moved: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, good)
			h.RequireByRule(h.repo, "main", "ycbot")
			h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "configure", Files: map[string]string{".github/ycbot.yml": "version: 1\ncommands: {test: sh test.sh}\n" + tt.config}})
			from := github.Repo{Owner: "mallory", Name: h.repo.Name}
			h.AddFork(h.repo, "mallory")
			files := map[string]string{"test.sh": "true\n"}
			maps.Copy(files, tt.change)
			h.Push(from, githubtest.Commit{Branch: "evil", Message: "evil", Files: files})
			h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Better sums", Author: "mallory", Head: "evil", From: from, Draft: tt.draft})
			if tt.ran {
				writes := h.token
				h.token = h.Token("github-actions[bot]", readOnly, "actions")
				s := h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "mallory", ""), map[string]string{"comment": "off", "check": "false"})
				if s.outputs["report-dir"] != "" {
					t.Fatalf("%q\n%s", s.outputs, s.log)
				}
				h.token = writes
			}
			event := h.WorkflowRunEvent(h.repo, h.pull, 77, "success", "mallory")
			if tt.moved {
				h.Push(from, githubtest.Commit{Branch: "evil", Message: "more", Files: map[string]string{"x": "y\n"}})
			}
			s := h.step(t, "workflow_run", event, map[string]string{"publish": filepath.Join(t.TempDir(), "none")})
			checks := h.CheckRuns(h.repo)
			switch {
			case s.code != tt.code || len(h.posted()) != 0:
				t.Errorf("exit %d, comments %q\n%s", s.code, h.posted(), s.log)
			case tt.conclusion == "" && len(checks) != 0,
				tt.conclusion != "" && (len(checks) != 1 || checks[0].Conclusion != tt.conclusion || !strings.Contains(checks[0].Output.Title, tt.title)):
				t.Errorf("check runs %+v, want one %s\n%s", checks, tt.conclusion, s.log)
			}
		})
	}
}
