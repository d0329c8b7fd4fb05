package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/ycbot/ycbot/internal/sandbox/seccomp"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
)

// A basic sandbox runs commands under a shim alone, for machines where no
// namespaces can be made. The shim stays beside the command, to end what it
// leaves behind also when this program is killed.
type basic struct {
	o      Options
	means  means
	list   []string // directories with something private in them
	dirs   []string // what every command may read of the system and of toolchains: directories
	read   []string // and the rest
	shims  *standby
	status Status
}

// newBasic runs the self-test and fails unless all that the tier promises
// holds; why says why there are no namespaces. Without a shim the tier is
// bubblewrap alone.
func newBasic(ctx context.Context, o Options, why string) (Sandbox, error) {
	if len(o.Shim) == 0 {
		return newBubblewrap(ctx, o, false)
	}
	m, err := meansOf(ctx, o)
	if err != nil {
		return nil, err
	}
	if !m.whole() {
		return nil, m.errMissing()
	}
	private := o.Toolchains.Private(o.Hide)
	o.Toolchains.Env = append(slices.Clone(o.Toolchains.Env), withoutSettings(private)...)
	b := &basic{o: o, means: m, status: Status{Tier: TierBasic, Search: o.search(), Missing: []string{"namespaces: " + why}}}
	b.shims = &standby{start: func() (*waiting, error) { return startWaiting(m) }, wait: idleTime}
	for _, dir := range toolchains.SystemDirs() {
		b.open(dir, private)
	}
	for _, path := range o.Toolchains.Read {
		if path = toolchains.Resolve(path); !toolchains.UnderSystem(path) {
			b.open(path, private)
		}
	}
	// Which ones are directories is looked at once and not for each command.
	b.read = slices.DeleteFunc(b.read, func(path string) bool {
		dir := isDir(path)
		if dir {
			b.dirs = append(b.dirs, path)
		}
		return dir
	})
	if err := b.selfTest(ctx); err != nil {
		return nil, fmt.Errorf("self-test of Landlock and seccomp: %w", err)
	}
	return b, nil
}

// withoutSettings are the variables by which programs do not look for settings of the system
// that are hidden: nothing can stand in their place here, and git has it for fatal that it may
// not read them.
func withoutSettings(private []string) []string {
	if slices.Contains(private, "/etc/gitconfig") {
		return []string{"GIT_CONFIG_NOSYSTEM=1"}
	}
	return nil
}

// open grants path but for what is private below it: Landlock only adds.
func (b *basic) open(path string, private []string) {
	if slices.Contains(private, path) {
		return
	}
	if !slices.ContainsFunc(private, func(p string) bool { return toolchains.Within(path, p) }) {
		b.read = append(b.read, path)
		return
	}
	b.list = append(b.list, path)
	entries, err := os.ReadDir(path)
	if err != nil {
		return // then no one reads it
	}
	for _, e := range entries {
		// The right would be to what a link leads to, which has one of its own where
		// commands may see it.
		if e.Type()&os.ModeSymlink == 0 {
			b.open(filepath.Join(path, e.Name()), private)
		}
	}
}

// Status implements [Sandbox].
func (b *basic) Status() Status { return b.status }

// Run implements [Sandbox]. The network is the host's, but for UDP and sockets
// with a path when the Command asks for none.
func (b *basic) Run(ctx context.Context, c Command) (Result, error) {
	return b.run(ctx, c, false)
}

func (b *basic) run(ctx context.Context, c Command, self bool) (res Result, err error) {
	if err := c.check(); err != nil {
		return Result{Exit: -1}, err
	}
	s, err := newScratch(b.o.TempDir)
	if err != nil {
		return Result{Exit: -1}, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	home := s.home
	if c.Home != "" {
		home = c.Home
	}
	p, err := b.policy(c, s, home, self)
	if err != nil {
		return Result{Exit: -1}, err
	}
	if ctx.Err() != nil {
		return Result{Exit: -1}, context.Cause(ctx)
	}
	w, err := b.shims.hand(p, s.dir)
	if err != nil {
		return Result{Exit: -1}, err
	}
	defer w.close()
	defer b.shims.refill() // not beside the command
	res, err = watch(ctx, b.o, job{
		cmd: w.cmd, process: w.proc, skip: 1, stays: true, timeout: c.Timeout, tee: c.Stdout, cgroup: w.group,
		guard: b.means.guard(w.group, b.o.Now, append(slices.Clone(c.written()), s.dir)),
	})
	if err != nil {
		return res, err
	}
	return res, w.conclude(&res, c.Argv[0], b.means.layers())
}

// policy is what the shim enforces.
func (b *basic) policy(c Command, s scratch, home string, self bool) (policy, error) {
	mounts, err := named(c, nil, nil)
	if err != nil {
		return policy{}, err
	}
	others := 0
	if os.Geteuid() != 0 {
		others = threads() // the limit counts all processes of the user
	}
	p := policy{
		Argv: c.Argv, Dir: workingDir(c, home), Stay: true,
		Env:    environment(b.o, c, home, s.temp),
		Limits: b.means.limits.kernel(c.Timeout, runtime.NumCPU(), others),
		Seccomp: seccomp.Filter{
			On: true, Shared: true, NoUDP: c.Network != NetworkHost, NoUnix: b.means.abi < abiUnix,
		},
		Landlock: grants{
			// Of /dev only what every program needs: /dev/shm is where other programs
			// keep things, and root may read disks.
			ABI: b.means.abi, List: append([]string{"/dev"}, b.list...),
			Dirs:  append([]string{"/proc"}, b.dirs...),
			Read:  slices.Clone(b.read),
			Write: append([]string{s.home, s.temp}, devices...),
		},
	}
	for _, m := range mounts {
		if m.seen != nil {
			p.Seen = append(p.Seen, m.seen)
		}
		if m.access == writable {
			p.Landlock.Write = append(p.Landlock.Write, m.path)
		} else {
			p.Landlock.Read = append(p.Landlock.Read, m.path)
		}
	}
	if self {
		p.Landlock.Read = append(p.Landlock.Read, b.means.shim[0])
	}
	return p, nil
}
