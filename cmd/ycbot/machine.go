package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

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

// sandboxOptions are those of a run; tools is nil where nobody looked for any.
func (p *program) sandboxOptions(mode, temp string, tools *gate.Toolchains) sandbox.Options {
	o := sandbox.Options{
		Mode: mode, PATH: p.getenv("PATH"), Home: p.getenv("HOME"), TZ: p.getenv("TZ"), TempDir: temp, Shim: p.shim, Now: p.now,
	}
	var goTools *gate.GoToolchain
	if tools != nil {
		goTools = tools.Go
	}
	o.Toolchains = toolchains(o.PATH, o.Home, goTools)
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

// toolchains lists the folders that the operator's search path names outside of
// the system's own: commands of the change may read them, and find programs
// there. A folder called bin stands for the one that it lies in, where that is
// an installation and has not the home folder in it.
func toolchains(search, home string, goTools *gate.GoToolchain) []string {
	var out []string
	add := func(dir string) {
		for _, have := range out {
			if have == dir {
				return
			}
		}
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			out = append(out, dir)
		}
	}
	if goTools != nil {
		add(goTools.Root)
	}
	for _, dir := range filepath.SplitList(search) {
		dir = filepath.Clean(dir)
		if !filepath.IsAbs(dir) || systemDir(dir) || strings.HasPrefix(dir, "/tmp/") { // commands have a /tmp of their own
			continue
		}
		root := filepath.Dir(dir)
		switch {
		case filepath.Base(dir) != "bin", root == "/", within(home, root), root == filepath.Join(home, ".local"), root == filepath.Join(home, "go"), root == filepath.Join(home, ".cargo"):
			add(dir)
		default:
			add(root)
		}
	}
	if home != "" {
		add(filepath.Join(home, ".rustup"))
	}
	return out
}

// within says whether a path is a folder or lies in it.
func within(name, dir string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// systemDir tells folders that every sandbox shows anyway.
func systemDir(dir string) bool {
	for _, sys := range []string{"/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/games", "/usr/local/games", "/snap/bin"} {
		if dir == sys {
			return true
		}
	}
	return strings.HasPrefix(dir, "/usr/lib/")
}
