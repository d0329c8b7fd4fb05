package event

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	headSHA = "aaaaaaaa0123456789abcdef0123456789abcdef"
	baseSHA = "bbbbbbbb0123456789abcdef0123456789abcdef"
)

var (
	alice   = User{ID: 11, Login: "alice", Type: "User"}
	mallory = User{ID: 66, Login: "mallory", Type: "User"}
	widget  = Repo{ID: 100, Owner: "acme", Name: "widget"}
	fork    = Repo{ID: 200, Owner: "mallory", Name: "widget"}
)

func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-03-01T"+clock+":00Z")
	if err != nil {
		panic(err)
	}
	return t
}

func fixture(tb testing.TB, file string) []byte {
	tb.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", file+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// eventOf is the name of the event in a fixture's name.
func eventOf(file string) string {
	name, _, _ := strings.Cut(file, ".")
	return name
}

func pull(author User, head Repo) *Pull {
	return &Pull{
		Title: "Count from one", Body: "Fixes #3", Author: author,
		Base: Ref{Name: "main", SHA: baseSHA, Repo: widget},
		Head: Ref{Name: "patch-1", SHA: headSHA, Repo: head},
	}
}

// What ycbot reads of each kind of event, whole.
func TestParse(t *testing.T) {
	t.Parallel()
	comment := func(body string, updated time.Time) *Comment {
		return &Comment{ID: 501, Body: body, Author: alice, Created: at("10:05"), Updated: updated}
	}
	gone := pull(User{}, Repo{})
	gone.Body, gone.Before = "", baseSHA
	labeled := pull(alice, widget)
	labeled.Labels = []string{"ycbot"}
	zeros := strings.Repeat("0", 64)
	tests := map[string]Event{
		"pull_request.fork":         {Kind: PullRequest, Action: "opened", At: at("10:00"), Number: 7, Pull: pull(mallory, fork), Sender: mallory, Installation: 5},
		"pull_request.deleted-fork": {Kind: PullRequest, Action: "synchronize", At: at("10:00"), Number: 7, Pull: gone, Sender: alice},
		"pull_request.labeled":      {Kind: PullRequest, Action: "labeled", At: at("10:00"), Number: 7, Pull: labeled, Label: "ycbot", Sender: alice},
		"pull_request.retargeted":   {Kind: PullRequest, Action: "synchronize", At: at("10:00"), Number: 7, Pull: pull(mallory, fork), Sender: mallory, Installation: 5},
		"pull_request_target.fork":  {Kind: PullRequest, Action: "opened", At: at("10:00"), Number: 7, Pull: pull(mallory, fork), Sender: mallory},
		"issue_comment.pull": {
			Kind: Commented, Action: "created", At: at("10:05"), Number: 7, Sender: alice,
			Comment: comment("/verify full aaaaaaaa0123\r\n-- the empty list", at("10:05")), Text: &Text{Title: "Count from one", Body: "Fixes #3", Author: "mallory"},
		},
		"issue_comment.edited": {Kind: Commented, Action: "edited", At: at("11:00"), Number: 7, Sender: alice, Comment: comment("/verify", at("11:00"))},
		"issue_comment.issue":  {Kind: Commented, Action: "created", At: at("10:05"), Issue: 3, Sender: alice, Comment: comment("/verify", at("10:05"))},
		"merge_group.requested": {
			Kind: Queued, Action: "checks_requested", Sender: alice, Installation: 5,
			MergeGroup: &MergeGroup{BaseSHA: baseSHA, HeadSHA: headSHA, BaseRef: "refs/heads/main", HeadRef: "refs/heads/gh-readonly-queue/main/pr-7-" + baseSHA},
		},
		"merge_group.destroyed": {
			Kind: Ungrouped, Action: "destroyed", Sender: alice, Installation: 5,
			MergeGroup: &MergeGroup{BaseSHA: baseSHA, HeadSHA: headSHA, BaseRef: "refs/heads/main", HeadRef: "refs/heads/gh-readonly-queue/main/pr-7-" + baseSHA},
		},
		"push.default": {Kind: Pushed, Sender: alice, Push: &Push{Branch: "main", Before: baseSHA, After: headSHA}},
		"workflow_dispatch.inputs": {
			Kind: Dispatched, Sender: alice, Ref: "refs/heads/main",
			Inputs: map[string]string{"pr": "7", "full": "true", "retries": "3", "words": ""},
		},
		"workflow_run.fork": {
			Kind: Finished, Action: "completed", At: at("10:20"), Sender: alice,
			WorkflowRun: &WorkflowRun{ID: 7001, Event: "pull_request", Conclusion: "success", HeadSHA: headSHA, HeadBranch: "patch-1", HeadRepo: fork},
		},
		"workflow_run.deleted-fork": {
			Kind: Finished, Action: "completed", Sender: alice,
			WorkflowRun: &WorkflowRun{ID: 7002, Event: "pull_request", HeadSHA: headSHA},
		},
		// The second pull request goes into another repository.
		"check_run.rerequested": {
			Kind: Rerequested, Action: "rerequested", Number: 7, Sender: alice, Installation: 5,
			CheckRun: &CheckRun{ID: 601, AppID: 42, Name: "ycbot", HeadSHA: headSHA, ExternalID: zeros, Pulls: []int{7}},
		},
		"check_run.requested_action": {
			Kind: Pressed, Action: "requested_action", Sender: alice, Installation: 5,
			CheckRun: &CheckRun{ID: 601, AppID: 42, Name: "ycbot", HeadSHA: headSHA, ExternalID: zeros, Identifier: "stop"},
		},
		"installation.suspend": {Kind: Revoked, Action: "suspend", At: at("10:30"), Sender: alice, Installation: 5},
		"installation_repositories.removed": {
			Kind: Revoked, Action: "removed", Sender: alice, Installation: 5, Gone: []Repo{{ID: 100, Owner: "acme", Name: "widget", Private: true}},
		},
		"installation.created":            {Kind: Granted, Action: "created", Sender: alice, Installation: 5, Account: "acme"},
		"installation_repositories.added": {Kind: Granted, Action: "added", Sender: alice, Installation: 5, Account: "acme"},
		// Two pull requests have this head: none is meant.
		"check_suite.rerequested": {
			Kind: Rerequested, Action: "rerequested", Sender: alice, Installation: 5,
			CheckRun: &CheckRun{ID: 701, AppID: 42, HeadSHA: headSHA, Pulls: []int{7, 8}},
		},
	}
	for file, want := range tests {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(eventOf(file), "d-1", fixture(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if want.Name, want.Delivery = eventOf(file), "d-1"; want.Kind != Revoked && want.Kind != Granted {
				want.Repo = widget
			}
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != len(tests) {
		t.Errorf("%d fixtures, %d tested: %v", len(files), len(tests), err)
	}
}

// A head repository that is gone counts as a fork.
func TestForkOfDeletedRepository(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{"pull_request.fork": true, "pull_request.deleted-fork": true, "pull_request.labeled": false} {
		e, err := Parse("pull_request", "", fixture(t, file))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Pull.Fork(); got != want {
			t.Errorf("%s: Fork() = %v, want %v", file, got, want)
		}
	}
}

// Each is refused with the class and a text that says event, delivery and where.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const opened = `{"action":"opened",`
	tests := map[string]struct {
		name, body string
		class      error
		says       string
	}{
		"event of no interest":      {"star", `{"ref":"refs/heads/main"}`, ErrIgnored, "does not look at this event"},
		"push to another branch":    {"push", `{"ref":"refs/heads/work","repository":{"id":1,"name":"a","default_branch":"main","owner":{"login":"b"}},"sender":{"id":1,"login":"c"}}`, ErrIgnored, "default branch only"},
		"push that makes a branch":  {"push", `{"ref":"refs/heads/main","before":"0000000000000000000000000000000000000000","after":"aaaaaaaa0123456789abcdef0123456789abcdef","repository":{"id":1,"name":"a","default_branch":"main","owner":{"login":"b"}},"sender":{"id":1,"login":"c"}}`, ErrIgnored, "made or deleted"},
		"its types do not matter":   {"star", `{"action":1}`, ErrIgnored, "this event"},
		"action of no interest":     {"pull_request", `{"action":"locked","number":"x"}`, ErrIgnored, `"locked"`},
		"edited title":              {"pull_request", strings.Replace(string(fixture(t, "pull_request.retargeted")), `"base": {"ref": {"from": "lax"}}`, `"title": {"from": "x"}`, 1), ErrIgnored, "leaves the base as it is"},
		"deleted comment":           {"issue_comment", `{"action":"deleted"}`, ErrIgnored, `"deleted"`},
		"merged group":              {"merge_group", strings.Replace(string(fixture(t, "merge_group.destroyed")), `"invalidated"`, `"merged"`, 1), ErrIgnored, "was merged"},
		"created check run":         {"check_run", `{"action":"created"}`, ErrIgnored, `"created"`},
		"empty":                     {"pull_request", ``, ErrMalformed, "not a JSON object"},
		"null":                      {"pull_request", `null`, ErrMalformed, "not a JSON object"},
		"list":                      {"push", `[]`, ErrMalformed, "not a JSON object"},
		"broken, of no interest":    {"star", `{"ref":`, ErrMalformed, "offset 7"},
		"broken":                    {"pull_request", `{"action":"opened",}`, ErrMalformed, "offset 20"},
		"two objects":               {"pull_request", `{"action":"opened"}{}`, ErrMalformed, "offset 20"},
		"no action":                 {"pull_request", `{}`, ErrMalformed, "action: missing"},
		"action is no text":         {"pull_request", `{"action":{}}`, ErrMalformed, "action: offset 11"},
		"no repository":             {"pull_request", opened + `"number":7}`, ErrMalformed, "repository: missing"},
		"number is text":            {"pull_request", opened + `"pull_request":{"number":"7"}}`, ErrMalformed, "pull_request.number: offset"},
		"number is no whole":        {"pull_request", opened + `"pull_request":{"number":7.5}}`, ErrMalformed, "pull_request.number: offset"},
		"id too great":              {"pull_request", opened + `"repository":{"id":9223372036854775808}}`, ErrMalformed, "repository.id: offset"},
		"nesting without end":       {"star", strings.Repeat(`{"a":`, 20_000), ErrMalformed, "malformed"},
		"too large":                 {"push", "{" + strings.Repeat(" ", MaxSize) + "}", ErrTooLarge, "26214400 are allowed"},
		"name of no event":          {"", `{}`, ErrIgnored, "this event"},
		"name with a line end":      {"a\nb", `{}`, ErrIgnored, `"a\nb"`},
		"comment's time is no time": {"issue_comment", `{"action":"created","comment":{"created_at":"yesterday"}}`, ErrMalformed, "yesterday"},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			e, err := Parse(tt.name, "d-9", []byte(tt.body))
			if e != nil || !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, %v; want %v that says %q", e, err, tt.class, tt.says)
			}
			if err != nil && !strings.Contains(err.Error(), `delivery "d-9"`) {
				t.Errorf("%v: says no delivery", err)
			}
		})
	}
}

