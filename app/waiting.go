package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// A job that waits is shown by a check run. It is created beside the queue, never within
// a delivery, and is the one that the run takes over: in the records here,
//
//   - jobs.queued_check says how far that is (see package queue), so that no process has
//     to remember anything;
//   - the effect "queued/<job>" is the commit that it is on.
//
// The process that creates one holds a lock meanwhile, and a worker that begins the job waits for
// that lock: each looks whether there is a check run before it creates one.

// How check runs of waiting jobs are looked after.
const (
	waitingAfter = time.Second            // a job that is begun within this has none that says that it waits
	waitingEvery = 500 * time.Millisecond // how often it is looked what is to be shown
	waitingAsk   = 20 * time.Second       // how long GitHub may take for what a decision depends on
	waitingWrite = 10 * time.Second       // how long it may take to create or end one: a worker may wait for it
	waitingMany  = 256                    // jobs that are looked at each time
	waitingCalm  = 20                     // times as long as that took it is not looked again: very many may wait

	// waitingPerMinute bounds how many are created for an installation, as the requests
	// count against what its runs may ask of GitHub.
	waitingPerMinute = 20
	waitingFirst     = 2 * time.Second // between tries
	waitingLongest   = 5 * time.Minute
	waitingRefused   = time.Hour // the same where GitHub refuses
)

// Announce shows which jobs wait, until ctx ends.
func (w *Worker) Announce(ctx context.Context) {
	for a := w.newAnnouncer(); ; {
		rest := time.NewTimer(max(waitingEvery, waitingCalm*a.pass(ctx)))
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
	}
}

// An announcer shows which jobs wait.
type announcer struct {
	*Worker
	tries  map[string]try // of jobs that could not be looked after
	spent  map[int64]int  // by installation, in this minute
	minute time.Time      // when it began
}

type try struct {
	next time.Time
	wait time.Duration
}

func (w *Worker) newAnnouncer() *announcer {
	return &announcer{Worker: w, tries: map[string]try{}, spent: map[int64]int{}}
}

// pass ends what does not wait any more, and then shows what waits. It returns how long
// it took to find out what that is.
func (a *announcer) pass(ctx context.Context) (asked time.Duration) {
	left, err := a.Queue.LeftAnnounced(ctx, waitingMany)
	a.each(ctx, left, err, a.unqueue)
	now := a.Now()
	if now.Sub(a.minute) >= time.Minute {
		a.minute = now
		clear(a.spent)
		for id, t := range a.tries {
			if now.Sub(t.next) > waitingRefused { // it was done elsewhere
				delete(a.tries, id)
			}
		}
	}
	var not []int64
	for installation, n := range a.spent {
		if n >= waitingPerMinute {
			not = append(not, installation)
		}
	}
	began := a.Now()
	due, err := a.Queue.Unannounced(ctx, began.Add(-waitingAfter), not, waitingMany)
	asked = a.Now().Sub(began)
	a.each(ctx, due, err, func(ctx context.Context, e queue.Entry) error {
		if a.spent[e.Job.Installation] >= waitingPerMinute {
			return nil
		}
		a.spent[e.Job.Installation]++
		return a.queued(ctx, e.Job)
	})
	return asked
}

// each looks after jobs one by one; those that failed wait longer each time.
func (a *announcer) each(ctx context.Context, entries []queue.Entry, err error, do func(context.Context, queue.Entry) error) {
	if err != nil && ctx.Err() == nil {
		a.Log.WarnContext(ctx, "cannot show waiting jobs", "error", err)
	}
	for _, e := range entries {
		last, failed := a.tries[e.Job.ID]
		if ctx.Err() != nil {
			return
		}
		if failed && a.Now().Before(last.next) {
			continue
		}
		if err := do(about(ctx, e.Job), e); err != nil {
			last.wait = min(max(2*last.wait, waitingFirst), waitingLongest)
			var permanent *Permanent
			if errors.As(err, &permanent) { // the App may be let in again
				last.wait = waitingRefused
			}
			last.next = a.Now().Add(last.wait)
			a.tries[e.Job.ID] = last
			if !errors.Is(err, errUndecided) {
				a.Log.WarnContext(about(ctx, e.Job), "cannot write the check run of a waiting job", "error", err)
			}
			continue
		}
		delete(a.tries, e.Job.ID)
	}
}

