package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/forecast"
)

// beginMachine looks at the machine beside what comes next, such as calls of GitHub.
// stop ends that, if it still goes on.
func (p *program) beginMachine(ctx context.Context, o *runOptions) (stop func()) {
	home, err := p.home()
	temp := filepath.Join(home, "tmp")
	if err != nil || os.MkdirAll(temp, 0o700) != nil {
		return func() {} // runner says what is wrong
	}
	ctx, cancel := context.WithCancel(ctx)
	var tools *gate.Toolchains
	var box sandbox.Sandbox
	done := make(chan struct{})
	go func() {
		defer close(done)
		tools, box, err = p.equip(ctx, ctx, o, temp, p.log())
	}()
	o.begun = func() (*gate.Toolchains, sandbox.Sandbox, error) {
		<-done
		return tools, box, err
	}
	return func() { cancel(); <-done }
}

// equip finds the toolchains that there are, and the sandbox; trial is the context
// of trying that out where it goes on beside the run.
func (p *program) equip(ctx, trial context.Context, o *runOptions, temp string, log *slog.Logger) (*gate.Toolchains, sandbox.Sandbox, error) {
	tools, err := gate.FindToolchains(ctx, p.env)
	if err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "go is not usable", "error", err)
	}
	if o.noRace != "" {
		tools = tools.WithoutRace(o.noRace)
	}
	so := p.machine().SandboxOptions(o.sandbox.value, temp, tools)
	so.Log = log
	if !o.foretell {
		box, err := sandbox.Detect(ctx, so)
		return tools, box, err
	}
	box, err := forecast.Begin(trial, filepath.Join(filepath.Dir(temp), forecast.File), forecast.Machine(so), func(ctx context.Context) (sandbox.Sandbox, error) {
		return sandbox.Detect(ctx, so)
	})
	return tools, box, err
}

// machine is the machine as packages see it.
func (p *program) machine() machine.Machine {
	return machine.Machine{Env: p.env, Now: p.now, Client: p.client, Log: p.log(), Shim: p.shim, OS: p.platform, Version: version()}
}

// home is where ycbot keeps its own files.
func (p *program) home() (string, error) { return p.machine().Home() }
