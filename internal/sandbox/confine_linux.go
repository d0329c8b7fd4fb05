package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/ycbot/ycbot/internal/sandbox/cgroup"
	"github.com/ycbot/ycbot/internal/sandbox/seccomp"
	"golang.org/x/sys/unix"
)

// boxedShim is where the program of the shim lies in the bubblewrap tiers. Nothing
// that a command sees names this program: code could behave while it is verified.
const boxedShim = "/run/init"

// boxedLocked is a directory of the self-test that Landlock alone protects.
const boxedLocked = "/.locked"

// devices are the files of /dev that every program may write.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// A shimmed command is one that a shim starts: what the shim gets, and where it
// says what it did.
type shimmed struct {
	files []*os.File // policy, status and, for a shim that stays, lifeline
	r     *os.File   // what the shim says
	life  *os.File   // our end of the lifeline; nil: there is none
}

// newShimmed makes the files for a shim that reads its policy from the file
// policy, which is closed with them, and that may stay beside its command.
func newShimmed(policy *os.File, stays bool) (_ *shimmed, err error) {
	s := &shimmed{files: []*os.File{policy}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	s.r, s.files = r, append(s.files, w)
	if !stays {
		return s, nil
	}
	if r, w, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	s.life, s.files = w, append(s.files, r)
	return s, nil
}

// handed closes what the shim has copies of.
func (s *shimmed) handed() {
	for _, f := range s.files {
		f.Close()
	}
	s.files = nil
}

func (s *shimmed) close() {
	s.handed()
	for _, f := range []*os.File{s.r, s.life} {
		if f != nil {
			f.Close()
		}
	}
}

// conclude completes res with what the shim said; layers are those that must
// have been in force. It is called when nothing of the command is alive.
func (s *shimmed) conclude(res *Result, program string, layers []string) error {
	s.handed()
	what, err := hear(s.r)
	if err != nil {
		return fmt.Errorf("status of the shim: %w", err)
	}
	if what.Exec {
		res.notRun(program, what.cause())
		return nil
	}
	if what.Failed != "" {
		res.Exit, res.Signal = -1, ""
		return fmt.Errorf("%w: %s", errShim, what.Failed)
	}
	if len(what.Layers) == 0 {
		if res.TimedOut || res.Limit != "" || res.Signal != "" {
			return nil // it was ended before it began
		}
		text := bytes.TrimSpace(res.Stderr.Bytes)
		res.Exit = -1
		return fmt.Errorf("%w: said nothing: %s", errShim, text)
	}
	for _, layer := range layers {
		if !slices.Contains(what.Layers, layer) {
			return fmt.Errorf("%w: %s is not in force", errShim, layer)
		}
	}
	if what.Ended != nil {
		res.Exit, res.Signal = *what.Ended, ""
		if what.Signal > 0 {
			res.Exit, res.Signal = 128+what.Signal, unix.SignalName(syscall.Signal(what.Signal))
		}
	}
	return nil
}

// errShim is a shim that did not do what it was asked to.
var errShim = errors.New("shim")

// A means is what the shim can do on this machine.
type means struct {
	shim    []string // program and its first arguments; empty: there is none
	abi     int      // of Landlock; 0: none
	seccomp bool
	limits  Limits
	memory  int64             // of the machine, or of the container that this is
	bound   *cgroup.Bound     // that of the container; nil: it is none
	absent  []string          // what is missing of the shim's layers, each with the reason
	cgroups *cgroup.Delegated // nil: none is delegated
	proved  []finding         // what cgroups were seen to do
	lacks   []string          // what cgroups do not give, with the reason
}

// meansOf finds out what o and the kernel give.
func meansOf(ctx context.Context, o Options) (means, error) {
	m := means{shim: o.Shim}
	memory, err := machineMemory()
	if err != nil {
		return m, fmt.Errorf("memory of the machine: %w", err)
	}
	m.memory = memory
	if b := cgroup.MemoryBound(""); b != nil && b.Limit < memory {
		m.memory, m.bound = b.Limit, b
	}
	m.limits = o.Limits.complete(m.memory)
	m.cgroups, m.proved, m.lacks = openCgroups(ctx)
	if len(o.Shim) == 0 {
		m.absent = []string{layerLandlock + ", " + layerSeccomp + ", " + layerLimits + ": no program that works is given to set them up (nor the services of the job)"}
		return m, nil
	}
	if err := executable(o.Shim[0]); err != nil {
		return m, fmt.Errorf("shim: %w", err)
	}
	if m.abi = landlockABI(); m.abi == 0 {
		m.absent = append(m.absent, layerLandlock+": the kernel has none (5.13 or later, with landlock among its security modules)")
	}
	if m.seccomp = seccomp.Known; !m.seccomp {
		m.absent = append(m.absent, layerSeccomp+": no filter for "+runtime.GOARCH)
	}
	return m, nil
}

// whole says that no layer of the shim is missing.
func (m means) whole() bool { return len(m.absent) == 0 }

// layers are what the shim must say to be in force.
func (m means) layers() []string {
	if len(m.shim) == 0 {
		return nil
	}
	out := []string{layerLimits}
	if m.abi > 0 {
		out = append(out, layerLandlock)
	}
	if m.seccomp {
		out = append(out, layerSeccomp)
	}
	return out
}

// scratchSize is how large each file system in memory may become.
func (m means) scratchSize() int64 {
	size := m.memory / 4
	if m.limits.Disk > 0 {
		size = min(size, m.limits.Disk)
	}
	return size
}

// errMissing says that a tier cannot be had for want of a layer.
func (m means) errMissing() error {
	return errors.New("missing: " + strings.Join(m.absent, "; "))
}
