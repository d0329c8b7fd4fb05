package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/telemetry"
)

// A Worker does jobs. Make it with NewWorker; Queue may be set later, before the first
// job.
type Worker struct {
	DB        *store.DB
	Queue     *queue.Queue
	Hosts     func(context.Context, job.Job) (Host, error)
	Installed Installed
	Rules     job.Rules
	Allow     Allowed
	Runs      string // folder of the run directories
	PublicURL string // of the server; empty: runs have no page
	NewRun    func() string
	Now       func() time.Time
	Log       *slog.Logger
	Metrics   *telemetry.Metrics // nil: none
	// Room says why no run may be begun, or gone on with, on this machine; the job waits
	// then. Nil: there is always room.
	Room func(context.Context) error

	hasty    chan hurry
	lastCopy time.Duration // how long a copy of a run that was asked to end may take
	lockWait time.Duration // how long a job waits for a lock until it is put off
}

// NewWorker completes w.
func NewWorker(w Worker) *Worker {
	w.hasty, w.lastCopy, w.lockWait = make(chan hurry, 256), lastCopy, lockWait
	return &w
}

// Work does one job, or goes on with it. An error means that it should be tried again,
// unless ctx has ended: then its cause says what becomes of the job.
func (w *Worker) Work(ctx context.Context, j job.Job) error {
	ctx = about(ctx, j)
	var err error
	if j.Verb == event.VerbVerify {
		if !w.Allow.runs(j.Installation, j.Repo) { // not any more
			w.Log.InfoContext(ctx, "nothing is run: this installation or repository is not allowed here")
			return w.refuse(ctx, j)
		}
		err = w.verify(ctx, j)
	} else {
		err = w.answer(ctx, j)
	}
	var permanent *Permanent
	if errors.As(err, &permanent) && ctx.Err() == nil {
		w.GiveUp(ctx, j, err)
		return nil
	}
	return err
}

// refuse ends the run that a job may have begun before its repository was denied.
func (w *Worker) refuse(ctx context.Context, j job.Job) error {
	run, err := w.DB.RunOfJob(ctx, j.ID)
	if errors.Is(err, store.ErrNotFound) || err == nil && run.State != store.Running {
		return nil
	}
	if err != nil {
		return err
	}
	w.GiveUp(ctx, j, errors.New("the operator of ycbot does not allow this repository any more"))
	return nil
}

// about has log records name the job that they are about.
func about(ctx context.Context, j job.Job) context.Context {
	attrs := []slog.Attr{slog.String("job", j.ID), slog.String("repo", j.Repo.FullName())}
	if j.Number != 0 {
		attrs = append(attrs, slog.Int("pr", j.Number))
	}
	if j.HeadSHA != "" {
		attrs = append(attrs, slog.String("head", j.HeadSHA))
	}
	if j.Delivery != "" {
		attrs = append(attrs, slog.String("delivery", j.Delivery))
	}
	return telemetry.LogWith(ctx, attrs...)
}

// verify decides about a job and has it done.
func (w *Worker) verify(ctx context.Context, j job.Job) (err error) {
	always := context.WithoutCancel(ctx) // also a job that was cancelled may have a run to end
	run, err := w.DB.RunOfJob(always, j.ID)
	switch known := err == nil; {
	case !known && !errors.Is(err, store.ErrNotFound):
		return err
	case known && run.State != store.Running:
		return nil // it ended, and that was published
	case !known && ctx.Err() != nil:
		return nil // no one saw anything of it
	case !known && j.IsOnceMore():
		if done, err := w.served(ctx, j); err != nil || done {
			return err
		}
	case !known && hasWords(j):
		if passed, err := w.passed(ctx, j); err != nil || passed {
			return err
		}
	}
	if w.Room != nil && ctx.Err() == nil {
		if err := w.Room(ctx); err != nil {
			return fmt.Errorf("%w: %w", queue.ErrLater, err)
		}
	}
	if err := w.announced(ctx, j); err != nil {
		return err
	}
	h, err := w.Hosts(always, j)
	if err != nil {
		return err
	}
	defer func() {
		if !errors.Is(err, errLetGo) { // else the run goes on until the process ends
			w.close(ctx, h)
		}
	}()
	resumed := run.ID != ""
	if !resumed {
		if run, err = w.decide(ctx, h, j); err != nil || run.State != store.Running {
			return err
		}
	}
	a, err := w.assignment(always, run, j)
	if err != nil {
		return err
	}
	if ctx.Err() == nil {
		err = w.carry(ctx, h, run, a, resumed)
	} else {
		err = context.Cause(ctx)
	}
	if e, cancelled := endOf(ctx); cancelled && err != nil { // it came to no end by itself
		return w.finish(ctx, h, run, a, nil, e)
	}
	return err
}

