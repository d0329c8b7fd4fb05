package queue

import (
	"context"
	"time"
)

// leave notes that the database does not answer: no job is begun until it does.
func (q *Queue) leave(ctx context.Context, why error) {
	q.mu.Lock()
	first := !q.away
	if first {
		q.away, q.since, q.outages = true, q.db.Now(), q.outages+1
	}
	q.mu.Unlock()
	if first {
		q.o.Log.WarnContext(ctx, "the database does not answer: jobs at work are kept, and no other is begun until it does", "error", why)
	}
}

// comeBack notes that the database answers, and that this worker has its lease still.
func (q *Queue) comeBack(ctx context.Context) {
	q.mu.Lock()
	was, after := q.away, q.db.Now().Sub(q.since)
	q.away = false
	q.reclaim = q.reclaim || was
	q.mu.Unlock()
	if was {
		q.o.Log.InfoContext(ctx, "the database answers again", "after", after.Round(time.Millisecond))
	}
}

// reclaims says whether jobs that count as this worker's may not be at work here: River could
// not store how they ended, or not hand them over, while the database was away.
func (q *Queue) reclaims() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.reclaim
}

// reclaimed notes that they were given back.
func (q *Queue) reclaimed() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reclaim = false
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
