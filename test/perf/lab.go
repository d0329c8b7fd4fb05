package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// root is the folder of ycbot's own module, from here.
const root = "../.."

// sizes are how large a measurement is.
type sizes struct {
	queued  int // verifications that wait in row 18
	jobs    int // that wait in row 21
	workers int // processes in row 21
}

// A lab is what the measurements share: a folder, a home, the program.
type lab struct {
	dir    string
	binary string
	built  bool // of these sources
	env    []string
	rounds int
	logf   func(format string, args ...any)
	n      int // of runs
	sizes
}

func newLab(ctx context.Context, dir, program string, rounds int, logf func(string, ...any)) (*lab, error) {
	l := &lab{dir: dir, binary: filepath.Join(dir, "ycbot"), rounds: rounds, logf: logf}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "YCBOT_") && !strings.HasPrefix(name, "OPENAI_") && !strings.HasPrefix(name, "ANTHROPIC_") {
			l.env = append(l.env, kv)
		}
	}
	l.env = append(l.env, "YCBOT_HOME="+filepath.Join(dir, "home"), "GIT_CONFIG_GLOBAL=/dev/null", "OPENAI_API_KEY=x",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if program != "" {
		l.binary = program
		return l, nil
	}
	l.built = true
	_, err := l.command(ctx, root, "go", "build", "-o", l.binary, "./cmd/ycbot")
	return l, err
}

// command runs a program and returns its standard output.
func (l *lab) command(ctx context.Context, dir string, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, l.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, stderr.Bytes())
	}
	return out, nil
}

// repository makes one with a base and a change on a branch of its own.
func (l *lab) repository(ctx context.Context, name string, base, head map[string]string) (string, error) {
	dir := filepath.Join(l.dir, name)
	steps := [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "base"}, {"checkout", "-q", "-b", "change"}, {"add", "-A"}, {"commit", "-q", "-m", "change"}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for i, args := range steps {
		files := map[int]map[string]string{1: base, 4: head}[i]
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return "", err
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return "", err
			}
		}
		if _, err := l.command(ctx, dir, append([]string{"git"}, args...)...); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// A ran is one run of ycbot.
type ran struct {
	began time.Time
	wall  time.Duration
	cpu   time.Duration // of the process and what it waited for
	dir   string        // its run directory
	exit  int
}

// run starts ycbot run. It may end with any verdict.
func (l *lab) run(ctx context.Context, repo string, args ...string) (ran, error) {
	l.n++
	r := ran{dir: filepath.Join(l.dir, fmt.Sprintf("run-%d", l.n))}
	cmd := exec.CommandContext(ctx, l.binary, append([]string{"run", "-C", repo, "--quiet", "--out", r.dir}, args...)...)
	cmd.Env = l.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	r.began = time.Now()
	err := cmd.Run()
	r.wall = time.Since(r.began)
	if cmd.ProcessState == nil {
		return r, err
	}
	r.exit, r.cpu = cmd.ProcessState.ExitCode(), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	if r.exit > 2 {
		return r, fmt.Errorf("ycbot run: exit %d\n%s", r.exit, out.Bytes())
	}
	return r, nil
}

// median of some durations; 0 of none.
func median[T ~int64 | ~float64](list []T) T {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
