package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// ErrNotKnown says that no one knows any more what a run was about.
var ErrNotKnown = errors.New("the job is not known any more")

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
	j := job.Job{
		Verb: p.Verb, Trigger: job.TriggerRerequest, Event: "check_run", Action: "requested_action", Repo: of.Job.Repo, Number: of.Job.Number,
		Ref: of.Job.Ref, HeadSHA: run.HeadSHA, Actor: p.Who, Request: "press:" + p.Request, Again: of.Job.ID, Installation: of.Job.Installation, At: s.Now(),
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