// What names things has the form that it must have: such names stand in paths
// and in arguments of git.
func TestParseRefusesNames(t *testing.T) {
	t.Parallel()
	type change struct {
		file  string
		path  string // of the field, with dots
		value any    // nil: null
		says  string // the field, where it is not path
	}
	changes := []change{
		{"pull_request.fork", "repository", nil, ""},
		{"pull_request.fork", "repository.id", 0, ""},
		{"pull_request.fork", "repository.id", -100, ""},
		{"pull_request.fork", "repository.name", "..", ""},
		{"pull_request.fork", "repository.name", "a/b", ""},
		{"pull_request.fork", "repository.owner", nil, "repository.owner.login"},
		{"pull_request.fork", "repository.owner.login", "", ""},
		{"pull_request.fork", "repository.owner.login", "a\nb", ""},
		{"pull_request.fork", "sender.id", 0, ""},
		{"pull_request.fork", "installation.id", 0, ""},
		{"pull_request.fork", "number", 8, ""},
		{"pull_request.fork", "pull_request", nil, ""},
		{"pull_request.fork", "pull_request.number", 0, ""},
		{"pull_request.fork", "pull_request.user.id", -1, ""},
		{"pull_request.fork", "pull_request.base", nil, ""},
		{"pull_request.fork", "pull_request.base.repo", nil, "pull_request.base.repo.id"},
		{"pull_request.fork", "pull_request.base.repo.id", 101, ""},
		{"pull_request.fork", "pull_request.head", nil, ""},
		{"pull_request.fork", "pull_request.head.sha", "--upload-pack=x", ""},
		{"pull_request.fork", "pull_request.head.sha", headSHA[:39], ""},
		{"pull_request.fork", "pull_request.head.sha", headSHA + "0", ""},
		{"pull_request.fork", "pull_request.head.sha", strings.ToUpper(headSHA), ""},
		{"pull_request.fork", "pull_request.head.repo.name", "../x", ""},
		{"pull_request.labeled", "label", nil, "label.name"},
		{"issue_comment.pull", "issue", nil, ""},
		{"issue_comment.pull", "issue.number", 0, ""},
		{"issue_comment.pull", "comment", nil, ""},
		{"issue_comment.pull", "comment.id", 0, ""},
		{"issue_comment.pull", "comment.created_at", nil, ""},
		{"merge_group.requested", "merge_group", nil, ""},
		{"push.default", "ref", "", ""},
		{"push.default", "before", "HEAD", ""},
		{"push.default", "after", "", ""},
		{"push.default", "repository.default_branch", "", ""},
		{"merge_group.requested", "merge_group.head_sha", "HEAD", ""},
		{"merge_group.requested", "merge_group.base_sha", "", ""},
		{"merge_group.requested", "merge_group.head_ref", "", ""},
		{"workflow_dispatch.inputs", "ref", nil, ""},
		{"workflow_dispatch.inputs", "inputs.pr", map[string]any{}, `inputs["pr"]`},
		{"workflow_run.fork", "workflow_run", nil, ""},
		{"workflow_run.fork", "workflow_run.id", 0, ""},
		{"workflow_run.fork", "workflow_run.head_sha", "x", ""},
		{"workflow_run.fork", "workflow_run.head_repository.id", 0, ""},
		{"check_run.rerequested", "check_run", nil, ""},
		{"check_run.rerequested", "check_run.id", 0, ""},
		{"check_run.rerequested", "check_run.name", "", ""},
		{"check_run.rerequested", "check_run.head_sha", "", ""},
		{"check_run.rerequested", "check_run.app", nil, "check_run.app.id"},
		{"check_run.rerequested", "check_run.pull_requests", []any{map[string]any{}}, "check_run.pull_requests[0].number"},
		{"check_run.requested_action", "requested_action", nil, "requested_action.identifier"},
		{"check_suite.rerequested", "check_suite", nil, ""},
	}
	for _, c := range changes {
		var body map[string]any
		if err := json.Unmarshal(fixture(t, c.file), &body); err != nil {
			t.Fatal(err)
		}
		in, keys := body, strings.Split(c.path, ".")
		for _, key := range keys[:len(keys)-1] {
			in = in[key].(map[string]any)
		}
		in[keys[len(keys)-1]] = c.value
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if c.says == "" {
			c.says = c.path
		}
		e, err := Parse(eventOf(c.file), "d", raw)
		if e != nil || !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), ": "+c.says+": ") {
			t.Errorf("%s with %s %v: got %v, %v", c.file, c.path, c.value, e, err)
		}
	}
}

