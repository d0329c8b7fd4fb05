package main

import (
	"strings"
	"testing"

	githubtest "github.com/ycbot/ycbot/internal/testing/github"
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
