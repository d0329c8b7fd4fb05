// Package event says what happened: it turns the body of a GitHub webhook, or of
// the file that GITHUB_EVENT_PATH names, into one [Event]. Both are the same JSON.
//
// Nothing is decided here and nothing is asked of GitHub. [Parse] reads an event,
// [ParseCommand] the command in a comment. All text of an Event was written by
// strangers; what names things (ids, numbers, object ids, owner and name of a
// repository) has been checked for its form and may stand in paths and arguments.
package event

import "time"

// An Event is one thing that happened, no matter who reported it. Fields that an
// event of its kind does not carry are zero.
type Event struct {
	Kind         Kind
	Name         string // as GitHub calls it, such as "pull_request"
	Action       string // as GitHub calls it, such as "opened"
	Delivery     string // of the webhook, or the run's id in Actions
	Repo         Repo
	At           time.Time // as the payload says: of the comment, else when the pull request or workflow last changed; zero: not known
	Number       int       // of the pull request; 0: none is named, or several are
	Issue        int       // of the issue that was commented on, where it is no pull request; Number is 0 then
	Pull         *Pull     // the pull request as of the event; nil where the event does not say
	Text         *Text     // of the pull request that was commented on; nil elsewhere, see Pull
	Label        string    // that was added
	Comment      *Comment
	CheckRun     *CheckRun
	MergeGroup   *MergeGroup
	Push         *Push
	WorkflowRun  *WorkflowRun
	Inputs       map[string]string // of workflow_dispatch
	Ref          string            // of workflow_dispatch
	Sender       User
	Installation int64
	Gone         []Repo // repositories that the installation may not see any more; empty where it is Revoked: all
	Account      string // where it is Granted: whose repositories they are; empty: not known
}

// A Kind is what happened to a change.
type Kind string

// The kinds of event that ycbot looks at.
const (
	PullRequest Kind = "pull_request"     // opened, moved, labeled …: see Action
	Commented   Kind = "comment"          // a comment on a pull request or issue
	Dispatched  Kind = "dispatch"         // workflow_dispatch
	Queued      Kind = "merge_group"      // the merge queue asks
	Ungrouped   Kind = "ungrouped"        // the merge queue gave a group up, which was not merged
	Pushed      Kind = "push"             // to the default branch
	Rerequested Kind = "rerequest"        // of a check run or check suite
	Pressed     Kind = "requested_action" // a button of our check run
	Finished    Kind = "workflow_run"     // a workflow ended whose run directory may be published
	Revoked     Kind = "installation"     // the App was removed or suspended, from all or from some repositories; Repo is zero
	Granted     Kind = "granted"          // the App was installed, given repositories, or is suspended no longer; Repo is zero
)

// A Repo is a repository.
type Repo struct {
	ID          int64
	Owner, Name string
	Private     bool
}

// FullName is "owner/name".
func (r Repo) FullName() string { return r.Owner + "/" + r.Name }

// A User is an account. Only the ID is reliable: a login can be given up and taken.
type User struct {
	ID    int64
	Login string
	Type  string // User, Bot, Organization …
}

// Bot says whether an account is no person's.
func (u User) Bot() bool { return u.Type != "" && u.Type != "User" }

// A Push moved the default branch.
type Push struct {
	Branch        string
	Before, After string // commits
}

// A Text is what the author of a pull request wrote about it.
type Text struct {
	Title  string `json:"title"`
	Body   string `json:"body,omitempty"`
	Author string `json:"author,omitempty"` // login; empty: the account is gone, or not known
}

// A Pull is a pull request as of an event.
type Pull struct {
	Title, Body string
	Draft       bool
	Closed      bool
	Author      User
	Base, Head  Ref
	Before      string // head that a push replaced; empty: the event is no push, or does not say
	Labels      []string
}

// Fork reports whether the head lies in another repository than the base, or in
// one that is gone.
func (p *Pull) Fork() bool { return p.Head.Repo.ID == 0 || p.Head.Repo.ID != p.Base.Repo.ID }

// A Ref is one side of a pull request.
type Ref struct {
	Name string // branch
	SHA  string
	Repo Repo // zero where the repository is gone
}

// A Comment is a comment on an issue or pull request.
type Comment struct {
	ID               int64
	Body             string
	Author           User
	Created, Updated time.Time
}

// A CheckRun is the check run, or the suite, that was asked for again or whose button was pressed.
type CheckRun struct {
	ID         int64
	AppID      int64
	Name       string // empty: a suite
	HeadSHA    string
	ExternalID string
	Identifier string // of the button
	Pulls      []int  // of this repository; GitHub names none for forks
}

// A MergeGroup is what the merge queue wants to know.
type MergeGroup struct {
	BaseSHA, HeadSHA string
	BaseRef, HeadRef string
}

// A WorkflowRun is a workflow that ended.
type WorkflowRun struct {
	ID         int64
	Event      string
	Conclusion string
	HeadSHA    string
	HeadBranch string // a name of the head repository's, in any form
	HeadRepo   Repo   // zero where the repository is gone
	Pulls      []int  // of this repository; GitHub names none for forks
}
