package execution

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// What was fetched is begun with for thirty days, and not kept where it is very much.
func TestFetchedIsBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		age  time.Duration
		size int64
		want bool
	}{
		"of the greatest age":  {fetchedAge, 1, true},
		"older":                {fetchedAge + time.Second, 1, false},
		"of the greatest size": {0, maxFetched, true},
		"larger":               {0, maxFetched + 1, false},
	} {
		now := time.Now()
		e := New(Machine{CacheDir: t.TempDir(), Scratch: t.TempDir(), Now: func() time.Time { return now }}, Job{Note: t.Logf})
		e.Plans = map[results.Side]*sides.Plan{results.Base: {Setup: []ecosystem.Command{{Eco: "Node.js"}}}}
		const part = ".npm/_cacache"
		lay(t, filepath.Join(e.HomeOf(results.Base), part, "a"), "")
		if err := os.Truncate(filepath.Join(e.HomeOf(results.Base), part, "a"), tt.size); err != nil {
			t.Fatal(err)
		}
		e.Harvest(t.Context())
		now = now.Add(tt.age)
		next := t.TempDir()
		if err := e.begin(t.Context(), results.Base, next); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(next, part, "a")); (err == nil) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
