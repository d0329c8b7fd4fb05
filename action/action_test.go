package action

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	recorded bool
	failure  error
}

func (h *host) Rules(context.Context) (job.Rules, error) { return job.Rules{}, nil }
func (h *host) Learn(_ context.Context, _ *event.Event, j job.Job) (job.Facts, *config.Config, error) {
	return job.Facts{Author: "write", HeadSHA: j.HeadSHA, BaseSHA: j.BaseSHA, HeadRepo: 1, BaseRepo: 1}, config.Default(), nil
}

func (h *host) Recorded(context.Context, job.Job, string) (bool, error)         { return h.recorded, nil }
func (h *host) Reply(context.Context, job.Job, job.Skip) error                  { return nil }
func (h *host) Begin(context.Context, job.Job, string) error                    { return h.begin }
func (h *host) NewRun() string                                                  { return "run1" }
func (h *host) Verify(context.Context, job.Job, string) (*report.Report, error) { return h.verify() }

func (h *host) Finish(ctx context.Context, _ job.Job, _ string, _ *report.Report, failure error) (Posted, error) {
	h.finished++
	h.failure = failure
	return Posted{}, ctx.Err()
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
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || c.host.failure == nil) {
				t.Errorf("error %v, told %v", err, c.host.failure)
			}
		})
	}
}

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

// Every input that cannot be read is named, in one go, whichever way it is spelt.
func TestReadInputs(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"INPUT_GITHUB-TOKEN": "t", "INPUT_API_KEY": "k", "INPUT_TIMEOUT": "soon", "INPUT_MAX-TOKENS": "-1", "INPUT_CHECK": "perhaps",
		"INPUT_COMMENT": "false", "INPUT_SANDBOX": "strict", "INPUT_AGENTS": "review, scout",
	}
	in, err := ReadInputs(func(name string) string { return env[name] })
	if in.Token != "t" || in.APIKey != "k" || in.Comment != "off" || len(in.Agents) != 2 {
		t.Errorf("%+v", in)
	}
	for _, name := range []string{"timeout", "max-tokens", "check", "sandbox"} {
		if err == nil || !strings.Contains(err.Error(), "input "+name+": ") {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
}
