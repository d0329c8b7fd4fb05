package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// atOnce is how many requests share one transaction.
const atOnce = 64

// storedWithin is how long a transaction may take; callers that wait get an error then.
const storedWithin = 30 * time.Second

// A request is one call of Accept.
type request struct {
	delivery store.Delivery
	job      *job.Job

	done    chan struct{} // closed when the rest is set
	receipt Receipt
	err     error
}

// A batcher joins requests that come at the same time into one transaction, because a
// commit waits for the disk, and waits as long for many as for one.
type batcher struct {
	store func(context.Context, []*request) error

	mu      sync.Mutex
	waiting []*request
	busy    bool
}

func (b *batcher) add(ctx context.Context, r *request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, r)
	if !b.busy {
		b.busy = true
		go b.loop(context.WithoutCancel(ctx)) // others' requests are in it
	}
}

func (b *batcher) loop(ctx context.Context) {
	for {
		b.mu.Lock()
		n := min(len(b.waiting), atOnce)
		batch := b.waiting[:n:n]
		b.waiting = b.waiting[n:]
		b.busy = n > 0
		b.mu.Unlock()
		if n == 0 {
			return
		}
		if err := b.once(ctx, batch); err != nil {
			for _, r := range batch { // one may have spoilt it for all
				if r.err = err; n > 1 {
					r.err = b.once(ctx, []*request{r})
				}
			}
		}
		for _, r := range batch {
			close(r.done)
		}
	}
}

func (b *batcher) once(ctx context.Context, batch []*request) error {
	ctx, cancel := context.WithTimeout(ctx, storedWithin)
	defer cancel()
	return b.store(ctx, batch)
}

// accept stores requests in one transaction.
func (q *Queue) accept(ctx context.Context, requests []*request) error {
	var queued bool
	err := q.db.Write(ctx, func(tx *store.Tx) error {
		queued = false
		if err := q.keepRequests(ctx, tx, requests); err != nil {
			return err
		}
		fresh := slices.DeleteFunc(slices.Clone(requests), func(r *request) bool { return !r.receipt.Fresh })
		if len(fresh) == 0 {
			return nil
		}
		var err error
		queued, err = q.hand(ctx, tx, fresh)
		return err
	})
	if queued && err == nil {
		q.signal()
	}
	return err
}

// keepRequests stores deliveries and jobs, in the order of their names, so that two
// processes that store the same ones do not wait for each other. What is the same for all
// is one statement: most of the time goes into their number.
func (q *Queue) keepRequests(ctx context.Context, tx *store.Tx, requests []*request) error {
	var deliveries []store.Delivery
	for _, r := range inOrder(requests, func(r *request) string { return r.delivery.ID }) {
		if r.delivery.ID != "" {
			deliveries = append(deliveries, r.delivery)
		}
	}
	fresh, err := q.db.AddDeliveries(ctx, tx, deliveries)
	if err != nil {
		return err
	}
	var calls []*request
	for _, r := range inOrder(requests, func(r *request) string { return r.receipt.ID }) {
		if r.job != nil {
			calls = append(calls, r)
		}
	}
	if len(calls) == 0 {
		return nil
	}
	if err := q.insert(ctx, tx, calls); err != nil {
		return err
	}
	return q.onceMore(ctx, tx, calls, fresh)
}

// onceMore stores jobs for work that is known, comes by itself, and may come to nothing without
// them. A delivery that was known calls for nothing.
func (q *Queue) onceMore(ctx context.Context, tx *store.Tx, calls []*request, fresh map[string]bool) error {
	var more []*request
	for _, r := range calls {
		if r.receipt.Fresh || r.job.Asked() || !r.job.Verifies() || !fresh[r.delivery.ID] {
			continue
		}
		absorbed, err := absorbs(ctx, tx, *r.job)
		if err != nil {
			return fmt.Errorf("job %s: %w", r.job.ID, err)
		}
		if !absorbed {
			j := r.job.OnceMore(r.delivery.ID)
			r.job, r.receipt.ID = &j, j.ID
			more = append(more, r)
		}
	}
	if len(more) == 0 {
		return nil
	}
	return q.insert(ctx, tx, more)
}

// absorbs reports whether the same work has a verdict, is at work, or is about to be decided about
// for the same event: not where that was skipped, cancelled or given up. Another event may not be
// skipped where the first is: then a worker decides about both, one after the other. Nor where the
// pull request went into another base since: the newest check run of the commit is about that one; nor
// where another commit of it has a verdict since: the comment is about that one.
func absorbs(ctx context.Context, tx *store.Tx, j job.Job) (absorbed bool, err error) {
	err = tx.Each(ctx, func(scan store.Scan) error {
		var body []byte
		var active, cancelled, left bool
		var state store.RunState
		var base string
		if err := scan(&body, &active, &cancelled, &state, &base, &left); err != nil {
			return err
		}
		var known job.Job
		if err := json.Unmarshal(body, &known); err != nil {
			return err
		}
		switch {
		case known.AgainstOther(j, base):
			absorbed = false
		case known.Identity() == j.Identity():
			goesOn := active && !cancelled && (state == store.Running || state == "" && known.Action == j.Action)
			absorbed = absorbed || goesOn || state == store.Finished && !left
		}
		return nil
	}, `select j.body, coalesce(r.state in `+notOver+`, false), j.cancel <> '', coalesce(runs.state, ''), coalesce(runs.base_sha, ''),
			exists (select 1 from runs l where l.repo_id = runs.repo_id and l.number = runs.number and runs.number <> 0
				and l.head_sha <> runs.head_sha and l.state = 'finished' and l.created > runs.created)
		from jobs j left join river_job r on r.id = j.river_id left join runs on runs.job = j.id
		where j.repo = $1 and j.head_sha = $2 order by case when j.river_id is null then 1 else 0 end, j.river_id`, repoKey(j), j.HeadSHA)
	return absorbed, err
}

