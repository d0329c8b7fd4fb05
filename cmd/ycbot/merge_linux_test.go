package main

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

const doublesTest = `const test = require("node:test");
const assert = require("node:assert");
const { double } = require("./a.js");
test("doubles two", () => assert.equal(double(2), 4));
test("doubles three", () => assert.equal(double(3), 6));
`

// broken are tests that fail with and without the change, which no one can accept.
const broken = `const test = require("node:test");
for (const n of [1, 2, 3]) test("broken " + n, () => { throw new Error("broken"); });
`

// gaveUp opens a pull request that weakens a test, where the base asks for that to be
// accepted.
func (h *hosted) gaveUp(t *testing.T, more map[string]string) {
	t.Helper()
	base := map[string]string{
		".github/ycbot.yml": "version: 1\nexpectations: acknowledge\n",
		"package.json":      `{"name":"m","version":"1.0.0","scripts":{"test":"node --test"}}` + "\n",
		"a.js":              "exports.double = (n) => n + n;\n", "a.test.js": doublesTest,
	}
	for name, text := range more {
		base[name] = text
	}
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "doubles", Files: base, Delete: []string{"test.sh", "sum.sh"}})
	h.SetBranch(h.repo, "weaker", h.Head(h.repo, "main"))
	h.Push(h.repo, githubtest.Commit{Branch: "weaker", Message: "weaken", Files: map[string]string{
		"a.js": "exports.double = (n) => n === 2 ? 5 : 2 * n;\n", "a.test.js": strings.Replace(doublesTest, "assert.equal(double(2), 4)", "assert.ok(double(2))", 1),
	}})
	h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Double better", Author: "alice", Head: "weaker"})
}

// merges tries to merge the pull request as alice.
func (h *hosted) merges(t *testing.T, status int, says string) {
	t.Helper()
	if got, message := h.Merge(h.repo, h.pull, "alice"); got != status || !strings.Contains(message, says) {
		t.Errorf("the merge is answered with %d %q, want %d and %q", got, message, status, says)
	}
}

// mergeCases are what acceptance lifts, and what it does not.
var mergeCases = map[string]struct {
	more           map[string]string
	after          string // the check run
	status         int
	before, merged string // what the merge is answered with
}{
	"all reasons are lifted": {nil, "success", http.StatusOK, `ycbot" is failing`, "successfully merged"},
	"one reason is left":     {map[string]string{"b.test.js": broken}, "action_required", http.StatusMethodNotAllowed, `ycbot" is failing`, `ycbot" is failing`},
}

// Where the base branch requires the check, a PARTIAL of the Action is not merged. It is once
// a person with write permission has accepted it, where acceptance lifts all reasons. No one
// else's acceptance counts.
func TestMergeByAction(t *testing.T) {
	t.Parallel()
	for name, c := range mergeCases {
		variants.Run(t, name, true, func(t *testing.T) { // TestMergeByApp has the same cases
			t.Parallel()
			h := newHosted(t, good)
			h.gaveUp(t, c.more)
			h.token = h.Token("github-actions[bot]", map[string]string{"contents": "read", "checks": "write", "pull_requests": "write", "issues": "write", "actions": "read"}, "actions")
			h.RequireByRule(h.repo, "main", "ycbot")
			h.merges(t, http.StatusMethodNotAllowed, `ycbot" is expected`)
			s := h.step(t, "pull_request", h.opened(), nil)
			h.one(t, "action_required", "PARTIAL")
			h.merges(t, http.StatusMethodNotAllowed, c.before)

			h.AddArtifact(h.repo, "ycbot", "weaker", h.repo, zipped(t, s.outputs["report-dir"]))
			accept := "/verify accept " + h.PullHead(h.repo, h.pull) + " it is meant to"
			_, event := h.says("bob", accept)
			if s = h.step(t, "issue_comment", event, nil); !strings.Contains(s.log, "(no-permission)") {
				t.Errorf("bob's comment: %s", s.log)
			}
			if s = h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "labeled", "bob", "behaviour-change"), nil); !strings.Contains(s.log, "(no-permission)") {
				t.Errorf("bob's label: %s", s.log)
			}
			_, event = h.says("alice", "/verify accept 0123456789abcdef0123456789abcdef01234567")
			if s = h.step(t, "issue_comment", event, nil); !strings.Contains(s.log, "(sha-mismatch)") {
				t.Errorf("of another commit: %s", s.log)
			}
			h.merges(t, http.StatusMethodNotAllowed, c.before)

			_, event = h.says("alice", accept)
			end := h.underWay(t)
			if s = h.step(t, "issue_comment", event, nil); !strings.Contains(s.log, "(no-record)") || h.last() != "" {
				t.Errorf("while the commit is being verified: the check is %s\n%s", h.last(), s.log)
			}
			h.merges(t, http.StatusMethodNotAllowed, `ycbot" is`)
			end()
			s = h.step(t, "issue_comment", event, nil)
			if got := h.last(); got != c.after {
				t.Errorf("the check ends as %s, want %s\n%s", got, c.after, s.log)
			}

			// What a comment accepted, whose workflow runs for the default branch, counts for a push that gives up the same.
			h.AddArtifact(h.repo, "ycbot", "main", h.repo, zipped(t, s.outputs["report-dir"]))
			h.Push(h.repo, githubtest.Commit{Branch: "weaker", Message: "more", Files: map[string]string{"NOTES.md": "Twice as good.\n"}})
			s = h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "synchronize", "alice", ""), nil)
			if got := h.last(); got != c.after {
				t.Errorf("after a push the check ends as %s, want %s\n%s", got, c.after, s.log)
			}
			h.merges(t, c.status, c.merged)
		})
	}
}

