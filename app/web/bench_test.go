package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

// fill stores runs of 200 repositories, of which each seventh failed in two of 50 tests.
func fill(b *testing.B, db *store.DB) {
	b.Helper()
	err := db.Write(b.Context(), func(tx *store.Tx) error {
		for _, statement := range []string{
			`insert into runs (id, job, repo, number, installation, base_sha, head_sha, trigger_kind, actor, state, verdict, reason, cost_usd, tokens, created, started, ended, repo_id, title, untold, indexed)
				with recursive n (i) as (select 1 union all select i + 1 from n where i < 100000)
				select '20261120T164115Z-' || i, 'job' || i, 'acme/repository-' || (i % 200 + 1), i / 400 + 1, 7, 'b', (i * 7919 + 1000000) || 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'pull_request', 'person' || (i % 97),
					'finished', case when i % 7 = 0 then 'FAIL' else 'PASS' end, 'build, tests and lint pass, and 7 adversarial checks hold', 0.31, 81200, 1700000000000000 + cast(i as bigint) * 60000000,
					1700000000000000 + cast(i as bigint) * 60000000, 1700000060000000 + cast(i as bigint) * 60000000, i % 200 + 1, 'Sell seats in one step and refund them in another', 0, 2 from n`,
			`insert into tests (repo_id, name, folded) select distinct r.repo_id, 'example.com/boxoffice/internal/hall TestSell' || (r.number % 50), 'example.com/boxoffice/internal/hall testsell' || (r.number % 50)
				from runs r where r.verdict = 'FAIL'`,
			`insert into test_results (test, run, outcome, detail, created) select t.id, r.id, 'broken', '', r.created
				from runs r join tests t on t.repo_id = r.repo_id and t.name in ('example.com/boxoffice/internal/hall TestSell' || (r.number % 50), 'example.com/boxoffice/internal/hall TestSell' || ((r.number + 1) % 50))
				where r.verdict = 'FAIL'`,
		} {
			if _, err := tx.Exec(b.Context(), statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && db.Postgres() != nil { // which it does itself before long
		_, err = db.Postgres().Exec(b.Context(), "vacuum analyze")
	}
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFirstByte is how long the first byte of a page takes with 100 000 runs stored,
// for who may see all of them and who may see one repository in 200.
func BenchmarkFirstByte(b *testing.B) {
	for name, o := range map[string]func() store.Options{
		"sqlite":   func() store.Options { return store.Options{Path: filepath.Join(b.TempDir(), "db")} },
		"postgres": func() store.Options { return store.Options{URL: storetest.Postgres(b)} },
	} {
		b.Run(name, func(b *testing.B) {
			options := o()
			options.Now = time.Now
			db, err := store.Open(b.Context(), options)
			if err == nil {
				err = db.Migrate(b.Context())
			}
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			fill(b, db)
			for who, last := range map[string]int64{"all": 200, "one": 1} {
				var repos []Repository
				for id := range last {
					repos = append(repos, Repository{ID: id + 1})
				}
				site, err := New(Options{DB: db, Queue: &fakeQueue{jobs: map[string]job.Job{}}, GitHub: allPublic(repos), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					b.Fatal(err)
				}
				server := httptest.NewServer(site.Handler())
				for _, page := range []string{"/runs", "/runs?q=repository-1", "/runs?q=%2312", "/runs?q=person12", "/runs?q=fail+@person12", "/runs?q=1007919", "/runs?q=test:testsell4", "/runs?q=nothing", "/repos/1/pulls/12", "/repos/1/tests"} {
					b.Run(who+page, func(b *testing.B) { firstByte(b, server.URL+page) })
				}
				server.Close()
			}
		})
	}
}

func firstByte(b *testing.B, url string) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		resp, err := http.Get(url) //nolint:gosec // of the test's own server
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			b.Fatal(resp.Status)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
}

// allPublic is a GitHub on which all is public.
type allPublic []Repository

func (p allPublic) Person(context.Context, string) (Person, error) { return Person{}, ErrToken }

func (p allPublic) Readable(context.Context, string) ([]Repository, error) { return nil, ErrToken }

func (p allPublic) Public(context.Context, int64) ([]Repository, error) { return p, nil }

func (p allPublic) Installations(context.Context) ([]int64, error) { return nil, nil }

func (p allPublic) Revoke(context.Context, string) error { return nil }
