package app

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// replyJob is the job of answering a person why nothing is run. Its Words are the answer,
// in place of what the person said, and its Action is the code.
func replyJob(j job.Job, s job.Skip) job.Job {
	j.Verb, j.Words, j.Action = event.VerbHelp, s.Text, string(s.Code)
	if s.Notify == job.NotifyComment {
		j.Number = s.Number
	}
	j.ID = j.Identity()
	return j
}

// Hasten answers j at once, beside the queue, and puts words before the run that is under
// way, unless it is work for a worker or too much is being answered: then the queue's turn
// comes. It does not wait.
func (w *Worker) Hasten(j job.Job) {
	if j.Verb != event.VerbVerify || hasWords(j) {
		w.hurry(hurry{job: j, pause: hurryFirst})
	}
}

// A hurry is a question that is answered beside the queue.
type hurry struct {
	job   job.Job
	pause time.Duration // until the next try, should this one fail
}

// What cannot be answered at once is tried again, at most until hurryLongest passed between two tries:
// the queue's turn may not come before the run has ended that it is to stop.
const (
	hurryFirst   = time.Second
	hurryLongest = 5 * time.Minute
)

func (w *Worker) hurry(h hurry) {
	select {
	case w.hasty <- h:
	default:
	}
}

// hastenAtOnce is how many questions are answered at once, beside the queue.
const hastenAtOnce = 4

// Answer answers what Hasten is given, until ctx ends.
func (w *Worker) Answer(ctx context.Context) {
	done := make(chan struct{})
	for range hastenAtOnce {
		go func() {
			defer func() { done <- struct{}{} }()
			for {
				select {
				case <-ctx.Done():
					return
				case h := <-w.hasty:
					err := w.hasten(ctx, h.job)
					if err == nil || ctx.Err() != nil {
						continue
					}
					w.Log.WarnContext(ctx, "not answered at once", "job", h.job.ID, "error", err)
					var permanent *Permanent
					if next := (hurry{h.job, 2 * h.pause}); h.pause < hurryLongest && !errors.As(err, &permanent) {
						time.AfterFunc(h.pause, func() { w.hurry(next) })
					}
				}
			}
		}()
	}
	for range hastenAtOnce {
		<-done
	}
}

func (w *Worker) hasten(ctx context.Context, j job.Job) error {
	if j.Verb != event.VerbVerify {
		return w.answer(ctx, j)
	}
	if _, err := w.passed(ctx, j); err != nil && !errors.Is(err, queue.ErrLater) {
		return err
	}
	return nil
}

// answer does a job that is a question, once.
func (w *Worker) answer(ctx context.Context, j job.Job) error {
	ctx = about(ctx, j)
	return w.alone(ctx, j, func(ctx context.Context) error {
		if _, done, err := w.DB.Lookup(ctx, "answer/"+j.ID); err != nil || done {
			return err
		}
		err := w.reaction(ctx, j)
		var permanent *Permanent
		if errors.As(err, &permanent) {
			w.Log.WarnContext(ctx, "cannot be answered", "error", err)
			err = nil
		}
		if err != nil {
			return err
		}
		end, cancel := after(ctx) // else who comes next would do it once more
		defer cancel()
		return w.DB.Record(end, "answer/"+j.ID, "1")
	})
}

// reaction is what is done about j.
func (w *Worker) reaction(ctx context.Context, j job.Job) error {
	if j.Verb == event.VerbForget {
		j, err := w.gone(ctx, j)
		if err != nil || j.ID == "" {
			return err
		}
		ended, err := w.Queue.Forget(ctx, j)
		w.Log.InfoContext(ctx, "it is not to be verified any more", "event", j.Event, "action", j.Action, "installation", j.Installation, "repositories", len(j.Gone), "jobs", len(ended))
		return err
	}
	if j.Verb == event.VerbReturn {
		return w.PublishEnded(ctx, j.Account)
	}
	h, err := w.Hosts(ctx, j)
	if err != nil {
		return err
	}
	defer w.close(ctx, h)
	return w.say(ctx, h, j)
}

