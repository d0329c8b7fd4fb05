// Package job says what work an event calls for, and why none where it calls for none.
//
// Everything here is pure, and done in two steps. [Admit] looks at the event
// alone, when it is received. [Authorize] looks at what the first stage of the
// run asked GitHub for, such as the permission of the person who asks and the
// head of the pull request as it is then, and at the repository's configuration.
// Both answer with a [Decision]; each reason to do nothing is a [Code].
//
// A job is asked for by a person (a comment, a label, a button, a dispatch) or
// comes by itself (a push to a pull request, the merge queue). A person needs the
// permission that the configuration's allow names, and then gets what was asked
// for; drafts, paths_ignore and outsiders bound only what comes by itself.
package job

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/event"
)

// A Job is work on one commit. It is stored: do not rename the keys.
type Job struct {
	ID           string     `json:"id"` // see Identity
	Verb         event.Verb `json:"verb"`
	Trigger      Trigger    `json:"trigger"`
	Event        string     `json:"event"`            // as GitHub calls it, such as "pull_request_target"
	Action       string     `json:"action,omitempty"` // as GitHub calls it, such as "opened"
	Repo         event.Repo `json:"repo"`
	Number       int        `json:"number,omitempty"`   // of the pull request; 0: none
	Ref          string     `json:"ref,omitempty"`      // that a dispatch without a pull request is about
	Base         string     `json:"base,omitempty"`     // branch that the pull request goes into, as the event has it, then as Authorize pinned it
	BaseSHA      string     `json:"base_sha,omitempty"` // as the event has it, then as Authorize pinned it
	HeadSHA      string     `json:"head_sha,omitempty"` // the same; empty until Authorize where the event names none
	Want         string     `json:"want,omitempty"`     // commit that the person named, or its beginning
	Full         bool       `json:"full,omitempty"`     // take nothing over from earlier runs
	Accept       bool       `json:"accept,omitempty"`   // conclude the recorded run of the head again, with what a person accepted; nothing is run
	Before       string     `json:"before,omitempty"`   // head that was pushed over; empty: not known
	Words        string     `json:"words,omitempty"`    // of the person, about what to look at
	Actor        event.User `json:"actor"`
	Delivery     string     `json:"delivery,omitempty"` // of the webhook that brought it first, for the log
	Request      string     `json:"request,omitempty"`  // of a person; empty: it comes by itself
	Comment      int64      `json:"comment,omitempty"`  // that asks
	Again        string     `json:"again,omitempty"`    // identity of the job that is asked for again
	Installation int64      `json:"installation,omitempty"`
	At           time.Time  `json:"at,omitzero"` // text that is newer is not read; zero: not known

	Text    *event.Text  `json:"text,omitempty"`    // of the pull request as of the event; nil: not known
	Gone    []event.Repo `json:"gone,omitempty"`    // what VerbForget is about; empty: all of the installation
	Account string       `json:"account,omitempty"` // whose repositories VerbReturn is about; empty: not known

	// Set by Authorize.
	Trust    Level `json:"trust,omitempty"`
	GateOnly bool  `json:"gate_only,omitempty"` // no model
	Machine  bool  `json:"machine,omitempty"`   // its author is a bot, or one of the configuration's machines
	// MayAccept: a trailer of the head commit counts as its author's acceptance.
	MayAccept bool `json:"may_accept,omitempty"`
	// NeedsFull: nothing of the head is executed unless the sandbox has tier full,
	// whatever the operator's settings are.
	NeedsFull bool `json:"needs_full,omitempty"`

	// Record is the run that is concluded again where Accept; the App sets it.
	Record string `json:"record,omitempty"`
}

// A Trigger is what a job came from. The strings stand in reports: do not change them.
type Trigger string

// The triggers.
const (
	TriggerCLI         Trigger = "cli"
	TriggerPullRequest Trigger = "pull_request" // also a label
	TriggerComment     Trigger = "comment"
	TriggerRerequest   Trigger = "rerequest" // also a button of the check run
	TriggerMergeGroup  Trigger = "merge_group"
	TriggerDispatch    Trigger = "dispatch"
	TriggerPush        Trigger = "push" // to the default branch, after a merge
)

