package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// A none sandbox hides nothing from a command.
type none struct {
	o      Options
	status Status
}

// newNone makes the sandbox of tier none; why says why there are no namespaces.
func newNone(o Options, why string) *none {
	s := Status{
		Tier:   TierNone,
		Search: o.search(),
		Layers: []string{
			"environment of its own",
			"session of its own",
			"home and temp in scratch",
		},
		Missing: []string{
			"namespaces: " + why,
			"landlock, seccomp, limits: see there",
		},
	}
	if runtime.GOOS == "linux" {
		s.Layers = append(s.Layers, "subreaper")
		s.Missing = append(s.Missing, "die with parent: only the first process of a command ends when ycbot is killed")
	} else {
		s.Missing = append(s.Missing, "subreaper: not on "+runtime.GOOS+"; a process that leaves its group survives")
	}
	return &none{o: o, status: s}
}

// Status implements [Sandbox].
func (n *none) Status() Status { return n.status }

// Run implements [Sandbox]. Writable, ReadOnly and Network are not enforced.
func (n *none) Run(ctx context.Context, c Command) (res Result, err error) {
	if err := c.check(); err != nil {
		return Result{Exit: -1}, err
	}
	s, err := newScratch(n.o.TempDir)
	if err != nil {
		return Result{Exit: -1}, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	home := s.home
	if c.Home != "" {
		home = c.Home
	}
	env := environment(n.o, c, home, s.temp)
	dir := workingDir(c, home)
	program, err := lookup(c.Argv[0], dir, env)
	if err != nil {
		res := Result{Started: n.o.Now()}
		res.notRun(c.Argv[0], err)
		return res, nil
	}
	cmd := &exec.Cmd{Path: program, Args: c.Argv, Env: env, Dir: dir}
	res, err = watch(ctx, n.o, job{cmd: cmd, marker: s.dir, timeout: c.Timeout, tee: c.Stdout})
	if errors.Is(err, syscall.ENOEXEC) {
		// A script without a first line that names its interpreter: as a shell does it.
		cmd := &exec.Cmd{Path: "/bin/sh", Args: append([]string{"sh", program}, c.Argv[1:]...), Env: env, Dir: dir}
		res, err = watch(ctx, n.o, job{cmd: cmd, marker: s.dir, timeout: c.Timeout, tee: c.Stdout})
	}
	if errors.Is(err, errNotStarted) && isDir(dir) {
		// What remains is a file that the kernel does not execute.
		res.notRun(c.Argv[0], err)
		return res, nil
	}
	return res, err
}

// A scratch is what a command has of its own on the host's disk.
type scratch struct{ dir, home, temp string }

func newScratch(temp string) (scratch, error) {
	dir, err := os.MkdirTemp(temp, "job-")
	if err != nil {
		return scratch{}, fmt.Errorf("scratch: %w", err)
	}
	s := scratch{dir: dir, home: filepath.Join(dir, "home"), temp: filepath.Join(dir, "tmp")}
	for _, dir := range []string{s.home, s.temp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return s, errors.Join(fmt.Errorf("scratch: %w", err), s.remove())
		}
	}
	return s, nil
}

func (s scratch) remove() error {
	if err := removeTree(s.dir); err != nil {
		return fmt.Errorf("scratch: %w", err)
	}
	return nil
}

// lookup finds a program as a shell would, in the PATH of env.
func lookup(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	found := exec.ErrNotFound
	for _, kv := range env {
		path, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, p := range filepath.SplitList(path) {
			if !filepath.IsAbs(p) {
				p = filepath.Join(dir, p)
			}
			file := filepath.Join(p, name)
			err := executable(file)
			if err == nil {
				return file, nil
			}
			if errors.Is(err, fs.ErrPermission) {
				found = err
			}
		}
	}
	return "", found
}

func executable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return &fs.PathError{Op: "exec", Path: file, Err: fs.ErrPermission}
	}
	return nil
}
