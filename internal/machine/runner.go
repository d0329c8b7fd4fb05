package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/lfs"
	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/forecast"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/usage"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// Settings say how runs are executed here.
type Settings struct {
	Dir        string          // lies in the repository of the change
	Remote     bool            // the change is in no repository here
	Sandbox    string          // tier, or auto
	Network    string          // when commands may use the network
	Agents     []agents.Folder // of the user and of the operator
	FetchHosts []string        // that agents may fetch from; none: those of the environment
	Forecast   bool            // the sandbox may be tried out beside the beginning of the run
	NoRace     string          // why the race detector is left out; "": it is not
	Trial      Trial           // that was begun already; nil: none was
}

// dir lies in the repository of the change; "" where there is none.
func (s Settings) dir() string {
	if s.Remote {
		return ""
	}
	return filepath.Join(".", s.Dir)
}

// writable makes folders, and says of the first that takes no file why. The sandbox would else
// be blamed for what it cannot write there.
func writable(dirs ...string) error {
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		f, err := os.CreateTemp(dir, ".writable-")
		if err != nil {
			return err
		}
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Runner makes what runs need on this machine, and finds the repository that s.Dir lies
// in; nil where s is remote.
func (m Machine) Runner(ctx context.Context, s Settings) (runner *run.Runner, found *repository.Repository, err error) {
	home, err := m.Home()
	if err != nil {
		return nil, nil, err
	}
	temp := filepath.Join(home, "tmp")
	if err := writable(temp, filepath.Join(home, "projects")); err != nil {
		return nil, nil, fmt.Errorf("ycbot's own files: %w: make %s writable for this user (after a run as root: sudo chown -R \"$USER\" %s), or name another one with YCBOT_HOME", err, home, home)
	}
	trial := s.Trial
	if trial == nil {
		var stop func()
		trial, stop = m.Try(ctx, s)
		defer func() {
			if err != nil {
				stop()
			}
		}()
	}
	m, _ = m.WithoutOwn(ctx, s.dir())
	g, err := git.New("git", m.Env, m.Log)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: install git and try again", err)
	}
	g.Temp = temp
	rules, err := m.OperatorRules()
	if err != nil {
		return nil, nil, err
	}
	hooks, err := m.hooks(ctx, g, home)
	if err != nil {
		return nil, nil, err
	}
	setupEnv, err := m.setupEnv()
	if err != nil {
		return nil, nil, err
	}
	hosts, err := m.fetchHosts(s)
	if err != nil {
		return nil, nil, err
	}
	if !s.Remote { // where there is no repository, no one waits for the sandbox to be tried out
		if found, err = repository.Discover(ctx, g, s.Dir); err != nil {
			return nil, nil, err
		}
	}
	tools, box, err := trial()
	if err != nil {
		return nil, nil, err
	}
	return &run.Runner{
		Permissions: rules, Agents: s.Agents, Hooks: hooks, Hosts: hosts,
		Fetcher:  tool.Fetcher{Resolve: resolve, Dial: (&net.Dialer{}).DialContext},
		Contents: lfs.Client{HTTP: m.Client, Resolve: resolve}, SetupEnv: setupEnv,
		Home: home, Git: g, Sandbox: box, Tools: tools, Network: rundir.Network(s.Network),
		Redact:  redact.New(redact.SecretsFrom(m.Env)).Bytes,
		Version: m.Version, OS: m.OS, Now: m.Now, Log: m.Log,
	}, found, nil
}

// Problems is what of the operator's own settings and files no run begins with, beside the
// permission files. It changes nothing.
func (m Machine) Problems(ctx context.Context) []error {
	var found []error
	note := func(err error) {
		if err != nil {
			found = append(found, err)
		}
	}
	if home, err := m.Home(); err == nil {
		_, err := run.UserConfig(home)
		note(err)
		if g, err := git.New("git", m.Env, m.Log); err == nil {
			_, err := readHooks(ctx, g, home)
			note(err)
		}
	}
	_, err := m.setupEnv()
	note(err)
	_, err = m.fetchHosts(Settings{})
	note(err)
	return found
}

// resolve asks this machine's resolver.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return (&net.Resolver{}).LookupNetIP(ctx, "ip", host)
}

// setupEnv are the variables that the operator gives to setup commands.
func (m Machine) setupEnv() ([]string, error) {
	var out []string
	for _, name := range redact.SetupNames(m.Getenv(redact.SetupEnv)) {
		value := m.Getenv(name)
		if value == "" {
			return nil, fmt.Errorf("%s names %s, which is not set: set it or take its name out", redact.SetupEnv, name)
		}
		out = append(out, name+"="+value)
	}
	return out, nil
}

// fetchHosts are those that agents may fetch from.
func (m Machine) fetchHosts(s Settings) ([]string, error) {
	from, hosts := "--fetch-hosts", s.FetchHosts
	if len(hosts) == 0 {
		from, hosts = "YCBOT_FETCH_HOSTS", strings.FieldsFunc(m.Getenv("YCBOT_FETCH_HOSTS"), func(r rune) bool { return r == ',' || r == ' ' })
	}
	for _, h := range hosts {
		if err := policy.CheckHost(h); err != nil {
			return nil, usage.Errorf("%s: %w", from, err)
		}
	}
	return hosts, nil
}

// A Trial is what comes of looking for toolchains and of trying out the sandbox.
type Trial func() (*gate.Toolchains, sandbox.Sandbox, error)

// Try looks for what s needs beside what comes next, such as calls of GitHub. stop ends
// that, if it still goes on. The trial is nil where it cannot begin, and Runner says why.
func (m Machine) Try(ctx context.Context, s Settings) (trial Trial, stop func()) {
	home, err := m.Home()
	temp := filepath.Join(home, "tmp")
	if err != nil || os.MkdirAll(temp, 0o700) != nil {
		return nil, func() {} // Runner says what is wrong
	}
	ctx, cancel := context.WithCancel(ctx)
	var tools *gate.Toolchains
	var box sandbox.Sandbox
	done := make(chan struct{})
	go func() {
		defer close(done)
		tools, box, err = m.find(ctx, s, temp)
	}()
	trial = func() (*gate.Toolchains, sandbox.Sandbox, error) {
		<-done
		return tools, box, err
	}
	return trial, func() {
		cancel()
		<-done
		forecast.Abandon(box)
	}
}

// find finds the toolchains that there are, and the sandbox; ctx ends trying that out,
// which may go on beside the run.
func (m Machine) find(ctx context.Context, s Settings, temp string) (*gate.Toolchains, sandbox.Sandbox, error) {
	m, own := m.WithoutOwn(ctx, s.dir())
	tools, err := gate.FindToolchains(ctx, m.Env)
	tools.Own = own
	if err != nil && ctx.Err() == nil {
		m.Log.WarnContext(ctx, "go is not usable", "error", err)
	}
	if s.NoRace != "" {
		tools = tools.WithoutRace(s.NoRace)
	}
	so := m.SandboxOptions(s.Sandbox, temp, tools)
	so.Log = m.Log
	if !s.Forecast {
		box, err := sandbox.Detect(ctx, so)
		return tools, box, err
	}
	box, err := forecast.Begin(ctx, filepath.Join(filepath.Dir(temp), forecast.File), forecast.Machine(so), func(ctx context.Context) (sandbox.Sandbox, error) {
		return sandbox.Detect(ctx, so)
	})
	return tools, box, err
}
