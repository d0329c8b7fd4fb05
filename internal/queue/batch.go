package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// atOnce is how many requests share one transaction.
const atOnce = 64

// storedWithin is how long a transaction may take; whoever waits is told then.
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
	return q.db.Write(ctx, func(tx *store.Tx) error {
		if err := q.keepRequests(ctx, tx, requests); err != nil {
			return err
		}
		fresh := slices.DeleteFunc(slices.Clone(requests), func(r *request) bool { return !r.receipt.Fresh })
		if len(fresh) == 0 {
			return nil
		}
		return q.hand(ctx, tx, fresh)
	})
}

// keepRequests stores deliveries and jobs, in the order of their names, so that two
// processes that store the same ones do not wait for each other.
func (q *Queue) keepRequests(ctx context.Context, tx *store.Tx, requests []*request) error {
	for _, r := range sorted(requests, func(r *request) string { return r.delivery.ID }) {
		if r.delivery.ID == "" {
			continue
		}
		if _, err := q.db.AddDelivery(ctx, tx, r.delivery); err != nil {
			return err
		}
	}
	for _, r := range sorted(requests, func(r *request) string { return r.receipt.ID }) {
		if r.job == nil {
			continue
		}
		n, err := q.insert(ctx, tx, *r.job)
		if err != nil {
			return fmt.Errorf("job %s: %w", r.job.ID, err)
		}
		r.receipt.Fresh = n == 1
	}
	return nil
}

func sorted(requests []*request, key func(*request) string) []*request {
	return slices.SortedStableFunc(slices.Values(requests), func(a, b *request) int { return strings.Compare(key(a), key(b)) })
}

func (q *Queue) insert(ctx context.Context, tx *store.Tx, j job.Job) (int64, error) {
	body, err := json.Marshal(j)
	if err != nil {
		return 0, err
	}
	asked := 0
	if j.Asked() {
		asked = 1
	}
	return tx.Exec(ctx, `insert into jobs (id, repo, number, installation, head_sha, asked, event_at, body, cancel, starts, created)
		values ($1, $2, $3, $4, $5, $6, $7, $8, '', 0, $9) on conflict (id) do nothing`,
		j.ID, repoKey(j), j.Number, j.Installation, j.HeadSHA, asked, store.Micros(j.At), body, store.Micros(q.db.Now()))
}

// hand gives fresh jobs to River, cancels what they supersede, and lets those begin
// whose turn it is.
func (q *Queue) hand(ctx context.Context, tx *store.Tx, fresh []*request) error {
	rows := make([]row, len(fresh))
	for i, r := range fresh {
		rows[i] = row{id: r.job.ID, asked: r.job.Asked()}
	}
	ids, err := q.engine.insert(ctx, tx, rows)
	if err != nil {
		return err
	}
	for i, r := range fresh {
		if _, err := tx.Exec(ctx, `update jobs set river_id = $1 where id = $2`, ids[i], r.job.ID); err != nil {
			return fmt.Errorf("job %s: %w", r.job.ID, err)
		}
	}
	for _, r := range fresh {
		if r.job.Asked() || r.job.HeadSHA == "" {
			continue
		}
		if r.receipt.Superseded, err = q.supersede(ctx, tx, *r.job); err != nil {
			return fmt.Errorf("job %s: %w", r.job.ID, err)
		}
	}
	return q.promote(ctx, tx)
}
