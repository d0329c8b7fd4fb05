// Package action is the GitHub Action step: it reads event and inputs from the
// environment, decides what is to be done, has it done at once, and reports to the
// workflow how it ended by outputs, job summary, annotations and exit code.
//
// The step ends in a true state whatever happens: what was begun on GitHub is
// finished also when the run is cancelled, fails or panics. Only a process that
// is killed leaves that to "ycbot publish --finalize", which the action calls in
// a step of its own.
package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/report"
)

// endTime is how long reporting may take after the run has ended: the
// runner gives a cancelled step ten seconds, and the time limit of the job
// none.
const endTime = 60 * time.Second

// A Host is asked what the step's decision depends on, and does what it decides.
type Host interface {
	Oracle
	Refuser
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
	// Ended are the verifications of the open pull requests that a workflow ran for, which ended.
	Ended(ctx context.Context, e *event.Event) ([]job.Job, error)
	// Settled reports whether no other run of the head of j is under way, of which the check
	// run of j would be the newer one.
	Settled(ctx context.Context, j job.Job) (bool, error)
}

// A Refuser shows on GitHub what comes to no run.
type Refuser interface {
	// Decline completes the check run of a commit that the configuration or a limit
	// keeps from being verified, so that no required check waits for it.
	Decline(ctx context.Context, j job.Job, s job.Skip) error
	// Fail completes the check run of a commit that could not be verified, because of why.
	Fail(ctx context.Context, j job.Job, why error) error
	// Reply answers a person who asked for what is not done.
	Reply(ctx context.Context, j job.Job, s job.Skip) error
}

// A Performer verifies, and reports to people.
type Performer interface {
	// Begin shows that the run is under way; dir is where it will write.
	Begin(ctx context.Context, j job.Job, dir string) error
	// Verify performs the job.
	Verify(ctx context.Context, j job.Job, dir string) (*report.Report, error)
	// Finish says how the run in dir ended. A nil report is a run that came to
	// none, because of failure; where that is a [Cancelled], because it was cancelled.
	Finish(ctx context.Context, j job.Job, dir string, rep *report.Report, failure error) (Posted, error)
	// Publish posts a run directory that another job left.
	Publish(ctx context.Context, e *event.Event, dir string) (*report.Report, Posted, error)
	// NewRun names a run.
	NewRun() string
}

// A Cancelled is the failure of a run that was cancelled. It reads as what it holds.
type Cancelled struct{ Err error }

func (c *Cancelled) Error() string { return c.Err.Error() }
func (c *Cancelled) Unwrap() error { return c.Err }

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
	Wrong  error // what is wrong with the inputs; the step says it and runs nothing
	Host   Host  // nil where there is no token to ask GitHub with; Wrong says so then
}

// session is a Step that runs.
type session struct {
	Step
	out       *githubactions.Action
	fork      bool     // the event is a fork's own, whose token only reads
	unwritten []string // files of the runner that could not be written
}

// An unfailing writer loses what cannot be written, as to a log that no one reads any more:
// the library panics then.
type unfailing struct{ io.Writer }

func (u unfailing) Write(p []byte) (int, error) {
	_, _ = u.Writer.Write(p)
	return len(p), nil
}

// output sets an output of the step.
func (x *session) output(name, value string) {
	x.write("GITHUB_OUTPUT", func() { x.out.SetOutput(name, value) })
}

// summary adds Markdown to the summary of the job.
func (x *session) summary(markdown string) {
	x.write("GITHUB_STEP_SUMMARY", func() { x.out.AddStepSummary(markdown) })
}

// write has the library write a file of the runner. It panics where that cannot be done, as
// on a full disk, which must not keep the step from completing what it began on GitHub.
func (x *session) write(file string, do func()) {
	defer func() {
		if p := recover(); p != nil && !slices.Contains(x.unwritten, file) {
			x.unwritten = append(x.unwritten, file)
			x.out.WithFieldsMap(map[string]string{"title": "ycbot: could not write " + file}).Errorf("%s", cut(oneLine(fmt.Sprint(p))))
		}
	}()
	do()
}

