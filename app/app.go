// Package app is the GitHub App: a server that stores what webhooks call for, and
// workers that do it.
//
// Receipt only stores. [Server] checks a delivery, asks job.Admit what it calls for,
// and answers when both are on disk; nothing is asked of GitHub. [Worker] does the
// jobs that the queue hands out: it learns what the decision about a job depends on,
// lets job.Authorize decide, and has the work done by a [Host]. What a worker that died
// had begun is gone on with by the next; its place is in these records:
//
//   - the run of a job, made before anything of it can be seen. A run that is not
//     [store.Running] any more has ended and was published.
//   - the effect "job/<run>": the job as it was authorized, with its commits pinned.
//   - the effect "answer/<job>": a question was answered.
//   - the effect "stopped/<job>": how many runs a person stopped.
//   - the mark [store.Run.Untold]: it ended while GitHub did not let the App post.
//   - the effects "words/<job>" and "heard/<job>": the run that a person's words were put
//     before, and that it took them.
//   - the effect "queued/<job>" and the state of the job's check run while it waits: see waiting.go.
//
// Questions and stops are jobs too, so that none is lost. They must not wait for a
// worker, which may be busy with the very run that is to be stopped: the server that
// stored one answers it at once ([Worker.Hasten]), and a later one finds it
// answered.
//
// What happens on GitHub, in the sandbox and with a model is behind interfaces that
// are declared here and wired in cmd/ycbot.
package app

import (
	"context"
	"time"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// A Host does for one job what needs GitHub, commands or a model.
type Host interface {
	Speaker
	Announcer
	Performer
	// Close gives back what it holds of GitHub's. It is called once, after all else.
	Close(ctx context.Context)
}

// A Speaker asks GitHub and answers people.
type Speaker interface {
	// Learn asks what the decision about j depends on, and keeps what the run needs of
	// it. Of a job that was authorized, the configuration is that of its base.
	Learn(ctx context.Context, j job.Job) (job.Facts, *config.Config, error)
	// Seen shows the person who commented that the command is known.
	Seen(ctx context.Context, j job.Job) error
	// Reply answers, in one comment that the next answer replaces.
	Reply(ctx context.Context, j job.Job, s job.Skip) error
	// Decline completes the check run of a commit that the configuration or a limit keeps
	// from being verified, so that no required check waits for it.
	Decline(ctx context.Context, j job.Job, s job.Skip) error
}

// An Announcer shows that a job waits.
type Announcer interface {
	// Queued shows in the check run of j that it waits, and for what. It reports whether
	// there is one: the configuration may want none. Begin takes it over.
	Queued(ctx context.Context, j job.Job, title, text string) (bool, error)
	// Unqueued completes that check run where it still says that j waits: it was cancelled
	// for the reason c, or, where that is empty, nothing was run for the reason why.
	Unqueued(ctx context.Context, j job.Job, c queue.Reason, why string) error
}

// A Performer verifies, and publishes results.
type Performer interface {
	// Readable reports whether the directory of a finished run is as that left it, and of a format
	// that this version of the program reads: else it cannot be concluded again.
	Readable(dir string) bool
	// Begin shows that the run is under way.
	Begin(ctx context.Context, a Assignment) error
	// Verify performs the run, or goes on with it.
	Verify(ctx context.Context, a Assignment, l Link) (*report.Report, error)
	// Finish says how the run ended, also where another process began it. A nil report
	// is a run that came to none; of one that was broken off the report is made. It may
	// be called again.
	Finish(ctx context.Context, a Assignment, rep *report.Report, e Ending) (*report.Report, error)
}

// Installed finds out by which installation the App sees a repository now, 0 where it does not, and what that is called now.
// The repository counts by its number: an installation that was made again has another, and a name can become that of
// another repository.
type Installed func(ctx context.Context, repo event.Repo) (now event.Repo, installation int64, err error)

// An Assignment is a job that was authorized and the run that does it.
type Assignment struct {
	Job      job.Job
	Run      string // its id
	Dir      string // its directory
	Previous string // directory of the last run of the same pull request; empty: none
	Details  string // address of its page; empty: none
	// Accepted are what people accepted on the pull request; of a job that accepts, its own.
	Accepted []report.Acceptance
}

// A Link is what passes between a run and its worker while it goes.
type Link struct {
	Wrote func() error  // is called when the run's directory has more in it
	Kept  func() error  // is called when its journal has more, before the run goes on; an error ends the run
	Words <-chan string // what people say to the run
}

// An Ending says how a run ended, beside its verdict.
type Ending struct {
	Kind    queue.Reason // empty: it came to its own end
	Failure error        // why there is no report
	Unseen  bool         // nothing of it can be seen, so nothing is left to be published later
	Late    bool         // a newer run of the same pull request has a verdict: comments are about that one
}

// A Permanent is an error for which it does not help to try again.
type Permanent struct{ Err error }

func (e *Permanent) Error() string { return e.Err.Error() }
func (e *Permanent) Unwrap() error { return e.Err }

// endTime is how long publishing may take when the job itself is over.
const endTime = time.Minute

// after returns a context for what must be done though ctx has ended.
func after(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), endTime)
}

// stateOf is the state of a run that ended so.
func stateOf(rep *report.Report, e Ending) store.RunState {
	switch {
	case e.Kind == queue.Superseded:
		return store.Superseded
	case e.Kind == queue.Stopped || e.Kind == queue.Removed || e.Failure == nil && rep != nil && rep.Outcome == report.Cancelled:
		return store.Stopped
	case rep == nil || rep.Verdict == report.Error:
		return store.Failed
	}
	return store.Finished
}
