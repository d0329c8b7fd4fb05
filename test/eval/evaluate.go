package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/test/releases"
)

// An evaluation runs cases and keeps their results.
type evaluation struct {
	options
	todo   []Case
	stderr io.Writer

	mu      sync.Mutex // of what follows, and of the results' files
	results *Results
	done    int
}

// prepare builds ycbot, chooses the cases and reads what is finished already.
func prepare(ctx context.Context, o options, stderr io.Writer) (*evaluation, error) {
	if err := os.MkdirAll(o.out, 0o700); err != nil {
		return nil, err
	}
	if o.scripted() { // costs nothing: always all of it again
		for _, name := range []string{"results.json", "runs"} {
			if err := os.RemoveAll(filepath.Join(o.out, name)); err != nil {
				return nil, err
			}
		}
	}
	if o.ycbot == "" {
		o.ycbot = filepath.Join(o.out, "ycbot")
		if err := build(ctx, o.env, o.ycbot); err != nil {
			return nil, err
		}
	}
	e := &evaluation{options: o, stderr: stderr}
	program, err := os.ReadFile(o.ycbot)
	if err != nil {
		return nil, err
	}
	all, err := seededCases()
	if err != nil {
		return nil, err
	}
	if o.pairs {
		if err := releases.Scratch(filepath.Join(o.out, "scratch")); err != nil {
			return nil, err
		}
		all = append(all, releaseCases(e.download)...)
	}
	chosen := choose(all, o.cases)
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-cases %s: no case has such a name; the first one is called %s", o.cases, all[0].Name)
	}
	e.results, err = readResults(filepath.Join(o.out, "results.json"), Setup{Model: o.model, Provider: o.provider, BaseURL: o.endpoint(), Ycbot: digest(program)})
	if err != nil {
		return nil, err
	}
	e.results.forget(all)
	chosen = e.possible(chosen)
	if o.scripted() && o.cases == "" {
		chosen = slices.DeleteFunc(chosen, func(c Case) bool { return slices.Contains(c.needs, "go") })
		fmt.Fprintln(stderr, "eval: the cases in Go are left out, because the gate compiles a lot for them; -cases / takes all")
	}
	for _, c := range chosen {
		if _, ok := e.results.of(c); !ok {
			e.todo = append(e.todo, c)
		}
	}
	fmt.Fprintf(stderr, "eval: %d cases with %s, %d of them finished already; results in %s\n", len(chosen), o.model, len(chosen)-len(e.todo), o.out)
	return e, nil
}

// possible leaves out the cases that need a program which this machine lacks.
func (e *evaluation) possible(cases []Case) []Case {
	var out []Case
	missing := map[string]int{}
next:
	for _, c := range cases {
		for _, program := range c.needs {
			if _, err := exec.LookPath(program); err != nil {
				missing[program]++
				continue next
			}
		}
		out = append(out, c)
	}
	for _, program := range slices.Sorted(maps.Keys(missing)) {
		fmt.Fprintf(e.stderr, "eval: %d cases are left out: %s is missing\n", missing[program], program)
	}
	return out
}

// build builds ycbot; the same sources, where they lie, give the same program.
func build(ctx context.Context, env []string, program string) error {
	_, err := releases.Command(ctx, ".", env, "go", "build", "-buildvcs=false", "-ldflags=-w", "-o", program, "github.com/ycbot/ycbot/cmd/ycbot")
	return err
}

// download fetches a version of a module. Cases may do so at the same time.
func (e *evaluation) download(ctx context.Context, module, version string) (releases.Files, error) {
	return releases.Download(ctx, filepath.Join(e.out, "scratch"), e.env, module, version)
}

// run verifies the cases. A case that fails keeps no other from running.
func (e *evaluation) run(ctx context.Context) error {
	var g errgroup.Group
	g.SetLimit(e.jobs)
	for _, c := range e.todo {
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			r := e.verify(ctx, c)
			if ctx.Err() != nil {
				return nil // broken off: ycbot goes on from its journal next time
			}
			return e.record(r)
		})
	}
	return g.Wait()
}

// record takes in a result and writes the files.
func (e *evaluation) record(r Result) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done++
	e.results.put(r)
	fmt.Fprintf(e.stderr, "[%d/%d] %s: %s, %s, %s %s\n", e.done, len(e.todo), r.Case, r.Verdict, r.mark(), seconds(r.DurationMS), oneLine(r.Error))
	return e.results.write(e.out)
}