// FuzzParse: whatever comes, an event whose names are safe or one of the three errors.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		file = strings.TrimSuffix(filepath.Base(file), ".json")
		f.Add(eventOf(file), fixture(f, file))
	}
	f.Add("push", []byte(`{}`))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		e, err := Parse(name, "d", body)
		if err != nil {
			if e != nil || !errors.Is(err, ErrIgnored) && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrTooLarge) {
				t.Fatalf("%v, %v", e, err)
			}
			return
		}
		checkEvent(t, e)
	})
}

// checkEvent holds what every Event promises.
func checkEvent(t *testing.T, e *Event) {
	t.Helper()
	if e.Kind == "" || e.Kind != Revoked && e.Kind != Granted && (e.Repo.ID <= 0 || !plainName(e.Repo.Owner) || !plainName(e.Repo.Name)) {
		t.Errorf("kind %q of %+v", e.Kind, e.Repo)
	}
	if e.Number < 0 || e.Issue < 0 || e.Number != 0 && e.Issue != 0 {
		t.Errorf("number %d, issue %d", e.Number, e.Issue)
	}
	parts := map[Kind]bool{
		PullRequest: e.Pull != nil && e.Number > 0 && oid(e.Pull.Head.SHA) && oid(e.Pull.Base.SHA),
		Commented:   e.Comment != nil && e.Pull == nil && e.Number+e.Issue > 0,
		Dispatched:  e.Ref != "",
		Queued:      e.MergeGroup != nil && oid(e.MergeGroup.HeadSHA) && oid(e.MergeGroup.BaseSHA),
		Ungrouped:   e.MergeGroup != nil && oid(e.MergeGroup.HeadSHA),
		Pushed:      e.Push != nil && oid(e.Push.Before) && oid(e.Push.After) && e.Push.Branch != "",
		Rerequested: e.CheckRun != nil && oid(e.CheckRun.HeadSHA),
		Pressed:     e.CheckRun != nil && oid(e.CheckRun.HeadSHA) && e.CheckRun.Identifier != "",
		Finished:    e.WorkflowRun != nil && oid(e.WorkflowRun.HeadSHA),
		Revoked:     e.Installation > 0 && (e.Name == "installation") == (len(e.Gone) == 0),
		Granted:     e.Installation > 0 && len(e.Gone) == 0,
	}
	if !parts[e.Kind] {
		t.Errorf("an event of kind %q lacks a part: %+v", e.Kind, e)
	}
}
