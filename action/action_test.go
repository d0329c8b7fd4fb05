package action

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sethvargo/go-githubactions"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/report"
)

// A host is the little of GitHub and of a run that these tests are about.
type host struct {
	verify   func() (*report.Report, error)
	begin    error
	finished int
	post     error // of Finish
	recorded bool
	busy     bool // another run of the commit is under way
	failure  error
	learn    error
	failed   string // the commit whose check says that it could not be verified
}

func (h *host) Decline(context.Context, job.Job, job.Skip) error { return nil }

func (h *host) Fail(_ context.Context, j job.Job, why error) error {
	h.failed, h.failure = j.HeadSHA, why
	return nil
}

func (h *host) Rules(context.Context) (job.Rules, error) { return job.Rules{}, nil }
func (h *host) Learn(_ context.Context, _ *event.Event, j job.Job) (job.Facts, *config.Config, error) {
	if h.learn != nil {
		return job.Facts{}, nil, h.learn
	}
	return job.Facts{Author: "write", HeadSHA: j.HeadSHA, BaseSHA: j.BaseSHA, HeadRepo: 1, BaseRepo: 1}, config.Default(), nil
}

func (h *host) Recorded(context.Context, job.Job, string) (bool, error) { return h.recorded, nil }

func (h *host) Ended(context.Context, *event.Event) ([]job.Job, error)          { return nil, nil }
func (h *host) Settled(context.Context, job.Job) (bool, error)                  { return !h.busy, nil }
func (h *host) Reply(context.Context, job.Job, job.Skip) error                  { return nil }
func (h *host) Begin(context.Context, job.Job, string) error                    { return h.begin }
func (h *host) NewRun() string                                                  { return "run1" }
func (h *host) Verify(context.Context, job.Job, string) (*report.Report, error) { return h.verify() }

func (h *host) Finish(ctx context.Context, _ job.Job, _ string, _ *report.Report, failure error) (Posted, error) {
	h.finished++
	h.failure = failure
	return Posted{Summary: "how it went"}, errors.Join(h.post, ctx.Err())
}

func (h *host) Publish(context.Context, *event.Event, string) (*report.Report, Posted, error) {
	return nil, Posted{}, errors.New("nothing to publish")
}

// A fault of the program itself, a run that fails and a cancelled one: what was
// begun is finished, once, with a context that still works.
func TestEndsWhatItBegan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host host
		code int
		says string
	}{
		"panic":        {host{verify: func() (*report.Report, error) { panic("index out of range") }}, report.ExitError, "index out of range"},
		"failure":      {host{verify: func() (*report.Report, error) { return nil, errors.New("disk on fire") }}, report.ExitError, "disk on fire"},
		"cannot begin": {host{begin: errors.New("502")}, report.ExitError, "502"},
		"cancelled":    {host{verify: ended(report.Error, report.Cancelled)}, report.ExitCancelled, ""},
		"FAIL":         {host{verify: ended(report.Fail, report.Completed)}, report.ExitFail, ""},
		"PARTIAL":      {host{verify: ended(report.Partial, report.Completed)}, report.ExitPass, ""},
		"refused":      {host{verify: ended(report.Partial, report.Refused)}, report.ExitFail, ""},
		"PASS":         {host{verify: ended(report.Pass, report.Completed)}, report.ExitPass, ""},
		"not posted":   {host{verify: ended(report.Pass, report.Completed), post: errors.New("502")}, report.ExitPass, ""},
		"FAIL, not so": {host{verify: ended(report.Fail, report.Completed), post: errors.New("502")}, report.ExitFail, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			step := newStep(t, &c.host, Inputs{})
			code, err := step.Run(ctx)
			if code != c.code || c.host.finished != 1 {
				t.Errorf("exit %d, want %d; finished %d times", code, c.code, c.host.finished)
			}
			if log := step.Stdout.(*bytes.Buffer).String(); c.host.post != nil && (strings.Contains(log, "could not verify") || !strings.Contains(log, "verified but not posted::502")) {
				t.Errorf("log\n%s", log)
			}
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || c.host.failure == nil) {
				t.Errorf("error %v, reported %v", err, c.host.failure)
			}
		})
	}
}

// Accepted is what a finished run lists, and only where no other run of the commit is under way.
func TestAcceptanceHasARecord(t *testing.T) {
	t.Parallel()
	for says, h := range map[string]*host{
		"":                             {recorded: true},
		"there is no finished run":     {},
		"is being verified, or waits":  {recorded: true, busy: true},
		"is being verified, or waits ": {busy: true},
	} {
		s, err := (&session{Step: Step{Host: h}}).record(t.Context(), job.Job{Accept: true}, "")
		if err != nil || (s == nil) != (says == "") || s != nil && (s.Code != job.CodeNoRecord || !strings.Contains(s.Text, strings.TrimSpace(says))) {
			t.Errorf("recorded %v, busy %v: %+v, %v; want %q", h.recorded, h.busy, s, err, says)
		}
	}
}

