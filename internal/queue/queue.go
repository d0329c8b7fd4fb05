// Package queue keeps jobs until they are done, across crashes and restarts: River on
// the SQLite file, or on PostgreSQL for many workers.
//
// A job is stored with the delivery that called for it, in one transaction. Its
// identity is the only deduplication: a job that is known adds nothing, whatever became
// of it. Only work that comes by itself is stored once more, for another delivery, where what is
// known of it was skipped, cancelled or given up, or may be (see absorbs). It waits ("pending" in River) until its repository and its installation are
// below their caps and its turn has come: what people ask for and merge queues first, then
// what is of the installation and the repository with the least at work, then what has
// waited longest. Then it is handed to River ("available"), which gives it to a worker. What holds a place under a cap is the state of River's own
// row, so no place can be lost.
//
// Work is done at least once. A worker that dies gives its jobs back: to the process that
// next opens the SQLite file, which one process works on at a time; on PostgreSQL to its
// peers, which see that it does not renew its lease (see lease.go). River's own rescue, which
// would need longer than the longest run, is off, and so is its time limit: runs have
// their own. An error of a job means that the infrastructure failed; it is tried again
// until its attempts are used up. Jobs that were handed back or lost with their worker, or whose
// error is an [*Outside], use up no attempt.
//
// A job that is cancelled before it ever started is simply gone. One that had started is
// given to the worker with a context that is cancelled already, as often as needed for
// the worker to end what people see of it; the cause of the context is a [*Cancelled].
//
// Tables: jobs and workers are this package's, in the migrations of package store; river_job is
// River's. A PostgreSQL that goes away is waited for: jobs at work go on and stay this
// worker's as long as no other was given them, none is begun, and none is charged with an
// attempt for it.
//
// The states of River's that are written here are available, for pending and
// for running whose worker died.
package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// Options say how much is done at once, and what the queue needs from outside.
type Options struct {
	Workers         int // jobs at once in this process; 0: it only keeps house
	PerRepo         int // jobs at once of a repository, in all processes; 0: no cap
	PerInstallation int // jobs at once of an installation, in all processes; 0: no cap

	Attempts int                                   // after which a job that fails is given up; 0: 3
	Backoff  func(attempt int) time.Duration       // before the next; nil: 10 s, 1 min, 5 min …
	Starts   int                                   // after which a job whose worker dies each time is given up; 0: 25
	GaveUp   func(context.Context, job.Job, error) // is called for a job that is not tried again, to end what people see; may be nil

	Drain time.Duration // how long running jobs may go on when Run is to end; then they are handed back
	Poll  time.Duration // how often River looks for work; 0: 30 ms on SQLite, 1 s on PostgreSQL, which notifies
	Watch time.Duration // how often dead peers and cancelled jobs are looked for, and the lease is renewed; 0: 500 ms
	Lease time.Duration // how long a worker on PostgreSQL that does not renew it counts as alive; 0: 10 s

	Log *slog.Logger // nil: none
}

func (o Options) withDefaults(postgres bool) Options {
	if o.Attempts <= 0 {
		o.Attempts = 3
	}
	if o.Starts <= 0 {
		o.Starts = 25
	}
	if o.Backoff == nil {
		o.Backoff = backoff
	}
	if o.Poll <= 0 {
		o.Poll = 30 * time.Millisecond
		if postgres {
			o.Poll = time.Second
		}
	}
	if o.Watch <= 0 {
		o.Watch = 500 * time.Millisecond
	}
	if o.Lease <= 0 {
		o.Lease = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func backoff(attempt int) time.Duration {
	switch attempt {
	case 1:
		return 10 * time.Second
	case 2:
		return time.Minute
	}
	return 5 * time.Minute
}

// A Queue is a durable set of jobs. It is safe for concurrent use.
type Queue struct {
	db     *store.DB
	o      Options
	worker string // names this process to others
	epoch  int64  // of its lease
	engine engine
	batch  batcher
	wake   chan struct{} // a place became free
	line   lineCache
	direct *direct // on PostgreSQL

	gone chan struct{} // closed when lost is set

	mu       sync.Mutex
	work     func(context.Context, job.Job) error
	running  map[string]context.CancelCauseFunc // by identity
	lost     bool                               // no one may rely on this worker any more
	draining bool                               // no job is begun any more
	away     bool                               // the database does not answer
	since    time.Time                          // when it did not for the first time
	outages  int                                // times that it did not
	reclaim  bool                               // jobs that count as this worker's may not be at work any more
	busy     sync.WaitGroup                     // calls of work
}

// New makes the queue of a database that was migrated (see [Migrate]).
func New(db *store.DB, o Options) (*Queue, error) {
	q := &Queue{
		db:      db,
		worker:  "ycbot-" + rand.Text(),
		o:       o.withDefaults(db.Postgres() != nil),
		wake:    make(chan struct{}, 1),
		gone:    make(chan struct{}),
		running: map[string]context.CancelCauseFunc{},
	}
	q.batch.store = q.accept
	q.direct = newDirect(db)
	var err error
	if q.engine, err = newEngine(q); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	return q, nil
}

// A Receipt says what became of a job that was enqueued. It is on disk.
type Receipt struct {
	ID         string   // of the job
	Fresh      bool     // it was not known
	Superseded []string // older jobs of the same pull request that were cancelled for it
}

// Enqueue stores a job and returns when it is on disk.
func (q *Queue) Enqueue(ctx context.Context, j job.Job) (Receipt, error) {
	return q.Accept(ctx, store.Delivery{}, &j)
}

// Accept stores a delivery (unless its id is empty) and the job it calls for (nil: none)
// in one transaction, and returns when both are on disk. Deliveries that come at the
// same time share a transaction. A fresh job that comes by itself for a head that is
// known supersedes the older jobs of its pull request that are for another head or base.
func (q *Queue) Accept(ctx context.Context, d store.Delivery, j *job.Job) (Receipt, error) {
	r := &request{delivery: d, job: j, done: make(chan struct{})}
	if j != nil {
		if j.ID == "" {
			return Receipt{}, errors.New("enqueue job: it has no identity")
		}
		r.receipt.ID = j.ID
	}
	q.batch.add(ctx, r)
	select {
	case <-r.done:
	case <-ctx.Done(): // it may be stored all the same; a later request finds it
		return Receipt{}, fmt.Errorf("enqueue: %w", context.Cause(ctx))
	}
	if r.err != nil {
		return Receipt{}, fmt.Errorf("enqueue: %w", r.err)
	}
	q.cancelHere(r.receipt.Superseded, Superseded)
	return r.receipt, nil
}

// signal notifies the housekeeper that a waiting job may have its turn.
func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
