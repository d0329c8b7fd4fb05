package job

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
)

const (
	headSHA  = "aaaaaaaa0123456789abcdef0123456789abcdef"
	newerSHA = "cccccccc0123456789abcdef0123456789abcdef"
	baseSHA  = "bbbbbbbb0123456789abcdef0123456789abcdef"
	tipSHA   = "dddddddd0123456789abcdef0123456789abcdef"
)

var (
	alice  = event.User{ID: 11, Login: "alice", Type: "User"}
	robot  = event.User{ID: 12, Login: "robot[bot]", Type: "Bot"}
	itself = event.User{ID: 13, Login: "ycbot[bot]", Type: "Bot"}
	widget = event.Repo{ID: 100, Owner: "acme", Name: "widget"}

	inApp    = Rules{App: true, AppID: 42, Self: 13}
	inAction = Rules{}
)

// pull is an event of pull request 7.
func pull(action string, change ...func(*event.Event)) *event.Event {
	e := &event.Event{
		Kind: event.PullRequest, Name: "pull_request", Action: action, Delivery: "d-1", Repo: widget, Number: 7, Sender: alice,
		Pull: &event.Pull{
			Title: "Count", Body: "from one",
			Author: alice, Base: event.Ref{Name: "main", SHA: baseSHA, Repo: widget}, Head: event.Ref{Name: "p", SHA: headSHA, Repo: widget},
		},
	}
	for _, f := range change {
		f(e)
	}
	return e
}

// says is a new comment on pull request 7.
func says(body string, change ...func(*event.Event)) *event.Event {
	e := &event.Event{
		Kind: event.Commented, Name: "issue_comment", Action: "created", Delivery: "d-1", Repo: widget, Number: 7, Sender: alice,
		Comment: &event.Comment{ID: 501, Body: body, Author: alice},
	}
	for _, f := range change {
		f(e)
	}
	return e
}

func dispatch(inputs ...string) *event.Event {
	e := &event.Event{
		Kind: event.Dispatched, Name: "workflow_dispatch", Delivery: "d-1", Repo: widget, Ref: "refs/heads/main", Sender: alice,
		Inputs: map[string]string{},
	}
	for pair := range slices.Chunk(inputs, 2) {
		e.Inputs[pair[0]] = pair[1]
	}
	return e
}

// check is a check run of our App that is asked for again, or whose button is pressed.
func check(button string, change ...func(*event.Event)) *event.Event {
	e := &event.Event{
		Kind: event.Rerequested, Name: "check_run", Action: "rerequested", Delivery: "d-1", Repo: widget, Number: 7, Sender: alice,
		CheckRun: &event.CheckRun{ID: 601, AppID: 42, Name: "ycbot", HeadSHA: headSHA, ExternalID: "earlier", Identifier: button},
	}
	if button != "" {
		e.Kind, e.Action = event.Pressed, "requested_action"
	}
	for _, f := range change {
		f(e)
	}
	return e
}

func removed() *event.Event {
	return &event.Event{
		Kind: event.Revoked, Name: "installation_repositories", Action: "removed", Delivery: "d-1", Sender: alice, Installation: 5, Gone: []event.Repo{widget},
	}
}

func granted() *event.Event {
	return &event.Event{Kind: event.Granted, Name: "installation", Action: "unsuspend", Delivery: "d-1", Sender: alice, Installation: 5, Account: "acme"}
}

func asSuite(pulls ...int) func(*event.Event) {
	return func(e *event.Event) { e.CheckRun.Name, e.CheckRun.Pulls = "", pulls }
}

func queued() *event.Event {
	return &event.Event{
		Kind: event.Queued, Name: "merge_group", Action: "checks_requested", Delivery: "d-1", Repo: widget, Sender: robot,
		MergeGroup: &event.MergeGroup{BaseSHA: baseSHA, HeadSHA: headSHA, HeadRef: "refs/heads/gh-readonly-queue/main/pr-7"},
	}
}

func ungrouped() *event.Event {
	e := queued()
	e.Kind, e.Action = event.Ungrouped, "destroyed"
	return e
}

func pushed() *event.Event {
	return &event.Event{
		Kind: event.Pushed, Name: "push", Delivery: "d-1", Repo: widget, Sender: alice,
		Push: &event.Push{Branch: "main", Before: baseSHA, After: headSHA},
	}
}

func by(u event.User) func(*event.Event) {
	return func(e *event.Event) {
		e.Sender = u
		if e.Comment != nil {
			e.Comment.Author = u
		}
	}
}

