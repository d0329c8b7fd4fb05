// Package git runs the git command in one hardened way.
//
// A [Git] gives it fixed settings and an environment of its own, so that nothing that the
// user, the machine or a repository configures is run, and bounds what it may answer.
// Where a [Call] names no repository, git finds none. Arguments are the harness's own:
// nothing that a model or a change wrote may stand where git takes options.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// ErrNoGit means that there is no usable git command.
var ErrNoGit = errors.New("no usable git command")

// ErrTooLarge means that git's answer was longer than the caller wanted to have.
var ErrTooLarge = errors.New("too large")

// Oldest git whose behaviour this package relies on.
const minMajor, minMinor = 2, 36

// maxOutput bounds what one git command may answer: a repository of a million
// files is listed in less.
const maxOutput = 1 << 28

// A Git runs the git command with fixed settings and an environment of its own.
// It is safe for concurrent use.
type Git struct {
	// Excludes names the file of ignore patterns that the operator has where no setting
	// names one (usually ~/.config/git/ignore); empty: there is none.
	Excludes string
	// Temp is where short-lived views are made; empty: the system's folder.
	Temp string

	// Log gets each command, and what those who run them have to say.
	Log *slog.Logger

	path    string
	env     []string
	user    []string // env with what names the user's settings
	version string
}

// New looks at the git command at path (a name is looked up in the PATH of
// env) and returns ErrNoGit when it is missing or too old. Of env, variables
// that would steer git itself or the dynamic linker are left out.
func New(path string, env []string, log *slog.Logger) (*Git, error) {
	g := &Git{Excludes: excludes(env), env: cleanEnv(env), Log: log}
	g.user = withSettings(g.env, env)
	found, err := lookPath(path, g.env)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	g.path = found
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := g.Run(ctx, Call{Args: []string{"version"}})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	m := regexp.MustCompile(`(\d+)\.(\d+)(\.[0-9A-Za-z.-]+)?`).FindStringSubmatch(string(out))
	if m == nil {
		return nil, fmt.Errorf("%w: %s answers %q to \"version\"", ErrNoGit, found, out)
	}
	g.version = m[0]
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < minMajor || major == minMajor && minor < minMinor {
		return nil, fmt.Errorf("%w: git %s is too old, %d.%d or newer is needed", ErrNoGit, g.version, minMajor, minMinor)
	}
	return g, nil
}

// Version returns git's version, such as "2.39.5".
func (g *Git) Version() string { return g.version }

// cleanEnv keeps what the operator gives and fills in what git cannot do without.
func cleanEnv(env []string) []string {
	out := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"}
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" || hasAnyPrefix(name, "GIT_", "LD_", "DYLD_", "SSH_ASKPASS", "XDG_", "LC_", "BASH_ENV", "PERL5") {
			continue
		}
		out = append(out, kv)
	}
	return append(out,
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_LFS_SKIP_SMUDGE=1",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes",
	)
}

// withSettings is clean, the cleaned env, with which git finds the settings of the user and
// of the machine.
func withSettings(clean, env []string) []string {
	var out []string
	for _, kv := range clean {
		if !hasAnyPrefix(kv, "GIT_CONFIG_") {
			out = append(out, kv)
		}
	}
	for _, kv := range env {
		if hasAnyPrefix(kv, "GIT_CONFIG_", "XDG_CONFIG_HOME=") {
			out = append(out, kv)
		}
	}
	return out
}

