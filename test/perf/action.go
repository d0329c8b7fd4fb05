package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// A hosted is a pull request on a stand-in for GitHub, which needs a [testing.TB].
type hosted struct {
	*githubtest.Server
	repo  github.Repo
	event []byte
	token string
}

// host makes one with a small change that has nothing for the gate to run, so
// that what is measured is the step and nothing of the project.
func host(tb testing.TB) *hosted {
	tb.Helper()
	h := &hosted{Server: githubtest.New(tb), repo: github.Repo{Owner: "acme", Name: "sums"}}
	h.AddRepo(h.repo.Owner, h.repo.Name)
	h.AddUser("alice", 1, "User")
	h.SetPermission(h.repo, "alice", "write")
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "base", Files: map[string]string{
		".github/ycbot.yml": "version: 1\ncommands: {setup: [], build: [], test: [], lint: []}\n", "sum.sh": "echo $(($1 + $2))\n",
	}})
	h.Push(h.repo, githubtest.Commit{Branch: "work", Message: "work", Files: map[string]string{"sum.sh": "echo \"$(($1 + $2))\"\n"}})
	n := h.OpenPull(h.repo, githubtest.Pull{Title: "Work on sums", Body: "It sums.", Author: "alice", Head: "work"})
	h.token = h.Token("github-actions[bot]", map[string]string{"contents": "read", "checks": "write", "pull_requests": "write", "issues": "write"}, "actions")
	h.event = h.PullEvent(h.repo, n, "opened", "alice", "")
	return h
}

// step runs "ycbot action" as a workflow does and says how long it took. The
// verdict does not matter.
func (h *hosted) step(ctx context.Context, l *lab, dir, scenario string) (time.Duration, error) {
	for name, text := range map[string][]byte{"event.json": h.event, "output": nil, "summary": nil, "scenario": []byte(scenario)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return 0, err
		}
	}
	cmd := exec.CommandContext(ctx, l.binary, "action")
	cmd.Dir = dir
	cmd.Env = append(l.env[:len(l.env):len(l.env)],
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH="+filepath.Join(dir, "event.json"),
		"GITHUB_API_URL="+h.URL, "GITHUB_SERVER_URL="+h.URL, "GITHUB_REPOSITORY="+h.repo.String(), "GITHUB_RUN_ID=77", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "RUNNER_TEMP="+dir,
		"YCBOT_HOME="+filepath.Join(dir, "home"), "INPUT_GITHUB_TOKEN="+h.token, "INPUT_PROVIDER=script", "INPUT_BASE_URL="+filepath.Join(dir, "scenario"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if cmd.ProcessState.ExitCode() > 1 || !bytes.Contains(out.Bytes(), []byte("PARTIAL")) {
		return 0, fmt.Errorf("ycbot action: exit %d\n%s", cmd.ProcessState.ExitCode(), out.Bytes())
	}
	return took, nil
}

// step measures the Action's step: event, pull request, sandbox and its self-test,
// checkout, an agent with one command, report, comment and check run.
func step(ctx context.Context, l *lab) ([]figure, error) {
	const scenario = "-- model --\n> run_bash {\"command\": \"true\"}\n---\n" + verdict
	var took []time.Duration
	var failed error
	calls := 0
	testing.Benchmark(func(b *testing.B) {
		b.Helper()
		if len(took) > 0 || failed != nil {
			return // it is called with growing N; once is enough
		}
		for i := range l.rounds + 1 {
			h := host(b)
			dir := filepath.Join(l.dir, fmt.Sprint("step-", i))
			if failed = os.MkdirAll(dir, 0o700); failed != nil {
				return
			}
			d, err := h.step(ctx, l, dir, scenario)
			if err != nil {
				failed = err
				return
			}
			calls = len(h.Calls())
			if i > 0 {
				took = append(took, d)
			}
		}
	})
	if failed != nil || len(took) == 0 {
		return nil, fmt.Errorf("the action's step was not measured: %w", failed)
	}
	t := median(took)
	return []figure{{
		"17", "Action: overhead beside the job's own steps", "≤ 1 s", fmt.Sprintf("%.2f s", t.Seconds()), t <= time.Second,
		fmt.Sprintf("warm binary, new machine: self-test of the sandbox, %d calls of a stand-in for GitHub on the same machine, one agent, comment and check run; nothing for the gate to run", calls),
	}}, nil
}