// Files of the runner that cannot be written, as on a full disk, and a log that ended, keep
// nothing from being completed: the log says which, once each, and the exit code is that of
// the verdict.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host host
		code int
	}{
		"PASS":    {host{verify: ended(report.Pass, report.Completed)}, report.ExitPass},
		"FAIL":    {host{verify: ended(report.Fail, report.Completed)}, report.ExitFail},
		"failure": {host{verify: func() (*report.Report, error) { return nil, errors.New("disk on fire") }}, report.ExitError},
		"unknown": {host{learn: errors.New("502")}, report.ExitError},
	} {
		for _, files := range [][]string{{"GITHUB_OUTPUT"}, {"GITHUB_STEP_SUMMARY"}, {"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"}} {
			t.Run(name+" "+strings.Join(files, " "), func(t *testing.T) {
				t.Parallel()
				h := c.host
				step := newStep(t, &h, Inputs{})
				var log bytes.Buffer
				getenv := step.Getenv
				step.Stdout, step.Getenv = &log, func(name string) string {
					if slices.Contains(files, name) {
						return os.DevNull + "/none"
					}
					return getenv(name)
				}
				code, _ := step.Run(t.Context())
				if code != c.code || h.finished == 0 && h.failed == "" {
					t.Errorf("exit %d, want %d; finished %d times, failed %q", code, c.code, h.finished, h.failed)
				}
				for _, name := range files {
					if n := strings.Count(log.String(), "::error title=ycbot%3A could not write "+name+"::"); n != 1 {
						t.Errorf("%d errors about %s:\n%s", n, name, log.String())
					}
				}
			})
		}
	}
	h := host{verify: ended(report.Pass, report.Completed)}
	step := newStep(t, &h, Inputs{})
	step.Stdout = deaf{}
	if code, err := step.Run(t.Context()); code != report.ExitPass || err != nil || h.finished != 1 {
		t.Errorf("a log that ended: exit %d, %v", code, err)
	}
}

// deaf is a log that no one reads any more.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func ended(v report.Verdict, o report.Outcome) func() (*report.Report, error) {
	return func() (*report.Report, error) { return &report.Report{Verdict: v, Outcome: o}, nil }
}

func newStep(t *testing.T, h Host, in Inputs) Step {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{
		"GITHUB_EVENT_NAME": "merge_group", "GITHUB_EVENT_PATH": filepath.Join(dir, "event"), "GITHUB_OUTPUT": filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"), "RUNNER_TEMP": dir,
	}
	oid := strings.Repeat("a", 40)
	body := `{"action":"checks_requested","merge_group":{"head_sha":"` + oid + `","base_sha":"` + strings.Repeat("b", 40) +
		`","head_ref":"refs/heads/q","base_ref":"refs/heads/main"},"repository":{"id":1,"name":"r","owner":{"login":"o","id":2,"type":"User"}},"sender":{"login":"a","id":3,"type":"User"}}`
	for name, text := range map[string]string{"GITHUB_EVENT_PATH": body, "GITHUB_OUTPUT": "", "GITHUB_STEP_SUMMARY": ""} {
		if err := os.WriteFile(env[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	return Step{Getenv: func(name string) string { return env[name] }, Stdout: &log, Inputs: in, Host: h}
}

// Outside of a workflow the step says what it lacks.
func TestOutsideOfAWorkflow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"GITHUB_EVENT_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		step := newStep(t, &host{}, Inputs{})
		all := step.Getenv
		step.Getenv = func(n string) string {
			if n == name {
				return ""
			}
			return all(n)
		}
		code, err := step.Run(t.Context())
		if code != report.ExitError || err == nil || !strings.Contains(err.Error(), name+" is not set") {
			t.Errorf("%s: exit %d, %v", name, code, err)
		}
	}
}

// Every input that cannot be read is named, in one go, whichever way it is spelt.
func TestReadInputs(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"INPUT_GITHUB-TOKEN": "t", "INPUT_API_KEY": "k", "INPUT_TIMEOUT": "soon", "INPUT_MAX-TOKENS": "-1", "INPUT_CHECK": "perhaps",
		"INPUT_WORKING-DIRECTORY": "services/../..", "INPUT_COMMENT": "false", "INPUT_SANDBOX": "strict", "INPUT_AGENTS": "review, scout",
		"INPUT_ARTIFACT-NAME": "ycbot-services/api", "INPUT_CONFIG": "/etc/passwd",
	}
	in, err := ReadInputs(func(name string) string { return env[name] })
	if in.Token != "t" || in.APIKey != "k" || in.Comment != "off" || len(in.Agents) != 2 || in.Check != nil || in.Config != "" {
		t.Errorf("%+v", in)
	}
	for _, name := range []string{"timeout", "max-tokens", "check", "sandbox", "working-directory", "artifact-name", "config"} {
		if err == nil || !strings.Contains(err.Error(), "input "+name+": ") {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
}

// A configuration is named in any way that stays in the repository.
func TestConfigInput(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"ci/x.yml": "ci/x.yml", "./x.yml": "x.yml", "a//../x.yml": "x.yml", "../x.yml": "", "/x.yml": "", "a/../../x.yml": ""} {
		in, err := ReadInputs(func(name string) string { return map[string]string{"INPUT_CONFIG": given}[name] })
		if in.Config != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", given, in.Config, err, want)
		}
	}
}

