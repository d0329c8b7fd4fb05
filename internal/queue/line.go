package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/store"
)

// A Line is what is at work and what waits, in the order in which it will be begun as
// far as that can be known: what comes later and is urgent goes before, and the limits
// are those of the process that was asked.
type Line struct {
	Working []Place // those that began first go before
	Waiting []Place // the first linePlaces
	Length  int     // how many wait
}

// A Place is that of a verification in the line.
type Place struct {
	ID           string // of the job
	RepoID       int64  // 0: not known
	Installation int64
	Since        time.Time // it is at work, or was stored
	Position     int       // of those that wait, from 1; 0: it is at work
	Why          string    // it waits, in words
}

// linePlaces is how many of those that wait have a place: to find one out takes longer
// the more there are.
const linePlaces = 200

// lineTime is how long a line counts: many people may look at it.
const lineTime = time.Second

type lineCache struct {
	mu   sync.Mutex
	at   time.Time
	line Line
}

// Line returns what is at work and what waits, as it was a second ago at most.
func (q *Queue) Line(ctx context.Context) (Line, error) {
	q.line.mu.Lock()
	defer q.line.mu.Unlock()
	if now := q.db.Now(); q.line.at.IsZero() || now.Sub(q.line.at) >= lineTime || now.Before(q.line.at) {
		line, err := q.readLine(ctx)
		if err != nil {
			return Line{}, fmt.Errorf("line of jobs: %w", err)
		}
		q.line.at, q.line.line = now, line
	}
	return q.line.line, nil
}

// A stand is a row of the line as the database has it.
type stand struct {
	river    int64
	state    string
	starts   int
	at       time.Time // when the attempt began, or the next may
	created  time.Time
	place    Place
	repo     string
	verifies bool
}

func (q *Queue) readLine(ctx context.Context) (Line, error) {
	var line Line
	db := q.db.Reader()
	err := db.Each(ctx, func(scan store.Scan) error { return scan(&line.Length) },
		`select count(*) from river_job r join jobs j on j.river_id = r.id where r.queue = $1 and r.state in `+waits+` and j.queued_check <> `+strconv.Itoa(checkNoRun), queueName)
	if err != nil {
		return line, err
	}
	load, err := loads(ctx, db)
	if err != nil {
		return line, err
	}
	ahead, err := candidates(ctx, db, firstOfAll, linePlaces)
	if err != nil {
		return line, err
	}
	pending, err := q.inTurn(ctx, ahead, load)
	if err != nil {
		return line, err
	}
	// After those that wait for their turn: one that gets it meanwhile is in both.
	handed, err := q.stands(ctx, `r.queue = '`+queueName+`' and r.state in `+atWork+` order by r.priority, r.id limit `+strconv.Itoa(10*linePlaces))
	if err != nil {
		return line, err
	}
	q.lineUp(&line, handed, pending)
	return line, nil
}

// lineUp puts together what was handed to the workers and what waits for its turn.
func (q *Queue) lineUp(line *Line, handed, pending []stand) {
	now := q.db.Now()
	var next, later []stand
	for _, s := range handed {
		switch {
		case !s.verifies:
		case s.state == "running":
			s.place.Since = s.at
			line.Working = append(line.Working, s.place)
		case s.at.After(now):
			s.place.Why = s.delayed()
			later = append(later, s)
		default:
			s.place.Why = whyWorker
			next = append(next, s)
		}
		pending = slices.DeleteFunc(pending, func(p stand) bool { return p.river == s.river })
	}
	sorted.By(line.Working, func(a, b Place) int { return a.Since.Compare(b.Since) })
	sorted.By(later, func(a, b stand) int { return a.at.Compare(b.at) })
	for _, s := range slices.Concat(next, pending, later) {
		if len(line.Waiting) == linePlaces {
			break
		}
		s.place.Since, s.place.Position = s.created, len(line.Waiting)+1
		line.Waiting = append(line.Waiting, s.place)
	}
}

const whyWorker = "all workers are busy"

// delayed says why s waits for a time.
func (s stand) delayed() string {
	at := s.at.UTC().Format("15:04:05 UTC")
	if s.starts == 0 {
		return "no run can begin on the worker that has it; it tries again at " + at
	}
	return "the last attempt failed; retry at " + at
}