// errUndecided says that it is not known yet whether a job becomes a run of its own.
var errUndecided = errors.New("what it asks for may be done by another job")

// queued shows that j waits, unless no run of it would begin now: a check run is not
// touched for who may not ask.
func (w *Worker) queued(ctx context.Context, j job.Job) error {
	if _, offered, err := w.DB.Lookup(ctx, "words/"+j.ID); err != nil || offered {
		return cmp.Or(err, errUndecided)
	}
	if j.IsOnceMore() {
		switch done, err := w.served(ctx, j); {
		case errors.Is(err, queue.ErrLater):
			return errUndecided
		case err != nil:
			return err
		case done:
			return w.Queue.Unannounce(ctx, j.ID)
		}
	}
	if j.Accept || !w.Allow.runs(j.Installation, j.Repo) { // it begins no run, and need not come to anything
		return w.Queue.Unannounce(ctx, j.ID)
	}
	h, err := w.Hosts(ctx, j)
	if err == nil {
		defer w.close(ctx, h)
		j, err = w.wouldRun(ctx, h, j)
	}
	if err == nil && hasWords(j) {
		err = w.decided(ctx, j)
	}
	if err == nil {
		err = w.DB.Record(ctx, queuedKey(j), j.HeadSHA)
	}
	if err == nil {
		err = w.showQueued(ctx, h, j)
	}
	var permanent *Permanent
	if errors.As(err, &permanent) {
		if _, begun, lookup := w.DB.Lookup(ctx, queuedKey(j)); lookup != nil || begun {
			return errors.Join(err, lookup)
		}
		return w.Queue.Unannounce(ctx, j.ID)
	}
	return err
}

// decided returns [errUndecided] where a run that is under way can take what j says. A check run of j
// would be the newest one of the commit then, and stay without a verdict.
func (w *Worker) decided(ctx context.Context, j job.Job) error {
	active, err := w.active(ctx, j)
	if err != nil {
		return err
	}
	run, err := w.underWay(ctx, active, j)
	if err == nil && run != "" {
		err = errUndecided
	}
	return err
}

func queuedKey(j job.Job) string { return "queued/" + j.ID }

// wouldRun is j with its commits pinned; a [Permanent] where nothing would be run.
func (w *Worker) wouldRun(ctx context.Context, h Host, j job.Job) (job.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, waitingAsk)
	defer cancel()
	j, _, err := w.resolve(ctx, j)
	if err != nil {
		return j, err
	}
	facts, c, err := h.Learn(ctx, j)
	if err != nil {
		return j, err
	}
	if facts.Usage, err = w.usage(ctx, j); err != nil {
		return j, err
	}
	d := job.Authorize(j, facts, c, w.Rules)
	if !d.Run {
		return j, &Permanent{Err: fmt.Errorf("nothing is run: %s", d.Skip.Code)}
	}
	return d.Job, nil
}

// showQueued creates the check run, unless a worker has the job by now.
func (w *Worker) showQueued(ctx context.Context, h Host, j job.Job) error {
	head, _, err := w.DB.Lookup(ctx, queuedKey(j))
	if err != nil {
		return err
	}
	j.HeadSHA = head // where it may be already, though the pull request has another by now
	title, text, err := w.waitsFor(ctx, j)
	if err != nil {
		return err
	}
	return w.announcing(ctx, j, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, waitingWrite)
		defer cancel()
		ours, err := w.Queue.Announcing(ctx, j.ID)
		if err != nil || !ours {
			return err
		}
		shown, err := h.Queued(ctx, j, title, text)
		switch {
		case err != nil:
			return err
		case !shown: // the configuration wants no check run
			return w.Queue.Unannounce(ctx, j.ID)
		}
		w.Log.InfoContext(ctx, "check run shows that the job waits", "commit", j.HeadSHA)
		return w.Queue.Announced(ctx, j.ID)
	})
}

// announcing runs fn while no other writes that j waits.
func (w *Worker) announcing(ctx context.Context, j job.Job, fn func(context.Context) error) error {
	return w.exclusively(ctx, queuedLock(j), fn)
}

