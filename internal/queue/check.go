package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// What is known of the check run that shows that a job waits. The numbers are stored:
// do not change them. The index is on those below 3, which are looked at again and again.
const (
	checkDue    = 0 // there is none yet
	checkMaking = 1 // about to be created; a crash may have come before or after it was
	checkLeft   = 2 // the job was begun or cancelled, and the check run may still say that it waits
	checkMade   = 3 // created, and the job waits
	checkEarly  = 4 // the job was begun before there was one
	checkNone   = 5 // there is none that says that the job waits, and none is created
	checkNoRun  = 6 // the job is no verification
)

// What becomes of it when the job is begun, when it turns out that it was not begun
// after all, and when it is cancelled.
var (
	checkBegun     = fmt.Sprintf(`case queued_check when %d then %d when %d then %d when %d then %[4]d else queued_check end`, checkDue, checkEarly, checkMaking, checkLeft, checkMade)
	checkNotBegun  = fmt.Sprintf(`case queued_check when %d then %d when %d then %d else queued_check end`, checkEarly, checkDue, checkLeft, checkMaking)
	checkCancelled = fmt.Sprintf(`case queued_check when %d then %d when %d then %d when %d then %[4]d else queued_check end`, checkDue, checkNone, checkMaking, checkLeft, checkMade)
)

// firstCheck is what is known when a job is stored.
func firstCheck(j job.Job) int {
	if !j.Verifies() {
		return checkNoRun
	}
	return checkDue
}

// Unannounced returns verifications that were stored before a time and wait since, and
// for which no check run says so yet, but for installations in not: at most limit of them,
// first those that are urgent, then the oldest.
func (q *Queue) Unannounced(ctx context.Context, before time.Time, not []int64, limit int) ([]Entry, error) {
	but := ""
	for _, installation := range not {
		but += fmt.Sprintf(" and j.installation <> %d", installation)
	}
	entries, err := q.entries(ctx, fmt.Sprintf(`where j.queued_check < 3 and j.queued_check <> %d and j.starts = 0 and j.cancel = '' and j.created <= $1
		and r.state in `+waits+but+` order by r.priority, j.river_id limit $2`, checkLeft), store.Micros(before), limit)
	if err != nil {
		return nil, fmt.Errorf("jobs that are not announced: %w", err)
	}
	return entries, nil
}

// waits are the states of River of jobs that no worker has.
const waits = `('pending', 'available', 'retryable', 'scheduled')`

// Announcing keeps that a check run is about to be created that says that a job waits. It
// reports false where it must not be: the job was begun or cancelled, or has one.
func (q *Queue) Announcing(ctx context.Context, id string) (bool, error) {
	return q.setCheck(ctx, id, checkMaking, fmt.Sprintf(`queued_check in (%d, %d) and starts = 0 and cancel = ''`, checkDue, checkMaking))
}

// Announced keeps that it was created.
func (q *Queue) Announced(ctx context.Context, id string) error {
	_, err := q.setCheck(ctx, id, checkMade, fmt.Sprintf(`queued_check = %d`, checkMaking))
	return err
}

// Unannounce keeps that no check run shall say that a job waits, nor does one now.
func (q *Queue) Unannounce(ctx context.Context, id string) error {
	_, err := q.setCheck(ctx, id, checkNone, fmt.Sprintf(`queued_check in (%d, %d, %d)`, checkDue, checkMaking, checkLeft))
	return err
}

func (q *Queue) setCheck(ctx context.Context, id string, to int, where string) (bool, error) {
	var n int64
	err := q.db.Write(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.Exec(ctx, `update jobs set queued_check = $1 where id = $2 and `+where, to, id)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("check run of waiting job %s: %w", id, err)
	}
	return n > 0, nil
}

// WasAnnounced reports whether there may be a check run that says that a job waits,
// though it was begun.
func (q *Queue) WasAnnounced(ctx context.Context, id string) (bool, error) {
	var state int
	err := q.db.Reader().Each(ctx, func(scan store.Scan) error { return scan(&state) }, `select queued_check from jobs where id = $1`, id)
	if err != nil {
		return false, fmt.Errorf("check run of waiting job %s: %w", id, err)
	}
	return state == checkLeft, nil
}

// LeftAnnounced returns jobs that are over and whose check run may still say that they
// wait: at most limit of them.
func (q *Queue) LeftAnnounced(ctx context.Context, limit int) ([]Entry, error) {
	entries, err := q.entries(ctx, fmt.Sprintf(`where j.queued_check < 3 and j.queued_check = %d and (r.state is null or r.state not in `+notOver+`)
		order by j.river_id limit $1`, checkLeft), limit)
	if err != nil {
		return nil, fmt.Errorf("jobs that are over and announced: %w", err)
	}
	return entries, nil
}