// inTurn returns the first of those that wait for their turn, in the order in which they
// get it when one place after another becomes free.
func (q *Queue) inTurn(ctx context.Context, waiting []candidate, l load) ([]stand, error) {
	all := &Queue{} // without caps
	why := map[int64]string{}
	busy := load{repo: maps.Clone(l.repo), installation: maps.Clone(l.installation)}
	var order []int64
	for len(order) < linePlaces && len(waiting) > 0 {
		best := q.next(waiting, l)
		if best < 0 {
			best = all.next(waiting, l)
		}
		c := waiting[best]
		waiting = slices.Delete(waiting, best, best+1)
		l.add(c, 1)
		order, why[c.river] = append(order, c.river), q.why(c, busy)
	}
	if len(order) == 0 {
		return nil, nil
	}
	ids := make([]string, len(order))
	for i, n := range order {
		ids[i] = strconv.FormatInt(n, 10)
	}
	rows, err := q.stands(ctx, `r.id in (`+strings.Join(ids, ",")+`)`)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(s stand) bool { return !s.verifies || s.state != "pending" })
	sorted.By(rows, func(a, b stand) int { return slices.Index(order, a.river) - slices.Index(order, b.river) })
	for i := range rows {
		rows[i].place.Why = why[rows[i].river]
	}
	return rows, nil
}

// why says why c is not begun while so much is at work.
func (q *Queue) why(c candidate, l load) string {
	switch {
	case q.o.PerRepo > 0 && l.repo[c.repo] >= q.o.PerRepo:
		return fmt.Sprintf("its repository has %d of at most %d runs at work", l.repo[c.repo], q.o.PerRepo)
	case q.o.PerInstallation > 0 && l.installation[c.installation] >= q.o.PerInstallation:
		return fmt.Sprintf("its installation has %d of at most %d runs at work", l.installation[c.installation], q.o.PerInstallation)
	}
	return whyWorker
}

func (q *Queue) stands(ctx context.Context, where string) ([]stand, error) {
	micros := func(column string) string {
		if q.db.Postgres() != nil {
			return `coalesce(cast(extract(epoch from ` + column + `) * 1000000 as bigint), 0)`
		}
		return `coalesce(cast(round((julianday(` + column + `) - 2440587.5) * 86400000) as integer) * 1000, 0)`
	}
	var out []stand
	err := q.db.Reader().Each(ctx, func(scan store.Scan) error {
		var s stand
		var attempted, scheduled, created int64
		var check int
		if err := scan(&s.river, &s.place.ID, &s.repo, &s.place.Installation, &s.starts, &created, &check, &s.state, &attempted, &scheduled); err != nil {
			return err
		}
		s.created, s.at, s.verifies = store.FromMicros(created), store.FromMicros(scheduled), check != checkNoRun
		if s.state == "running" {
			s.at = store.FromMicros(attempted)
		}
		s.place.RepoID, _ = strconv.ParseInt(s.repo, 10, 64) // a name where the number is not known
		out = append(out, s)
		return nil
	}, `select r.id, j.id, j.repo, j.installation, j.starts, j.created, j.queued_check, cast(r.state as text), `+micros("r.attempted_at")+`, `+micros("r.scheduled_at")+`
		from river_job r join jobs j on j.river_id = r.id where `+where)
	return out, err
}

// Jobs returns the jobs with these identities that are known.
func (q *Queue) Jobs(ctx context.Context, ids []string) (map[string]job.Job, error) {
	out := map[string]job.Job{}
	if len(ids) == 0 {
		return out, nil
	}
	args, marks := make([]any, len(ids)), make([]string, len(ids))
	for i, id := range ids {
		args[i], marks[i] = id, "$"+strconv.Itoa(i+1)
	}
	err := q.db.Reader().Each(ctx, func(scan store.Scan) error {
		var body []byte
		if err := scan(&body); err != nil {
			return err
		}
		var j job.Job
		err := json.Unmarshal(body, &j)
		out[j.ID] = j
		return err
	}, `select body from jobs where id in (`+strings.Join(marks, ",")+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return out, nil
}
