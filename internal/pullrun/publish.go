package pullrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/terminal"
)

// A Presentation says how a finished run is posted.
type Presentation struct {
	Comment    string // a mode of publish; "": sticky
	Check      *bool  // nil: where there is an event
	Scope      string // part of the repository
	FailOn     string
	DetailsURL string
}

// Published is a finished run that was posted.
type Published struct {
	Report *report.Report
	Ending publish.Ending
	Posted publish.Posted
}

// Publish checks the finished run in dir and posts it. e is the event of the workflow that
// does so; nil where a person does.
func Publish(ctx context.Context, m machine.Machine, h *GitHub, how Presentation, e *event.Event, dir string) (Published, error) {
	c, err := recheck.Check(dir, "")
	if err != nil {
		return Published{}, err
	}
	if len(c.Problems) > 0 {
		return Published{}, fmt.Errorf("%s is not intact, so nothing of it is posted: %s", dir, terminal.Printable(strings.Join(c.Problems, "; ")))
	}
	rep, end := c.Report, publish.Ending{}
	owner, name, ok := strings.Cut(rep.Repo, "/")
	if !ok || rep.Dirty || rep.PR == 0 && e == nil { // what a person chose to compare says nothing of the commit
		return Published{}, fmt.Errorf("%s is not the run of a pull request (but of %s): only one of a pull request can be posted; see ycbot run --pr", dir, rep.Repo)
	}
	recorded, err := rundir.Read(dir, nil)
	if err != nil {
		return Published{}, err
	}
	h.Repo = github.Repo{Owner: owner, Name: name}
	if end.Claims, err = h.provenance(ctx, e, rep); err != nil {
		return Published{}, fmt.Errorf("%s: %w", dir, err)
	}
	po := Posting{
		Publish: config.Publish{Comment: cmp.Or(config.Comment(how.Comment), config.CommentSticky), Check: e != nil, Annotations: e != nil},
		Status:  e == nil, Scope: how.Scope, FailOn: how.FailOn, DetailsURL: how.DetailsURL,
		Target: publish.Target{
			Repo: h.Repo, Number: rep.PR, HeadSHA: rep.HeadSHA, Base: recorded.Begun.Source.BaseRef, Job: rep.RunID, RunID: rep.RunID, Digest: c.Digest,
		},
	}
	if how.Check != nil {
		po.Check = *how.Check
	}
	effects, err := OpenEffects(dir, m.Now)
	if err != nil {
		return Published{}, err
	}
	poster := NewPoster(m, h.Client, po, effects, 0)
	defer poster.Close()
	posted, err := poster.Finish(ctx, dir, rep, end)
	return Published{rep, end, posted}, err
}

// provenance holds what a report says it is about against the event, and says
// whether the report is only a claim. It is in a workflow that another one's end
// started: that one's file may be the change's, and what it left may name any pull
// request: only one from the very repository that it ran for is written to.
func (h *GitHub) provenance(ctx context.Context, e *event.Event, rep *report.Report) (claims bool, err error) {
	if e == nil {
		return false, nil
	}
	if !strings.EqualFold(rep.Repo, e.Repo.FullName()) {
		return false, fmt.Errorf("the run is of %s, and this workflow of %s", rep.Repo, e.Repo.FullName())
	}
	if e.Kind != event.Finished {
		if e.Number != 0 && rep.PR != e.Number {
			return false, fmt.Errorf("the run is of pull request %d, and this event of %d", rep.PR, e.Number)
		}
		return false, nil
	}
	if rep.HeadSHA != e.WorkflowRun.HeadSHA {
		return true, fmt.Errorf("the run is of commit %s, and the workflow that left it of %s", rep.HeadSHA, e.WorkflowRun.HeadSHA)
	}
	if rep.PR == 0 {
		return true, nil
	}
	pull, err := h.Client.Pull(ctx, h.Repo, rep.PR)
	if err != nil {
		return true, err
	}
	from, ran := pull.Head.RepoID, e.WorkflowRun.HeadRepo.ID
	if from != ran || pull.Head.SHA != rep.HeadSHA && from == 0 { // else the head has moved, and what is posted says so
		return true, fmt.Errorf("commit %s is not of the repository that pull request %d is from", rep.HeadSHA, rep.PR)
	}
	return true, nil
}

// ErrNotBegun is that no run was begun in a directory.
var ErrNotBegun = errors.New("no run was begun there")

// Finalize ends on GitHub the run that was begun in dir by a process that was killed.
// connect is called where there is something to post. It fails with [ErrNotBegun].
func Finalize(ctx context.Context, m machine.Machine, connect func() (*GitHub, error), dir string) (publish.Posted, error) {
	if _, err := os.Stat(EffectsFile(dir)); errors.Is(err, fs.ErrNotExist) {
		return publish.Posted{}, ErrNotBegun
	}
	e, err := OpenEffects(dir, m.Now)
	if err != nil {
		return publish.Posted{}, err
	}
	po, begun, err := e.Recall()
	if err != nil || !begun {
		return publish.Posted{}, errors.Join(err, e.Close())
	}
	h, err := connect()
	if err != nil {
		return publish.Posted{}, errors.Join(err, e.Close())
	}
	poster := NewPoster(m, h.Client, po, e, 0)
	defer poster.Close()
	cancelled := m.Getenv("JOB_STATUS") == "cancelled"
	rep := Remains(m, dir, errors.New("ycbot was killed before the run had ended"), cancelled)
	if rep != nil && rep.Outcome == report.Cancelled && !cancelled {
		rep.Outcome = report.Errored // the machine killed it, perhaps for want of memory; no one cancelled it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), PostTime)
	defer cancel()
	return poster.Finish(ctx, dir, rep, publish.Ending{})
}
