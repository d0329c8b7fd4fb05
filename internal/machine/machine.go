// Package machine is what ycbot finds around its process: the variables, its own folder,
// the sandbox and the toolchains, and the files of the operator.
package machine

import (
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
)

// A Machine is what a process is given of the machine that it runs on.
type Machine struct {
	Env     []string // as os.Environ has it; of two with one name the last counts
	Now     func() time.Time
	Client  *http.Client
	Log     *slog.Logger
	Shim    []string // how the sandbox starts this program as its shim; nil: not at all
	OS      string   // operating system and architecture, as linux/amd64
	Version string   // of ycbot
}

// Getenv returns the value of a variable, and "" where it is not set.
func (m Machine) Getenv(name string) string { return Getenv(m.Env, name) }

// Getenv returns the value of a variable in env, which is as os.Environ has it, and ""
// where it is not set.
func Getenv(env []string, name string) string {
	v := ""
	for _, kv := range env {
		if k, val, ok := strings.Cut(kv, "="); ok && k == name {
			v = val
		}
	}
	return v
}

// Home is where ycbot keeps its own files.
func (m Machine) Home() (string, error) {
	if dir := m.Getenv("YCBOT_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := m.Getenv("HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".ycbot"), nil
	}
	return "", errors.New("neither YCBOT_HOME nor HOME is set: say where ycbot may keep its files with YCBOT_HOME=DIR")
}

// SandboxOptions are those of a run; tools is nil where no one looked for any.
func (m Machine) SandboxOptions(mode, temp string, tools *gate.Toolchains) sandbox.Options {
	o := sandbox.Options{
		Mode: mode, PATH: m.Getenv("PATH"), Home: m.Getenv("HOME"), TZ: m.Getenv("TZ"), TempDir: temp, Shim: m.Shim, Now: m.Now,
	}
	here := toolchains.Machine{PATH: o.PATH, Home: o.Home, Env: m.Env}
	if tools != nil && tools.Go != nil {
		here.Installed = []string{tools.Go.Root}
	}
	o.Toolchains = here.Find()
	// What ycbot and the runner keep is no one's toolchain, wherever it lies.
	for _, name := range []string{"YCBOT_HOME", "YCBOT_DATA", "RUNNER_TEMP", "GITHUB_WORKSPACE"} {
		if dir := m.Getenv(name); filepath.IsAbs(dir) {
			o.Hide = append(o.Hide, dir)
		}
	}
	return o
}