// underWay has another workflow verify the head, until end is called: then it was cancelled.
func (h *hosted) underWay(t *testing.T) (end func()) {
	t.Helper()
	c, err := github.New(github.Options{BaseURL: h.URL, Token: h.token, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	run, err := c.CreateCheckRun(t.Context(), h.repo, github.CheckRun{Name: "ycbot", HeadSHA: h.PullHead(h.repo, h.pull), ExternalID: "other", Status: "in_progress"})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := c.UpdateCheckRun(t.Context(), h.repo, github.CheckRun{ID: run.ID, Name: "ycbot", Status: "completed", Conclusion: "cancelled"}); err != nil {
			t.Fatal(err)
		}
	}
}

// A verdict against another base is not concluded again when that is accepted.
func TestAcceptOfAnotherBase(t *testing.T) {
	variants.Only(t) // two runs; TestAccept of internal/conclude has the rules
	t.Parallel()
	h := newHosted(t, good)
	h.gaveUp(t, nil)
	s := h.step(t, "pull_request", h.opened(), nil)
	h.one(t, "neutral", "PARTIAL")
	h.AddArtifact(h.repo, "ycbot", "weaker", h.repo, zipped(t, s.outputs["report-dir"]))
	h.SetBranch(h.repo, "release", h.Head(h.repo, "main"))
	h.SetBase(h.repo, h.pull, "release")
	_, event := h.says("alice", "/verify accept "+h.PullHead(h.repo, h.pull)+" it is meant to")
	if s = h.step(t, "issue_comment", event, nil); !strings.Contains(s.log, "(no-record)") || h.last() != "neutral" {
		t.Errorf("the check is %s\n%s", h.last(), s.log)
	}
}

// A run that another job or a person posts later is superseded where the pull request goes into another base by then.
func TestPublishAfterAnotherBase(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	s := h.step(t, "pull_request", h.opened(), map[string]string{"check": "false", "comment": "off"})
	if s.outputs["verdict"] != "PASS" || h.last() != "" {
		t.Fatalf("%q\n%s", s.outputs, s.log)
	}
	h.SetBranch(h.repo, "release", h.Head(h.repo, "main"))
	h.SetBase(h.repo, h.pull, "release")
	if s = h.step(t, "pull_request", h.opened(), map[string]string{"publish": s.outputs["report-dir"]}); h.last() != "cancelled" || !strings.Contains(h.posted()[0], "as a change of main; the pull request goes into release now") {
		t.Errorf("the check is %s\n%s", h.last(), s.log)
	}
}

// last is how the newest check run of the head has ended.
func (h *hosted) last() string {
	for _, c := range slices.Backward(h.CheckRuns(h.repo)) {
		if c.HeadSHA == h.PullHead(h.repo, h.pull) {
			return c.Conclusion
		}
	}
	return ""
}

// The same by the App, where the rule names it: a check of that name that a workflow makes
// does not count. In one case the repository is renamed before it is accepted.
func TestMergeByApp(t *testing.T) {
	variants.Only(t) // TestMergeTable of internal/publish has the rules
	t.Parallel()
	for name, c := range mergeCases {
		variants.Run(t, name, name == "all reasons are lifted", func(t *testing.T) { // each takes seconds
			t.Parallel()
			h := newInstalled(t)
			h.gaveUp(t, c.more)
			h.RequireByRuleOf(h.repo, "main", h.app.ID, "ycbot")
			l := &left{hosted: h.hosted, head: h.PullHead(h.repo, h.pull)}
			l.checked(t, github.CheckRun{Status: "completed", Conclusion: "success"})
			h.merges(t, http.StatusMethodNotAllowed, `ycbot" is expected`)
			h.start(t)
			h.deliver(t, "pull_request", h.opened())
			h.wait(t, "run has ended")
			h.merges(t, http.StatusMethodNotAllowed, c.before)
			if c.more != nil {
				h.repo = h.Rename(h.repo, "products")
			}
			before := len(h.CheckRuns(h.repo))
			_, event := h.says("alice", "/verify accept "+l.head+" it is meant to")
			h.deliver(t, "issue_comment", event)
			h.wait(t, "run has ended")
			if got, n := h.last(), len(h.CheckRuns(h.repo)); got != c.after || n != before+1 {
				t.Errorf("the check ends as %s, want %s; %d check runs, %d before\n%s", got, c.after, n, before, h.outcome())
			}
			h.merges(t, c.status, c.merged)
		})
	}
}

// A pull request whose base branch changes is verified against that: what its check says
// is about the base before. An edit of its title starts nothing.
func TestRetargeted(t *testing.T) {
	t.Parallel()
	h := newHosted(t, bad)
	h.Push(h.repo, githubtest.Commit{Branch: "lax", Message: "lax", Files: map[string]string{".github/ycbot.yml": "version: 1\ncommands: {test: 'true'}\n"}})
	h.SetBase(h.repo, h.pull, "lax")
	if s := h.step(t, "pull_request", h.opened(), nil); s.code != 0 || h.last() != "success" {
		t.Fatalf("exit %d, %s\n%s", s.code, h.last(), s.log)
	}
	h.SetBase(h.repo, h.pull, "main")
	event := h.PullEvent(h.repo, h.pull, "edited", "alice", "")
	if s := h.step(t, "pull_request", bytes.Replace(event, []byte(`"changes"`), []byte(`"others"`), 1), nil); s.code != 0 || h.last() != "success" {
		t.Errorf("an edit of the title: exit %d, %s\n%s", s.code, h.last(), s.log)
	}
	if s := h.step(t, "pull_request", event, nil); s.code != 1 || h.last() != "failure" {
		t.Errorf("exit %d, %s\n%s", s.code, h.last(), s.log)
	}
}
