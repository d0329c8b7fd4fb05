package queue

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// repoKey distinguishes repositories: by the number that outlives a new name, where it is known.
func repoKey(j job.Job) string {
	if j.Repo.ID != 0 {
		return strconv.FormatInt(j.Repo.ID, 10)
	}
	return strings.ToLower(j.Repo.FullName())
}

// atWork are the states of River in which a job holds a place under the caps.
const atWork = `('available', 'running', 'retryable', 'scheduled')`

// notOver are the states of River of jobs that something can still become of.
const notOver = `('pending', 'available', 'running', 'retryable', 'scheduled')`

// A candidate is a job that waits for its turn.
type candidate struct {
	river        int64
	repo         string
	installation int64
	priority     int
}

// promote hands jobs to the workers as long as there are workers to take them and places
// under the caps. What is handed over cannot be overtaken any more but by a higher
// priority, so no more than that is.
func (q *Queue) promote(ctx context.Context, tx *store.Tx) error {
	window := max(q.o.Workers, 2)
	free, err := q.free(ctx, tx, window)
	if err != nil || free <= 0 {
		return err
	}
	if tx.Postgres != nil { // one process at a time counts places; SQLite has one writer anyhow
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, store.LockKey("promote")); err != nil {
			return fmt.Errorf("promote: %w", err)
		}
		if free, err = q.free(ctx, tx, window); err != nil || free <= 0 {
			return err
		}
	}
	waiting, err := candidates(ctx, tx, window)
	if err != nil || len(waiting) == 0 {
		return err
	}
	load, err := loads(ctx, tx)
	if err != nil {
		return err
	}
	promoted := false
	for ; free > 0; free-- {
		best := q.next(waiting, load)
		if best < 0 {
			break
		}
		c := waiting[best]
		waiting = append(waiting[:best], waiting[best+1:]...)
		n, err := tx.Exec(ctx, handOver(tx), c.river)
		if err != nil {
			return fmt.Errorf("promote: %w", err)
		}
		if n == 1 {
			load.add(c)
			promoted = true
		}
	}
	if promoted {
		return notify(ctx, tx)
	}
	return nil
}

// handOver is the statement that does it. A row that another transaction has locked is
// about to be cancelled; to wait for it would be to wait for each other.
func handOver(tx *store.Tx) string {
	statement := `update river_job set state = 'available' where id = (select id from river_job where id = $1 and state = 'pending'`
	if tx.Postgres != nil {
		statement += ` for update skip locked`
	}
	return statement + `)`
}

// free is how many more jobs may be handed over; 0 where none waits.
func (q *Queue) free(ctx context.Context, tx *store.Tx, window int) (int, error) {
	var available int
	var waits bool
	err := tx.Each(ctx, func(scan store.Scan) error { return scan(&available, &waits) },
		`select (select count(*) from river_job where state = 'available' and queue = $1),
			exists (select 1 from river_job where state = 'pending' and queue = $1)`, queueName)
	if err != nil {
		return 0, fmt.Errorf("count available jobs: %w", err)
	}
	if !waits {
		return 0, nil
	}
	return window - available, nil
}

// candidates are the first jobs of each repository that waits.
func candidates(ctx context.Context, tx *store.Tx, each int) ([]candidate, error) {
	var out []candidate
	err := tx.Each(ctx, func(scan store.Scan) error {
		var c candidate
		err := scan(&c.river, &c.repo, &c.installation, &c.priority)
		out = append(out, c)
		return err
	}, `select river_id, repo, installation, priority from (
			select j.river_id, j.repo, j.installation, r.priority,
				row_number() over (partition by j.repo order by r.priority, j.river_id) as place
			from river_job r join jobs j on j.river_id = r.id where r.state = 'pending' and r.queue = $1
		) as waiting where place <= $2 order by river_id`, queueName, each)
	if err != nil {
		return nil, fmt.Errorf("list waiting jobs: %w", err)
	}
	return out, nil
}

// A load is how much is at work.
type load struct {
	repo         map[string]int
	installation map[int64]int
}

func (l load) add(c candidate) {
	l.repo[c.repo]++
	l.installation[c.installation]++
}

func loads(ctx context.Context, tx *store.Tx) (load, error) {
	l := load{repo: map[string]int{}, installation: map[int64]int{}}
	err := tx.Each(ctx, func(scan store.Scan) error {
		var c candidate
		err := scan(&c.repo, &c.installation)
		l.add(c)
		return err
	}, `select j.repo, j.installation from river_job r join jobs j on j.river_id = r.id
		where r.state in `+atWork+` and r.queue = $1`, queueName)
	if err != nil {
		return l, fmt.Errorf("count jobs at work: %w", err)
	}
	return l, nil
}

// next returns which of those that wait is next, or -1: what a person asks for, then the
// installation that has least at work, then the repository that has, then the oldest.
func (q *Queue) next(waiting []candidate, l load) int {
	best, least := -1, [3]int{}
	for i, c := range waiting { // the oldest first
		repo, installation := l.repo[c.repo], l.installation[c.installation]
		if q.o.PerRepo > 0 && repo >= q.o.PerRepo || q.o.PerInstallation > 0 && installation >= q.o.PerInstallation {
			continue
		}
		rank := [3]int{c.priority, installation, repo}
		if best < 0 || less(rank, least) {
			best, least = i, rank
		}
	}
	return best
}

func less(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// notify wakes the workers that listen, in the way of River's own inserts.
func notify(ctx context.Context, tx *store.Tx) error {
	if tx.Postgres == nil {
		return nil
	}
	if _, err := tx.Exec(ctx, `select pg_notify(concat(current_schema(), '.river_insert'), $1)`, `{"queue": "`+queueName+`"}`); err != nil {
		return fmt.Errorf("notify workers: %w", err)
	}
	return nil
}
