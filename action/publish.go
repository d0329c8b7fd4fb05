package action

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/report"
)

// publish posts what another job found.
func (x *session) publish(ctx context.Context, e *event.Event) (int, error) {
	if e.Kind == event.Finished && e.WorkflowRun.Event == "pull_request" {
		if _, err := os.Stat(x.Inputs.Publish); errors.Is(err, fs.ErrNotExist) {
			return x.leftNothing(ctx, e)
		}
	}
	rep, posted, err := x.Host.Publish(ctx, e, x.Inputs.Publish)
	if err != nil {
		return x.failed(ctx, job.Job{}, err)
	}
	x.report(rep, posted)
	return report.ExitPass, nil
}

// leftNothing says of each pull request that a workflow ran for why there is nothing to
// publish, and completes the check: what the base's configuration keeps from being verified
// leaves nothing, and so does a workflow that failed, or that the change has changed.
func (x *session) leftNothing(ctx context.Context, e *event.Event) (int, error) {
	jobs, err := x.Host.Ended(ctx, e)
	if err != nil {
		return x.failed(ctx, job.Job{}, err)
	}
	if len(jobs) == 0 {
		return report.ExitPass, x.nothing("no open pull request has the commit " + e.WorkflowRun.HeadSHA + " of the workflow that ended")
	}
	code := report.ExitPass
	for _, j := range jobs {
		facts, c, failure := x.Host.Learn(ctx, e, j)
		if failure == nil {
			failure = x.skip(ctx, j.LeftNothing(facts, c))
		} else {
			code, failure = x.unknown(ctx, j, facts, failure)
		}
		err = errors.Join(err, failure)
	}
	return code, err
}
