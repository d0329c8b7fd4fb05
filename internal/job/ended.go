package job

import (
	"slices"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
)

// Ended is the verification of a pull request that a workflow ran for, which ended. The
// file of that workflow is the change's, so that nothing that it did is known.
func Ended(e *event.Event, number int) Job {
	j := Job{
		Verb: event.VerbVerify, Trigger: TriggerPullRequest, Event: e.Name, Repo: e.Repo, Number: number,
		HeadSHA: e.WorkflowRun.HeadSHA, Actor: e.Sender,
	}
	j.ID = j.Identity()
	return j
}

// LeftNothing says why there is nothing to publish of j, which is [Ended]: by the
// configuration of the base alone, as the workflow that left nothing is the change's. What
// the change could choose excludes nothing: the event (on.pull_request excludes where it
// has none), and that it is a draft now, as no one here can have it verified once it is ready.
func (j Job) LeftNothing(f Facts, c *config.Config) Decision {
	j.Action = string(config.Opened)
	for _, a := range []config.PullRequestAction{config.Synchronize, config.Reopened, config.ReadyForReview} {
		if slices.Contains(c.On.PullRequest, a) {
			j.Action = string(a)
		}
	}
	d := Authorize(j, f, c, Rules{})
	if d.Run {
		return skip(d.Job, j.notify(CodeNothingLeft, "Not verified: its workflow left nothing to publish. The log of that workflow may say why. "+again(f.HeadSHA)))
	}
	if d.Skip.Code == CodeDraft {
		d.Skip.Code = CodeNothingLeft
	}
	return d
}