// Run performs the step and returns its exit code: 0 also where nothing was to be
// done, 1 for a verdict that fails the step, 3 where there is none, 130 where it
// was cancelled.
func (s Step) Run(ctx context.Context) (code int, err error) {
	for _, name := range []string{"GITHUB_EVENT_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		if s.Getenv(name) == "" { // the library panics without the last two
			return report.ExitError, fmt.Errorf("%s is not set: ycbot action is a step of a GitHub workflow; elsewhere use ycbot run", name)
		}
	}
	x := &session{Step: s, out: githubactions.New(githubactions.WithWriter(unfailing{s.Stdout}), githubactions.WithGetenv(s.Getenv))}
	for _, secret := range []string{s.Inputs.Token, s.Inputs.APIKey} {
		if secret != "" {
			x.out.AddMask(secret)
		}
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			x.complain(err)
		}
	}()
	e, err := x.event()
	switch {
	case x.Wrong != nil && (err != nil || x.Host == nil || x.Inputs.Publish != ""):
		return x.failed(ctx, job.Job{}, x.Wrong)
	case errors.Is(err, event.ErrIgnored):
		return report.ExitPass, x.nothing(err.Error())
	case err != nil:
		return x.failed(ctx, job.Job{}, err)
	case x.Inputs.Publish != "":
		return x.publish(ctx, e)
	}
	x.fork = e.Kind == event.PullRequest && e.Pull.Fork()
	return x.verify(ctx, e)
}

// complain shows in the log why there is no verdict, at the place of each mistake where
// that is known.
func (x *session) complain(err error) {
	var problems config.Problems
	if !errors.As(err, &problems) {
		x.out.WithFieldsMap(map[string]string{"title": couldNot}).Errorf("%s", cut(oneLine(err.Error())))
		return
	}
	file := cmp.Or(x.Inputs.Config, config.Path)
	for _, p := range problems {
		fields := map[string]string{"title": couldNot, "file": file}
		if p.Line > 0 {
			fields["line"] = strconv.Itoa(p.Line)
		}
		x.out.WithFieldsMap(fields).Errorf("%s", cut(oneLine(p.Error())))
	}
}

// couldNot heads what is shown where there is no verdict.
const couldNot = "ycbot: could not verify"

// cut bounds a line of the log; a fault of the program brings its stack.
func cut(s string) string {
	const limit = 2000
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// failed ends a step that came to no run because of err: it stands in the summary and
// in the check run of the commit, where j names one.
func (x *session) failed(ctx context.Context, j job.Job, err error) (int, error) {
	if ctx.Err() != nil {
		return report.ExitError, err
	}
	x.output("verdict", string(report.Error))
	x.summary("### " + couldNot + "\n\n" + report.InertMarkdown(err.Error(), 4000))
	if x.Host != nil && j.HeadSHA != "" {
		if failure := x.Host.Fail(ctx, j, err); failure != nil {
			x.out.Warningf("ycbot could not complete the check: %s", oneLine(failure.Error()))
		}
	}
	return report.ExitError, err
}

// event reads what happened.
func (x *session) event() (*event.Event, error) {
	path := x.Getenv("GITHUB_EVENT_PATH")
	body, err := regular.Read(path)
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
		return x.failed(ctx, job.Job{}, errors.Join(x.Wrong, err))
	}
	d := job.Admit(e, rules)
	if !d.Run {
		return x.skipped(ctx, d)
	}
	facts, c, err := x.Host.Learn(ctx, e, d.Job)
	if err != nil {
		return x.unknown(ctx, d.Job, facts, err)
	}
	if d = job.Authorize(d.Job, facts, c, rules); !d.Run {
		return x.skipped(ctx, d)
	}
	if x.Wrong != nil {
		return x.failed(ctx, d.Job, x.Wrong)
	}
	return x.perform(ctx, d.Job, c)
}

// unknown ends a step that could not learn what the decision about j depends on.
func (x *session) unknown(ctx context.Context, j job.Job, facts job.Facts, err error) (int, error) {
	switch j.HeadSHA = cmp.Or(j.HeadSHA, facts.HeadSHA); {
	case j.Asked() && !job.Permitted(facts.Actor, config.Write):
		j.HeadSHA = "" // who may not ask does not touch the check
	case facts.Closed:
		j.HeadSHA = ""
	}
	return x.failed(ctx, j, errors.Join(x.Wrong, err))
}

// skipped ends a step that runs nothing. Inputs that cannot be read, of the action or
// of a dispatch, are an error all the same.
func (x *session) skipped(ctx context.Context, d job.Decision) (int, error) {
	switch {
	case x.Wrong != nil:
		return x.failed(ctx, job.Job{}, x.Wrong)
	case d.Skip.Code == job.CodeBadInput:
		return x.failed(ctx, job.Job{}, errors.New(d.Skip.Text))
	}
	return report.ExitPass, x.skip(ctx, d)
}