func inOrder(requests []*request, key func(*request) string) []*request {
	return slices.SortedStableFunc(slices.Values(requests), func(a, b *request) int { return strings.Compare(key(a), key(b)) })
}

// insert stores the jobs that are not known, and says which those were.
func (q *Queue) insert(ctx context.Context, tx *store.Tx, calls []*request) error {
	var args []any
	for _, r := range calls {
		j := *r.job
		body, err := json.Marshal(j)
		if err != nil {
			return fmt.Errorf("job %s: %w", j.ID, err)
		}
		asked := 0
		if j.Asked() {
			asked = 1
		}
		args = append(args, j.ID, repoKey(j), j.Number, j.Installation, j.HeadSHA, asked, store.Micros(j.At), body, "", 0, store.Micros(q.db.Now()), firstCheck(j))
	}
	values, args := tx.Rows(12, args)
	fresh, err := texts(ctx, tx, `insert into jobs (id, repo, number, installation, head_sha, asked, event_at, body, cancel, starts, created, queued_check)
		values `+values+` on conflict (id) do nothing returning id`, args...)
	if err != nil {
		return fmt.Errorf("insert jobs: %w", err)
	}
	for _, r := range calls {
		r.receipt.Fresh = fresh[r.job.ID]
		delete(fresh, r.job.ID) // of two that are the same the first is fresh
	}
	return nil
}

// texts is the set of what a statement of one column gives.
func texts(ctx context.Context, tx *store.Tx, statement string, args ...any) (map[string]bool, error) {
	set := map[string]bool{}
	err := tx.Each(ctx, func(scan store.Scan) error {
		var s string
		err := scan(&s)
		set[s] = true
		return err
	}, statement, args...)
	return set, err
}

// hand gives fresh jobs to River, cancels what they supersede, and lets those begin
// whose turn it is. Where others wait already it does not: who is next is then found out
// once for many (queued), as it takes longer the more there are.
func (q *Queue) hand(ctx context.Context, tx *store.Tx, fresh []*request) (queued bool, err error) {
	rows := make([]row, len(fresh))
	for i, r := range fresh {
		rows[i] = row{id: r.job.ID, urgent: r.job.Urgent()}
	}
	ids, err := q.engine.insert(ctx, tx, rows)
	if err != nil {
		return false, err
	}
	var args []any
	for i, r := range fresh {
		args = append(args, r.job.ID, strconv.FormatInt(ids[i], 10))
	}
	values, args := tx.Rows(2, args)
	_, err = tx.Exec(ctx, `update jobs set river_id = cast(v.column2 as bigint) from (values `+values+`) as v where jobs.id = v.column1`, args...)
	if err != nil {
		return false, fmt.Errorf("number jobs: %w", err)
	}
	if err := q.supersedeAll(ctx, tx, fresh); err != nil {
		return false, err
	}
	err = tx.Each(ctx, func(scan store.Scan) error { return scan(&queued) },
		`select exists (select 1 from river_job where state = 'pending' and queue = $1 and id < $2)`, queueName, slices.Min(ids))
	if err != nil {
		return false, fmt.Errorf("look for waiting jobs: %w", err)
	}
	if queued {
		return true, nil
	}
	err = q.promote(ctx, tx)
	if errors.Is(err, errTaken) {
		return true, nil
	}
	return false, err
}

// supersedeAll cancels what fresh jobs supersede. One statement finds those which may:
// most are the first of their pull request.
func (q *Queue) supersedeAll(ctx context.Context, tx *store.Tx, fresh []*request) error {
	var args []any
	for _, r := range fresh {
		if !r.job.Asked() && r.job.HeadSHA != "" && r.job.Number != 0 {
			args = append(args, r.job.ID, repoKey(*r.job), strconv.Itoa(r.job.Number))
		}
	}
	if len(args) == 0 {
		return nil
	}
	// The offset keeps PostgreSQL from making a join of it, for which it reads the whole
	// table as long as it has no statistics.
	values, args := tx.Rows(3, args)
	may, err := texts(ctx, tx, `select v.column1 from (values `+values+`) as v where exists (select 1 from jobs
		where repo = v.column2 and number = cast(v.column3 as integer) and id <> v.column1 and cancel = '' limit 1 offset 0)`, args...)
	if err != nil {
		return fmt.Errorf("look for older jobs: %w", err)
	}
	for _, r := range fresh {
		if !may[r.job.ID] {
			continue
		}
		if r.receipt.Superseded, err = q.supersede(ctx, tx, *r.job, false); err != nil {
			return fmt.Errorf("job %s: %w", r.job.ID, err)
		}
	}
	return nil
}
