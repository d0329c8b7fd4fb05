package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A RunState is where a run is in its life. The strings are stored: do not change them.
type RunState string

// The states of a run. All but the first are final, but a run whose worker died is
// running again as soon as another has it.
const (
	Running    RunState = "running"
	Finished   RunState = "finished"   // there is a verdict
	Failed     RunState = "failed"     // there is none
	Superseded RunState = "superseded" // a newer head came, or another base
	Stopped    RunState = "stopped"    // by a person
	Skipped    RunState = "skipped"    // nothing was to be done; Reason says why
)

// Acceptance is the Trigger of a run that runs nothing: it concludes another again, with what a person
// accepted. No limit on the number of runs counts it. The string is stored: do not change it.
const Acceptance = "acceptance"

// A Run is what is known of one run.
type Run struct {
	ID           string
	Job          string // identity of the job
	Repo         string // owner/name
	RepoID       int64  // GitHub's number of it, which outlives a new name; 0: not known
	Title        string // of the change, untrusted; empty until the run has ended
	Number       int    // of the pull request; 0: none
	Installation int64
	BaseSHA      string
	HeadSHA      string
	Trigger      string
	Actor        string
	State        RunState
	Verdict      string
	Reason       string // why it is in its state; see Why
	CostUSD      float64
	Tokens       int64
	Created      time.Time // when the row was made; zero: now
	Started      time.Time
	Ended        time.Time // zero: not yet
	Untold       bool      // it ended, and nothing could be reported to GitHub
}

// Why is its Reason for people: that of a run that was skipped begins with a code.
func (r Run) Why() string {
	if _, text, ok := strings.Cut(r.Reason, ": "); ok && r.State == Skipped {
		return text
	}
	return r.Reason
}

// A Limits bounds how much is done; 0 is no bound.
type Limits struct {
	RunsPerDay       int     // of a repository, within 24 hours
	CostPerPull      float64 // of all runs of a pull request, in US dollars
	RunsPerDayOfAll  int     // of an installation, within 24 hours
	CostPerDayOfRepo float64 // within 24 hours
}

// A QuotaError says that a limit is used up.
type QuotaError struct {
	Limit string // which, as Limits calls it
	Used  float64
	Bound float64
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("quota %s: %g of %g are used", e.Limit, e.Used, e.Bound)
}

// ErrNotFound says that nothing has the key that was asked for.
var ErrNotFound = errors.New("not found")

const runColumns = `id, job, repo, number, installation, base_sha, head_sha, trigger_kind, actor,
	state, verdict, reason, cost_usd, tokens, created, started, ended, repo_id, title, untold`

func scanRun(scan Scan) (Run, error) {
	var r Run
	var created, started, ended, untold int64
	err := scan(&r.ID, &r.Job, &r.Repo, &r.Number, &r.Installation, &r.BaseSHA, &r.HeadSHA, &r.Trigger, &r.Actor,
		&r.State, &r.Verdict, &r.Reason, &r.CostUSD, &r.Tokens, &created, &started, &ended, &r.RepoID, &r.Title, &untold)
	r.Created, r.Started, r.Ended, r.Untold = FromMicros(created), FromMicros(started), FromMicros(ended), untold != 0
	return r, err
}

// BeginRun stores a run that is about to begin, unless a limit is used up, which is a
// [*QuotaError]. The run that the same job has already is returned instead, without a
// look at the limits: it was let in before. Counting and storing are one step, so that
// runs that begin at the same time do not share the last place; after any error
// nothing may be run.
func (db *DB) BeginRun(ctx context.Context, r Run, l Limits) (Run, error) {
	if r.Created.IsZero() {
		r.Created = db.now()
	}
	err := db.Write(ctx, func(tx *Tx) error {
		if tx.Postgres != nil { // SQLite has one writer anyhow
			if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, LockKey("begin run")); err != nil {
				return err
			}
		}
		had, err := collect(ctx, tx, scanRun, `select `+runColumns+` from runs where job = $1 order by created, id limit 1`, r.Job)
		if err != nil {
			return err
		}
		if len(had) > 0 {
			r = had[0]
			return nil
		}
		if err := l.check(ctx, tx, r); err != nil {
			return err
		}
		return saveRun(ctx, tx, r)
	})
	if err != nil {
		return Run{}, fmt.Errorf("begin run %s: %w", r.ID, err)
	}
	return r, nil
}