// served reports whether another job has the same work done, which came by itself by several events,
// and none had it done against another base since, or came to a verdict of another commit. [queue.ErrLater]:
// it is not known yet.
func (w *Worker) served(ctx context.Context, j job.Job) (done bool, err error) {
	entries, err := w.Queue.OfCommit(ctx, j, j.HeadSHA)
	if err != nil {
		return false, err
	}
	last, err := w.finished(ctx, ofPull(j, j.Number))
	if err != nil {
		return false, err
	}
	left := j.Number != 0 && len(last) > 0 && last[0].HeadSHA != j.HeadSHA
	var later error
	for _, e := range entries { // the oldest first
		if e.Job.ID == j.ID {
			break
		}
		run, err := w.DB.RunOfJob(ctx, e.Job.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
		goesOn := e.Cancel == "" && (e.State == queue.Waiting || e.State == queue.Working)
		switch {
		case e.Job.AgainstOther(j, run.BaseSHA):
			done, later = false, nil
		case e.Job.Identity() != j.Identity():
		case run.State == store.Finished && !left || run.State == store.Running && goesOn:
			done = true
		case run.State == "" && goesOn:
			later = queue.ErrLater
		}
	}
	if done {
		later = nil
	}
	return done, later
}

// close closes a host though ctx may have ended.
func (w *Worker) close(ctx context.Context, h Host) {
	ctx, cancel := after(ctx)
	defer cancel()
	h.Close(ctx)
}

// carry has a run done, which another process may have begun.
func (w *Worker) carry(ctx context.Context, h Host, run store.Run, a Assignment, resumed bool) error {
	ctx = telemetry.LogWith(about(ctx, a.Job), slog.String("run", run.ID))
	if _, err := w.Queue.Pin(ctx, a.Job); err != nil {
		return err
	}
	if resumed {
		if _, _, err := h.Learn(ctx, a.Job); err != nil {
			return err
		}
	}
	return w.perform(ctx, h, run, a)
}

// decide learns, authorizes, and makes the run; or says why there is none, which is a
// run that is skipped.
func (w *Worker) decide(ctx context.Context, h Host, j job.Job) (store.Run, error) {
	j, _, err := w.resolve(ctx, j)
	if err != nil {
		return store.Run{}, err
	}
	facts, c, err := h.Learn(ctx, j)
	if err != nil {
		return store.Run{}, err
	}
	for range 2 { // another run may take the last place in between
		if facts.Usage, err = w.usage(ctx, j); err != nil {
			return store.Run{}, err
		}
		d := job.Authorize(j, facts, c, w.Rules)
		if !d.Run {
			return w.skip(ctx, h, d.Job, *d.Skip)
		}
		if d.Job.Accept {
			settled, err := w.settled(ctx, d.Job)
			if err != nil {
				return store.Run{}, err
			}
			if !settled {
				return w.skip(ctx, h, d.Job, d.Job.Unsettled())
			}
			record, ok, err := w.recorded(ctx, h, d.Job)
			if err != nil {
				return store.Run{}, err
			}
			if !ok {
				return w.skip(ctx, h, d.Job, d.Job.NoRecord())
			}
			d.Job.Record = record
		}
		var run store.Run
		run, err = w.begin(ctx, d.Job, c)
		var quota *store.QuotaError
		if !errors.As(err, &quota) {
			return run, err
		}
	}
	return store.Run{}, err
}

// skip says why nothing is run, and keeps it for the list of runs.
func (w *Worker) skip(ctx context.Context, h Host, j job.Job, s job.Skip) (store.Run, error) {
	if err := w.alone(ctx, j, func(ctx context.Context) error {
		if j.HeadSHA != "" && (s.Excluded() || s.Refused()) {
			if err := h.Decline(ctx, j, s); err != nil {
				return err
			}
		}
		return w.reply(ctx, h, j, s)
	}); err != nil {
		return store.Run{}, err
	}
	return w.skipped(ctx, j, s)
}

// skipped keeps for the list of runs why nothing is run.
func (w *Worker) skipped(ctx context.Context, j job.Job, s job.Skip) (store.Run, error) {
	w.Log.InfoContext(ctx, "nothing is run", "code", s.Code)
	run := w.row(j)
	run.State, run.Reason, run.Ended = store.Skipped, string(s.Code)+": "+s.Text, w.Now()
	if err := w.DB.SaveRun(ctx, run); err != nil {
		return run, err
	}
	w.Metrics.Run(telemetry.RunEnd{State: string(run.State)})
	return run, nil
}

// begin makes the run of a job that was authorized.
func (w *Worker) begin(ctx context.Context, j job.Job, c *config.Config) (store.Run, error) {
	run := w.row(j)
	if err := w.pin(ctx, run, j); err != nil {
		return run, err
	}
	var limits store.Limits
	if !j.Accept { // which costs nothing
		l := c.Limits.Under(config.Limits{})
		limits = store.Limits{RunsPerDay: l.RunsPerDay, CostPerPull: l.CostUSDPerPR}
	}
	return w.DB.BeginRun(ctx, run, limits)
}

// pin keeps what a run is about.
func (w *Worker) pin(ctx context.Context, run store.Run, j job.Job) error {
	pinned, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return w.DB.Record(ctx, "job/"+run.ID, string(pinned))
}

func (w *Worker) row(j job.Job) store.Run {
	now, trigger := w.Now(), string(j.Trigger)
	if j.Accept {
		trigger = store.Acceptance
	}
	return store.Run{
		ID: w.NewRun(), Job: j.ID, Repo: j.Repo.FullName(), RepoID: j.Repo.ID, Number: j.Number, Installation: j.Installation, BaseSHA: j.BaseSHA,
		HeadSHA: j.HeadSHA, Trigger: trigger, Actor: j.Actor.Login, State: store.Running, Created: now, Started: now, Title: titleOf(j),
	}
}

// titleOf is the title of the pull request as of the event that called for j.
func titleOf(j job.Job) string {
	if j.Text == nil {
		return ""
	}
	return report.Line(j.Text.Title, 300)
}

// manyRuns is more than any limit lets a repository have in a day.
const manyRuns = 10_000

// usage is what was used before j.
func (w *Worker) usage(ctx context.Context, j job.Job) (*job.Usage, error) {
	var u job.Usage
	now := w.Now()
	of := ofRepo(j.Repo.FullName(), j.Repo.ID)
	of.Limit = manyRuns
	runs, err := w.DB.Runs(ctx, of)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		age := now.Sub(r.Created)
		if r.State == store.Skipped || r.Trigger == store.Acceptance {
			continue
		}
		if age < 24*time.Hour {
			u.RunsToday++
		}
		if r.Number == j.Number && age < job.CoolDown && r.Trigger != string(job.TriggerPullRequest) && r.Trigger != string(job.TriggerMergeGroup) {
			u.Recent++
		}
	}
	if j.Number == 0 {
		return &u, nil
	}
	of.Number = j.Number
	if runs, err = w.DB.Runs(ctx, of); err != nil {
		return nil, err
	}
	for _, r := range runs {
		u.CostUSD += r.CostUSD
	}
	return &u, nil
}