// verify makes the repository of a case and runs ycbot on it as a user would.
// Folders have names that say nothing: an agent may see them.
func (e *evaluation) verify(ctx context.Context, c Case) Result {
	id := digest([]byte(c.Name))
	r := Result{Case: c.Name, Digest: c.digest, Group: c.Group, Kind: c.Kind, Bad: c.Bad, Wrong: c.Wrong, Verdict: report.Error, Run: "runs/" + id}
	repo, err := e.repository(ctx, c, filepath.Join(e.out, "repos", id, c.project))
	if err != nil {
		r.Error = err.Error()
		return r
	}
	if err := e.judge(ctx, c, repo, &r); err != nil {
		r.Error = err.Error()
	}
	return r
}

// repository makes the repository of a case again, with the commits before and after.
func (e *evaluation) repository(ctx context.Context, c Case, dir string) (string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	repo, err := releases.NewRepo(ctx, dir, releases.GitEnv(e.env, "dev"))
	if err != nil {
		return "", err
	}
	return dir, c.fill(ctx, repo)
}

// judge runs the program and reads its report into r.
func (e *evaluation) judge(ctx context.Context, c Case, repo string, r *Result) error {
	out := filepath.Join(e.out, filepath.FromSlash(r.Run))
	endpoint := e.baseURL
	if e.scripted() {
		endpoint = filepath.Join(e.out, "scripts", filepath.Base(r.Run))
		if err := os.MkdirAll(filepath.Dir(endpoint), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(endpoint, []byte(c.script), 0o600); err != nil {
			return err
		}
	}
	args := []string{"run", "-C", repo, "--base", "before", "--head", "after", "--task", c.Task, "--format", "json", "--out", out, "--provider", e.provider, "--model", e.model}
	if endpoint != "" {
		args = append(args, "--base-url", endpoint)
	}
	if e.maxCost > 0 {
		args = append(args, "--max-cost-usd", strconv.FormatFloat(e.maxCost, 'f', -1, 64))
	}
	cmd := exec.CommandContext(ctx, e.ycbot, args...)
	cmd.Env = append(e.env[:len(e.env):len(e.env)], "YCBOT_HOME="+e.home)
	if e.scripted() {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0") // the race detector would double the time, and is not what this is about
	}
	// A group of its own: ycbot ends in order at the first signal and at once at
	// the second, and the terminal would send one more.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	r.DurationMS = time.Since(began).Milliseconds()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return err
	}
	var rep report.Report
	if json.Unmarshal(stdout.Bytes(), &rep) != nil {
		return fmt.Errorf("ycbot, exit %d: %s", cmd.ProcessState.ExitCode(), lastLine(stderr.String()))
	}
	if r.Repairs, err = repairs(filepath.Join(out, "events.jsonl")); err != nil {
		return err
	}
	return r.take(&rep)
}

// repairs counts the turns in which an agent was asked to put its report right.
func repairs(file string) (int, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	events, err := agent.ReadEvents(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	n := 0
	for _, e := range events {
		if e.Type == agent.EventUserMessage && e.Reason == "corrective" {
			n++
		}
	}
	return n, nil
}

// take takes over what counts of a report. Its error says why the report says
// nothing about agents.
func (r *Result) take(rep *report.Report) error {
	r.Verdict, r.Outcome, r.Reasons = rep.Verdict, rep.Outcome, rep.Reasons
	r.InputTokens, r.OutputTokens, r.CachedTokens, r.CostUSD = rep.Usage.InputTokens, rep.Usage.OutputTokens, rep.Usage.CachedTokens, rep.Usage.CostUSD
	r.DurationMS = rep.Timings.DurationMS
	for _, c := range rep.Checks {
		if c.Kind == report.KindAgent {
			r.Checks = append(r.Checks, Check{Title: c.Title, Result: c.Result, Support: c.Support, Reproduction: c.Reproduction})
			if c.Support == report.Absent {
				r.Struck++
			}
		}
	}
	r.Named = len(rep.Behaviour)
	for _, d := range rep.Behaviour {
		if !d.Expected {
			r.Open++
		}
	}
	i := slices.IndexFunc(rep.Subagents, func(s report.Subagent) bool { return s.Agent == "verification" })
	switch {
	case rep.Verdict == report.Error:
		return fmt.Errorf("ycbot: %s", strings.Join(rep.Reasons, "; "))
	case rep.Outcome == report.Cancelled:
		return errors.New("ycbot was interrupted")
	case rep.Verdict == report.Fail:
		return nil // the gate alone may come to it
	case i < 0:
		return fmt.Errorf("no agent worked: %s", strings.Join(rep.Reasons, "; "))
	case rep.Subagents[i].Outcome == string(agent.Errored):
		return fmt.Errorf("the provider gave no answer: %s", strings.Join(rep.Reasons, "; "))
	}
	return nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
