package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/sorted"
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

// errTaken says that another process hands jobs over. It may not have seen all places that are free.
var errTaken = errors.New("another process hands jobs over")

// promote hands jobs to the workers as long as there are workers to take them and places
// under the caps. What is handed over keeps its place but from what is urgent, so no more
// than that is.
func (q *Queue) promote(ctx context.Context, tx *store.Tx) error {
	free, err := q.free(ctx, tx)
	if err != nil || free.none() {
		return err
	}
	if tx.Postgres != nil { // one process at a time counts places; SQLite has one writer anyhow
		var ours bool
		if err := tx.Postgres.QueryRow(ctx, `select pg_try_advisory_xact_lock($1)`, store.LockKey("promote")).Scan(&ours); err != nil {
			return fmt.Errorf("promote: %w", err)
		}
		if !ours {
			return errTaken
		}
		if free, err = q.free(ctx, tx); err != nil || free.none() {
			return err
		}
	}
	return q.fill(ctx, tx, free)
}

// fill hands jobs over until there are as many as there are places for.
func (q *Queue) fill(ctx context.Context, tx *store.Tx, free room) error {
	each := free.places // of one repository no more can be chosen
	if free.urgent {    // for which others make way
		each = free.window
	}
	if q.o.PerRepo > 0 {
		each = min(each, q.o.PerRepo)
	}
	statement, err := firstWaiting(ctx, tx)
	if err != nil {
		return err
	}
	waiting, err := candidates(ctx, tx, statement, each)
	if err != nil || len(waiting) == 0 {
		return err
	}
	load, err := loads(ctx, tx)
	if err != nil {
		return err
	}
	if free.urgent {
		back, err := q.makeWay(ctx, tx, waiting, load, free.places)
		if err != nil {
			return err
		}
		free.places += len(back)
		waiting = append(waiting, back...)
		sorted.By(waiting, func(a, b candidate) int { return cmp.Compare(a.river, b.river) })
	}
	var chosen []int64
	for ; free.places > 0; free.places-- {
		best := q.next(waiting, load)
		if best < 0 {
			break
		}
		c := waiting[best]
		waiting = append(waiting[:best], waiting[best+1:]...)
		load.add(c, 1)
		chosen = append(chosen, c.river)
	}
	n, err := handOver(ctx, tx, "pending", "available", chosen...)
	if err != nil {
		return fmt.Errorf("promote: %w", err)
	}
	if n > 0 {
		return notify(ctx, tx)
	}
	return nil
}

// makeWay takes back what was handed over by itself and not begun, where something urgent
// waits that could go in its place: no more than that needs, and what came last first, so
// that the order of the others stays. It returns what it took back.
func (q *Queue) makeWay(ctx context.Context, tx *store.Tx, waiting []candidate, l load, free int) ([]candidate, error) {
	first := slices.DeleteFunc(slices.Clone(waiting), func(c candidate) bool { return c.priority != urgent })
	var handed, back []candidate
	err := tx.Each(ctx, func(scan store.Scan) error {
		c := candidate{priority: byItself}
		err := scan(&c.river, &c.repo, &c.installation)
		handed = append(handed, c)
		return err
	}, `select j.river_id, j.repo, j.installation from river_job r join jobs j on j.river_id = r.id
		where r.state = 'available' and r.queue = $1 and r.priority = $2 and j.starts = 0 and j.cancel = '' order by j.river_id desc`, queueName, byItself)
	if err != nil {
		return nil, fmt.Errorf("list what was handed over: %w", err)
	}
	then := load{repo: maps.Clone(l.repo), installation: maps.Clone(l.installation)} // with what is urgent in its place
	for len(first) > 0 {
		if best := q.next(first, then); free > 0 && best >= 0 {
			then.add(first[best], 1)
			first = slices.Delete(first, best, best+1)
			free--
			continue
		}
		at := slices.IndexFunc(handed, func(c candidate) bool {
			then.add(c, -1)
			defer then.add(c, 1)
			return q.next(first, then) >= 0
		})
		if at < 0 {
			break
		}
		c := handed[at]
		handed = slices.Delete(handed, at, at+1)
		n, err := handOver(ctx, tx, "available", "pending", c.river)
		if err != nil {
			return nil, fmt.Errorf("take back: %w", err)
		}
		if n == 1 { // else it is being begun
			l.add(c, -1)
			then.add(c, -1)
			back = append(back, c)
			free++
		}
	}
	return back, nil
}

// handOver changes the state of those of the jobs that have the other one, and returns how many
// these are. A row that another transaction has locked is about to be begun or cancelled; to wait
// for it would be to wait for each other.
func handOver(ctx context.Context, tx *store.Tx, from, to string, jobs ...int64) (int64, error) {
	if len(jobs) == 0 {
		return 0, nil
	}
	args := make([]any, len(jobs))
	for i, id := range jobs {
		args[i] = strconv.FormatInt(id, 10)
	}
	values, args := tx.Rows(1, args)
	statement := `update river_job set state = '` + to + `' where id in (select id from river_job
		where id in (select cast(v.column1 as bigint) from (values ` + values + `) as v) and state = '` + from + `'`
	if tx.Postgres != nil {
		statement += ` for update skip locked`
	}
	return tx.Exec(ctx, statement+`)`, args...)
}

// A room is how much more may be handed over.
type room struct {
	window int // how much may be handed over at a time: what all workers could take
	places int
	waits  bool // a job waits for its turn
	urgent bool // one that is urgent does
}

