package job

import (
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/event"
)

// Label is the label that asks for a run when a person adds it, in any case of
// letters. It is asked once for each time that it is added; pushes do not ask again.
const Label = "ycbot"

// AcceptLabel is the label by which a person accepts the given-up expectations of the
// head that a pull request has at that moment.
const AcceptLabel = "behaviour-change"

// The buttons of ycbot's check run.
const (
	ButtonVerify = "verify"
	ButtonStop   = "stop"
)

// The inputs of workflow_dispatch. Others are left alone.
const (
	InputPull  = "pr"    // number of the pull request; empty: the branch that was chosen
	InputSHA   = "sha"   // as in /verify SHA
	InputFull  = "full"  // "true": as in /verify full
	InputWords = "words" // as after --
)

// Rules are what Admit must know beside the event.
type Rules struct {
	App   bool  // the GitHub App, else the Action
	AppID int64 // of the App; checks of others are none of ours
	// Self is the account that ycbot posts as. Leave it 0 where that is a person's:
	// such a person may ask too, and ycbot never posts a command.
	Self int64
}

// Admit says whether an event calls for work, from the event alone. Where it
// does, the job still has to pass Authorize.
//
// The events of pull requests: opened, synchronize, reopened, ready_for_review,
// and labeled where the label is Label. The commands stop and status, check runs
// and their buttons are for the App. A workflow_run calls for no job: what it may
// publish is not a run.
func Admit(e *event.Event, r Rules) Decision {
	j := Job{
		Verb: event.VerbVerify, Event: e.Name, Action: e.Action, Repo: e.Repo, Number: e.Number,
		Actor: e.Sender, Installation: e.Installation, At: e.At, Text: e.Text,
	}
	if e.Pull != nil {
		j.Text = &event.Text{Title: e.Pull.Title, Body: e.Pull.Body, Author: e.Pull.Author.Login}
	}
	switch e.Kind {
	case event.PullRequest:
		return admitPull(j, e, r)
	case event.Commented:
		return admitComment(j, e, r)
	case event.Dispatched:
		return admitDispatch(j, e)
	case event.Queued:
		j.Trigger = TriggerMergeGroup
		j.BaseSHA, j.HeadSHA, j.Ref = e.MergeGroup.BaseSHA, e.MergeGroup.HeadSHA, e.MergeGroup.HeadRef
		return admitted(j)
	case event.Ungrouped:
		if !r.App {
			return skip(j, silent(CodeAppOnly, "A workflow of a merge queue is ended by GitHub."))
		}
		j.Verb, j.Request, j.HeadSHA = event.VerbForget, delivered(e), e.MergeGroup.HeadSHA
		return admitted(j)
	case event.Pushed:
		if r.App {
			return skip(j, silent(CodeActionOnly, "The App looks at pull requests; pushes are for a workflow, which keeps what it finds for them."))
		}
		j.Trigger = TriggerPush
		j.BaseSHA, j.HeadSHA, j.Ref = e.Push.Before, e.Push.After, "refs/heads/"+e.Push.Branch
		return admitted(j)
	case event.Rerequested, event.Pressed:
		return admitCheck(j, e, r)
	case event.Revoked, event.Granted:
		if !r.App {
			return skip(j, silent(CodeAppOnly, "The Action is not installed."))
		}
		j.Verb, j.Request, j.Gone, j.Account = event.VerbForget, delivered(e), e.Gone, e.Account
		if e.Kind == event.Granted {
			j.Verb = event.VerbReturn
		}
		return admitted(j)
	}
	return skip(j, silent(CodePublishOnly, "A workflow that ended starts no run; what it left can be published."))
}

// AdmitEach is Admit, once for each pull request where a check that is asked for again names several and no earlier job.
func AdmitEach(e *event.Event, r Rules) []Decision {
	if e.CheckRun == nil || e.CheckRun.ExternalID != "" || len(e.CheckRun.Pulls) < 2 {
		return []Decision{Admit(e, r)}
	}
	var out []Decision
	for _, n := range e.CheckRun.Pulls {
		of := *e
		of.Number = n
		out = append(out, Admit(&of, r))
	}
	return out
}

// admitted is the end of all ways through Admit that lead to work.
func admitted(j Job) Decision {
	j.ID = j.Identity()
	return run(j)
}

// byNobody reports whether no person did it: ycbot itself or another bot.
func byNobody(u event.User, r Rules) (Skip, bool) {
	switch {
	case r.Self != 0 && u.ID == r.Self:
		return silent(CodeSelf, "ycbot did this itself."), true
	case u.Bot() || strings.HasSuffix(u.Login, "[bot]"):
		return silent(CodeBot, "A bot asked. Only people may ask for runs."), true
	}
	return Skip{}, false
}

