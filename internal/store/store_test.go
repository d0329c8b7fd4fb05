package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// child is what this test binary does when a test starts it as another process.
func child(role string) int {
	var err error
	switch role {
	case "record":
		err = recordChild(os.Getenv("YCBOT_TEST_DB"), os.Getenv("YCBOT_TEST_VALUE"))
	case "mirror":
		err = mirrorChild(os.Getenv("YCBOT_TEST_DB"), os.Getenv("YCBOT_TEST_DIR"))
	default:
		err = fmt.Errorf("role %s: %w", role, errors.ErrUnsupported)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// start runs this test binary as another process.
func start(t *testing.T, role string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), append(env, "YCBOT_TEST_ROLE="+role)...)
	cmd.Stderr = os.Stderr
	return cmd
}

const contested = 50

func recordChild(where, value string) error {
	ctx := context.Background()
	db, err := openWhere(ctx, where)
	if err != nil {
		return err
	}
	for i := range contested {
		if err := db.Record(ctx, fmt.Sprint("key", i), value); err != nil {
			return err
		}
		got, _, err := db.Lookup(ctx, fmt.Sprint("key", i))
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, got)
	}
	return db.Close()
}

// Two processes that migrate an empty database and record other values under the same
// keys at the same time agree on each: the first counts and stays.
func TestFirstEffectCounts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		var out [2]strings.Builder
		var cmds [2]*exec.Cmd
		for i := range cmds {
			cmds[i] = start(t, "record", "YCBOT_TEST_DB="+where, fmt.Sprintf("YCBOT_TEST_VALUE=of process %d", i))
			cmds[i].Stdout = &out[i]
			if err := cmds[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range cmds {
			if err := cmds[i].Wait(); err != nil {
				t.Fatalf("process %d: %v", i, err)
			}
		}
		if out[0].String() == "" || out[0].String() != out[1].String() {
			t.Error(cmp.Diff(out[0].String(), out[1].String()))
		}
		db := openAt(t, where)
		if err := db.Record(t.Context(), "key0", "late"); err != nil {
			t.Fatal(err)
		}
		if v, ok, err := db.Lookup(t.Context(), "key0"); !ok || err != nil || !strings.HasPrefix(out[0].String(), v+"\n") {
			t.Errorf("Lookup = %q, %v, %v", v, ok, err)
		}
		if v, ok, err := db.Lookup(t.Context(), "none"); v != "" || ok || err != nil {
			t.Errorf("Lookup of nothing = %q, %v, %v", v, ok, err)
		}
	})
}

// A new file is opened by several at once, as when two commands are the first ones in a home.
func TestOpenedAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		where := filepath.Join(t.TempDir(), "db")
		var all errgroup.Group
		for range 6 {
			all.Go(func() error {
				db, err := Open(t.Context(), Options{Path: where, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					return err
				}
				return db.Close()
			})
		}
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// The file of a database with other people's code in it is no one else's to read.
func TestFileMode(t *testing.T) {
	t.Parallel()
	db := openAt(t, t.TempDir()+"/sub dir?/d%b")
	for path, want := range map[string]fs.FileMode{db.Path(): 0o600, db.Path() + "-wal": 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s is %v", path, info.Mode())
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db := t.Context(), openAt(t, where)
		at := time.Date(2026, 5, 4, 3, 2, 1, 1000, time.UTC)
		r := Run{
			ID: "r1", Job: "j1", Repo: "o/r", Number: 7, Installation: 1 << 40, BaseSHA: "b", HeadSHA: "h",
			Trigger: "comment", Actor: "ann", State: Running, CostUSD: 0.25, Tokens: 1 << 40, Created: at, Started: at,
		}
		if got, err := db.BeginRun(ctx, r, Limits{RunsPerDay: 1}); err != nil || !cmp.Equal(got, r) {
			t.Fatal(err, cmp.Diff(r, got))
		}
		again := r
		again.ID = "r2"
		if got, err := db.BeginRun(ctx, again, Limits{RunsPerDay: 1}); err != nil || got.ID != "r1" {
			t.Errorf("the same job begins as %s, %v; want its run", got.ID, err)
		}
		r.State, r.Verdict, r.Reason, r.Ended = Finished, "PASS", "why", at.Add(time.Minute)
		if err := db.SaveRun(ctx, r); err != nil {
			t.Fatal(err)
		}
		for name, get := range map[string]func() (Run, error){
			"Run":      func() (Run, error) { return db.Run(ctx, "r1") },
			"RunOfJob": func() (Run, error) { return db.RunOfJob(ctx, "j1") },
			"Runs": func() (Run, error) {
				runs, err := db.Runs(ctx, RunFilter{Repo: "o/r", Number: 7, State: Finished, Before: at.Add(1e9)})
				return append(runs, Run{})[0], err
			},
		} {
			if got, err := get(); err != nil || !cmp.Equal(got, r) {
				t.Errorf("%s: %v %s", name, err, cmp.Diff(r, got))
			}
		}
		if _, err := db.Run(ctx, "none"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "none") {
			t.Errorf("no run: %v", err)
		}
		if runs, err := db.Runs(ctx, RunFilter{Before: at}); len(runs) != 0 || err != nil {
			t.Errorf("before all: %v, %v", runs, err)
		}
	})
}

