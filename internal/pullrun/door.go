package pullrun

import (
	"context"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/sandbox/forecast"
	"github.com/ycbot/ycbot/internal/telemetry"
)

// A Door is where runs come in. Its runs are traced where someone wants that.
type Door struct {
	Name   string
	Traces *telemetry.Tracing // nil: none are wanted
	Now    func() time.Time
}

// Run has a run done.
func (d Door) Run(ctx context.Context, runner *run.Runner, job run.Job) (*report.Report, error) {
	defer forecast.Wait(runner.Sandbox)
	t := d.Traces.Run(traceInfo(d.Name, job), d.Now())
	if t != nil {
		runner.Observe = Observers(runner.Observe, t.Observe)
	}
	rep, err := runner.Run(ctx, job)
	t.End(err)
	return rep, err
}

// traceInfo is what a trace has of a job: names and numbers, and no text of anyone's.
func traceInfo(door string, job run.Job) telemetry.RunInfo {
	info := telemetry.RunInfo{Door: door, Trigger: job.Trigger, Trust: job.Trust}
	if job.Models != nil {
		info.Provider, info.Model, _ = strings.Cut(job.Models.Name, " ")
	}
	if pull := job.Pull; pull != nil {
		info.Repo, info.Number, info.Head = pull.Repo, pull.Number, pull.Head
	}
	return info
}