func admitPull(j Job, e *event.Event, r Rules) Decision {
	j.Trigger = TriggerPullRequest
	j.Base, j.BaseSHA, j.HeadSHA = e.Pull.Base.Name, e.Pull.Base.SHA, e.Pull.Head.SHA
	j.Before = e.Pull.Before
	if j.labeled() {
		j.Accept = strings.EqualFold(e.Label, AcceptLabel)
		if !j.Accept && !strings.EqualFold(e.Label, Label) {
			return skip(j, silent(CodeOtherLabel, "Only the label `"+Label+"` asks for a run, and `"+AcceptLabel+"` accepts what was given up."))
		}
		if s, yes := byNobody(e.Sender, r); yes {
			return skip(j, s)
		}
		j.Request = delivered(e)
	}
	if e.Pull.Closed {
		return skip(j, j.closed())
	}
	return admitted(j)
}

// labeled reports whether a label asks.
func (j Job) labeled() bool { return j.Trigger == TriggerPullRequest && j.Action == "labeled" }

func (j Job) closed() Skip {
	return j.notify(CodeClosed, "Nothing was run: the pull request is closed. Reopen it, then ask again.")
}

// delivered names a request by the delivery that brought it.
func delivered(e *event.Event) string { return "delivery:" + e.Delivery }

func admitComment(j Job, e *event.Event, r Rules) Decision {
	j.Trigger, j.Comment = TriggerComment, e.Comment.ID
	j.Request = "comment:" + strconv.FormatInt(e.Comment.ID, 10)
	c, ok := event.ParseCommand(e.Comment.Body)
	switch {
	case e.Action != "created" || e.Comment.Author.ID != e.Sender.ID:
		return skip(j, silent(CodeEdited, "The comment was edited. Only new comments are read."))
	case !ok:
		return skip(j, silent(CodeNoCommand, "The comment does not begin with `/verify`."))
	}
	if s, yes := byNobody(e.Sender, r); yes {
		return skip(j, s)
	}
	j.Verb, j.Full, j.Want, j.Words = c.Verb, c.Full, c.SHA, c.Words
	switch {
	case e.Number == 0:
		return skip(j, Skip{
			Code: CodeNotPull, Notify: NotifyComment, Number: e.Issue,
			Text: "Nothing was run: this is an issue. Comment `/verify` on a pull request.",
		})
	case c.Verb == event.VerbHelp:
		return skip(j, j.helped(c))
	case c.Verb == event.VerbAccept:
		j.Verb, j.Accept = event.VerbVerify, true
	case c.Verb != event.VerbVerify && !r.App:
		return skip(j, j.appOnly("`/verify "+string(c.Verb)+"`"))
	}
	return admitted(j)
}

// admitDispatch reads the inputs. Who may dispatch a workflow is decided by
// permission alone, so that a person's automation may do it.
func admitDispatch(j Job, e *event.Event) Decision {
	j.Trigger, j.Request = TriggerDispatch, delivered(e)
	in := func(key string) string { return strings.TrimSpace(e.Inputs[key]) }
	bad := func(key, want string) Decision {
		return skip(j, j.notify(CodeBadInput, "Nothing was run: the input `"+key+"` must be "+want+"."))
	}
	if n := in(InputPull); n != "" {
		var err error
		if j.Number, err = strconv.Atoi(n); err != nil || j.Number <= 0 {
			j.Number = 0
			return bad(InputPull, "the number of a pull request, or empty")
		}
	} else {
		j.Ref = e.Ref
	}
	if sha := strings.ToLower(in(InputSHA)); sha == "" || event.IsSHA(sha) {
		j.Want = sha
	} else {
		return bad(InputSHA, "7 to 40 hex digits, or empty")
	}
	switch in(InputFull) {
	case "true":
		j.Full = true
	case "false", "":
	default:
		return bad(InputFull, "true or false")
	}
	c, _ := event.ParseCommand("/verify -- " + in(InputWords)) // bounds and tidies them
	j.Words = c.Words
	return admitted(j)
}

// admitCheck looks at a check run or suite that is asked for again, and at the
// buttons. GitHub names no pull request of a fork there: the earlier job knows it. Its
// identity is the check run's external id; that of a suite is the last on its commit.
func admitCheck(j Job, e *event.Event, r Rules) Decision {
	j.Trigger, j.Request = TriggerRerequest, delivered(e)
	j.HeadSHA, j.Again = e.CheckRun.HeadSHA, e.CheckRun.ExternalID
	switch {
	case !r.App:
		return skip(j, j.appOnly("Asking for a check run again"))
	case r.AppID == 0 || e.CheckRun.AppID != r.AppID:
		return skip(j, silent(CodeOtherApp, "The check belongs to another app."))
	}
	if s, yes := byNobody(e.Sender, r); yes {
		return skip(j, s)
	}
	if e.Kind == event.Pressed {
		switch e.CheckRun.Identifier {
		case ButtonVerify:
		case ButtonStop:
			j.Verb = event.VerbStop
		default:
			return skip(j, j.notify(CodeUnknownButton, "Nothing was done: this version of ycbot has no such button."))
		}
	}
	if j.Number == 0 && j.Again == "" && (e.CheckRun.Name != "" || len(e.CheckRun.Pulls) > 1) {
		return skip(j, j.noPull())
	}
	return admitted(j)
}

func (j Job) noPull() Skip {
	return j.notify(CodeNoPull, "Nothing was run: the check does not say which pull request is meant. Comment `/verify` on it.")
}
