package ecosystem

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// shims remembers which programs that stand for others have one to call. A version manager
// (rustup, pyenv, rbenv, asdf, mise, Volta) leaves its programs in the search path also
// where no toolchain is installed or chosen, as macOS does with java.
type shims struct {
	env    []string
	mu     sync.Mutex
	faults map[string]string // by file: why it does not run; empty: it does
}

// shimTime is how long a program has to say its version.
const shimTime = 10 * time.Second

// fault says why a program does not run, in its own words; "" where it does, or stands for
// itself. Nil knows of none.
func (s *shims) fault(file string) string {
	if s == nil || !isShim(file) {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	why, known := s.faults[file]
	if known {
		return why
	}
	ctx, cancel := context.WithTimeout(context.Background(), shimTime)
	defer cancel()
	flag := "--version"
	if strings.HasPrefix(filepath.Base(file), "java") {
		flag = "-version" // Java 8 knows no other
	}
	cmd := exec.CommandContext(ctx, file, flag)
	cmd.Dir, cmd.Env, cmd.WaitDelay = string(filepath.Separator), s.env, time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		why = results.FailureLine(string(out))
	}
	if s.faults == nil {
		s.faults = map[string]string{}
	}
	s.faults[file] = why
	return why
}

// shimmers are the programs that version managers link others to.
var shimmers = []string{"rustup", "volta", "volta-shim", "mise", "rtx", "asdf"}

// isShim recognises a program that only calls another one, which may be missing.
func isShim(file string) bool {
	dir := filepath.Dir(file)
	if filepath.Base(dir) == "shims" || runtime.GOOS == "darwin" && dir == "/usr/bin" {
		return true
	}
	if target, err := filepath.EvalSymlinks(file); err == nil && target != file && slices.Contains(shimmers, filepath.Base(target)) {
		return true
	}
	beside := func(name string) bool { // rustup and Volta also make hard links
		own, err := os.Stat(file)
		other, err2 := os.Stat(filepath.Join(dir, name))
		return err == nil && err2 == nil && filepath.Base(file) != name && os.SameFile(own, other)
	}
	return slices.ContainsFunc(shimmers, beside)
}
