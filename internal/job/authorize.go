package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
)

// OutsiderSHA is how many hex digits a command must name on an outsider's pull
// request: fewer can be met by a commit that was made to meet them.
const OutsiderSHA = 12

// At most CoolDownRuns runs of a pull request may be asked for within CoolDown.
const (
	CoolDown     = 10 * time.Minute
	CoolDownRuns = 3
)

// Facts are what the first stage of a run asks GitHub for, and the App its
// database. What could not be determined stays zero, which never gives more than
// knowing would.
//
// For a dispatch on a branch, Author is the permission of the person who
// dispatched it, and both repositories are the one of the branch. For the merge
// queue they are those of the pull request that is queued, or zero: the head is
// the event's in any case.
type Facts struct {
	Actor    string     // permission of the person who asks: admin, maintain, write, triage, read, none
	Author   string     // permission of the pull request's author
	By       event.User // the pull request's author
	Fork     bool
	Draft    bool
	Closed   bool
	Paths    []string // that the change touches, old names included; nil where they could not be determined
	Base     string   // name of the base branch now; of a pull request
	HeadSHA  string   // now
	BaseSHA  string   // now
	HeadRepo int64    // id; 0: it is gone
	BaseRepo int64    // id
	Usage    *Usage   // in the App; nil there: not known. The Action has no limits over several runs
}

// Usage is what was used before this job.
type Usage struct {
	RunsToday int     // of the repository
	Recent    int     // runs of this pull request that people asked for within CoolDown
	CostUSD   float64 // of the pull request
}

// Trust says how far the head is trusted: both its author and its repository must
// have write permission. A fork is never trusted, no matter who asks for the run.
func Trust(f Facts) Level {
	if !f.Fork && f.HeadRepo != 0 && f.HeadRepo == f.BaseRepo && rank(f.Author) >= rank("write") {
		return Trusted
	}
	return Untrusted
}

// ByMachine reports whether the author of the change is a machine: what it gives up, a
// person must accept.
func ByMachine(f Facts, c *config.Config) bool {
	return f.By.Bot() || strings.HasSuffix(f.By.Login, "[bot]") || c.Machine(f.By.Login)
}

// rank orders permissions. What is not known, such as a role of an
// organization's own, is none.
func rank(permission string) int {
	return slices.Index([]string{"none", "read", "triage", "write", "maintain", "admin"}, permission)
}

// Authorize says whether an admitted job is run, and pins what it is about: the
// base and head of the Job in the Decision are those to fetch. Its ID stays.
//
// A person's permission is looked at first: who has none learns nothing else.
// The limits are looked at last, in the App alone: they fail closed. Those of c
// are under the operator's already.
func Authorize(j Job, f Facts, c *config.Config, r Rules) Decision {
	if j.Asked() && (j.Actor.ID == 0 || !Permitted(f.Actor, c.Allow)) {
		return skip(j, j.noPermission(f.Actor, c.Allow))
	}
	if j.Verb != event.VerbVerify { // stop and status are about runs, not about commits
		return run(j)
	}
	if j.Trigger == TriggerRerequest && j.Number == 0 {
		return skip(j, j.noPull())
	}
	j.Trust = Trust(f)
	j.Machine = ByMachine(f, c)
	j.MayAccept = j.Trust == Trusted && !j.Machine && f.By.ID != 0 && Permitted(f.Author, c.Allow)
	if j.Accept && c.Machine(j.Actor.Login) {
		return skip(j, j.notify(CodeMachine, "Nothing was accepted: your account is one of `machines` in `.github/ycbot.yml`. A person has to accept."))
	}
	j.NeedsFull = j.Trust != Trusted && privileged(j.Event)
	for _, check := range []func(Job, Facts, *config.Config) *Skip{whichCommit, byItself} {
		if s := check(j, f, c); s != nil {
			return skip(j, *s)
		}
	}
	if r.App && !j.Accept { // which costs nothing
		if s := limits(j, f.Usage, c.Limits.Under(config.Limits{})); s != nil {
			return skip(j, *s)
		}
	}
	j.GateOnly = j.automatic() && j.Trust != Trusted && c.On.Outsiders != config.OutsidersFull
	if !j.pinned() {
		j.HeadSHA, j.Base = f.HeadSHA, cmp.Or(f.Base, j.Base)
		if f.BaseSHA != "" {
			j.BaseSHA = f.BaseSHA
		}
	}
	return run(j)
}

