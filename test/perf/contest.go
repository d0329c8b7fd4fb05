package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A contestant is ycbot or a peer, ready to run.
type contestant struct {
	name, version string
	repo          string
	argv          func(url, kind string) []string
	env           func(url string) []string
	read          func(file string) call
	shell         func(command string) call
}

// The conversations that contestants have.
const (
	kindRead  = "read"  // a file each turn
	kindShell = "shell" // a command each turn
	kindLong  = "long"  // three files each turn
)

// script is a conversation of a kind.
func (c contestant) script(kind string) func(int) (string, []call) {
	file := func(n int) call { return c.read(fmt.Sprintf("src/f%d.txt", n)) }
	return func(n int) (string, []call) {
		switch {
		case n >= turns:
			return verdict, nil
		case kind == kindShell && n == 0:
			return "", []call{c.shell("echo sum-$((40+2))")}
		case kind == kindShell:
			return "", []call{c.shell(fmt.Sprintf("true %d", n))}
		case kind == kindLong:
			return "", []call{file(3 * n), file(3*n + 1), file(3*n + 2)}
		}
		return "", []call{file(n)}
	}
}

// A bout is one conversation of a contestant.
type bout struct {
	turns []turn
	start time.Duration // until the first question
	cpu   time.Duration // of the program and all that it waited for
	peak  int64         // the memory peaks of the processes that live at the last questions, added up
}

// converse has a contestant hold a conversation of a kind.
func (c contestant) converse(ctx context.Context, kind string) (bout, error) {
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	var b bout
	var cmd *exec.Cmd
	var peaks []int64
	heard := newListener(c.read("").name, c.script(kind), func() { peaks = append(peaks, treePeak(cmd.Process.Pid)) })
	defer heard.Close()
	argv := c.argv(heard.URL, kind)
	cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = c.repo, c.env(heard.URL)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	began := time.Now()
	heard.mu.Lock() // until cmd.Process is there
	err := cmd.Start()
	heard.mu.Unlock()
	if err != nil {
		return b, err
	}
	_ = cmd.Wait() // how it ended means nothing: ycbot's verdict is in it
	heard.mu.Lock()
	defer heard.mu.Unlock()
	b.turns = heard.turns
	if len(b.turns) != turns+1 {
		return b, fmt.Errorf("%s, %s: %d questions instead of %d, %s\n%s", c.name, kind, len(b.turns), turns+1, cmd.ProcessState, last(out.Bytes(), 2000))
	}
	if err := c.answered(b.turns, kind); err != nil {
		return b, err
	}
	// A child that has not called execve yet has its parent's memory; no such one is
	// there at most questions.
	b.peak = median(peaks[len(peaks)*3/4:])
	b.start = b.turns[0].came.Sub(began)
	b.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return b, nil
}

// answered looks whether the tools did what was asked: the last question has what the
// last file says, or what the first command wrote.
func (c contestant) answered(asked []turn, kind string) error {
	want := map[string]string{kindRead: fileLine(turns - 1), kindShell: "sum-42", kindLong: fileLine(3*turns - 1)}[kind]
	if !bytes.Contains(asked[len(asked)-1].body, []byte(want)) {
		return fmt.Errorf("%s, %s: its last question does not have %q, which a tool should have returned", c.name, kind, want)
	}
	return nil
}

func last(text []byte, n int) []byte { return text[max(0, len(text)-n):] }

func fileLine(n int) string { return fmt.Sprintf("line of file %d that is read", n) }

// peerProject has files to read, and nothing for ycbot's gate to run.
func (l *lab) peerProject(ctx context.Context, name string) (string, error) {
	files := map[string]string{".github/ycbot.yml": "version: 1\ncommands: {setup: [], build: [], test: [], lint: []}\n"}
	for i := range 3 * turns {
		files[fmt.Sprintf("src/f%d.txt", i)] = strings.Repeat(fileLine(i)+"\n", 150)
	}
	return l.repository(ctx, "beside-"+name, files, map[string]string{"src/f0.txt": strings.Repeat(fileLine(0)+"\n", 151)})
}

// ourselves is ycbot as a contestant: one agent of a run, with no sandbox where
// commands are measured, as the peers have none.
func (l *lab) ourselves(ctx context.Context) (contestant, error) {
	repo, err := l.peerProject(ctx, "ycbot")
	if err != nil {
		return contestant{}, err
	}
	return contestant{
		name: "ycbot", version: "this one", repo: repo,
		argv: func(url, kind string) []string {
			l.n++
			argv := []string{
				l.binary, "run", "-C", repo, "--quiet", "--out", filepath.Join(l.dir, fmt.Sprintf("run-%d", l.n)), "--model", "m",
				"--provider", "openai", "--base-url", url + "/v1", "--max-tokens", "100000000", "--max-cost-usd", "1000",
			}
			if kind == kindShell {
				argv = append(argv, "--sandbox", "none")
			}
			return argv
		},
		env:   func(string) []string { return l.env },
		read:  func(file string) call { return call{"read_file", args(`{"path":%q}`, file)} },
		shell: func(command string) call { return call{"run_bash", args(`{"command":%q}`, command)} },
	}, nil
}

// enter makes a contestant of a peer, with a home of its own.
func (l *lab) enter(ctx context.Context, p peer, cache string, offline bool) (contestant, error) {
	program, version, err := p.install(ctx, cache)
	if err != nil {
		return contestant{}, err
	}
	repo, err := l.peerProject(ctx, p.name)
	if err != nil {
		return contestant{}, err
	}
	home := filepath.Join(l.dir, "home-"+p.name)
	fill := func(text, url string) string {
		return strings.NewReplacer("$URL", url, "$HOME", home, "$TASK", task).Replace(text)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", "TERM=dumb", "CI=1"}
	if !offline { // what is not the server is nowhere
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
			env = append(env, name+"=http://127.0.0.1:9")
		}
		env = append(env, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	}
	c := contestant{name: p.name, version: version, repo: repo}
	c.env = func(url string) []string {
		all := env
		for _, kv := range p.env {
			all = append(all, fill(kv, url))
		}
		return all
	}
	c.argv = func(url, _ string) []string {
		for name, text := range p.files {
			path := filepath.Join(home, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				continue // the program will ask no one, and that is printed
			}
			os.WriteFile(path, []byte(fill(text, url)), 0o600) //nolint:errcheck // the same
		}
		argv := []string{program}
		if p.node {
			argv = []string{"node", program}
		}
		for _, a := range p.args {
			argv = append(argv, fill(a, url))
		}
		return argv
	}
	c.read = func(file string) call { return p.read(repo, file) }
	c.shell = p.shell
	return c, os.MkdirAll(home, 0o700)
}