// excludes is where git looks for the operator's ignore patterns by itself.
func excludes(env []string) string {
	var home, config string
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "HOME="); ok {
			home = v
		} else if v, ok := strings.CutPrefix(kv, "XDG_CONFIG_HOME="); ok {
			config = v
		}
	}
	if dir := cmp.Or(config, filepath.Join(home, ".config")); filepath.IsAbs(dir) {
		return filepath.Join(dir, "git", "ignore")
	}
	return ""
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// lookPath finds an executable the way the given environment would, not ours.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	if name == "" {
		name = "git"
	}
	var dirs string
	for _, kv := range env {
		if p, ok := strings.CutPrefix(kv, "PATH="); ok {
			dirs = p
		}
	}
	for dir := range strings.SplitSeq(dirs, ":") {
		if strings.HasPrefix(dir, "/") {
			if p, err := exec.LookPath(dir + "/" + name); err == nil {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("%q is not in %s", name, dirs)
}

// fixedArgs stand before every git command. What git would run by itself is
// named here and switched off, although our own repositories never name any.
var fixedArgs = []string{
	"--no-pager",
	"--literal-pathspecs",
	"-c", "safe.directory=*", // nothing that a repository configures is run, so its owner does not matter
	"-c", "safe.bareRepository=explicit",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.attributesFile=" + os.DevNull,
	"-c", "core.untrackedCache=false",
	"-c", "core.askPass=",
	"-c", "credential.helper=",
	"-c", "core.sshCommand=ssh -oBatchMode=yes",
	"-c", "submodule.recurse=false",
	"-c", "protocol.ext.allow=never",
	"-c", "log.showSignature=false",
	"-c", "i18n.logOutputEncoding=UTF-8",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "fetch.writeCommitGraph=false",
	"-c", "advice.detachedHead=false",
}

// A Call is one git command.
type Call struct {
	Dir      string   // working directory; empty: the root, so that git finds no repository by itself
	GitDir   string   // repository; empty: found from Dir
	Env      []string // more environment
	Protocol string   // transports allowed, colon-separated; empty: none at all
	Settings bool     // those of the user and of the machine count: to read one, and nothing else
	Stdin    io.Reader
	Max      int64 // bytes of output; 0: 256 MiB
	Args     []string
}

// An Error is a git command that did not end well.
type Error struct {
	verb   string
	Exit   int // -1 when it was killed or never started
	Stderr string
	err    error
}

func (e *Error) Error() string {
	if e.Stderr == "" {
		return "git " + e.verb + ": " + e.err.Error()
	}
	return "git " + e.verb + ": " + e.Stderr
}

func (e *Error) Unwrap() error { return e.err }

// ExitCode returns the exit code that err reports, or -1.
func ExitCode(err error) int {
	var ge *Error
	if errors.As(err, &ge) {
		return ge.Exit
	}
	return -1
}

// Run runs a git command and returns its output. When that is longer than
// c.Max the beginning is returned together with ErrTooLarge.
func (g *Git) Run(ctx context.Context, c Call) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := c.Max
	if limit == 0 {
		limit = maxOutput
	}
	out := &capped{max: limit, full: cancel}
	err := g.Stream(ctx, c, out)
	if out.over {
		return out.buf.Bytes(), fmt.Errorf("git %s: %w: more than %d bytes", verb(c.Args), ErrTooLarge, limit)
	}
	return out.buf.Bytes(), err
}

// Line runs a git command that answers one line; only the final newline is cut.
func (g *Git) Line(ctx context.Context, c Call) (string, error) {
	out, err := g.Run(ctx, c)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Stream runs a git command that writes to stdout.
func (g *Git) Stream(ctx context.Context, c Call, stdout io.Writer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	args := fixedArgs
	if c.GitDir != "" {
		args = append([]string{"--git-dir=" + c.GitDir}, args...)
	}
	args = append(args[:len(args):len(args)], c.Args...)
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir = c.Dir
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	protocol := c.Protocol
	if protocol == "" {
		protocol = "none"
	}
	env := g.env
	if c.Settings {
		env = g.user
	}
	cmd.Env = append(env[:len(env):len(env)], "GIT_ALLOW_PROTOCOL="+protocol)
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Stdin = c.Stdin
	cmd.Stdout = stdout
	stderr := &capped{max: 8 << 10, keep: true}
	cmd.Stderr = stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if cmd.Process != nil && ctx.Err() != nil {
		reap(cmd.Process.Pid)
	}
	g.Log.DebugContext(ctx, "git", "verb", verb(c.Args), "git_dir", c.GitDir, "error", err)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", verb(c.Args), context.Cause(ctx))
	}
	return &Error{
		verb:   verb(c.Args),
		Exit:   cmd.ProcessState.ExitCode(),
		Stderr: strings.TrimSpace(stderr.buf.String()),
		err:    err,
	}
}

// reapTime is how long killed processes may take to end.
const reapTime = time.Second

// reap waits for the children of a git command that was killed with all its group: where this
// program adopts orphans, they are its own then, and no one else would wait for them.
func reap(group int) {
	for over := time.After(reapTime); ; {
		switch pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); {
		case errors.Is(err, syscall.EINTR) || pid > 0:
		case err != nil: // there is none
			return
		default:
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// Pump runs git commands at once, each one's output being the next one's input.
func (g *Git) Pump(ctx context.Context, calls ...Call) error {
	group, ctx := errgroup.WithContext(ctx)
	var in *os.File
	for i, c := range calls {
		r, w, err := os.Pipe()
		if err != nil {
			if in != nil {
				in.Close() // ends the command that writes to it
			}
			return errors.Join(err, group.Wait())
		}
		from := in
		in = r
		if from != nil {
			c.Stdin = from
		}
		last := i == len(calls)-1
		group.Go(func() error {
			defer w.Close()
			if from != nil {
				defer from.Close()
			}
			if last {
				r.Close()
				return g.Stream(ctx, c, io.Discard)
			}
			return g.Stream(ctx, c, w)
		})
	}
	return group.Wait()
}

// verb returns the git command among args, for messages.
func verb(args []string) string {
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
			continue
		}
		return args[i]
	}
	return ""
}

// A capped buffer keeps the first max bytes. With keep it swallows the rest,
// otherwise the rest is an error and full is called.
type capped struct {
	buf  bytes.Buffer
	max  int64
	keep bool
	over bool
	full func()
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.max - int64(c.buf.Len())
	if int64(len(p)) <= room {
		return c.buf.Write(p)
	}
	c.buf.Write(p[:max(room, 0)])
	if c.keep {
		return len(p), nil
	}
	c.over = true
	c.full()
	return 0, ErrTooLarge
}
