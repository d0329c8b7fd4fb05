package job

import (
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
)

// A Skip says why there is no run.
type Skip struct {
	Code   Code
	Text   string // Markdown for people: what, why, what to do; nothing in it was written by strangers
	Notify Notify
	Number int  // of the pull request or issue that a comment goes to; 0: there is none
	asked  bool // by a person
}

// A Notify says where a Skip is reported. It is reported once, in one place.
type Notify string

// The places.
const (
	NotifyNone    Notify = "none"    // only in the log: no one waits for an answer
	NotifySummary Notify = "summary" // job summary of the Action, list of runs of the App where a person asked
	NotifyComment Notify = "comment" // one comment, kept up to date instead of followed by another
)

// A Code is a reason to do nothing. The strings are stored and documented: do
// not change them.
type Code string

// Reasons that the event alone gives; see Admit.
const (
	CodeEdited        Code = "edited"          // the comment was edited; only new ones are read
	CodeNoCommand     Code = "no-command"      // the comment does not begin with /verify
	CodeSelf          Code = "self"            // ycbot did it itself
	CodeBot           Code = "bot"             // a bot asked; only people may
	CodeNotPull       Code = "not-a-pull"      // the command was written on an issue
	CodeHelp          Code = "help"            // /verify help: the answer is the help
	CodeUnknown       Code = "unknown-command" // begins with /verify and goes on as no command does: the answer is the help
	CodeAppOnly       Code = "app-only"        // needs the GitHub App; an Action cannot hear or do it
	CodeActionOnly    Code = "action-only"     // a push, which is for a workflow; the App looks at pull requests
	CodeOtherLabel    Code = "other-label"     // another label than the two that ask for a run or accept what was given up
	CodeOtherApp      Code = "other-app"       // the check belongs to another app
	CodeUnknownButton Code = "unknown-button"  // a button that this version does not have
	CodeNoPull        Code = "no-pull"         // the check names no pull request
	CodeBadInput      Code = "bad-input"       // an input of workflow_dispatch cannot be read
	CodePublishOnly   Code = "publish-only"    // workflow_run starts no run; it publishes what another run left
)

// Reasons that GitHub's answers and the configuration give; see Authorize.
const (
	CodeNoPermission  Code = "no-permission"  // the person has less than the permission of allow, or it could not be determined
	CodeClosed        Code = "closed"         // the pull request is closed or merged
	CodeHeadUnknown   Code = "head-unknown"   // GitHub did not name the head commit
	CodeSuperseded    Code = "superseded"     // the head moved after the event
	CodeSHARequired   Code = "sha-required"   // an outsider's pull request, and no commit was named
	CodeSHAShort      Code = "sha-short"      // an outsider's pull request, and fewer than 12 digits
	CodeSHAMismatch   Code = "sha-mismatch"   // the commit that was named is not the head
	CodeNotConfigured Code = "not-configured" // on.pull_request does not have the action, also where a label asks
	CodeDraft         Code = "draft"          // a draft, and on.drafts is false
	CodePathsIgnored  Code = "paths-ignored"  // all changed paths match on.paths_ignore
	CodeOutsider      Code = "outsider"       // an outsider's pull request, and on.outsiders is never
	CodeUsageUnknown  Code = "usage-unknown"  // today's usage could not be read, so limits cannot be enforced
	CodeRunsPerDay    Code = "runs-per-day"   // limits.runs_per_day is reached
	CodeCostPerPR     Code = "cost-per-pr"    // limits.cost_usd_per_pr is reached
	CodeMachine       Code = "machine"        // who accepts is one of machines
	CodeNoRecord      Code = "no-record"      // there is no finished run of the commit into this base that could be concluded again, or another is to come
	CodeCoolDown      Code = "cool-down"      // asked for too often within the cool-down
	CodeNothingLeft   Code = "nothing-left"   // the workflow of a fork's pull request ended and left nothing to publish
)

// Excluded reports whether the base's configuration keeps the change from being
// verified by itself: nothing is wanted, so that its check need not hold it. A person who asks wants
// something, and the check is left as it is.
func (s Skip) Excluded() bool {
	return !s.asked && slices.Contains([]Code{CodeNotConfigured, CodeDraft, CodePathsIgnored}, s.Code)
}

// Refused reports whether a limit, or the rule for outsiders, keeps the change from
// being verified, or nothing came of what was to verify it: its check counts as PARTIAL.
func (s Skip) Refused() bool {
	return slices.Contains([]Code{CodeOutsider, CodeUsageUnknown, CodeRunsPerDay, CodeCostPerPR, CodeCoolDown, CodeNothingLeft}, s.Code)
}

