// Package action is the GitHub Action step: it reads event and inputs from the
// environment, decides what is to be done, has it done at once, and tells the
// workflow how it ended by outputs, job summary, annotations and exit code.
//
// The step ends in a true state whatever happens: what was begun on GitHub is
// finished also when the run is cancelled, fails or panics. Only a process that
// is killed leaves that to "ycbot publish --finalize", which the action calls in
// a step of its own.
package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/report"
)

// endTime is how long telling people may take after the run has ended: the
// runner gives a cancelled step ten seconds, and the time limit of the job
// none.
const endTime = 60 * time.Second

// A Host is asked what the step's decision depends on, and does what it decides.
type Host interface {
	Oracle
	Performer
}

// An Oracle knows GitHub.
type Oracle interface {
	// Rules says who ycbot is here.
	Rules(ctx context.Context) (job.Rules, error)
	// Learn asks GitHub what the decision about j depends on, and keeps what the
	// run needs of it.
	Learn(ctx context.Context, e *event.Event, j job.Job) (job.Facts, *config.Config, error)
	// Recorded looks for the finished run of the head of j, which is concluded again,
	// and keeps it beside dir.
	Recorded(ctx context.Context, j job.Job, dir string) (bool, error)
	// Reply answers a person who asked for what is not done.
	Reply(ctx context.Context, j job.Job, s job.Skip) error
}

// A Performer verifies, and tells people.
type Performer interface {
	// Begin shows that the run is under way; dir is where it will write.
	Begin(ctx context.Context, j job.Job, dir string) error
	// Verify performs the job.
	Verify(ctx context.Context, j job.Job, dir string) (*report.Report, error)
	// Finish tells how the run in dir ended. A nil report is a run that came to
	// none, because of failure.
	Finish(ctx context.Context, j job.Job, dir string, rep *report.Report, failure error) (Posted, error)
	// Publish posts a run directory that another job left.
	Publish(ctx context.Context, e *event.Event, dir string) (*report.Report, Posted, error)
	// NewRun names a run.
	NewRun() string
}

// Posted is what people can see.
type Posted struct {
	CommentURL, CheckURL string
	Left                 []string // what could not be written, and why
	Summary              string   // Markdown for the job summary
	Annotations          []Annotation
}

// An Annotation is a remark in the log, which GitHub shows with the change.
type Annotation struct {
	Level          string // error, warning, notice
	File           string
	Line           int
	Title, Message string
}

// A Step is one execution of the action.
type Step struct {
	Getenv func(string) string
	Stdout io.Writer
	Inputs Inputs
	Host   Host
}

// session is a Step that runs.
type session struct {
	Step
	out *githubactions.Action
}

// Run performs the step and returns its exit code: 0 also where nothing was to be
// done, 1 for a verdict that fails the step, 3 where there is none, 130 where it
// was cancelled.
func (s Step) Run(ctx context.Context) (code int, err error) {
	x := &session{Step: s, out: githubactions.New(githubactions.WithWriter(s.Stdout), githubactions.WithGetenv(s.Getenv))}
	for _, secret := range []string{s.Inputs.Token, s.Inputs.APIKey} {
		if secret != "" {
			x.out.AddMask(secret)
		}
	}
	e, err := x.event()
	if errors.Is(err, event.ErrIgnored) {
		return report.ExitPass, x.nothing(err.Error())
	}
	if err != nil {
		return report.ExitError, err
	}
	if x.Inputs.Publish != "" {
		return x.publish(ctx, e)
	}
	return x.verify(ctx, e)
}

// event reads what happened.
func (x *session) event() (*event.Event, error) {
	path := x.Getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return nil, errors.New("GITHUB_EVENT_PATH is not set: ycbot action is a step of a GitHub workflow; elsewhere use ycbot run")
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	delivery := x.Getenv("GITHUB_RUN_ID")
	if attempt := x.Getenv("GITHUB_RUN_ATTEMPT"); attempt != "" {
		delivery += "." + attempt
	}
	return event.Parse(x.Getenv("GITHUB_EVENT_NAME"), delivery, body)
}

// verify decides about an event and performs its job.
func (x *session) verify(ctx context.Context, e *event.Event) (int, error) {
	rules, err := x.Host.Rules(ctx)
	if err != nil {
		return report.ExitError, err
	}
	d := job.Admit(e, rules)
	if !d.Run {
		return report.ExitPass, x.skip(ctx, d)
	}
	facts, c, err := x.Host.Learn(ctx, e, d.Job)
	if err != nil {
		return report.ExitError, err
	}
	if d = job.Authorize(d.Job, facts, c, rules); !d.Run {
		return report.ExitPass, x.skip(ctx, d)
	}
	return x.perform(ctx, d.Job, c)
}