// gone is j without the repositories that its installation has again: GitHub dates no such event, and one that comes
// late says nothing about now. Of those with nothing to end it is not asked. The zero job: none is left.
func (w *Worker) gone(ctx context.Context, j job.Job) (job.Job, error) {
	if len(j.Gone) == 0 { // the installation is gone, or a merge group
		return j, nil
	}
	losing, err := w.Queue.Losing(ctx, j)
	if err != nil {
		return j, err
	}
	asking, cancel := context.WithTimeout(ctx, waitingAsk)
	defer cancel()
	j.Gone = nil
	for _, repo := range losing.Gone {
		_, installation, err := w.Installed(asking, repo)
		if ctx.Err() != nil {
			return j, ctx.Err()
		}
		if err != nil {
			w.Log.WarnContext(ctx, "GitHub does not say whether a repository is back: its runs are ended", "gone", repo.FullName(), "error", err)
		}
		if err != nil || installation != j.Installation {
			j.Gone = append(j.Gone, repo)
		}
	}
	if len(j.Gone) == 0 {
		return job.Job{}, nil
	}
	return j, nil
}

// alone runs fn while no one else answers on the page that j is about: the answers
// there share one comment.
func (w *Worker) alone(ctx context.Context, j job.Job, fn func(context.Context) error) error {
	return w.exclusively(ctx, answerLock(j), fn)
}

func answerLock(j job.Job) string {
	page := fnv.New32a()
	fmt.Fprintf(page, "%s#%d", j.Repo.FullName(), j.Number)
	return fmt.Sprintf("answer-%x", page.Sum32()%16) // as in queuedLock
}

func (w *Worker) say(ctx context.Context, h Host, j job.Job) error {
	if j.Verb == event.VerbHelp && j.Trigger == job.TriggerRerequest { // a button has no comment to answer
		_, err := w.DB.RunOfJob(ctx, j.ID)
		if errors.Is(err, store.ErrNotFound) {
			_, err = w.skipped(ctx, j, job.Skip{Code: job.Code(j.Action), Text: j.Words})
		}
		return err
	}
	if j.Verb == event.VerbHelp {
		return h.Reply(ctx, j, job.Skip{Code: job.Code(j.Action), Text: j.Words, Notify: job.NotifyComment, Number: j.Number})
	}
	j, about, err := w.resolve(ctx, j)
	if err != nil {
		return err
	}
	facts, c, err := h.Learn(ctx, j)
	if err != nil {
		return err
	}
	if d := job.Authorize(j, facts, c, w.Rules); !d.Run {
		return w.reply(ctx, h, j, *d.Skip)
	}
	answer, ok := w.answers()[j.Verb]
	if !ok {
		return &Permanent{Err: fmt.Errorf("there is no answer to the command %q", j.Verb)}
	}
	text, err := answer(ctx, j, about) // before GitHub has to take anything for it
	if err != nil {
		return err
	}
	w.seen(ctx, h, j)
	if j.Comment == 0 { // a button is seen to work
		return nil
	}
	return h.Reply(ctx, j, job.Skip{Code: job.Code(j.Verb), Text: text, Notify: job.NotifyComment, Number: j.Number})
}

// seen shows that a command is known, if GitHub takes that: what was asked for does not wait for it.
func (w *Worker) seen(ctx context.Context, h Host, j job.Job) {
	if err := h.Seen(ctx, j); err != nil {
		w.Log.WarnContext(ctx, "it is not shown that a command was seen", "error", err)
	}
}

// answers are how questions are answered, by what they ask for; about is the job that a
// button belongs to, nil for none.
func (w *Worker) answers() map[event.Verb]func(ctx context.Context, j job.Job, about *job.Job) (string, error) {
	return map[event.Verb]func(context.Context, job.Job, *job.Job) (string, error){
		event.VerbStop:   w.stop,
		event.VerbStatus: w.status,
	}
}

// reply answers a person why nothing is done, where the answer belongs on GitHub.
func (w *Worker) reply(ctx context.Context, h Host, j job.Job, s job.Skip) error {
	if s.Notify != job.NotifyComment || s.Number == 0 {
		return nil
	}
	return h.Reply(ctx, j, s)
}

// resolve finds the earlier job that j is about, and takes from it what GitHub did not
// send: of a fork's check run it names no pull request, and of a suite no job at all.
func (w *Worker) resolve(ctx context.Context, j job.Job) (job.Job, *job.Job, error) {
	var entry queue.Entry
	var err error
	switch {
	case j.Again != "":
		entry, err = w.Queue.Get(ctx, j.Again)
	case j.Trigger == job.TriggerRerequest && j.Number == 0:
		entry, err = w.last(ctx, j)
	default:
		return j, nil, nil
	}
	if errors.Is(err, queue.ErrUnknown) || err == nil && entry.Job.Repo.ID != j.Repo.ID {
		return j, nil, nil
	}
	if err != nil {
		return j, nil, err
	}
	if j.Number == 0 {
		j.Number = entry.Job.Number
	}
	if entry.Job.Trigger == job.TriggerMergeGroup && j.Verb == event.VerbVerify { // it is of no pull request
		j.Trigger, j.Ref, j.BaseSHA = entry.Job.Trigger, entry.Job.Ref, entry.Job.BaseSHA
	}
	return j, &entry.Job, nil
}

