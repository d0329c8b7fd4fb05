package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

var errNotInstalled = errors.New("the App may not see the repository")

// ErrNotKnown says that no one knows any more what a run was about.
var ErrNotKnown = errors.New("the job is not known any more")

// pressAsk is how long GitHub may take to say where the repository of a button is.
const pressAsk = 5 * time.Second

// A Press is a button on the page of a run that a person pressed.
type Press struct {
	Verb    event.Verb // verify, stop or accept
	Who     event.User
	Request string // names the press: the same press is done once
	Reason  string // of an acceptance, in the person's own words
}

// Press does what the button of a check run does, or the comment "/verify accept" with the
// run's commit. Whether the person may is decided when the job is begun, as for all jobs.
func (s *Server) Press(ctx context.Context, run store.Run, p Press) error {
	of, err := s.Queue.Get(ctx, run.Job)
	if errors.Is(err, queue.ErrUnknown) {
		err = ErrNotKnown
	}
	if err != nil {
		return fmt.Errorf("button of run %s: %w", run.ID, err)
	}
	repo, installation, err := s.now(ctx, of.Job)
	if err != nil {
		return fmt.Errorf("button of run %s: %w", run.ID, err)
	}
	j := job.Job{
		Verb: p.Verb, Trigger: job.TriggerRerequest, Event: "check_run", Action: "requested_action", Repo: repo, Number: of.Job.Number,
		Ref: of.Job.Ref, HeadSHA: run.HeadSHA, Actor: p.Who, Request: "press:" + p.Request, Again: of.Job.ID, Installation: installation, At: s.Now(),
	}
	if p.Verb == event.VerbAccept {
		j.Verb, j.Accept, j.Want, j.Again = event.VerbVerify, true, run.HeadSHA, ""
		j.Words = report.Line(p.Reason, event.MaxWords)
	}
	j.ID = j.Identity()
	receipt, err := s.Queue.Accept(ctx, store.Delivery{}, &j)
	if err != nil {
		return fmt.Errorf("button of run %s: %w", run.ID, err)
	}
	s.Log.InfoContext(ctx, "button pressed", "run", run.ID, "verb", p.Verb, "actor", p.Who.Login, "job", receipt.ID)
	if receipt.Fresh && s.Fresh != nil {
		s.Fresh(j)
	}
	return nil
}

// now is the repository of a job and the installation that sees it, which the event of a button would have. Where GitHub
// does not say, they are those of the job: a person who stops a run does not wait for that.
func (s *Server) now(ctx context.Context, of job.Job) (event.Repo, int64, error) {
	asking, cancel := context.WithTimeout(ctx, pressAsk)
	defer cancel()
	repo, installation, err := s.Installed(asking, of.Repo)
	switch {
	case err != nil:
		s.Log.WarnContext(ctx, "installation of a repository is not known: that of the run is used", "repo", of.Repo.FullName(), "error", err)
		return of.Repo, of.Installation, ctx.Err()
	case installation == 0:
		return repo, 0, errNotInstalled
	}
	return repo, installation, nil
}