// A Level is how far a head is trusted. The strings stand in reports: do not change them.
type Level string

// The levels.
const (
	Trusted   Level = "trusted"   // author and head repository have write permission
	Untrusted Level = "untrusted" // all else
)

// pinned says whether the commits are those of the event: they are made once and do not
// move.
func (j Job) pinned() bool { return j.Trigger == TriggerMergeGroup || j.Trigger == TriggerPush }

// QueuedPull is the number of the pull request that a branch of the merge queue ends
// with ("gh-readonly-queue/main/pr-7-SHA"), 0 for another branch.
func QueuedPull(ref string) int {
	_, name, ok := strings.Cut(ref, "gh-readonly-queue/")
	i := strings.LastIndex(name, "/pr-")
	if !ok || i < 0 {
		return 0
	}
	digits, _, _ := strings.Cut(name[i+len("/pr-"):], "-")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// QueuedBase is the branch that a branch of the merge queue is for; another branch is itself.
func QueuedBase(ref string) string {
	_, name, _ := strings.Cut(ref, "gh-readonly-queue/")
	if i := strings.LastIndex(name, "/pr-"); i >= 0 {
		return name[:i]
	}
	return ref
}

// Asked reports whether a person asks for the job, and not a push.
func (j Job) Asked() bool { return j.Request != "" }

// Verifies reports whether the job calls for a run, and is not a question or a stop.
func (j Job) Verifies() bool { return j.Verb == event.VerbVerify }

// Urgent reports whether the job goes before others: a person asked for it, or a merge
// queue did, which is blocked until it has an answer.
func (j Job) Urgent() bool { return j.Asked() || j.Trigger == TriggerMergeGroup }

// Identity is the work itself as a hash: repository, pull request, base, head,
// and the request where a person asks. Two events that call for the same work
// have the same. Admit sets ID from it, and ID stays when Authorize pins commits. The queue
// gives another ID to work that is known and has to be decided about once more, see
// [Job.OnceMore].
func (j Job) Identity() string {
	repo := "name " + strings.ToLower(j.Repo.FullName())
	if j.Repo.ID != 0 { // it outlives a new name
		repo = "id " + strconv.FormatInt(j.Repo.ID, 10)
	}
	h := sha256.New()
	for _, field := range []string{"ycbot.job/v1", repo, strconv.Itoa(j.Number), j.BaseSHA, j.HeadSHA, j.Request} {
		h.Write([]byte(strconv.Itoa(len(field)) + ":" + field + ",")) // a length before each: no two lists read the same
	}
	return hex.EncodeToString(h.Sum(nil))
}

// OnceMore is j, which comes by itself, with an ID of its own for the delivery that calls for it
// once more.
func (j Job) OnceMore(delivery string) Job {
	of := j
	of.Request = "delivery:" + delivery
	j.ID = of.Identity()
	return j
}

// IsOnceMore reports whether j has its ID from OnceMore.
func (j Job) IsOnceMore() bool { return !j.Asked() && j.ID != j.Identity() }

// AgainstOther reports whether j is a verification for the pull request of another job, but against another
// base than that asks for: another commit, or another branch, which may demand something else though it is at the
// same commit. verified is the base commit of the run of j, empty where it has none.
func (j Job) AgainstOther(other Job, verified string) bool {
	base := cmp.Or(verified, j.BaseSHA)
	return j.Verifies() && j.Number == other.Number && (base != "" && base != other.BaseSHA || j.IntoOther(other))
}

// IntoOther reports whether j is for another base branch than another job, as far as both have one.
func (j Job) IntoOther(other Job) bool {
	return j.Base != "" && other.Base != "" && j.Base != other.Base
}

// A Decision says what becomes of an event or job: it is run, or Skip says why not.
type Decision struct {
	Job  Job
	Run  bool
	Skip *Skip // nil where Run
}

func run(j Job) Decision { return Decision{Job: j, Run: true} }

func skip(j Job, s Skip) Decision { return Decision{Job: j, Skip: &s} }
