package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// Every token is for the one repository and is given back. While the change is executed
// none is there that could write a comment, and git's reads the contents and nothing
// else; comments and reactions are written with one that is made for them.
func TestAppTokens(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.start(t)
	h.held(t)
	_, command := h.says("alice", "/verify")
	h.deliver(t, "issue_comment", command)
	h.started(t)
	for _, u := range h.TokenUses() {
		if mayComment(u) && !u.Revoked {
			t.Errorf("while the change is executed there is a token for comments: %+v", u)
		}
	}
	h.release(t)
	h.wait(t, "run has ended", "state=finished")
	id, stop := h.says("alice", "/verify stop")
	h.deliver(t, "issue_comment", stop)
	h.waitFor(t, func() bool {
		return h.answerTo(id) != "" && !slices.ContainsFunc(h.TokenUses(), func(u githubtest.TokenUse) bool { return !u.Revoked })
	})
	if code := h.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	did, calls := map[string]int{}, []string{}
	for _, u := range h.TokenUses() {
		if !u.Revoked || !slices.Equal(u.Repos, []string{"sums"}) {
			t.Errorf("a token is not given back, or not for the one repository: %+v", u)
		}
		for _, c := range u.Calls {
			kind := kindOf(c)
			if again := slices.Contains(calls, c) && strings.HasSuffix(c, "/reactions"); !again { // which changes nothing on GitHub
				did[kind]++
			}
			calls = append(calls, c)
			switch {
			case kind == "comment" && (!mayComment(u) || u.Permissions["checks"] != "" || u.Permissions["contents"] != ""),
				kind == "check" && (u.Permissions["checks"] != "write" || mayComment(u)),
				kind == "git" && (len(u.Permissions) != 2 || u.Permissions["contents"] != "read"):
				t.Errorf("%s was done with a token that may %v", c, u.Permissions)
			}
		}
	}
	// Eyes on two commands, that the run goes on and the first verdict where there was time for
	// them, the result, one answer; the check run, its progress and its end.
	if did["comment"] < 4 || did["comment"] > 6 || did["check"] < 2 || did["git"] == 0 {
		t.Errorf("what tokens did: %v\n%s", did, strings.Join(calls, "\n"))
	}
}

func mayComment(u githubtest.TokenUse) bool {
	return u.Permissions["pull_requests"] == "write" || u.Permissions["issues"] == "write"
}

// kindOf is comment or check for what is written, and git.
func kindOf(call string) string {
	method, path, _ := strings.Cut(call, " ")
	switch {
	case method == "git":
		return "git"
	case method == "GET" || method == "DELETE":
		return ""
	case strings.Contains(path, "/comments"):
		return "comment"
	case strings.Contains(path, "/check-runs"):
		return "check"
	}
	return "other"
}
