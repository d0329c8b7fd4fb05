package queue

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// waiting stores n jobs of 20 repositories and 4 installations, of which each seventh is asked for
// by a person, and hands none of them over.
func waiting(t *testing.T, q *Queue, n int) {
	t.Helper()
	for i := range n {
		j := at(int64(i*3%20+1), i+1, "a")
		j.Installation = int64(i%4 + 1)
		if i%7 == 3 {
			j = asked(j, "comment")
		}
		if _, err := q.Enqueue(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	_, err := q.db.Postgres().Exec(t.Context(), `update river_job set state = 'pending' where state = 'available'`)
	if err != nil {
		t.Fatal(err)
	}
}

// both calls fn with what each statement for candidates gives.
func both(t *testing.T, q *Queue, each int, fn func(name string, found []candidate)) {
	t.Helper()
	for name, statement := range map[string]string{"all": firstOfAll, "by repository": firstByRepo} {
		err := q.db.Write(t.Context(), func(tx *store.Tx) error {
			found, err := candidates(t.Context(), tx, statement, each)
			fn(name, found)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Where very many jobs wait the same ones are next, in the same order, as where few do: also
// where some are urgent, cancelled, begun, handed over or over.
func TestNextOfVeryMany(t *testing.T) {
	variants.Only(t) // thousands of jobs
	t.Parallel()
	q := newQueue(t, server.Database(t), Options{Workers: 1, PerInstallation: 40})
	waiting(t, q, 300)
	for _, change := range []string{
		`update river_job set state = 'available' where id % 11 = 1`,
		`update river_job set state = 'running', attempted_by = array['x'] where id % 11 = 2`,
		`update jobs set starts = 1 where river_id % 11 = 2`,
		`update river_job set state = 'completed', finalized_at = now() where id % 11 in (3, 4)`,
		`update jobs set starts = 1 where river_id % 11 = 3`,
		`update river_job set state = 'cancelled', finalized_at = now() where id % 11 = 5`,
		`update jobs set cancel = 'stopped' where river_id % 11 = 5`,
	} {
		if _, err := q.db.Postgres().Exec(t.Context(), change); err != nil {
			t.Fatal(change, err)
		}
	}
	for _, each := range []int{1, 2, 5} {
		picked := map[string][]int64{}
		both(t, q, each, func(name string, found []candidate) {
			l := load{repo: map[string]int{}, installation: map[int64]int{}}
			of := map[string]int{}
			for len(picked[name]) < 60 {
				best := q.next(found, l)
				if best < 0 {
					break
				}
				c := found[best]
				found = append(found[:best], found[best+1:]...)
				if of[c.repo]++; of[c.repo] <= each { // no more of one repository have places
					l.add(c, 1)
					picked[name] = append(picked[name], c.river)
				}
			}
		})
		if len(picked["all"]) < 20*min(each, 3) {
			t.Errorf("%d of each repository: only %d are next", each, len(picked["all"]))
		}
		if d := cmp.Diff(picked["all"], picked["by repository"]); d != "" {
			t.Errorf("%d of each repository: %s", each, d)
		}
	}
}

// The way that is taken depends on how many wait.
func TestVeryManyWait(t *testing.T) {
	variants.Only(t) // thousands of jobs
	t.Parallel()
	q := newQueue(t, server.Database(t), Options{Workers: 1})
	waiting(t, q, 10)
	way := func() (statement string) {
		t.Helper()
		err := q.db.Write(t.Context(), func(tx *store.Tx) (err error) {
			statement, err = firstWaiting(t.Context(), tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return statement
	}
	if way() != firstOfAll {
		t.Error("with ten that wait each repository is looked at by itself")
	}
	_, err := q.db.Postgres().Exec(t.Context(), `insert into river_job (state, args, kind, max_attempts, queue, priority)
		select 'pending', '{}', 'ycbot_job', 1, 'runs', 2 from generate_series(1, $1)`, long)
	if err != nil {
		t.Fatal(err)
	}
	if way() != firstByRepo {
		t.Errorf("with more than %d that wait all of them are looked through", long)
	}
	if err := q.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(inState(t, q, "available")); n != 2 {
		t.Errorf("%d jobs were handed over, want 2", n)
	}
}

func inState(t *testing.T, q *Queue, state string) (ids []int64) {
	t.Helper()
	err := q.db.Reader().Each(t.Context(), func(scan store.Scan) error {
		var id int64
		err := scan(&id)
		ids = append(ids, id)
		return err
	}, `select id from river_job where state = '`+state+`'`)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
