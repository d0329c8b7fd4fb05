package benchtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ycbot/ycbot/test/bench"
)

// A Step is one "ycbot action", as a workflow would start it, without the
// workflow.
type Step struct {
	Repo   *Repo
	Event  Delivery
	Token  string
	Inputs map[string]string
	Env    map[string]string
}

// A Result is how a process of ycbot ended.
type Result struct {
	Exit                    int
	Stdout, Stderr, Summary string
	Outputs                 map[string]string
}

// Step runs "ycbot action" on an event that GitHub delivered.
func (g *GitHub) Step(s Step) Result {
	t := g.t
	t.Helper()
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	output, summary := file("output", nil), file("summary", nil)
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_EVENT_NAME": s.Event.Event, "GITHUB_EVENT_PATH": file("event.json", s.Event.Body),
		"GITHUB_REPOSITORY": s.Repo.FullName(), "GITHUB_API_URL": g.URL, "GITHUB_SERVER_URL": g.ServerURL,
		"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_OUTPUT": output, "GITHUB_STEP_SUMMARY": summary,
		"RUNNER_TEMP": filepath.Join(dir, "temp"), "GITHUB_WORKSPACE": dir, "HOME": dir, "INPUT_GITHUB-TOKEN": s.Token,
	}
	for k, v := range s.Inputs {
		env["INPUT_"+strings.ToUpper(k)] = v
	}
	for k, v := range s.Env {
		env[k] = v
	}
	r := g.Ycbot(env, "action")
	r.Outputs = outputs(t.Fatal, output)
	text, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	r.Summary = string(text)
	return r
}

// Ycbot runs ycbot with nothing in its environment but env and where programs are.
func (g *GitHub) Ycbot(env map[string]string, args ...string) Result {
	t := g.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, Need(t, bench.Ycbot), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("ycbot %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return Result{Exit: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// outputs reads a GITHUB_OUTPUT file: "name=value" or, over several lines,
// "name<<END", the value and END. The last one of a name counts.
func outputs(fatal func(...any), file string) map[string]string {
	text, err := os.ReadFile(file)
	if err != nil {
		fatal(err)
	}
	out := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, short := strings.Cut(lines.Text(), "=")
		if begin, end, long := strings.Cut(lines.Text(), "<<"); long && (!short || len(begin) < len(name)) {
			var body []string
			for lines.Scan() && lines.Text() != end {
				body = append(body, lines.Text())
			}
			name, value = begin, strings.Join(body, "\n")
		}
		out[name] = value
	}
	return out
}