// last is the newest verification of the commit of j.
func (w *Worker) last(ctx context.Context, j job.Job) (queue.Entry, error) {
	entries, err := w.Queue.OfCommit(ctx, j, j.HeadSHA)
	if err != nil {
		return queue.Entry{}, err
	}
	for _, e := range slices.Backward(entries) {
		if e.Job.Verb == event.VerbVerify && e.Job.ID != j.ID && (e.Job.Number != 0 || e.Job.Trigger == job.TriggerMergeGroup) {
			return e, nil
		}
	}
	return queue.Entry{}, queue.ErrUnknown
}

// stop cancels the run that a button belongs to, or all of the pull request.
func (w *Worker) stop(ctx context.Context, j job.Job, about *job.Job) (string, error) {
	ids := []string{}
	if about != nil {
		ids = append(ids, about.ID)
	} else {
		active, err := w.active(ctx, j)
		if err != nil {
			return "", err
		}
		for _, e := range active {
			// GitHub may deliver it hours later: what was asked for since goes on.
			if j.At.IsZero() || !e.Job.At.After(j.At) {
				ids = append(ids, e.Job.ID)
			}
		}
	}
	stopped, late := 0, false
	for _, id := range ids {
		ok, over, err := w.cancel(ctx, id)
		if err != nil {
			return "", err
		}
		if ok {
			stopped++
		}
		late = late || over
	}
	// Who died before the answer was given must not find that nothing is running.
	if stopped > 0 {
		if err := w.DB.Record(ctx, "stopped/"+j.ID, fmt.Sprint(stopped)); err != nil {
			return "", err
		}
	}
	n, ok, err := w.DB.Lookup(ctx, "stopped/"+j.ID)
	switch {
	case err != nil:
		return "", err
	case !ok && late:
		return "Too late to stop: the run has finished, and its result is posted now.", nil
	case !ok:
		return "Nothing was running.", nil
	case n == "1":
		return "The run was stopped. Comment `/verify` to start another.", nil
	}
	return n + " runs were stopped. Comment `/verify` to start another.", nil
}

// cancel cancels a job. It is over where its result stands: that is posted all the same.
func (w *Worker) cancel(ctx context.Context, id string) (ok, over bool, err error) {
	if over, err = w.Queue.Concluded(ctx, id); err != nil || over {
		return false, over, err
	}
	if ok, err = w.Queue.Cancel(ctx, id, queue.Stopped); err != nil || !ok {
		return false, false, err
	}
	over, err = w.Queue.Concluded(ctx, id) // in between
	return !over, over, err
}

// active are the verifications of the pull request of j that are not over.
func (w *Worker) active(ctx context.Context, j job.Job) ([]queue.Entry, error) {
	all, err := w.Queue.Active(ctx, j)
	if err != nil {
		return nil, err
	}
	var out []queue.Entry
	for _, e := range all {
		if e.Job.Verb == event.VerbVerify && e.Cancel == "" {
			out = append(out, e)
		}
	}
	return out, nil
}

// status says what is done and what waits.
func (w *Worker) status(ctx context.Context, j job.Job, _ *job.Job) (string, error) {
	active, err := w.active(ctx, j)
	if err != nil {
		return "", err
	}
	if len(active) == 0 {
		return "Nothing is running and nothing waits. Comment `/verify` to start a run.", nil
	}
	var b strings.Builder
	for _, e := range active {
		what := "waits for its turn"
		if e.State == queue.Working {
			what = "is running"
		}
		subject := "A run"
		if e.Job.HeadSHA != "" {
			subject = "The run of `" + e.Job.HeadSHA[:min(12, len(e.Job.HeadSHA))] + "`"
		}
		fmt.Fprintf(&b, "- %s %s", subject, what)
		if run, err := w.DB.RunOfJob(ctx, e.Job.ID); err == nil && w.details(run.ID) != "" {
			fmt.Fprintf(&b, " ([details](%s))", w.details(run.ID))
		}
		b.WriteString(".\n")
	}
	return b.String(), nil
}