// TestBeforeARun: what ends before a run is an error at its place in the log, stands in
// the summary, and completes the check of the commit where there is one.
func TestBeforeARun(t *testing.T) {
	t.Parallel()
	_, typo := config.Parse(".github/ycbot.yml at abc", []byte("version: 1\nfail_on: always\n"))
	head := strings.Repeat("a", 40)
	for name, c := range map[string]struct {
		host   host
		noHost bool
		wrong  error
		log    string
		failed string
	}{
		"configuration": {host: host{learn: typo}, log: "::error file=.github/ycbot.yml,line=2,title=ycbot: could not verify::", failed: head},
		"GitHub":        {host: host{learn: errors.New("502 Bad Gateway")}, log: "::error title=ycbot: could not verify::502 Bad Gateway", failed: head},
		"input":         {wrong: errors.New("input timeout: \"soon\""), log: "::error title=ycbot: could not verify::input timeout", failed: head},
		"no token":      {noHost: true, wrong: errors.New("no token"), log: "::error title=ycbot: could not verify::no token"},
		"a fault": {
			host: host{verify: func() (*report.Report, error) { return nil, errors.New("disk on fire") }},
			log:  "::error title=ycbot: could not verify::disk on fire",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := newStep(t, &c.host, Inputs{})
			step.Wrong = c.wrong
			if c.noHost {
				step.Host = nil
			}
			code, err := step.Run(t.Context())
			log := strings.ReplaceAll(step.Stdout.(*bytes.Buffer).String(), "%3A", ":")
			if code != report.ExitError || err == nil || !strings.Contains(log, c.log) || c.host.failed != c.failed {
				t.Errorf("exit %d, %v, check of %q, log\n%s", code, err, c.host.failed, log)
			}
			summary, err := os.ReadFile(step.Getenv("GITHUB_STEP_SUMMARY"))
			if err != nil || name != "a fault" && !strings.Contains(string(summary), "could not verify") {
				t.Errorf("summary %q, %v", summary, err)
			}
		})
	}
}

// TestDispatchInput: a dispatch whose inputs cannot be read is an error, and no run.
func TestDispatchInput(t *testing.T) {
	t.Parallel()
	var h host
	step := newStep(t, &h, Inputs{})
	env := step.Getenv
	step.Getenv = func(name string) string {
		if name == "GITHUB_EVENT_NAME" {
			return "workflow_dispatch"
		}
		return env(name)
	}
	body := `{"inputs":{"pr":"abc"},"ref":"refs/heads/main","repository":{"id":1,"name":"r","owner":{"login":"o","id":2,"type":"User"}},"sender":{"login":"a","id":3,"type":"User"}}`
	if err := os.WriteFile(env("GITHUB_EVENT_PATH"), []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	code, err := step.Run(t.Context())
	if code != report.ExitError || err == nil || !strings.Contains(err.Error(), "`pr` must be") || h.finished != 0 {
		t.Errorf("exit %d, %v, finished %d times", code, err, h.finished)
	}
}

// TestLeftOnce: what a fork's token could not write is one warning, which names the way
// to have it posted.
func TestLeftOnce(t *testing.T) {
	t.Parallel()
	for _, fork := range []bool{false, true} {
		step := newStep(t, &host{}, Inputs{})
		x := &session{Step: step, fork: fork, out: githubactions.New(githubactions.WithWriter(step.Stdout), githubactions.WithGetenv(step.Getenv))}
		x.report(nil, Posted{Left: []string{"comment: not permitted: 403", "check run: not permitted: 403"}})
		log := step.Stdout.(*bytes.Buffer).String()
		if strings.Count(log, "::warning") != 1 || !strings.Contains(log, "comment") || !strings.Contains(log, "check run") || strings.Contains(log, forkWorkflow) != fork {
			t.Errorf("fork %v: %s", fork, log)
		}
	}
}

// TestPublishNothing: what cannot be posted, such as a run directory that is not there, is an
// error of the log, of the summary and of the outputs alike.
func TestPublishNothing(t *testing.T) {
	t.Parallel()
	step := newStep(t, &host{}, Inputs{Publish: "none"})
	code, err := step.Run(t.Context())
	summary, e1 := os.ReadFile(step.Getenv("GITHUB_STEP_SUMMARY"))
	outputs, e2 := os.ReadFile(step.Getenv("GITHUB_OUTPUT"))
	if code != report.ExitError || err == nil || e1 != nil || !strings.Contains(string(summary), "nothing to publish") || e2 != nil || !strings.Contains(string(outputs), "ERROR") {
		t.Errorf("exit %d, %v; summary %q, %v; outputs %q, %v", code, err, summary, e1, outputs, e2)
	}
}