// Permitted reports whether a person may ask. An allow that is not set is write.
func Permitted(has string, allow config.Permission) bool {
	return rank(has) >= max(rank(string(allow)), rank("write"))
}

// privileged reports whether the event is one whose runs hold secrets and tokens
// also when the change is a stranger's: every one but pull_request.
func privileged(name string) bool { return name != "pull_request" }

// automatic reports whether j comes from a push to a pull request.
func (j Job) automatic() bool { return j.Trigger == TriggerPullRequest && !j.Asked() }

// whichCommit compares the event, the words of the person and what is there now.
func whichCommit(j Job, f Facts, _ *config.Config) *Skip {
	if j.pinned() {
		return nil
	}
	var s Skip
	outsider := j.Number != 0 && j.Trust != Trusted
	switch {
	case f.Closed:
		s = j.closed()
	case f.HeadSHA == "":
		s = j.notify(CodeHeadUnknown, "Not verified: GitHub did not say which commit is the head. Ask again later.")
	case j.HeadSHA != "" && j.HeadSHA != f.HeadSHA:
		s = j.superseded(f.HeadSHA)
	case j.Want != "" && !strings.HasPrefix(f.HeadSHA, j.Want):
		s = j.shaMismatch(f.HeadSHA)
	case j.Want != "" && outsider && len(j.Want) < OutsiderSHA:
		s = j.shaShort(f.HeadSHA)
	case j.Want == "" && outsider && j.Asked() && j.Trigger != TriggerRerequest && !j.Accept: // a check run is of one commit, and so is what is accepted
		s = j.shaRequired(f.HeadSHA)
	default:
		return nil
	}
	return &s
}

// byItself holds the settings for pull requests that no one asked about, and the one that says
// whether the label asks.
func byItself(j Job, f Facts, c *config.Config) *Skip {
	var s Skip
	switch {
	case j.labeled() && !j.Accept && !slices.Contains(c.On.PullRequest, config.Labeled): // an acceptance starts no run
		s = j.notify(CodeNotConfigured, "Not verified: `on.pull_request` in `.github/ycbot.yml` does not have `labeled`, so that no label asks for a run. "+again(f.HeadSHA))
	case !j.automatic():
		return nil
	case !slices.Contains(c.On.PullRequest, config.PullRequestAction(j.Action)):
		s = j.notify(CodeNotConfigured, "Not verified: `on.pull_request` in `.github/ycbot.yml` does not have this event. "+again(f.HeadSHA))
	case f.Draft && !c.On.Drafts:
		s = j.notify(CodeDraft, "Not verified: the pull request is a draft. It is verified when it is ready for review. "+again(f.HeadSHA))
	case c.On.Ignores(f.Paths):
		s = j.notify(CodePathsIgnored, "Not verified: all that it changes is in `on.paths_ignore` of `.github/ycbot.yml`. "+again(f.HeadSHA))
	case j.Trust != Trusted && c.On.Outsiders == config.OutsidersNever:
		s = j.notify(CodeOutsider, "Not verified: the pull request comes from a fork, or its author has no write permission, "+
			"and `on.outsiders` in `.github/ycbot.yml` is `never`. "+again(f.HeadSHA))
	default:
		return nil
	}
	return &s
}

// limits holds the limits over several runs. None of l is zero.
func limits(j Job, u *Usage, l config.Limits) *Skip {
	var s Skip
	switch {
	case u == nil || u.RunsToday < 0 || u.Recent < 0 || !(u.CostUSD >= 0): // the last also holds for NaN
		s = j.notify(CodeUsageUnknown, "Not verified: could not read today's usage, so limits cannot be enforced. Ask again later.")
	case u.RunsToday >= l.RunsPerDay:
		s = j.notify(CodeRunsPerDay, fmt.Sprintf("Not verified: this repository had %d runs today, and `limits.runs_per_day` is %d. Ask again tomorrow.", u.RunsToday, l.RunsPerDay))
	case u.CostUSD >= l.CostUSDPerPR:
		s = j.notify(CodeCostPerPR, fmt.Sprintf("Not verified: the runs of this pull request cost $%.2f, and `limits.cost_usd_per_pr` is $%.2f. "+
			"The operator of ycbot can raise it.", u.CostUSD, l.CostUSDPerPR))
	case j.Asked() && u.Recent >= CoolDownRuns:
		s = j.notify(CodeCoolDown, fmt.Sprintf("Not verified: %d runs of this pull request were asked for within %d minutes. Ask again later.",
			u.Recent, int(CoolDown/time.Minute)))
	default:
		return nil
	}
	return &s
}
