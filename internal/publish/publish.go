// Package publish reports how a run goes and how it ended: one comment, one
// check run or commit status, reactions and notices, each of which is there once
// however often the run is killed and started again.
//
// Every effect passes the [Ledger]: its intent is recorded, then the outside is
// asked whether it is there already (by a mark and by the author's numeric id, on
// all pages), then it is done, then its reference is recorded. A ledger that is
// lost, or new on another machine, costs a few requests and nothing else.
//
// What is posted is made here from the fields of a report; all text in those is
// untrusted and made inert. No model takes part, and there is no call by which
// anything could be approved.
package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
)

// CheckName is what the check run and the commit status are called: do not change
// it, branch protections name it.
const CheckName = "ycbot"

// The ways to comment on a pull request.
const (
	Sticky   = "sticky" // one comment, edited in place
	EveryRun = "new"    // a comment for each run
	Off      = "off"
)

// A Target is what a run verifies and where its result belongs.
type Target struct {
	Repo           github.Repo
	Number         int    // of the pull request; 0: none, so that there are no comments
	HeadSHA        string // the commit that is verified; the check run goes there whatever happens
	Base           string // branch that it goes into, as the run took it; empty: not known
	Job            string // identity of the work: the external id of the check run
	RunID          string
	CommandComment int64         // the comment that asked; 0: none
	Files          []change.File // of the change: only these are annotated
	Digest         string        // of SHA256SUMS, hex; empty while there is none
}

// GitHub is what a Publisher calls. [github.Client] has it.
type GitHub interface {
	basics
	comments
	checks
	statuses
}

type basics interface {
	Self(ctx context.Context) (github.User, error)
	Pause(ctx context.Context, try int) error
	Pull(ctx context.Context, repo github.Repo, n int) (*github.Pull, error)
	RequiresCheck(ctx context.Context, repo github.Repo, branch, check string) (bool, error)
}

type comments interface {
	Comments(ctx context.Context, repo github.Repo, n int) ([]github.Comment, error)
	CreateComment(ctx context.Context, repo github.Repo, n int, body string) (github.Comment, error)
	EditComment(ctx context.Context, repo github.Repo, id int64, body string) (github.Comment, error)
	React(ctx context.Context, repo github.Repo, commentID int64, content string) error
}

type checks interface {
	CheckRuns(ctx context.Context, repo github.Repo, sha, name string) ([]github.CheckRun, error)
	CreateCheckRun(ctx context.Context, repo github.Repo, r github.CheckRun) (github.CheckRun, error)
	UpdateCheckRun(ctx context.Context, repo github.Repo, r github.CheckRun) (github.CheckRun, error)
	Annotations(ctx context.Context, repo github.Repo, checkRunID int64) ([]github.Annotation, error)
}

type statuses interface {
	Statuses(ctx context.Context, repo github.Repo, sha string) ([]github.Status, error)
	CreateStatus(ctx context.Context, repo github.Repo, sha string, s github.Status) (github.Status, error)
}

// A Publisher posts with one identity. It is safe for concurrent use, and must not
// be copied after its first use.
type Publisher struct {
	GitHub      GitHub
	Ledger      *Ledger          // nil: nothing is remembered, all is looked up
	Comment     string           // Sticky (also when empty), EveryRun or Off
	Check       bool             // a check run; personal tokens may not
	Annotations bool             // with the check run
	Status      bool             // a commit status, for personal tokens
	App         bool             // it can hear buttons
	AppID       int64            // whose check runs are ours; 0: not known, whose may be updated
	Scope       string           // distinguishes several of them on one pull request, such as a directory of a monorepo; mostly empty
	FailOn      string           // auto (also when empty), fail, partial or never; see [Conclusion]
	DetailsURL  string           // page of the job, or of the run
	EvidenceURL string           // where the evidence is; an {id} in it is replaced by that of an execution
	Artifact    string           // name of the artifact that has it; empty: none
	Redact      *redact.Redactor // nil: shapes of tokens only
	Now         func() time.Time
	Log         *slog.Logger

	mu   sync.Mutex
	jobs map[string]*job
}

// A job is what a Publisher remembers of a target while the process lives.
type job struct {
	mu    sync.Mutex // held while the check run is written, so that a late progress never follows the end
	check int64
	last  time.Time // when progress was shown
	done  bool
}

// Posted says what is outside now.
type Posted struct {
	CommentURL string   `json:"comment_url"`
	CheckURL   string   `json:"check_url"`
	Left       []string `json:"left,omitempty"` // what could not be written, and why: the token may not
}

// Begin shows that the run is under way: an unfinished check run (or pending
// status), and eyes on the comment that asked. What the token may not write is
// left out; Finish says so. That the eyes could not be written is no error.
func (p *Publisher) Begin(ctx context.Context, t Target) error {
	if _, ok, err := p.Ledger.lookup(ctx, anyEndKey(t)); err != nil || ok {
		return wrap("begin", t, err) // it ended, and that was posted: nothing is under way
	}
	var errs []error
	if p.Check {
		errs = append(errs, p.dropRefused("check run", p.beginCheck(ctx, t)))
	}
	if p.Status {
		pending := github.Status{Context: CheckName, State: "pending", Description: "verifying " + short(t.HeadSHA), TargetURL: p.DetailsURL}
		errs = append(errs, p.dropRefused("status", p.setStatus(ctx, t, pending)))
	}
	if t.CommandComment != 0 {
		if err := p.GitHub.React(ctx, t.Repo, t.CommandComment, "eyes"); err != nil && p.Log != nil { // nothing depends on it
			p.Log.WarnContext(ctx, "the comment that asked has no reaction", "error", err)
		}
	}
	return wrap("begin", t, errors.Join(errs...))
}