// assignment is what is known of a run that was begun, here or elsewhere.
func (w *Worker) assignment(ctx context.Context, run store.Run, j job.Job) (Assignment, error) {
	pinned, ok, err := w.DB.Lookup(ctx, "job/"+run.ID)
	if err == nil && ok {
		err = json.Unmarshal([]byte(pinned), &j)
	}
	if err != nil {
		return Assignment{}, fmt.Errorf("run %s: %w", run.ID, err)
	}
	return Assignment{Job: j, Run: run.ID, Dir: w.dir(run), Details: w.details(run.ID)}, nil
}

// dir is the directory of a run.
func (w *Worker) dir(r store.Run) string {
	return filepath.Join(w.Runs, filepath.FromSlash(r.Repo), strconv.Itoa(r.Number), r.HeadSHA[:min(7, len(r.HeadSHA))]+"-"+r.ID)
}

// details is the page of a run.
func (w *Worker) details(run string) string {
	if w.PublicURL == "" {
		return ""
	}
	return strings.TrimRight(w.PublicURL, "/") + "/runs/" + run
}

// GiveUp ends what people see of a job that is not tried again.
func (w *Worker) GiveUp(ctx context.Context, j job.Job, why error) {
	ctx = about(ctx, j)
	w.Log.ErrorContext(ctx, "job abandoned", "error", why)
	if j.Verb != event.VerbVerify {
		return
	}
	ctx, cancel := after(ctx)
	defer cancel()
	if err := w.giveUp(ctx, j, why); err != nil {
		w.Log.ErrorContext(ctx, "cannot report an abandoned job", "error", err)
	}
}