// perform runs a job, and tells how it ended whatever became of it.
func (x *session) perform(ctx context.Context, j job.Job, c *config.Config) (int, error) {
	id := x.Host.NewRun()
	dir := filepath.Join(x.runs(), id)
	if j.Accept {
		if known, err := x.Host.Recorded(ctx, j, dir); err != nil {
			return report.ExitError, err
		} else if !known {
			s := j.NoRecord()
			return report.ExitPass, x.skip(ctx, job.Decision{Job: j, Skip: &s})
		}
	}
	x.out.SetOutput("run-id", id)
	x.out.SetOutput("report-dir", dir) // also for the steps that run when this one is killed
	failure := x.Host.Begin(ctx, j, dir)
	var rep *report.Report
	if failure == nil {
		rep, failure = x.guarded(ctx, j, dir)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	posted, err := x.Host.Finish(end, j, dir, rep, failure)
	x.tell(rep, posted)
	if err = errors.Join(failure, err); err != nil {
		return report.ExitError, err
	}
	return x.code(rep, c), nil
}

// guarded is Verify, of which a panic is an error.
func (x *session) guarded(ctx context.Context, j job.Job, dir string) (rep *report.Report, err error) {
	x.out.Group("ycbot: " + j.HeadSHA)
	defer x.out.EndGroup()
	defer func() {
		if p := recover(); p != nil {
			rep, err = nil, fmt.Errorf("ycbot has a fault, please report it: %v\n%s", p, debug.Stack())
		}
	}()
	return x.Host.Verify(ctx, j, dir)
}

// runs is where run directories go.
func (x *session) runs() string {
	temp := x.Getenv("RUNNER_TEMP")
	if temp == "" {
		temp = os.TempDir()
	}
	return filepath.Join(temp, "ycbot")
}

// code is the step's exit code. What was refused for want of isolation fails the
// step like its check run.
func (x *session) code(rep *report.Report, c *config.Config) int {
	failOn := x.Inputs.FailOn
	if failOn == "" {
		failOn = string(c.FailOn)
	}
	if failOn == "" || failOn == string(config.FailOnAuto) { // whose difference is the check run's alone
		failOn = string(config.FailOnFail)
	}
	if rep.Outcome == report.Refused && failOn != "never" {
		return report.ExitFail
	}
	return report.Exit(rep.Verdict, failOn, rep.Outcome)
}

// publish posts what another job found.
func (x *session) publish(ctx context.Context, e *event.Event) (int, error) {
	rep, posted, err := x.Host.Publish(ctx, e, x.Inputs.Publish)
	if err != nil {
		return report.ExitError, err
	}
	x.tell(rep, posted)
	return report.ExitPass, nil
}

// skip tells why nothing is done, once and in one place.
func (x *session) skip(ctx context.Context, d job.Decision) error {
	s := *d.Skip
	x.out.Infof("ycbot: nothing to do (%s): %s", s.Code, oneLine(s.Text))
	x.out.SetOutput("verdict", "")
	switch s.Notify {
	case job.NotifyComment:
		x.out.AddStepSummary("### ycbot: nothing was run\n\n" + s.Text)
		return x.Host.Reply(ctx, d.Job, s)
	case job.NotifySummary:
		x.out.AddStepSummary("### ycbot: nothing was run\n\n" + s.Text)
	}
	return nil
}

func (x *session) nothing(why string) error {
	x.out.Infof("ycbot: nothing to do: %s", oneLine(why))
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// tell sets outputs, summary and annotations.
func (x *session) tell(rep *report.Report, posted Posted) {
	x.out.SetOutput("comment-url", posted.CommentURL)
	x.out.SetOutput("check-url", posted.CheckURL)
	for _, left := range posted.Left {
		x.out.Warningf("ycbot could not post: %s", oneLine(left))
	}
	if posted.Summary != "" {
		x.out.AddStepSummary(posted.Summary)
	}
	for _, a := range posted.Annotations {
		fields := map[string]string{"title": a.Title}
		if a.File != "" {
			fields["file"] = a.File
		}
		if a.Line > 0 {
			fields["line"] = strconv.Itoa(a.Line)
		}
		with := x.out.WithFieldsMap(fields)
		switch a.Level {
		case "error":
			with.Errorf("%s", a.Message)
		case "warning":
			with.Warningf("%s", a.Message)
		default:
			with.Noticef("%s", a.Message)
		}
	}
	if rep == nil {
		x.out.SetOutput("verdict", string(report.Error))
		return
	}
	x.out.SetOutput("verdict", string(rep.Verdict))
	x.out.SetOutput("run-id", rep.RunID)
	x.out.SetOutput("report-dir", rep.ReportDir)
	x.out.SetOutput("report-json", filepath.Join(rep.ReportDir, "report.json"))
	x.out.SetOutput("tokens", strconv.Itoa(rep.Usage.InputTokens+rep.Usage.OutputTokens))
	cost := ""
	if rep.Usage.CostUSD != nil {
		cost = strconv.FormatFloat(*rep.Usage.CostUSD, 'f', 4, 64)
	}
	x.out.SetOutput("cost-usd", cost)
}
