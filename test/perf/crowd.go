package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

// crowdURL is the variable that makes this program a worker of the crowd.
const crowdURL = "YCBOT_PERF_CROWD"

// crowdWithin is how long a crowd has for its jobs; what is left then counts as lost.
const crowdWithin = 40 * time.Minute

// stubRun is how long a run of the crowd takes.
const stubRun = 2 * time.Second

// apart is how long after one worker the next is started at first: on few processors very many
// at once would take longer to start than River waits.
const apart = 200 * time.Millisecond

// crowdWorker works on jobs until it is killed. It prints how long after the end of each the
// next one began.
func crowdWorker(ctx context.Context, url string) error {
	url += fmt.Sprintf("&pool_max_conns=1&application_name=worker-%d", os.Getpid())
	db, q, err := crowdQueue(ctx, url, queue.Options{Workers: 1, PerRepo: 2, Starts: 1000})
	if err != nil {
		return err
	}
	defer db.Close()
	ended := time.Now()
	return q.Run(ctx, func(ctx context.Context, j job.Job) error {
		fmt.Println(time.Since(ended).Microseconds())
		defer func() { ended = time.Now() }()
		if err := stubbed(ctx, db, j, `insert into begun (job, worker) values ($1, $2)`); err != nil {
			return err
		}
		if _, paid, err := db.Lookup(ctx, "paid/"+j.ID); err != nil || paid {
			return err
		}
		time.Sleep(stubRun)
		if err := db.Record(ctx, "paid/"+j.ID, "1"); err != nil {
			return err
		}
		return stubbed(ctx, db, j, `insert into done (job, worker) values ($1, $2)`)
	})
}

// stubbed writes what a worker does as work on a job does, fenced by its lease.
func stubbed(ctx context.Context, db *store.DB, j job.Job, statement string) error {
	return db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, statement, j.ID, os.Getpid())
		return err
	})
}

func crowdQueue(ctx context.Context, url string, o queue.Options) (*store.DB, *queue.Queue, error) {
	db, err := store.Open(ctx, store.Options{URL: url, Now: time.Now})
	if err != nil {
		return nil, nil, err
	}
	if err := queue.Migrate(ctx, db); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	q, err := queue.New(db, o)
	return db, q, err
}

// A crowd is many workers on one queue.
type crowd struct {
	url, self string

	mu    sync.Mutex
	procs []*exec.Cmd
	gaps  []time.Duration // of all workers, between one job and the next
	peak  int             // KB of memory that one of them had at most
}

// add starts a worker.
func (c *crowd) add() error {
	cmd := exec.Command(c.self) //nolint:noctx // it is killed
	cmd.Env = append(os.Environ(), crowdURL+"="+c.url)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.procs = append(c.procs, cmd)
	c.mu.Unlock()
	go func() {
		first := true
		for s := bufio.NewScanner(out); s.Scan(); first = false {
			if n, err := strconv.ParseInt(s.Text(), 10, 64); err == nil && !first { // the first is its start
				c.mu.Lock()
				c.gaps = append(c.gaps, time.Duration(n)*time.Microsecond)
				c.mu.Unlock()
			}
		}
	}()
	return nil
}

