package main

import (
	"context"
	"time"

	"github.com/ycbot/ycbot/internal/pullrun"
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

// door is where runs come in, for their traces.
func (p *program) door(name string) pullrun.Door {
	return pullrun.Door{Name: name, Traces: p.traces, Now: p.now}
}