// Finish shows how the run ended. The head is asked for again first: a result that
// it moved away from is shown as superseded. rep may be partial, or nil where the
// run did not come to one. ctx should outlive the run's own. Finishing again changes
// nothing.
func (p *Publisher) Finish(ctx context.Context, t Target, rep *report.Report, e Ending) (Posted, error) {
	if rep == nil {
		rep = unfinished(t, e)
	}
	rep = Clean(p.Redact, rep)
	key := finishedKey(t, rep, e)
	if posted, ok, err := p.finished(ctx, key); err != nil || ok {
		return posted, wrap("finish", t, err)
	}
	end := ending{Ending: e.of(rep), rep: rep}
	headErr := p.compareHead(ctx, t, &end)
	end.conclusion, end.title = Conclusion(rep, end.Ending, p.FailOn)
	if err := p.hold(ctx, t, &end); err != nil {
		return Posted{}, wrap("finish", t, err)
	}
	end.title = p.Redact.String(end.title)
	end.rep = shown(rep, end.Ending)
	if err := p.heedOthers(ctx, t, &end); err != nil && !refused(err) {
		return Posted{}, wrap("finish", t, err)
	}

	var posted Posted
	var errs []error
	note := func(what string, err error) {
		// What an App does not find it may not see now, and comes back to; GitHub says where a conversation is locked.
		if refused(err) && (!p.App || !github.IsNotFound(err)) {
			posted.Left = append(posted.Left, left(what, err))
			return
		}
		errs = append(errs, err)
	}
	switch {
	case headErr != nil:
		// What the head is now is not known, so nothing is said about the pull
		// request. The check run belongs to a commit, and is true of it.
		note("comment", headErr)
	case t.Number != 0 && p.Comment != Off:
		url, err := p.postResult(ctx, t, end)
		posted.CommentURL = url
		note("comment", err)
	}
	if p.Check {
		url, said, err := p.finishCheck(ctx, t, end, posted.CommentURL)
		posted.CheckURL = url
		posted.Left = append(posted.Left, said...)
		if p.App && refused(err) { // it may write check runs, unless it may not see the repository now
			errs, err = append(errs, err), nil
		}
		note("check run", err)
	}
	if p.Status {
		note("status", p.setStatus(ctx, t, finalStatus(end, posted.CommentURL, p.DetailsURL)))
	}
	if err := errors.Join(errs...); err != nil {
		return posted, wrap("finish", t, err)
	}
	return posted, wrap("finish", t, p.setFinished(ctx, t, key, posted))
}

// compareHead makes e superseded where the pull request's head is another commit by now, or it goes
// into another branch.
func (p *Publisher) compareHead(ctx context.Context, t Target, e *ending) error {
	if t.Number == 0 {
		return nil
	}
	pull, err := p.GitHub.Pull(ctx, t.Repo, t.Number)
	if err != nil {
		return fmt.Errorf("compare head: %w", err)
	}
	e.head, e.base = pull.Head.SHA, pull.Base.Name
	switch {
	case pull.Head.SHA != t.HeadSHA:
		e.Kind, e.By = Superseded, pull.Head.SHA
	case t.Base != "" && pull.Base.Name != t.Base:
		e.Kind, e.Into = Superseded, pull.Base.Name
	}
	return nil
}

// me returns the account that posts.
func (p *Publisher) me(ctx context.Context) (github.User, error) {
	u, err := p.GitHub.Self(ctx)
	if err == nil && u.ID == 0 {
		return u, errors.New("the account that posts has no id")
	}
	return u, err
}

func (p *Publisher) job(t Target) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := checkKey(t)
	if p.jobs == nil {
		p.jobs = map[string]*job{}
	}
	if p.jobs[key] == nil {
		p.jobs[key] = &job{}
	}
	return p.jobs[key]
}

// forget drops what is remembered of t. Progress that comes later finds no check run.
func (p *Publisher) forget(t Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, checkKey(t))
}

// refused says that the token may not do it. Tokens of forks get 403, and 404
// where they may not even know.
func refused(err error) bool {
	return err != nil && (github.IsForbidden(err) || github.IsNotFound(err))
}

// left is the line of Posted.Left.
func left(what string, err error) string {
	return report.Line(fmt.Sprintf("%s: not permitted: %v", what, err), 300)
}

// dropRefused logs an err that says that the token may not, and returns any other.
func (p *Publisher) dropRefused(what string, err error) error {
	if !refused(err) {
		return err
	}
	if p.Log != nil {
		p.Log.Info("not permitted", "effect", what, "error", err)
	}
	return nil
}

func wrap(what string, t Target, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("publish %s %s: %w", what, t, err)
}

// String names t for logs and errors.
func (t Target) String() string {
	if t.Number == 0 {
		return t.Repo.String() + "@" + short(t.HeadSHA)
	}
	return fmt.Sprintf("%s#%d@%s", t.Repo, t.Number, short(t.HeadSHA))
}

// short abbreviates an object id as GitHub does.
func short(oid string) string {
	if len(oid) > 7 && isHex(oid) {
		return oid[:7]
	}
	return oid
}

func isHex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdef") == ""
}
