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
	Commit   string    // the head commit or its beginning, lower case
	Failing  []string  // parts of names of tests that failed on the head, in any case; needs RepoIDs
	Untold   bool      // only those
	Before   time.Time // created before; for the next page
	BeforeID string    // of the run that was created at Before and was the last one listed
	Limit    int       // 0: 100
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
	where, args := f.where()
	statement := `select ` + runColumns + ` from runs where ` + where + ` order by created desc, id desc limit ` + strconv.Itoa(f.Limit)
	if f.RepoIDs != nil {
		index := ""
		if db.pool == nil { // which has no statistics, and would read all runs in their order
			index = " indexed by runs_search"
		}
		statement = `select ` + runColumns + ` from runs where id in (select id from runs` + index + ` where ` + where +
			` order by created desc, id desc limit ` + strconv.Itoa(f.Limit) + `) order by created desc, id desc`
	}
	runs, err := collect(ctx, db.Reader(), scanRun, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return runs, nil
}

// where is the condition of a filter, with its parameters.
func (f RunFilter) where() (condition string, args []any) {
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
	if f.Commit != "" {
		and("substr(head_sha, 1, "+strconv.Itoa(len(f.Commit))+") = %s", f.Commit)
	}
	for _, part := range f.Failing {
		and(`id in (select run from test_results where repo_id in (`+numbers(f.RepoIDs)+`) and outcome in (`+failing+`) and lower(test) like lower(%s) escape '\')`, "%"+literal(part)+"%")
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

// literal has the pattern of a LIKE stand for itself.
func literal(s string) string { return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) }

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