// The last place of a quota goes to one of those who begin at the same time; a store
// that cannot count lets no one in.
func TestQuotas(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db := t.Context(), openAt(t, where)
		var wg sync.WaitGroup
		errs := make([]error, 12)
		for i := range errs {
			wg.Go(func() {
				id := fmt.Sprint("r", i)
				_, errs[i] = db.BeginRun(ctx, Run{ID: id, Job: id, Repo: "o/r", Number: 1, CostUSD: 1, State: Running}, Limits{RunsPerDay: 3})
			})
		}
		wg.Wait()
		var quota *QuotaError
		in := 0
		for _, err := range errs {
			if err == nil {
				in++
			} else if !errors.As(err, &quota) || quota.Limit != "RunsPerDay" {
				t.Error(err)
			}
		}
		if in != 3 {
			t.Errorf("%d runs were let in, want 3", in)
		}
		next := Run{ID: "n", Job: "n", Repo: "o/r", Number: 1, State: Running}
		if _, err := db.BeginRun(ctx, next, Limits{CostPerPull: 3}); !errors.As(err, &quota) || quota.Used != 3 {
			t.Errorf("cost of the pull request: %v", err)
		}
		tomorrow := next
		tomorrow.Created = time.Now().Add(25 * time.Hour)
		if _, err := db.BeginRun(ctx, tomorrow, Limits{RunsPerDay: 3, RunsPerDayOfAll: 1, CostPerDayOfRepo: 1, CostPerPull: 4}); err != nil {
			t.Errorf("a day later: %v", err)
		}
		before := Run{ID: "before", Job: "before", Repo: "o/new", RepoID: 1, Number: 1, CostUSD: 9, State: Finished}
		if err := db.SaveRun(ctx, before); err != nil {
			t.Fatal(err)
		}
		one := Limits{RunsPerDay: 1, CostPerPull: 1, CostPerDayOfRepo: 1}
		if _, err := db.BeginRun(ctx, Run{ID: "of the name", Job: "of the name", Repo: "o/new", RepoID: 2, Number: 1, State: Running}, one); err != nil {
			t.Errorf("a repository that has the name of another: %v", err)
		}
		if _, err := db.BeginRun(ctx, Run{ID: "renamed", Job: "renamed", Repo: "o/renamed", RepoID: 1, Number: 1, State: Running}, one); !errors.As(err, &quota) {
			t.Errorf("a repository that has another name: %v", err)
		}
		broken, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := db.BeginRun(broken, Run{ID: "x", Job: "x", Repo: "o/x"}, Limits{RunsPerDay: 3}); err == nil {
			t.Error("a store that does not answer let a run in")
		}
		if _, err := db.Run(ctx, "x"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

// What is older than retention goes, with all that belongs to it, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db := t.Context(), openAt(t, where)
		now := time.Now()
		for i := range 7 {
			r := Run{ID: fmt.Sprint("old", i), Job: fmt.Sprint("j", i), Repo: "o/r", State: Finished, Created: now.Add(-100 * time.Hour), Ended: now.Add(-99 * time.Hour)}
			switch i {
			case 5:
				r.ID, r.Ended = "long", now
			case 6:
				r.ID, r.Created, r.Ended = "new", now, now
			}
			if err := db.SaveRun(ctx, r); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			write(t, dir, "events.jsonl", "{}\n")
			write(t, dir, "report.json", "{}")
			if err := db.Import(ctx, r.ID, dir); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Record(ctx, "effect", "new"); err != nil {
			t.Fatal(err)
		}
		err := db.Write(ctx, func(tx *Tx) error {
			_, err := db.AddDeliveries(ctx, tx, []Delivery{{ID: "d", Received: now.Add(-100 * time.Hour)}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := db.Sweep(ctx, now.Add(-50*time.Hour), 2); n != 5 || err != nil {
			t.Errorf("Sweep = %d, %v, want 5 runs", n, err)
		}
		if runs, err := db.Runs(ctx, RunFilter{}); len(runs) != 2 || err != nil {
			t.Errorf("%d runs are left, %v", len(runs), err)
		}
		for table, want := range map[string]int{"lines": 2, "files": 2, "effects": 1, "deliveries": 0} {
			n, err := collect(ctx, db.Reader(), scanOne[int], `select count(*) from `+table)
			if err != nil || n[0] != want {
				t.Errorf("%s: %d rows, %v, want %d", table, n, err, want)
			}
		}
	})
}

// A list of values has a row for each of them, and on PostgreSQL few lengths.
func TestRows(t *testing.T) {
	t.Parallel()
	args := []any{1, 2, 3, 4, 5, 6}
	sqlite, same := (&Tx{SQLite: &sql.Tx{}}).Rows(2, args)
	postgres, padded := (&Tx{}).Rows(2, args)
	if sqlite != "(?,?),(?,?),(?,?)" || !cmp.Equal(same, args) || postgres != "($1,$2),($3,$4),($5,$6),($7,$8)" || !cmp.Equal(padded, append(args, 5, 6)) {
		t.Errorf("%s %v, %s %v", sqlite, same, postgres, padded)
	}
}

// A transaction that fails leaves nothing, and deliveries are distinguished by their id.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db := t.Context(), openAt(t, where)
		d := Delivery{ID: "d1", Event: "pull_request", BodySHA256: "ab", Received: time.UnixMicro(5).UTC()}
		boom := errors.New("boom")
		for i, fail := range []error{boom, nil, nil} {
			err := db.Write(ctx, func(tx *Tx) error {
				later := d
				later.Event = fmt.Sprint("later ", i)
				if fresh, err := db.AddDeliveries(ctx, tx, []Delivery{d, later}); err != nil || fresh["d1"] != (i < 2) {
					t.Errorf("%d: %v, %v", i, fresh, err)
				}
				return fail
			})
			if !errors.Is(err, fail) {
				t.Errorf("%d: %v", i, err)
			}
		}
		if got, ok, err := db.Delivery(ctx, "d1"); !ok || err != nil || !cmp.Equal(got, d) {
			t.Error(ok, err, cmp.Diff(d, got))
		}
	})
}
