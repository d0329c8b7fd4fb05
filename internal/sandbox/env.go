package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
)

const (
	userName  = "runner"
	boxedHome = "/home/" + userName // HOME in the bubblewrap tier when a Command names none
	boxedTemp = toolchains.Temp
)

// search is where commands look for programs.
func (o Options) search() []string { return slices.Concat(o.Toolchains.Search, toolchains.SystemBin()) }

// environment is everything that a command finds in its environment. It starts
// from nothing: no variable of this program is passed on.
func environment(o Options, c Command, home, temp string) []string {
	env := []string{
		"PATH=" + strings.Join(o.search(), ":"),
		"HOME=" + home,
		"TMPDIR=" + temp,
		"LANG=C.UTF-8",
		"TERM=dumb",
		"CI=true",
		"USER=" + userName,
		"LOGNAME=" + userName,
	}
	if o.TZ != "" {
		env = append(env, "TZ="+o.TZ)
	}
	env = append(env, o.Toolchains.Env...)
	// Tools that ask for their directory trust PWD; both tiers must agree on it.
	env = append(env, "PWD="+workingDir(c, home))
	return lastWins(append(env, c.Env...))
}

func workingDir(c Command, home string) string {
	if c.Dir == "" {
		return home
	}
	return c.Dir
}

// lastWins keeps the last value of each variable, at the place of its first.
func lastWins(env []string) []string {
	at := map[string]int{}
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if i, ok := at[name]; ok {
			out[i] = kv
			continue
		}
		at[name] = len(out)
		out = append(out, kv)
	}
	return out
}

// check finds what is wrong with a command before anything is started.
func (c Command) check() error {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return errors.New("command: no program")
	}
	for _, s := range slices.Concat(c.Argv, c.Env) {
		if strings.ContainsRune(s, 0) {
			return fmt.Errorf("command %s: zero byte in an argument or variable", c.Argv[0])
		}
	}
	for _, kv := range c.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" {
			return fmt.Errorf("command %s: variable %q: want NAME=value", c.Argv[0], kv)
		}
	}
	writable := c.written()
	for _, dir := range writable {
		if !filepath.IsAbs(dir) || !isDir(dir) {
			return fmt.Errorf("command %s: writable %s: not an absolute path of a directory", c.Argv[0], dir)
		}
	}
	for _, path := range c.ReadOnly {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("command %s: read-only %s: not an absolute path", c.Argv[0], path)
		}
	}
	for _, s := range c.Services {
		if !s.here.IsValid() {
			return fmt.Errorf("command %s: service %s: not one that FindServices made", c.Argv[0], s.Name)
		}
	}
	if c.Dir == "" {
		return nil
	}
	if !filepath.IsAbs(c.Dir) || !isDir(c.Dir) {
		return fmt.Errorf("command %s: directory %s: not an absolute path of a directory", c.Argv[0], c.Dir)
	}
	for _, root := range slices.Concat(writable, c.ReadOnly) {
		if toolchains.Within(root, c.Dir) {
			return nil
		}
	}
	return fmt.Errorf("command %s: directory %s: in none of its writable and read-only directories", c.Argv[0], c.Dir)
}

// written are the directories of the host that the command may change.
func (c Command) written() []string {
	if c.Home == "" {
		return c.Writable
	}
	return append(slices.Clone(c.Writable), c.Home)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// removeTree removes what a command left behind, directories without write
// permission included. Nothing of the command may run any more.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	// Best effort: what cannot be opened up shows as the error of RemoveAll.
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			if os.Chmod(path, 0o700) == nil && err != nil {
				return nil
			}
		}
		return nil
	})
	return os.RemoveAll(dir)
}