// silent is a Skip that no one waits for.
func silent(code Code, text string) Skip { return Skip{Code: code, Text: text, Notify: NotifyNone} }

// notify is a Skip that is reported where j came from: a comment answers a comment and
// a label, which people set on the pull request's page; all else has a summary.
func (j Job) notify(code Code, text string) Skip {
	s := Skip{Code: code, Text: text, Notify: NotifySummary, asked: j.Asked()}
	if j.Number != 0 && (j.Trigger == TriggerComment || j.labeled()) {
		s.Notify, s.Number = NotifyComment, j.Number
	}
	return s
}

// again says how a person can have a run of the pull request all the same.
func again(sha string) string {
	if sha == "" {
		return "Someone with the permission can ask for one with the comment `/verify`."
	}
	return "Someone with the permission can ask for one with the comment `/verify " + change.Short(sha) + "`."
}

func (j Job) helped(c event.Command) Skip {
	if c.Reason == "" {
		return j.notify(CodeHelp, event.Help())
	}
	return j.notify(CodeUnknown, "Nothing was run, because the command was not understood: "+c.Reason+".\n\n"+event.Help())
}

func (j Job) appOnly(what string) Skip {
	return j.notify(CodeAppOnly, what+" works in the GitHub App only: a workflow cannot reach the run of another one. "+
		"In Actions, look at the workflow's runs, and cancel there.")
}

// NoRecord says that there is nothing to accept.
func (j Job) NoRecord() Skip {
	return j.notify(CodeNoRecord, fmt.Sprintf("Nothing was accepted: there is no finished run of `%s` whose verdict could be concluded again. "+
		"Comment `/verify %s` for one, review what it lists, and accept then.", change.Short(j.HeadSHA), change.Short(j.HeadSHA)))
}

// Unsettled says that nothing is accepted now, as another verdict of the pull request is to come.
func (j Job) Unsettled() Skip {
	return j.notify(CodeNoRecord, "Nothing was accepted: the pull request is being verified, or waits for it. Review what that lists, and accept then.")
}

func (j Job) noPermission(p string, allow config.Permission) Skip {
	has := "yours could not be determined"
	if p != "" {
		has = "you have " + role(p)
	}
	return j.notify(CodeNoPermission, fmt.Sprintf("Nothing was done: this needs the permission `%s` on this repository, and %s. "+
		"Ask someone who has it (`allow` in `.github/ycbot.yml`).", allow, has))
}

// role names a permission; the name of a custom role is someone's text.
func role(p string) string {
	switch p {
	case "admin", "maintain", "write", "triage", "read", "none":
		return "`" + p + "`"
	}
	return "a role of your organization's own"
}

func (j Job) superseded(now string) Skip {
	text := fmt.Sprintf("Not verified: the head was `%s` when this was asked for and is `%s` now. ", change.Short(j.HeadSHA), change.Short(now))
	if j.Asked() {
		return j.notify(CodeSuperseded, text+again(now))
	}
	return j.notify(CodeSuperseded, text+"The newer commit has an event of its own.")
}

func (j Job) shaRequired(head string) Skip {
	return j.notify(CodeSHARequired, "Nothing was run: this pull request comes from a fork, or its author has no write permission, "+
		"so the commit must be named, with 12 hex digits or more. "+
		fmt.Sprintf("The head is `%s` now. When you have looked at that commit, %s.", head, j.name(head)))
}

func (j Job) shaShort(head string) Skip {
	return j.notify(CodeSHAShort, fmt.Sprintf("Nothing was run: `%s` has %d hex digits. This pull request comes from a fork, or its author "+
		"has no write permission, so the commit must be named with 12 or more. The head is `%s` now.", j.Want, len(j.Want), head))
}

func (j Job) shaMismatch(head string) Skip {
	return j.notify(CodeSHAMismatch, fmt.Sprintf("Nothing was run: you named `%s`, and the head of this pull request is `%s`. "+
		"Look at what was pushed, then %s.", j.Want, head, j.name(head)))
}

// name says how to ask again and name the commit.
func (j Job) name(head string) string {
	if j.Trigger == TriggerDispatch {
		return fmt.Sprintf("start the workflow again with the input `%s` as `%s`", InputSHA, change.Short(head))
	}
	return fmt.Sprintf("comment `/verify %s`", change.Short(head))
}