// check counts what r would be added to. Skipped runs count nowhere, and those that run nothing not as runs.
func (l Limits) check(ctx context.Context, q Querier, r Run) error {
	day := Micros(r.Created.Add(-24 * time.Hour))
	repo, key := "repo", any(r.Repo)
	if r.RepoID != 0 { // a name can become another's
		repo, key = "repo_id", r.RepoID
	}
	for _, c := range []struct {
		limit     string
		bound     float64
		statement string
		args      []any
	}{
		{"RunsPerDay", float64(l.RunsPerDay), `select cast(count(*) as double precision) from runs where ` + repo + ` = $1 and created > $2 and state <> $3 and trigger_kind <> $4`, []any{key, day, Skipped, Acceptance}},
		{"RunsPerDayOfAll", float64(l.RunsPerDayOfAll), `select cast(count(*) as double precision) from runs where installation = $1 and created > $2 and state <> $3 and trigger_kind <> $4`, []any{r.Installation, day, Skipped, Acceptance}},
		{"CostPerPull", l.CostPerPull, `select coalesce(sum(cost_usd), 0) from runs where ` + repo + ` = $1 and number = $2`, []any{key, r.Number}},
		{"CostPerDayOfRepo", l.CostPerDayOfRepo, `select coalesce(sum(cost_usd), 0) from runs where ` + repo + ` = $1 and created > $2`, []any{key, day}},
	} {
		if c.bound <= 0 {
			continue
		}
		used, err := collect(ctx, q, scanOne[float64], c.statement, c.args...)
		if err != nil {
			return fmt.Errorf("count for quota %s: %w", c.limit, err)
		}
		if used[0] >= c.bound {
			return &QuotaError{Limit: c.limit, Used: used[0], Bound: c.bound}
		}
	}
	return nil
}

// SaveRun stores r whole, in the place of what was stored of it.
func (db *DB) SaveRun(ctx context.Context, r Run) error {
	if r.Created.IsZero() {
		r.Created = db.now()
	}
	err := db.Write(ctx, func(tx *Tx) error { return saveRun(ctx, tx, r) })
	if err != nil {
		return fmt.Errorf("save run %s: %w", r.ID, err)
	}
	db.watchers.wake(r.ID)
	return nil
}

func saveRun(ctx context.Context, q Querier, r Run) error {
	untold := 0
	if r.Untold {
		untold = 1
	}
	_, err := q.Exec(ctx, `insert into runs (`+runColumns+`)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
		on conflict (id) do update set job = excluded.job, repo = excluded.repo, number = excluded.number,
			installation = excluded.installation, base_sha = excluded.base_sha, head_sha = excluded.head_sha,
			trigger_kind = excluded.trigger_kind, actor = excluded.actor, state = excluded.state,
			verdict = excluded.verdict, reason = excluded.reason, cost_usd = excluded.cost_usd,
			tokens = excluded.tokens, started = excluded.started, ended = excluded.ended,
			repo_id = excluded.repo_id, title = excluded.title, untold = excluded.untold`,
		r.ID, r.Job, r.Repo, r.Number, r.Installation, r.BaseSHA, r.HeadSHA, r.Trigger, r.Actor,
		string(r.State), r.Verdict, r.Reason, r.CostUSD, r.Tokens, Micros(r.Created), Micros(r.Started), Micros(r.Ended), r.RepoID, r.Title, untold)
	if err != nil {
		return err
	}
	return notify(ctx, q, r.ID)
}

// Run returns a run by its id; [ErrNotFound] where there is none.
func (db *DB) Run(ctx context.Context, id string) (Run, error) {
	return db.oneRun(ctx, id, `where id = $1`)
}

// RunOfJob returns the run of a job; [ErrNotFound] where it has none yet.
func (db *DB) RunOfJob(ctx context.Context, job string) (Run, error) {
	return db.oneRun(ctx, job, `where job = $1 order by created, id limit 1`)
}

func (db *DB) oneRun(ctx context.Context, key, where string) (Run, error) {
	runs, err := collect(ctx, db.Reader(), scanRun, `select `+runColumns+` from runs `+where, key)
	if err == nil && len(runs) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Run{}, fmt.Errorf("run %s: %w", key, err)
	}
	return runs[0], nil
}