func queuedLock(j job.Job) string {
	name := fnv.New32a()
	_, _ = name.Write([]byte(j.ID))
	return fmt.Sprintf("queued-%x", name.Sum32()%16) // names of locks are files on SQLite, so there are few
}

// lockWait is how long a job waits for a lock until it is put off: longer than one that froze with it
// has it, and than most need it.
const lockWait = 45 * time.Second

// exclusively runs fn under a lock. Where another has that for long, the job is begun again later.
func (w *Worker) exclusively(ctx context.Context, name string, fn func(context.Context) error) error {
	err := w.DB.ExclusivelyWithin(ctx, w.lockWait, name, fn)
	if errors.Is(err, store.ErrBusy) {
		return &queue.Outside{Err: err}
	}
	return err
}

// announced returns when no one is about to write that j waits, which was begun, or when ctx ends: what
// is to be ended then does not wait for it.
func (w *Worker) announced(ctx context.Context, j job.Job) error {
	was, err := w.Queue.WasAnnounced(context.WithoutCancel(ctx), j.ID)
	if err != nil || !was || ctx.Err() != nil {
		return err
	}
	err = w.announcing(ctx, j, func(context.Context) error { return nil })
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// waitsFor is what the check run of a job that waits says.
func (w *Worker) waitsFor(ctx context.Context, j job.Job) (title, text string, err error) {
	line, err := w.Queue.Line(ctx)
	if err != nil {
		return "", "", err
	}
	title, text = "queued", fmt.Sprintf("%d jobs wait.", line.Length)
	for _, p := range line.Waiting {
		if p.ID == j.ID {
			title = fmt.Sprintf("queued at position %d", p.Position)
			text = fmt.Sprintf("Position %d of %d in the queue: %s.", p.Position, line.Length, p.Why)
		}
	}
	text += " As of " + w.Now().UTC().Format("2006-01-02 15:04:05 UTC") + "."
	if page := w.queuePage(); page != "" {
		text += " [The queue now](" + page + ")."
	}
	return title, text, nil
}

// queuePage is the address of the page that shows the queue; empty: there is none.
func (w *Worker) queuePage() string {
	if w.PublicURL == "" {
		return ""
	}
	return strings.TrimRight(w.PublicURL, "/") + "/queue"
}

// unqueue ends the check run of a job that is over, if it still says that the job waits.
func (w *Worker) unqueue(ctx context.Context, e queue.Entry) error {
	head, begun, err := w.DB.Lookup(ctx, queuedKey(e.Job))
	if err != nil {
		return err
	}
	if begun {
		e.Job.HeadSHA = head
		err = w.announcing(ctx, e.Job, func(ctx context.Context) error { return w.endQueued(ctx, e) })
	}
	var permanent *Permanent
	if errors.As(err, &permanent) && w.Now().Sub(e.Created) > publishWithin {
		err = nil // GitHub itself has ended it
	}
	if err != nil {
		return err
	}
	return w.Queue.Unannounce(ctx, e.Job.ID)
}

func (w *Worker) endQueued(ctx context.Context, e queue.Entry) error {
	ctx, cancel := context.WithTimeout(ctx, waitingWrite)
	defer cancel()
	why := "Nothing was run for this request."
	switch run, err := w.DB.RunOfJob(ctx, e.Job.ID); {
	case err == nil && run.State == store.Skipped:
		why = run.Why()
	case err == nil && run.Reason != "":
		why = "Nothing was run: " + run.Reason
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	}
	if _, heard, err := w.DB.Lookup(ctx, "heard/"+e.Job.ID); err != nil {
		return err
	} else if heard {
		why = "The run that was under way on this commit took up what was asked."
	}
	j, _, err := w.resolve(ctx, e.Job)
	if err != nil {
		return err
	}
	if e.Cancel == queue.Removed {
		if j.Repo, j.Installation, err = w.Installed(ctx, j.Repo); err != nil {
			return err
		}
		if j.Installation == 0 {
			return &Permanent{Err: errNotInstalled}
		}
	}
	h, err := w.Hosts(ctx, j)
	if err != nil {
		return err
	}
	defer w.close(ctx, h)
	return h.Unqueued(ctx, j, e.Cancel, why)
}
