package main

import (
	"context"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/sandbox/forecast"
	"github.com/ycbot/ycbot/internal/telemetry"
)

// flushTime is how long the program waits at its end for traces to be taken.
const flushTime = 5 * time.Second

// openTraces has traces sent where the environment asks for them, and returns what sends
// the last of them.
func (p *program) openTraces(ctx context.Context) func() {
	traces, err := telemetry.OpenTracing(ctx, p.getenv, version(), p.log)
	if err != nil {
		p.say("no traces are sent: " + err.Error())
	}
	p.traces = traces
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		if err := traces.Close(ctx); err != nil {
			p.log().WarnContext(ctx, "the last traces are not sent", "error", err)
		}
	}
}

// perform has a run done, and traced where someone wants that.
func (p *program) perform(ctx context.Context, door string, runner *run.Runner, job run.Job) (*report.Report, error) {
	defer forecast.Wait(runner.Sandbox)
	t := p.traces.Run(traceInfo(door, job), p.now())
	if t != nil {
		runner.Observe = observers(runner.Observe, t.Observe)
	}
	rep, err := runner.Run(ctx, job)
	t.End(err)
	return rep, err
}

// traceInfo is what a trace has of a job: names and numbers, and no text of anybody's.
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
