package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// A State is where a job is in its life.
type State string

// The states of a job.
const (
	Waiting State = "waiting" // for its turn, a worker, or its next attempt
	Working State = "working"
	Done    State = "done"  // its work ended without an error
	Ended   State = "ended" // it was cancelled or given up, or is over so long that it is not known
)

// An Entry is a job as the queue knows it.
type Entry struct {
	Job     job.Job
	State   State
	Cancel  Reason // empty: it was not cancelled
	Starts  int    // how often it was begun
	Created time.Time
}

// Get returns a job by its identity; [ErrUnknown] where there is none.
func (q *Queue) Get(ctx context.Context, id string) (Entry, error) {
	entries, err := q.entries(ctx, `where j.id = $1`, id)
	if err == nil && len(entries) == 0 {
		err = ErrUnknown
	}
	if err != nil {
		return Entry{}, fmt.Errorf("job %s: %w", id, err)
	}
	return entries[0], nil
}

// Active returns the jobs that wait or work for the same pull request as j, the oldest first.
func (q *Queue) Active(ctx context.Context, j job.Job) ([]Entry, error) {
	entries, err := q.entries(ctx, `where j.repo = $1 and j.number = $2 and r.state in `+notOver+` order by j.river_id`, repoKey(j), j.Number)
	if err != nil {
		return nil, fmt.Errorf("jobs of %s#%d: %w", j.Repo.FullName(), j.Number, err)
	}
	return entries, nil
}

// OfCommit returns the jobs on a commit of the repository of j, whatever became of them,
// the oldest first.
func (q *Queue) OfCommit(ctx context.Context, j job.Job, headSHA string) ([]Entry, error) {
	entries, err := q.entries(ctx, `where j.repo = $1 and j.head_sha = $2 order by j.river_id`, repoKey(j), headSHA)
	if err != nil {
		return nil, fmt.Errorf("jobs of %s at %s: %w", j.Repo.FullName(), headSHA, err)
	}
	return entries, nil
}

// entries are those that where, which may also order them, selects.
func (q *Queue) entries(ctx context.Context, where string, args ...any) ([]Entry, error) {
	var out []Entry
	err := q.db.Reader().Each(ctx, func(scan store.Scan) error {
		var e Entry
		var body []byte
		var state string
		var created int64
		if err := scan(&body, &state, &e.Cancel, &e.Starts, &created); err != nil {
			return err
		}
		e.State, e.Created = stateOf(state), store.FromMicros(created)
		out = append(out, e)
		return json.Unmarshal(body, &out[len(out)-1].Job)
	}, `select j.body, coalesce(cast(r.state as text), ''), j.cancel, j.starts, j.created
		from jobs j left join river_job r on r.id = j.river_id `+where, args...)
	return out, err
}

// stateOf names River's states; it has no row of a job that is over for long.
func stateOf(river string) State {
	switch river {
	case "pending", "available", "scheduled", "retryable":
		return Waiting
	case "running":
		return Working
	case "completed":
		return Done
	}
	return Ended
}

// Depth returns how many jobs are in each state. Those that are over are counted for a day.
func (q *Queue) Depth(ctx context.Context) (map[State]int, error) {
	depth := map[State]int{Waiting: 0, Working: 0, Done: 0, Ended: 0}
	err := q.db.Reader().Each(ctx, func(scan store.Scan) error {
		var state string
		var n int
		err := scan(&state, &n)
		depth[stateOf(state)] += n
		return err
	}, `select cast(state as text), count(*) from river_job where queue = $1 group by state`, queueName)
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	return depth, nil
}

// Oldest returns since when the job that waits longest has been there; the zero time
// where none waits.
func (q *Queue) Oldest(ctx context.Context) (time.Time, error) {
	var oldest time.Time
	err := q.db.Reader().Each(ctx, func(scan store.Scan) error {
		var created int64
		err := scan(&created)
		oldest = store.FromMicros(created)
		return err
	}, `select j.created from jobs j join river_job r on r.id = j.river_id
		where r.state in ('pending', 'available', 'scheduled', 'retryable') order by j.created limit 1`)
	if err != nil {
		return time.Time{}, fmt.Errorf("oldest job: %w", err)
	}
	return oldest, nil
}

// Sweep forgets jobs that are over and older than before. The same work is done again if
// it is called for again.
func (q *Queue) Sweep(ctx context.Context, before time.Time) (int, error) {
	var n int64
	err := q.db.Write(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.Exec(ctx, `delete from jobs where created < $1
			and not exists (select 1 from river_job r where r.id = jobs.river_id and r.state in `+notOver+`)`, store.Micros(before))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweep jobs: %w", err)
	}
	return int(n), nil
}