// none says that nothing can be handed over.
func (r room) none() bool { return !r.waits || r.places <= 0 && !r.urgent }

func (q *Queue) free(ctx context.Context, tx *store.Tx) (room, error) {
	var r room
	var available, first int
	living := `1`
	if tx.Postgres != nil {
		living = `(select count(*) from workers where expires > now())`
	}
	// In the order of River's index, so that what is over is not read.
	err := tx.Each(ctx, func(scan store.Scan) error { return scan(&available, &first, &r.window) },
		`select (select count(*) from river_job where state = 'available' and queue = $1),
			coalesce((select priority from river_job where state = 'pending' and queue = $1 order by priority, scheduled_at, id limit 1), 0), `+living, queueName)
	if err != nil {
		return r, fmt.Errorf("count available jobs: %w", err)
	}
	r.waits, r.urgent = first != 0, first == urgent
	// One job at a time for each of very many workers would look through all that wait as often.
	r.window = max(r.window*max(q.o.Workers, 1), 2)
	r.places = r.window - available
	return r, nil
}

// candidates are the first jobs of each repository that waits, those that are urgent before others.
// The statement is firstOfAll or firstByRepo.
func candidates(ctx context.Context, db store.Querier, statement string, each int) ([]candidate, error) {
	var out []candidate
	err := db.Each(ctx, func(scan store.Scan) error {
		var c candidate
		err := scan(&c.river, &c.repo, &c.installation, &c.priority)
		out = append(out, c)
		return err
	}, statement, each)
	if err != nil {
		return nil, fmt.Errorf("list waiting jobs: %w", err)
	}
	return out, nil
}

// long is how many jobs wait where looking through all of them takes longer than going from one
// repository to the next.
const long = 5000

// firstWaiting is the statement for candidates.
func firstWaiting(ctx context.Context, tx *store.Tx) (statement string, err error) {
	if tx.Postgres == nil {
		return firstOfAll, nil
	}
	var many bool
	err = tx.Each(ctx, func(scan store.Scan) error { return scan(&many) },
		`select exists (select 1 from river_job where state = 'pending' and queue = $1 order by priority, scheduled_at, id offset $2 limit 1)`, queueName, long)
	if err == nil && many {
		// Before it has statistics PostgreSQL would read the whole table for each repository.
		_, err = tx.Exec(ctx, `set local enable_seqscan = off`)
		statement = firstByRepo
	} else {
		statement = firstOfAll
	}
	if err != nil {
		return "", fmt.Errorf("count waiting jobs: %w", err)
	}
	return statement, nil
}

// firstOfAll looks through all jobs that wait.
const firstOfAll = `select river_id, repo, installation, priority from (
		select j.river_id, j.repo, j.installation, r.priority,
			row_number() over (partition by j.repo order by r.priority, j.river_id) as place
		from river_job r join jobs j on j.river_id = r.id where r.state = 'pending' and r.queue = '` + queueName + `'
	) as waiting where place <= $1 order by river_id`

// firstByRepo, of PostgreSQL, goes from one repository that waits to the next by the index jobs_turn, and
// looks at no more of it than it returns and what is handed over already: with 50 000 jobs of 200
// repositories in milliseconds. A job that waits was never begun and is not cancelled.
var firstByRepo = fmt.Sprintf(`with recursive repos as (
		select min(repo) as repo from jobs where starts = 0 and cancel = ''
		union all
		select (select min(j.repo) from jobs j where j.starts = 0 and j.cancel = '' and j.repo > repos.repo) from repos where repos.repo is not null
	)
	select w.river_id, w.repo, w.installation, w.priority from repos cross join lateral (
		select j.river_id, j.repo, j.installation, r.priority from jobs j join river_job r on r.id = j.river_id
		where j.repo = repos.repo and j.starts = 0 and j.cancel = '' and r.state = 'pending' and r.queue = '%[2]s'
		order by j.river_id limit $1) as w
	union
	select river_id, repo, installation, priority from (
		select j.river_id, j.repo, j.installation, r.priority, row_number() over (partition by j.repo order by j.river_id) as place
		from river_job r join jobs j on j.river_id = r.id where r.state = 'pending' and r.queue = '%[2]s' and r.priority = %[1]d
	) as pressing where place <= $1
	order by river_id`, urgent, queueName)

// A load is how much is at work.
type load struct {
	repo         map[string]int
	installation map[int64]int
}

func (l load) add(c candidate, n int) {
	l.repo[c.repo] += n
	l.installation[c.installation] += n
}

func loads(ctx context.Context, db store.Querier) (load, error) {
	l := load{repo: map[string]int{}, installation: map[int64]int{}}
	err := db.Each(ctx, func(scan store.Scan) error {
		var c candidate
		err := scan(&c.repo, &c.installation)
		l.add(c, 1)
		return err
	}, `select j.repo, j.installation from river_job r join jobs j on j.river_id = r.id
		where r.state in `+atWork+` and r.queue = $1`, queueName)
	if err != nil {
		return l, fmt.Errorf("count jobs at work: %w", err)
	}
	return l, nil
}

// next returns which of those that wait is next, or -1: what is urgent, then the
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

// notify wakes the workers that listen.
func notify(ctx context.Context, tx *store.Tx) error {
	if tx.Postgres == nil {
		return nil
	}
	if _, err := tx.Exec(ctx, `select `+wakeWorkers); err != nil {
		return fmt.Errorf("notify workers: %w", err)
	}
	return nil
}
