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
	if s == nil {
		return ""
	}
	if ofUser(file) {
		return "it needs packages that \"pip install --user\" has put into a home, which commands do not see: install it with pipx or uv"
	}
	if !isShim(file) {
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

// ofUser recognises a script of Python that was installed for one user, with its packages in the
// home of that, where no command has its own: it would run outside alone.
func ofUser(file string) bool {
	dir := filepath.Dir(file)
	packages, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "lib", "python3*", "site-packages"))
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || filepath.Base(filepath.Dir(dir)) != ".local" || len(packages) == 0 {
		return false // such as a link of pipx
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, maxFirstLine)
	n, _ := f.Read(b)
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	first, ok := strings.CutPrefix(line, "#!")
	words := strings.Fields(first)
	if !ok || len(words) == 0 || !strings.HasPrefix(filepath.Base(words[0]), "python") {
		return false
	}
	_, err = os.Stat(filepath.Join(filepath.Dir(filepath.Dir(words[0])), "pyvenv.cfg"))
	return err != nil // else it is of an environment, which commands see
}

// maxFirstLine is how much of a script is read for its first line.
const maxFirstLine = 256

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