// kill kills the worker that was started first.
func (c *crowd) kill() {
	c.mu.Lock()
	cmd := c.procs[0]
	c.procs = c.procs[1:]
	c.mu.Unlock()
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // elsewhere than on Linux it is not known
	for line := range strings.Lines(string(text)) {
		var kb int
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			c.peak = max(c.peak, kb)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// crowded measures many jobs with many workers, of which one is killed each second.
func crowded(ctx context.Context, l *lab) (out []figure, err error) {
	err = onStage(ctx, l.dir, func(st *stage) error {
		out, err = crowding(st.ctx, l, storetest.Postgres(st))
		return err
	})
	if errors.Is(err, errMissing) {
		l.logf("%v", err)
		return nil, nil
	}
	return out, err
}

func crowding(ctx context.Context, l *lab, database string) ([]figure, error) {
	db, q, err := crowdQueue(ctx, database, queue.Options{})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `create table begun (job text, worker bigint)`)
		if err == nil {
			_, err = tx.Exec(ctx, `create table done (job text, worker bigint)`)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	before, err := count(ctx, db, `select pg_database_size(current_database())`)
	if err != nil {
		return nil, err
	}
	if err := fillQueue(ctx, q, l.jobs); err != nil {
		return nil, err
	}
	c := &crowd{url: database}
	if c.self, err = os.Executable(); err != nil {
		return nil, err
	}
	for range l.workers {
		if err := c.add(); err != nil {
			return nil, err
		}
		time.Sleep(apart)
	}
	defer func() {
		for len(c.procs) > 0 {
			c.kill()
		}
	}()
	began := time.Now()
	kills, connections, err := c.through(ctx, db, l.jobs)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	var counts [4]int
	for i, statement := range []string{
		`select count(*) from jobs j left join river_job r on r.id = j.river_id where r.state is distinct from 'completed'`,
		`select count(*) - count(distinct job) from done`, `select count(*) - count(distinct job) from begun`,
		`select pg_database_size(current_database())`,
	} {
		if counts[i], err = count(ctx, db, statement); err != nil {
			return nil, err
		}
	}
	if len(c.gaps) == 0 {
		return nil, fmt.Errorf("no worker of a crowd came to a second job in %v", took)
	}
	slices.Sort(c.gaps)
	p99 := c.gaps[len(c.gaps)*99/100]
	growth := float64(counts[3]-before) / 1024 / float64(l.jobs)
	how := fmt.Sprintf("%d jobs, %d worker processes of at most %d MB, runs that only wait for %v and write as runs do, %d kills in %.0f s, %d jobs begun again; PostgreSQL on the same processors",
		l.jobs, l.workers, c.peak/1024, stubRun, kills, took.Seconds(), counts[2])
	return []figure{
		{"21", "lost, doubled or paid twice in a crowd", "0, 0, 0", fmt.Sprintf("%d, %d", counts[0], counts[1]), counts[0]+counts[1] == 0, how + "; doubled and paid twice are the same here: the result of a run is its answer"},
		{"21", "dispatch in a crowd, p99", "≤ 1 s", fmt.Sprintf("%.2f s", p99.Seconds()), p99 <= time.Second, fmt.Sprintf("from the end of a worker's run to the begin of its next one, while jobs wait; median %.2f s, %.0f jobs a second", c.gaps[len(c.gaps)/2].Seconds(), float64(l.jobs-counts[0])/took.Seconds())},
		{"21", "connections of a process in a crowd", "≤ 2", strconv.Itoa(connections), connections <= 2, "at most at once of any process, looked at each second: one for the lease and what it is notified of, and a pool of one"},
		{"21", "growth of the database for a job", "≤ 20 KB", fmt.Sprintf("%.1f KB", growth), growth <= 20, "jobs, what River keeps of them and two rows of each run; not what a run itself stores"},
	}, nil
}

// fillQueue stores jobs of 200 repositories.
func fillQueue(ctx context.Context, q *queue.Queue, n int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for i := range n {
		group.Go(func() error {
			j := job.Job{Repo: event.Repo{ID: int64(i%200 + 1)}, Number: i + 1, HeadSHA: fmt.Sprintf("%040x", i+1), Installation: int64(i%20 + 1)}
			j.ID = j.Identity()
			_, err := q.Accept(ctx, store.Delivery{ID: fmt.Sprint("delivery ", i), Event: "pull_request"}, &j)
			return err
		})
	}
	return group.Wait()
}

// through waits until all jobs are done, at most for [crowdWithin], and has a worker killed and
// another started each second.
func (c *crowd) through(ctx context.Context, db *store.DB, jobs int) (kills, connections int, err error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	over := time.After(crowdWithin)
	for {
		select {
		case <-ctx.Done():
			return kills, connections, context.Cause(ctx)
		case <-over:
			return kills, connections, nil
		case <-tick.C:
		}
		done, err := count(ctx, db, `select count(*) from river_job where state not in ('pending', 'available', 'running', 'retryable', 'scheduled')`)
		if err != nil || done >= jobs {
			return kills, connections, err
		}
		now, err := count(ctx, db, `select coalesce(max(n), 0) from
			(select count(*) as n from pg_stat_activity where application_name like 'worker-%' group by application_name) each`)
		if err != nil {
			return kills, connections, err
		}
		connections = max(connections, now)
		c.kill()
		if err := c.add(); err != nil {
			return kills, connections, err
		}
		kills++
	}
}

// count is the number that a statement gives.
func count(ctx context.Context, db *store.DB, statement string) (n int, err error) {
	err = db.Reader().Each(ctx, func(scan store.Scan) error { return scan(&n) }, statement)
	return n, err
}
