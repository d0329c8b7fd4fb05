package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// A Reason is why a job was cancelled. The strings are stored: do not change them.
type Reason string

// The reasons.
const (
	Superseded Reason = "superseded" // a newer head came, or another base
	Stopped    Reason = "stopped"    // by a person
	Removed    Reason = "removed"    // the App may not see the repository any more
)

// A Cancelled is the cause of the context of a job that was cancelled.
type Cancelled struct{ Reason Reason }

func (e *Cancelled) Error() string {
	if e.Reason == Removed {
		return "the App was removed from the repository, or suspended"
	}
	return "job was " + string(e.Reason)
}

// ErrHandBack is the cause of the context of a job that this process must let go of; it
// will be begun again elsewhere, or here after a restart.
var ErrHandBack = errors.New("job is handed back")

// ErrUnknown says that there is no job with the identity that was asked for.
var ErrUnknown = errors.New("job is not known")

// Cancel ends a job, waiting or running, in whatever process. It reports whether there
// was something to end.
func (q *Queue) Cancel(ctx context.Context, id string, why Reason) (bool, error) {
	var done bool
	err := q.db.Write(ctx, func(tx *store.Tx) (err error) {
		done, err = q.cancel(ctx, tx, id, why)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("cancel job %s: %w", id, err)
	}
	if done {
		q.cancelHere([]string{id}, why)
		q.signal()
	}
	return done, nil
}

// concluded is the effect that says of a job that its result stands.
const concluded = "concluded/"

// Conclude keeps that the result of a job stands, unless it was cancelled before: then it
// returns the [*Cancelled]. Who cancels it later can learn that it was too late.
func (q *Queue) Conclude(ctx context.Context, id string) error {
	var why Reason
	err := q.db.Write(ctx, func(tx *store.Tx) error {
		// The row is locked by this, so that a cancellation comes before or after.
		err := tx.Each(ctx, func(scan store.Scan) error { return scan(&why) }, `update jobs set cancel = cancel where id = $1 returning cancel`, id)
		if err != nil || why != "" {
			return err
		}
		_, err = tx.Exec(ctx, `insert into effects (name, value, created) values ($1, '1', $2) on conflict (name) do nothing`, concluded+id, store.Micros(q.db.Now()))
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("conclude job %s: %w", id, err)
	case why != "":
		return &Cancelled{Reason: why}
	}
	return nil
}

// Concluded says whether the result of a job stands.
func (q *Queue) Concluded(ctx context.Context, id string) (bool, error) {
	_, ok, err := q.db.Lookup(ctx, concluded+id)
	return ok, err
}

// Forget ends what was stored before j, and was not asked for after it, for its installation: all of
// it, that of the repositories which j names, or the merge group with j's head.
func (q *Queue) Forget(ctx context.Context, j job.Job) (ended []string, err error) {
	var why Reason
	err = q.db.Write(ctx, func(tx *store.Tx) error {
		ended = nil
		why = Removed
		if j.HeadSHA != "" {
			why = Superseded
		}
		ids, err := q.ofInstallation(ctx, tx, j)
		if err != nil {
			return err
		}
		for _, id := range ids {
			done, err := q.cancel(ctx, tx, id.job, why)
			if err != nil {
				return err
			}
			if done {
				ended = append(ended, id.job)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("forget installation %d: %w", j.Installation, err)
	}
	q.cancelHere(ended, why)
	q.signal()
	return ended, nil
}

// Losing is j with those of its repositories that Forget would end something of.
func (q *Queue) Losing(ctx context.Context, j job.Job) (job.Job, error) {
	ids, err := q.ofInstallation(ctx, q.db.Reader(), j)
	if err != nil {
		return j, fmt.Errorf("jobs of installation %d: %w", j.Installation, err)
	}
	all := j.Gone
	j.Gone = nil
	for _, repo := range all {
		key := repoKey(job.Job{Repo: repo})
		if slices.ContainsFunc(ids, func(id ofRepo) bool { return id.repo == key }) {
			j.Gone = append(j.Gone, repo)
		}
	}
	return j, nil
}

// An ofRepo is a job and the key of its repository.
type ofRepo struct{ job, repo string }

func (q *Queue) ofInstallation(ctx context.Context, from store.Querier, j job.Job) (ids []ofRepo, err error) {
	gone := map[string]bool{}
	for _, repo := range j.Gone {
		gone[repoKey(job.Job{Repo: repo})] = true
	}
	err = from.Each(ctx, func(scan store.Scan) error {
		var id ofRepo
		if err := scan(&id.job, &id.repo); err != nil {
			return err
		}
		if len(gone) == 0 || gone[id.repo] {
			ids = append(ids, id)
		}
		return nil
	}, `select j.id, j.repo from jobs j join river_job r on r.id = j.river_id
		where j.installation = $1 and j.river_id < (select river_id from jobs where id = $2) and j.cancel = '' and r.state in `+notOver+`
			and (j.event_at = 0 or cast($3 as bigint) = 0 or j.event_at <= cast($3 as bigint))
			and ($4 = '' or j.repo = $5 and j.head_sha = $4 and j.number = 0)
		order by j.river_id`, j.Installation, j.ID, store.Micros(j.At), j.HeadSHA, repoKey(j))
	return ids, err
}

// Pin keeps the head that the first stage of a job found its pull request to have, so
// that a newer one supersedes it, and supersedes itself what is for another head or base,
// unless a person named the commit.
func (q *Queue) Pin(ctx context.Context, j job.Job) (superseded []string, err error) {
	err = q.db.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `update jobs set head_sha = $1 where id = $2`, j.HeadSHA, j.ID)
		if err == nil && n == 0 {
			err = ErrUnknown
		}
		if err != nil || j.Want != "" || j.HeadSHA == "" {
			return err
		}
		superseded, err = q.supersede(ctx, tx, j, true)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pin job %s: %w", j.ID, err)
	}
	q.cancelHere(superseded, Superseded)
	return superseded, nil
}

// supersede cancels the jobs of j's pull request that were stored before it and are for
// another head, or for another base branch. One that was reported after j stays, though it
// came first. Reports are dated to the second: of the same one, those stay that j does not say to
// have pushed over, unless it is known (sure) that j is of the newest head.
func (q *Queue) supersede(ctx context.Context, tx *store.Tx, j job.Job, sure bool) ([]string, error) {
	if j.Number == 0 {
		return nil, nil
	}
	var older, cancelled []string
	err := tx.Each(ctx, func(scan store.Scan) error {
		var id, head string
		var body []byte
		var known job.Job
		err := scan(&id, &head, &body)
		if err == nil {
			err = json.Unmarshal(body, &known)
		}
		tie := !sure && !j.At.IsZero() && known.At.Equal(j.At) && head != j.Before
		if !tie && (head != j.HeadSHA || known.IntoOther(j)) {
			older = append(older, id)
		}
		return err
	}, `select j.id, j.head_sha, j.body from jobs j join river_job r on r.id = j.river_id
		where j.repo = $1 and j.number = $2 and j.river_id < (select river_id from jobs where id = $3)
			and j.head_sha <> '' and j.cancel = '' and r.state in `+notOver+`
			and (j.event_at = 0 or cast($4 as bigint) = 0 or j.event_at <= cast($4 as bigint))
		order by j.river_id`,
		repoKey(j), j.Number, j.ID, store.Micros(j.At))
	if err != nil {
		return nil, fmt.Errorf("list older jobs: %w", err)
	}
	for _, id := range older {
		done, err := q.cancel(ctx, tx, id, Superseded)
		if err != nil {
			return nil, fmt.Errorf("supersede job %s: %w", id, err)
		}
		if done {
			cancelled = append(cancelled, id)
		}
	}
	return cancelled, nil
}

// cancel marks the job, which a worker that has it finds (see watch). A job that never
// started is over at once; one that waits to be tried again is given to a worker now.
func (q *Queue) cancel(ctx context.Context, tx *store.Tx, id string, why Reason) (bool, error) {
	var river int64
	starts := -1
	err := tx.Each(ctx, func(scan store.Scan) error { return scan(&river, &starts) },
		`update jobs set cancel = $1, queued_check = `+checkCancelled+` where id = $2 and cancel = '' and river_id in
			(select id from river_job where state in `+notOver+`) returning river_id, starts`, string(why), id)
	switch {
	case err != nil:
		return false, err
	case starts < 0:
		return false, nil
	case starts == 0:
		return true, q.engine.cancel(ctx, tx, river)
	}
	n, err := tx.Exec(ctx, `update river_job set state = 'available', scheduled_at = created_at
		where id = $1 and state in ('retryable', 'scheduled')`, river)
	if err != nil || n == 0 {
		return true, err
	}
	return true, notify(ctx, tx)
}

// cancelHere cancels those of the jobs that run in this process.
func (q *Queue) cancelHere(ids []string, why Reason) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range ids {
		if cancel, ok := q.running[id]; ok {
			cancel(&Cancelled{Reason: why})
		}
	}
}

// watch cancels what runs here and was cancelled by another process.
func (q *Queue) watch(ctx context.Context) error {
	q.mu.Lock()
	busy := len(q.running) > 0
	q.mu.Unlock()
	if !busy {
		return nil
	}
	marked := map[Reason][]string{}
	err := q.db.Reader().Each(ctx, func(scan store.Scan) error {
		var id, why string
		err := scan(&id, &why)
		marked[Reason(why)] = append(marked[Reason(why)], id)
		return err
	}, `select j.id, j.cancel from river_job r join jobs j on j.river_id = r.id
		where r.state = 'running' and r.queue = $1 and j.cancel <> ''`, queueName)
	if err != nil {
		return fmt.Errorf("look for cancelled jobs: %w", err)
	}
	for why, ids := range marked {
		q.cancelHere(ids, why)
	}
	return nil
}
