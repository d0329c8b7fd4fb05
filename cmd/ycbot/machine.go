package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/sandbox"
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
		tools, box, err = p.machine(ctx, ctx, o, temp, p.log())
	}()
	o.begun = func() (*gate.Toolchains, sandbox.Sandbox, error) {
		<-done
		return tools, box, err
	}
	return func() { cancel(); <-done }
}

// machine finds the toolchains that there are, and the sandbox; trial is the context
// of trying that out where it goes on beside the run.
func (p *program) machine(ctx, trial context.Context, o *runOptions, temp string, log *slog.Logger) (*gate.Toolchains, sandbox.Sandbox, error) {
	tools, err := gate.FindToolchains(ctx, p.env)
	if err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "go is not usable", "error", err)
	}
	if o.noRace != "" {
		tools = tools.WithoutRace(o.noRace)
	}
	so := p.sandboxOptions(o.sandbox.value, temp, tools)
	so.Log = log
	if !o.foretell {
		box, err := sandbox.Detect(ctx, so)
		return tools, box, err
	}
	box, err := foretell(trial, filepath.Join(filepath.Dir(temp), foretoldFile), machine(so), func(ctx context.Context) (sandbox.Sandbox, error) {
		return sandbox.Detect(ctx, so)
	})
	return tools, box, err
}

// sandboxOptions are those of a run; tools is nil where no one looked for any.
func (p *program) sandboxOptions(mode, temp string, tools *gate.Toolchains) sandbox.Options {
	o := sandbox.Options{
		Mode: mode, PATH: p.getenv("PATH"), Home: p.getenv("HOME"), TZ: p.getenv("TZ"), TempDir: temp, Shim: p.shim, Now: p.now,
	}
	here := sandbox.Machine{PATH: o.PATH, Home: o.Home, Env: p.env}
	if tools != nil && tools.Go != nil {
		here.Installed = []string{tools.Go.Root}
	}
	o.Toolchains = here.Toolchains()
	// What ycbot and the runner keep is no one's toolchain, wherever it lies.
	for _, name := range []string{"YCBOT_HOME", "YCBOT_DATA", "RUNNER_TEMP", "GITHUB_WORKSPACE"} {
		if dir := p.getenv(name); filepath.IsAbs(dir) {
			o.Hide = append(o.Hide, dir)
		}
	}
	return o
}

// home is where ycbot keeps its own files.
func (p *program) home() (string, error) {
	if dir := p.getenv("YCBOT_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := p.getenv("HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".ycbot"), nil
	}
	return "", errors.New("neither YCBOT_HOME nor HOME is set: say where ycbot may keep its files with YCBOT_HOME=DIR")
}