// giveUp first keeps that there is something to end, so that what GitHub does not take now is reported
// later, see [Worker.Orphans].
func (w *Worker) giveUp(ctx context.Context, j job.Job, why error) error {
	run, err := w.DB.RunOfJob(ctx, j.ID)
	e := Ending{Failure: why}
	if errors.Is(err, store.ErrNotFound) {
		run, e.Unseen = w.row(j), true
		err = w.pin(ctx, run, j)
	}
	if err != nil || run.State != store.Running {
		return err
	}
	run.Reason = report.Line(why.Error(), 1000)
	if err := w.DB.SaveRun(ctx, run); err != nil {
		return err
	}
	a, err := w.assignment(ctx, run, j)
	if err != nil {
		return err
	}
	return w.givenUp(ctx, run, a, e)
}

// givenUp posts that a run was given up, and keeps that it ended. Only a comment that asked has an answer
// besides: the pull request has one comment with what became of what comes by itself.
func (w *Worker) givenUp(ctx context.Context, run store.Run, a Assignment, e Ending) error {
	h, err := w.Hosts(ctx, a.Job)
	if err != nil {
		return w.end(ctx, run, nil, e)
	}
	defer w.close(ctx, h)
	var outside *queue.Outside
	var posted error
	if a.Job.Comment != 0 {
		text := "Not verified: " + report.InertMarkdown(e.Failure.Error(), 500)
		posted = w.alone(ctx, a.Job, func(ctx context.Context) error {
			return w.reply(ctx, h, a.Job, job.Skip{Code: "given-up", Text: text, Notify: job.NotifyComment, Number: a.Job.Number})
		})
	}
	if a.Job.HeadSHA != "" && !errors.As(posted, &outside) {
		posted = errors.Join(posted, h.Begin(ctx, a))
	}
	switch {
	case errors.As(posted, &outside):
		return posted
	case a.Job.HeadSHA == "":
		return errors.Join(posted, w.end(ctx, run, nil, e))
	}
	return errors.Join(posted, w.finish(ctx, h, run, a, nil, e))
}