func label(name string) func(*event.Event) { return func(e *event.Event) { e.Label = name } }
func closed(e *event.Event)                { e.Pull.Closed = true }
func over(e *event.Event)                  { e.Pull.Before = baseSHA }
func edited(e *event.Event)                { e.Action = "edited" }
func onIssue(e *event.Event)               { e.Number, e.Issue = 0, 3 }
func otherApp(e *event.Event)              { e.CheckRun.AppID = 43 }
func ofFork(e *event.Event)                { e.Number = 0 } // GitHub names no pull requests of forks
func ofNoJob(e *event.Event)               { e.CheckRun.ExternalID = "" }
func target(e *event.Event)                { e.Name = "pull_request_target" }

// The first step, as a table: the event alone, and what comes of it.
func TestAdmit(t *testing.T) {
	t.Parallel()
	ok := func(change func(*Job)) *Job {
		j := &Job{Verb: event.VerbVerify, Repo: widget, Number: 7, Actor: alice}
		change(j)
		return j
	}
	byPull := func(j *Job) {
		j.Trigger, j.Base, j.BaseSHA, j.HeadSHA, j.Text = TriggerPullRequest, "main", baseSHA, headSHA, &event.Text{Title: "Count", Body: "from one", Author: "alice"}
	}
	byLabel := func(j *Job) { byPull(j); j.Request = "delivery:d-1" }
	byComment := func(j *Job) { j.Trigger, j.Request, j.Comment = TriggerComment, "comment:501", 501 }
	byDispatch := func(j *Job) { j.Trigger, j.Request = TriggerDispatch, "delivery:d-1" }
	byCheck := func(j *Job) {
		j.Trigger, j.Request, j.HeadSHA, j.Again = TriggerRerequest, "delivery:d-1", headSHA, "earlier"
	}
	tests := []struct {
		rule   string
		event  *event.Event
		rules  Rules
		run    *Job // nil: not run
		code   Code
		notify Notify
	}{
		{"a push", pull("opened"), inAction, ok(byPull), "", ""},
		{"a push by a bot: many pull requests are theirs", pull("synchronize", by(robot)), inAction, ok(func(j *Job) { byPull(j); j.Actor = robot }), "", ""},
		{"a push over another commit", pull("synchronize", over), inApp, ok(func(j *Job) { byPull(j); j.Before = baseSHA }), "", ""},
		{"a push to a closed one", pull("synchronize", closed), inAction, nil, CodeClosed, NotifySummary},
		{"our label", pull("labeled", label("ycbot")), inAction, ok(byLabel), "", ""},
		{"in capitals", pull("labeled", label("YCBot")), inAction, ok(byLabel), "", ""},
		{"another label", pull("labeled", label("verify")), inAction, nil, CodeOtherLabel, NotifyNone},
		{"our label, by a bot", pull("labeled", label("ycbot"), by(robot)), inAction, nil, CodeBot, NotifyNone},
		{"our label, on a closed one", pull("labeled", label("ycbot"), closed), inAction, nil, CodeClosed, NotifyComment},

		{"the command", says("/verify"), inAction, ok(byComment), "", ""},
		{"with all", says("/verify full AAAAAAA -- here"), inAction, ok(func(j *Job) {
			byComment(j)
			j.Full, j.Want, j.Words = true, "aaaaaaa", "here"
		}), "", ""},
		{"edited", says("/verify", edited), inAction, nil, CodeEdited, NotifyNone},
		{"edited by another", says("/verify", func(e *event.Event) { e.Sender = robot }), inAction, nil, CodeEdited, NotifyNone},
		{"a remark", says("Nice."), inAction, nil, CodeNoCommand, NotifyNone},
		{"a remark on an issue", says("Nice.", onIssue), inAction, nil, CodeNoCommand, NotifyNone},
		{"by a bot", says("/verify", by(robot)), inAction, nil, CodeBot, NotifyNone},
		{"by a bot of unknown type", says("/verify", by(event.User{ID: 9, Login: "x[bot]"})), inAction, nil, CodeBot, NotifyNone},
		{"a bot gets no help either", says("/verify now", by(robot)), inAction, nil, CodeBot, NotifyNone},
		{"by ycbot", says("/verify", by(itself)), inApp, nil, CodeSelf, NotifyNone},
		{"on an issue", says("/verify", onIssue), inAction, nil, CodeNotPull, NotifyComment},
		{"help", says("/verify help"), inAction, nil, CodeHelp, NotifyComment},
		{"an unknown word", says("/verify now"), inAction, nil, CodeUnknown, NotifyComment},
		{"stop, in the Action", says("/verify stop"), inAction, nil, CodeAppOnly, NotifyComment},
		{"status, in the Action", says("/verify status"), inAction, nil, CodeAppOnly, NotifyComment},
		{"stop", says("/verify stop"), inApp, ok(func(j *Job) { byComment(j); j.Verb = event.VerbStop }), "", ""},
		{"status", says("/verify status"), inApp, ok(func(j *Job) { byComment(j); j.Verb = event.VerbStatus }), "", ""},

		{"dispatched", dispatch("pr", " 7 ", "sha", "AAAAAAA", "full", "true", "words", "here"), inAction, ok(func(j *Job) {
			byDispatch(j)
			j.Want, j.Full, j.Words = "aaaaaaa", true, "here"
		}), "", ""},
		{"dispatched on a branch", dispatch("pr", "", "full", "false", "level", "debug"), inAction, ok(func(j *Job) {
			byDispatch(j)
			j.Number, j.Ref = 0, "refs/heads/main"
		}), "", ""},
		{"number is none", dispatch("pr", "-7"), inAction, nil, CodeBadInput, NotifySummary},
		{"commit is none", dispatch("pr", "7", "sha", "main"), inAction, nil, CodeBadInput, NotifySummary},
		{"full is none", dispatch("pr", "7", "full", "1"), inAction, nil, CodeBadInput, NotifySummary},

		{"the merge queue", queued(), inAction, ok(func(j *Job) {
			j.Trigger, j.Number, j.BaseSHA, j.HeadSHA, j.Ref, j.Actor = TriggerMergeGroup, 0, baseSHA, headSHA, "refs/heads/gh-readonly-queue/main/pr-7", robot
		}), "", ""},

		{"check asked for again", check(""), inApp, ok(byCheck), "", ""},
		{"of a fork: the earlier job knows it", check("", ofFork), inApp, ok(func(j *Job) { byCheck(j); j.Number = 0 }), "", ""},
		{"of nothing that it names", check("", ofFork, ofNoJob), inApp, nil, CodeNoPull, NotifySummary},
		{"a suite of a fork", check("", ofFork, ofNoJob, asSuite()), inApp, ok(func(j *Job) { byCheck(j); j.Number, j.Again = 0, "" }), "", ""},
		{"of another app", check("", otherApp), inApp, nil, CodeOtherApp, NotifyNone},
		{"an app that does not know itself", check("", func(e *event.Event) { e.CheckRun.AppID = 0 }), Rules{App: true}, nil, CodeOtherApp, NotifyNone},
		{"by a bot", check("", by(robot)), inApp, nil, CodeBot, NotifyNone},
		{"by ycbot", check("", by(itself)), inApp, nil, CodeSelf, NotifyNone},
		{"in the Action", check(""), inAction, nil, CodeAppOnly, NotifySummary},
		{"button Verify again", check("verify"), inApp, ok(byCheck), "", ""},
		{"button Stop", check("stop"), inApp, ok(func(j *Job) { byCheck(j); j.Verb = event.VerbStop }), "", ""},
		{"an old button", check("approve"), inApp, nil, CodeUnknownButton, NotifySummary},

		{"the App is removed", removed(), inApp, ok(func(j *Job) {
			*j = Job{Verb: event.VerbForget, Actor: alice, Request: "delivery:d-1", Installation: 5, Gone: []event.Repo{widget}}
		}), "", ""},
		{"a merge group is gone", ungrouped(), inApp, ok(func(j *Job) {
			*j = Job{Verb: event.VerbForget, Actor: robot, Request: "delivery:d-1", HeadSHA: headSHA, Repo: widget}
		}), "", ""},
		{"a merge group is gone, says the Action", ungrouped(), inAction, nil, CodeAppOnly, NotifyNone},
		{"the App is back", granted(), inApp, ok(func(j *Job) {
			*j = Job{Verb: event.VerbReturn, Actor: alice, Request: "delivery:d-1", Installation: 5, Account: "acme"}
		}), "", ""},
		{"the App is back, says the Action", granted(), inAction, nil, CodeAppOnly, NotifyNone},
		{"the App is removed, says the Action", removed(), inAction, nil, CodeAppOnly, NotifyNone},

		{"a push to the default branch", pushed(), inAction, ok(func(j *Job) {
			j.Trigger, j.Event, j.Number, j.BaseSHA, j.HeadSHA, j.Ref = TriggerPush, "push", 0, baseSHA, headSHA, "refs/heads/main"
		}), "", ""},
		{"a push that the App hears", pushed(), inApp, nil, CodeActionOnly, NotifyNone},
		{"a workflow that ended", &event.Event{Kind: event.Finished, Name: "workflow_run", Repo: widget}, inAction, nil, CodePublishOnly, NotifyNone},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			d := Admit(tt.event, tt.rules)
			if tt.run == nil {
				wantSkip(t, d, tt.code, tt.notify)
				return
			}
			if !d.Run || d.Skip != nil {
				t.Fatalf("run %v, skip %+v", d.Run, d.Skip)
			}
			tt.run.Event, tt.run.Action, tt.run.ID = tt.event.Name, tt.event.Action, d.Job.Identity()
			if diff := cmp.Diff(*tt.run, d.Job); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func wantSkip(t *testing.T, d Decision, code Code, notify Notify) {
	t.Helper()
	if d.Run || d.Skip == nil {
		t.Fatalf("run %v; want the skip %s", d.Run, code)
	}
	if d.Skip.Code != code || d.Skip.Notify != notify {
		t.Errorf("skip %s, answered in %s; want %s, %s", d.Skip.Code, d.Skip.Notify, code, notify)
	}
	if (d.Skip.Notify == NotifyComment) != (d.Skip.Number != 0) {
		t.Errorf("answered in %s, on number %d", d.Skip.Notify, d.Skip.Number)
	}
	if d.Skip.Text == "" {
		t.Error("no text")
	}
}

// The answer to a command on an issue goes to that issue, and help says what was
// not understood before it explains.
func TestAnswers(t *testing.T) {
	t.Parallel()
	if s := Admit(says("/verify", onIssue), inApp).Skip; s.Number != 3 {
		t.Errorf("answer on number %d, want 3", s.Number)
	}
	if s := Admit(says("/verify help"), inApp).Skip; s.Text != event.Help() {
		t.Errorf("help is %q", s.Text)
	}
	s := Admit(says("/verify now"), inApp).Skip
	if !strings.Contains(s.Text, "`now`") || !strings.HasSuffix(s.Text, event.Help()) {
		t.Errorf("text %q", s.Text)
	}
	s = Authorize(admit(t, says("/verify "+newerSHA[:12])), member(), config.Default(), inAction).Skip
	if !strings.Contains(s.Text, newerSHA[:12]) || !strings.Contains(s.Text, headSHA) {
		t.Errorf("both commits are not said: %q", s.Text)
	}
	s = Authorize(admit(t, dispatch("pr", "7")), with(member(), fork), config.Default(), inAction).Skip
	if !strings.Contains(s.Text, "the input `sha` as `"+headSHA[:12]) {
		t.Errorf("a dispatch is answered with %q", s.Text)
	}
	s = Authorize(admit(t, says("/verify")), with(member(), func(f *Facts) { f.Actor = "**evil** @all" }), config.Default(), inAction).Skip
	if strings.Contains(s.Text, "@all") {
		t.Errorf("a role's name is repeated: %q", s.Text)
	}
}

// The words of a dispatch are bounded like those of a comment.
func TestDispatchedWordsAreBounded(t *testing.T) {
	t.Parallel()
	d := Admit(dispatch("pr", "7", "words", strings.Repeat("w", event.MaxWords+1)), inAction)
	if len(d.Job.Words) != event.MaxWords {
		t.Errorf("%d characters", len(d.Job.Words))
	}
}

// admit is the job of an event that the App admits.
func admit(t *testing.T, e *event.Event) Job {
	t.Helper()
	d := Admit(e, inApp)
	if !d.Run {
		t.Fatalf("not admitted: %+v", d.Skip)
	}
	return d.Job
}

// A check that names several pull requests and no job of its own is asked for again for each of them; all else is one
// event.
func TestAdmitEach(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		event *event.Event
		want  []int
	}{
		{"a suite of several", check("", ofFork, ofNoJob, asSuite(7, 8)), []int{7, 8}},
		{"a suite of one", check("", ofNoJob, asSuite(7)), []int{7}},
		{"a suite of a fork", check("", ofFork, ofNoJob, asSuite()), []int{0}},
		{"a check run that knows its job", check("", func(e *event.Event) { e.CheckRun.Pulls = []int{7, 8} }), []int{7}},
		{"a push", pull("opened"), []int{7}},
	} {
		var got []int
		ids := map[string]bool{}
		for _, d := range AdmitEach(tt.event, inApp) {
			got, ids[d.Job.ID] = append(got, d.Job.Number), true
			if !d.Run {
				t.Errorf("%s: %+v", tt.name, d.Skip)
			}
		}
		if !slices.Equal(got, tt.want) || len(ids) != len(got) {
			t.Errorf("%s: of %d by %d identities, want %d", tt.name, got, len(ids), tt.want)
		}
	}
}
