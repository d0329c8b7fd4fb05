package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// ErrNotKnown says that no one knows any more what a run was about.
var ErrNotKnown = errors.New("the work is not known any more")

// Press does what the button of a check run does, for a person who pressed it on the
// page of a run: request names the press, and the same press is done once. Whether the
// person may is decided when the job is begun, as for all jobs.
func (s *Server) Press(ctx context.Context, run store.Run, verb event.Verb, who event.User, request string) error {
	of, err := s.Queue.Get(ctx, run.Job)
	if errors.Is(err, queue.ErrUnknown) {
		err = ErrNotKnown
	}
	if err != nil {
		return fmt.Errorf("button of run %s: %w", run.ID, err)
	}
	j := job.Job{
		Verb: verb, Trigger: job.TriggerRerequest, Event: "check_run", Action: "requested_action", Repo: of.Job.Repo, Number: of.Job.Number,
		Ref: of.Job.Ref, HeadSHA: run.HeadSHA, Actor: who, Request: "press:" + request, Again: of.Job.ID, Installation: of.Job.Installation, At: s.Now(),
	}
	j.ID = j.Identity()
	receipt, err := s.Queue.Accept(ctx, store.Delivery{}, &j)
	if err != nil {
		return fmt.Errorf("button of run %s: %w", run.ID, err)
	}
	s.Log.InfoContext(ctx, "button is pressed", "run", run.ID, "verb", verb, "actor", who.Login, "job", receipt.ID)
	if receipt.Fresh && s.Fresh != nil {
		s.Fresh(j)
	}
	return nil
}
