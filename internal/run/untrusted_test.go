package run

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/rundir"
)

// counted counts what a run leaves to others.
type counted struct{ results, flakes int }

func (*counted) Load(context.Context, string) ([]byte, error) { return nil, nil }

func (c *counted) Save(context.Context, string, []byte) error {
	c.results++
	return nil
}

// flips counts the same of flakes.
type flips struct{ *counted }

func (flips) Load(context.Context, string) (int, map[string]int, error) { return 0, nil, nil }

func (f flips) Add(context.Context, string, []string) error {
	f.flakes++
	return nil
}

// A run of a head that is not trusted leaves no results of the base and no flips to others.
func TestUntrustedHeadsLeaveNothing(t *testing.T) {
	t.Parallel()
	for trust, want := range map[string]int{"untrusted": 0, "trusted": 1, "local": 1} {
		j, err := journal.Open(filepath.Join(t.TempDir(), "journal.jsonl"), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		left := &counted{}
		b := &begun{dir: &rundir.Dir{Journal: j}, job: Job{Trust: trust, Results: left, Flakes: flips{left}}}
		r := &Runner{}
		if err := r.baseResults(b).Save(t.Context(), "key", nil); err != nil {
			t.Error(err)
		}
		if err := r.flakes(b).Add(t.Context(), "go1", []string{"m TestA"}); err != nil {
			t.Error(err)
		}
		if left.results != want || left.flakes != want {
			t.Errorf("%s: %+v, want %d of each", trust, *left, want)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}
