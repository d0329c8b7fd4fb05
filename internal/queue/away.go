package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/store"
)

// regainWithin is how long a worker waits, after a database that was away is back, before it
// gives jobs of others to itself: they have to take their locks again, too.
const regainWithin = 5 * time.Second

// regain waits until the database is back and this worker holds its lock again. What runs
// here goes on meanwhile and keeps its jobs; no other is begun. It returns nil when ctx
// ends, and an error when another worker was given one of the jobs.
func (q *Queue) regain(ctx context.Context, g *guard, why error) error {
	q.o.Log.WarnContext(ctx, "the database does not answer: jobs at work are kept, and no other is begun until it does", "error", why)
	began := q.db.Now()
	q.mu.Lock()
	q.away, q.outages = true, q.outages+1
	q.mu.Unlock()
	g.drop(ctx)
	for {
		err := q.again(ctx, g)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errLost):
			return err
		case err == nil:
			q.quietUntil = q.db.Now().Add(regainWithin)
			q.reclaim = true
			q.mu.Lock()
			q.away = false
			q.mu.Unlock()
			q.o.Log.InfoContext(ctx, "the database answers again", "after", q.db.Now().Sub(began).Round(time.Millisecond))
			return nil
		}
		q.pause(ctx)
	}
}

// again tries once to take the lock of this worker, and looks whether its jobs are still its own.
func (q *Queue) again(ctx context.Context, g *guard) error {
	ctx, cancel := context.WithTimeout(ctx, aliveWithin)
	defer cancel()
	conn, err := q.lock(ctx, `select pg_try_advisory_lock($1)`)
	if err != nil {
		return err
	}
	g.conn = conn
	lost, err := q.lostJobs(ctx)
	switch {
	case err != nil:
		g.drop(ctx)
		return err
	case len(lost) > 0:
		return fmt.Errorf("%w: another worker has jobs %v", errLost, lost)
	}
	return nil
}

// lostJobs are the jobs at work here that the database has not as this worker's.
func (q *Queue) lostJobs(ctx context.Context) ([]string, error) {
	before := q.here()
	own := map[string]bool{}
	err := q.db.Reader().Each(ctx, func(scan store.Scan) error {
		var id string
		err := scan(&id)
		own[id] = true
		return err
	}, `select j.id from river_job r join jobs j on j.river_id = r.id
		where r.state = 'running' and r.queue = $1 and r.attempted_by[array_upper(r.attempted_by, 1)] = $2`, queueName, q.worker)
	if err != nil {
		return nil, fmt.Errorf("list jobs of this worker: %w", err)
	}
	still := q.here() // what ended meanwhile is not lost
	return slices.DeleteFunc(before, func(id string) bool { return own[id] || !slices.Contains(still, id) }), nil
}

// here are the jobs at work in this process.
func (q *Queue) here() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids := make([]string, 0, len(q.running))
	for id := range q.running {
		ids = append(ids, id)
	}
	return ids
}

// reapOwn gives back the jobs that count as this worker's and are not at work here: River
// could not store how they ended, or not hand them over, while the database was away.
func (q *Queue) reapOwn(ctx context.Context) error {
	return q.db.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `update river_job set state = 'available', attempt = greatest(attempt - 1, 0)
			where state = 'running' and queue = $1 and attempted_by[array_upper(attempted_by, 1)] = $2
				and id not in (select river_id from jobs where river_id is not null and id = any($3))`, queueName, q.worker, q.here())
		if err != nil || n == 0 {
			return err
		}
		q.o.Log.InfoContext(ctx, "jobs that the database lost sight of are begun again", "jobs", n)
		return notify(ctx, tx)
	})
}

// outage is how many times the database was away, and whether it is.
func (q *Queue) outage() (times int, away bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.outages, q.away
}

// failed says whether the database was or is away, where an attempt failed that began after
// so many outages. SQLite is never away.
func (q *Queue) failed(ctx context.Context, outages int) bool {
	if q.db.Postgres() == nil {
		return false
	}
	times, away := q.outage()
	return away || times != outages || !q.answers(ctx)
}

// answers says whether the database does.
func (q *Queue) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveWithin)
	defer cancel()
	return q.db.Ping(ctx) == nil
}

// await returns when the database is there, or ctx has ended: what River is to store before
// that is lost.
func (q *Queue) await(ctx context.Context) {
	if q.db.Postgres() == nil {
		return
	}
	for ctx.Err() == nil {
		if _, away := q.outage(); !away && q.answers(ctx) {
			return
		}
		q.pause(ctx)
	}
}

func (q *Queue) pause(ctx context.Context) {
	t := time.NewTimer(q.o.Watch)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