// perform runs a job, and says how it ended whatever became of it.
func (x *session) perform(ctx context.Context, j job.Job, c *config.Config) (int, error) {
	id := x.Host.NewRun()
	dir := filepath.Join(x.runs(), id)
	if j.Accept {
		if s, err := x.record(ctx, j, dir); err != nil {
			return x.failed(ctx, j, err)
		} else if s != nil {
			return report.ExitPass, x.skip(ctx, job.Decision{Job: j, Skip: s})
		}
	}
	x.output("run-id", id)
	x.output("report-dir", dir) // also for the steps that run when this one is killed
	failure := x.Host.Begin(ctx, j, dir)
	var rep *report.Report
	if failure == nil {
		rep, failure = x.guarded(ctx, j, dir)
	}
	if failure != nil && ctx.Err() != nil {
		failure = &Cancelled{failure}
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	posted, err := x.Host.Finish(end, j, dir, rep, failure)
	x.report(rep, posted)
	if failure != nil {
		return report.ExitError, errors.Join(failure, err)
	}
	if err != nil { // the verdict holds, and the last step of the action tries to post it once more
		x.out.WithFieldsMap(map[string]string{"title": "ycbot: verified but not posted"}).Errorf("%s", cut(oneLine(err.Error())))
	}
	return x.code(rep, c), nil
}

// record has the host find what j, which accepts, concludes again; else it says why nothing is accepted.
func (x *session) record(ctx context.Context, j job.Job, dir string) (*job.Skip, error) {
	known, err := x.Host.Recorded(ctx, j, dir)
	if err != nil {
		return nil, err
	}
	settled, err := x.Host.Settled(ctx, j) // at last, so that little time is left for another run to begin
	if err != nil {
		return nil, err
	}
	var s job.Skip
	switch {
	case !settled:
		s = j.Unsettled()
	case !known:
		s = j.NoRecord()
	default:
		return nil, nil
	}
	return &s, nil
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

// skip says why nothing is done, once and in one place.
func (x *session) skip(ctx context.Context, d job.Decision) error {
	s := *d.Skip
	x.out.Infof("ycbot: nothing to do (%s): %s", s.Code, oneLine(s.Text))
	x.output("verdict", "")
	if s.Excluded() || s.Refused() {
		if err := x.Host.Decline(ctx, d.Job, s); err != nil {
			x.out.Warningf("ycbot could not complete the check: %s", oneLine(err.Error()))
		}
	}
	switch s.Notify {
	case job.NotifyComment:
		x.summary("### ycbot: nothing was run\n\n" + s.Text)
		return x.Host.Reply(ctx, d.Job, s)
	case job.NotifySummary:
		x.summary("### ycbot: nothing was run\n\n" + s.Text)
	}
	return nil
}

func (x *session) nothing(why string) error {
	x.out.Infof("ycbot: nothing to do: %s", oneLine(why))
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// forkWorkflow is where the workflows for forks are documented.
const forkWorkflow = "https://github.com/ycbot/ycbot/blob/main/docs/action.md#forks-by-themselves"

// report sets outputs, summary and annotations.
func (x *session) report(rep *report.Report, posted Posted) {
	x.output("comment-url", posted.CommentURL)
	x.output("check-url", posted.CheckURL)
	if len(posted.Left) > 0 {
		line := "ycbot could not post: " + oneLine(strings.Join(posted.Left, "; "))
		if x.fork {
			line += ". The token of a fork's pull request only reads; a second workflow can post what this one found: " + forkWorkflow
		}
		x.out.Warningf("%s", line)
	}
	if posted.Summary != "" {
		x.summary(posted.Summary)
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
		x.output("verdict", string(report.Error))
		return
	}
	x.output("verdict", string(rep.Verdict))
	x.output("run-id", rep.RunID)
	x.output("report-dir", rep.ReportDir)
	x.output("report-json", filepath.Join(rep.ReportDir, "report.json"))
	x.output("tokens", strconv.Itoa(rep.Usage.InputTokens+rep.Usage.OutputTokens))
	cost := ""
	if rep.Usage.CostUSD != nil {
		cost = strconv.FormatFloat(*rep.Usage.CostUSD, 'f', 4, 64)
	}
	x.output("cost-usd", cost)
}
