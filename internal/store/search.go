package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A RunFilter selects runs; zero fields select all.
type RunFilter struct {
	Repo     string
	RepoIDs  []int64 // nil: all; of none there are no runs
	Number   int
	State    RunState
	Verdict  string
	Actor    string    // login of who asked, in any case
	Commit   string    // the head commit or its beginning, in lower case
	Failing  []string  // parts of names of tests that failed on the head, in any case; needs RepoIDs
	Untold   bool      // only those
	Before   time.Time // created before; for the next page
	BeforeID string    // of the run that was created at Before and was the last one listed
	Limit    int       // 0: 100

	among []string // ids; nil: all
}

// Runs returns runs, the newest first. With RepoIDs nothing of other repositories is read,
// so that not even the time that it takes depends on them.
func (db *DB) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	if f.RepoIDs != nil && len(f.RepoIDs) == 0 {
		return nil, nil
	}
	runs, err := db.runs(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return runs, nil
}

func (db *DB) runs(ctx context.Context, f RunFilter) ([]Run, error) {
	if len(f.Failing) > 0 && f.among == nil {
		return db.failed(ctx, f)
	}
	where, args := db.where(f)
	newest := ` order by created desc, id desc limit ` + strconv.Itoa(f.Limit)
	if f.RepoIDs == nil || f.among != nil {
		return collect(ctx, db.Reader(), scanRun, `select `+runColumns+` from runs where `+where+newest, args...)
	}
	inner := newest
	if f.Actor != "" { // or PostgreSQL looks at all runs, the newest first, for one of a person who has none
		inner = strings.Replace(newest, "created", "created + 0", 1)
	}
	return collect(ctx, db.Reader(), scanRun, `select `+runColumns+` from runs where id in (select id from runs`+db.index(f)+` where `+where+inner+`)`+newest, args...)
}

// candidatesAtOnce is how many results of runs in which a test failed are looked at at a
// time, after the first: most searches need no more than those.
const candidatesAtOnce = 300

// failed goes through the runs in which a test failed, the newest first, for those that
// the rest of the filter selects. Neither database would: they know nothing of how many
// names have a part.
func (db *DB) failed(ctx context.Context, f RunFilter) ([]Run, error) {
	var out []Run
	rest := f
	rest.Failing = f.Failing[1:]
	at, id := Micros(f.Before), f.BeforeID
	candidates := db.candidates(f)
	for limit := min(2*f.Limit, candidatesAtOnce); ; limit = candidatesAtOnce {
		rest.among = []string{}
		rows := 0
		// A run is there once for each test of it, one after the other.
		err := db.Reader().Each(ctx, func(scan Scan) error {
			before := id
			err := scan(&id, &at)
			if rows++; id != before {
				rest.among = append(rest.among, id)
			}
			return err
		}, candidates, strings.ToLower(f.Failing[0]), at, id, limit)
		if err != nil || len(rest.among) == 0 {
			return out, err
		}
		found, err := db.runs(ctx, rest)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
		if len(out) >= f.Limit || rows < limit {
			return out[:min(len(out), f.Limit)], nil
		}
	}
}

// candidates lists runs in which a test failed, once for each such test, from indexes alone:
// thousands may have to be looked at for the newest few.
func (db *DB) candidates(f RunFilter) string {
	results, tests := "", ""
	if db.pool == nil { // which has no statistics
		results, tests = " indexed by test_results_failing", " indexed by tests_folded"
	}
	return `select run, created from test_results` + results + ` join tests` + tests + ` on test = tests.id
		where repo_id in (` + numbers(f.RepoIDs) + `) and ` + db.contains() + `(folded, $1) > 0 and outcome in (` + failing + `)
			and (cast($2 as bigint) = 0 or created < $2 or created = $2 and run < $3)
		order by created desc, run desc limit $4`
}

// contains is the function that says where a text has a part; 0: nowhere.
func (db *DB) contains() string {
	if db.pool != nil {
		return "strpos"
	}
	return "instr"
}

// index names the index for a filter with RepoIDs to SQLite, which has no statistics and
// would read all runs in their order.
func (db *DB) index(f RunFilter) string {
	switch {
	case db.pool != nil:
		return ""
	case f.Commit != "":
		return " indexed by runs_commit"
	case f.Number != 0:
		return " indexed by runs_number"
	case f.Actor != "":
		return " indexed by runs_actor"
	}
	return " indexed by runs_search"
}

// where is the condition of a filter, with its parameters.
func (db *DB) where(f RunFilter) (condition string, args []any) {
	all := []string{"1 = 1"}
	and := func(format string, values ...any) {
		var names []any
		for _, v := range values {
			args = append(args, v)
			names = append(names, "$"+strconv.Itoa(len(args)))
		}
		all = append(all, fmt.Sprintf(format, names...))
	}
	if f.RepoIDs != nil {
		and("repo_id in (" + numbers(f.RepoIDs) + ")")
	}
	if f.Repo != "" {
		and("repo = %s", f.Repo)
	}
	if f.Number != 0 {
		and("number = %s", f.Number)
	}
	if f.State != "" {
		and("state = %s", string(f.State))
	}
	if f.Verdict != "" {
		and("verdict = %s", f.Verdict)
	}
	if f.Actor != "" {
		and("lower(actor) = lower(%s)", f.Actor)
	}
	bytewise := ""
	if db.pool != nil {
		bytewise = ` collate "C"`
	}
	if f.Commit != "" {
		and("head_sha"+bytewise+" >= %s and head_sha"+bytewise+" < %s", f.Commit, f.Commit+"g") // which follows all hex digits
	}
	for _, part := range f.Failing {
		and("id in (select run from test_results where outcome in ("+failing+") and test in (select id from tests where repo_id in ("+numbers(f.RepoIDs)+") and "+db.contains()+"(folded, %s) > 0))", strings.ToLower(part))
	}
	if f.among != nil {
		var values []any
		for _, id := range f.among {
			values = append(values, id)
		}
		and("id in ("+strings.TrimSuffix(strings.Repeat("%s,", len(values)), ",")+")", values...)
	}
	if f.Untold {
		and("untold <> 0")
	}
	if !f.Before.IsZero() {
		at := Micros(f.Before)
		and("(created < %s or created = %s and id < %s)", at, at, f.BeforeID)
	}
	return strings.Join(all, " and "), args
}

// numbers lists numbers for a statement: there may be more than it can have parameters.
func numbers(ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	return b.String()
}

// RepoNames returns the name that each of these repositories had in its newest run; those
// without runs are left out.
func (db *DB) RepoNames(ctx context.Context, ids []int64) (map[int64]string, error) {
	out := map[int64]string{}
	if len(ids) == 0 {
		return out, nil
	}
	err := db.Reader().Each(ctx, func(scan Scan) error {
		var id int64
		var name string
		err := scan(&id, &name)
		if err == nil && name != "" {
			out[id] = name
		}
		return err
	}, `with v (id) as (values (`+strings.ReplaceAll(numbers(ids), ",", "),(")+`))
		select v.id, coalesce((select repo from runs where repo_id = v.id order by created desc limit 1), '') from v`)
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	return out, nil
}

// Installations returns the installations that have runs. It reads one row for each.
func (db *DB) Installations(ctx context.Context) ([]int64, error) {
	ids, err := collect(ctx, db.Reader(), scanOne[int64], `with recursive i (id) as (
			select min(installation) from runs where installation > 0
			union all select (select min(installation) from runs where installation > i.id) from i where i.id is not null)
		select id from i where id is not null`)
	if err != nil {
		return nil, fmt.Errorf("list installations: %w", err)
	}
	return ids, nil
}
