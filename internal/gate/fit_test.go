package gate

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestFit holds which packages run where not all fit: those that the change can affect
// first, and of the same sort the quickest.
func TestFit(t *testing.T) {
	t.Parallel()
	all := []timedPackage{{"a", 3, false}, {"b", 9, false}, {"c", 5, true}, {"d", 4, true}}
	for _, tt := range []struct {
		budget     time.Duration
		some, left string
		share      int
	}{
		{30, "d c a b", "", 0},
		{12, "d c a", "b", 42},
		{9, "d c", "a b", 57},
		{8, "d a", "c b", 66},
		{1, "d", "c a b", 80},
	} {
		some, left := fit(all, tt.budget)
		names := func(list []timedPackage) string {
			var out []string
			for _, p := range list {
				out = append(out, p.name)
			}
			return strings.Join(out, " ")
		}
		if names(some) != tt.some || names(left) != tt.left || share(left, all) != tt.share {
			t.Errorf("%d: %s, left %s, %d %%", tt.budget, names(some), names(left), share(left, all))
		}
	}
}

// TestNaming holds which files can depend on a changed one.
func TestNaming(t *testing.T) {
	t.Parallel()
	words := func(list ...string) map[string]bool {
		out := map[string]bool{}
		for _, w := range list {
			out[w] = true
		}
		return out
	}
	got := naming(map[string]map[string]bool{
		"src/price.js":       words("round"),
		"src/cart.js":        words("price"),
		"test/cart.test.js":  words("cart"),
		"test/other.test.js": words("other"),
		"pkg/shop/use.py":    words("shop"),
	}, []string{"src/price.js", "pkg/shop/__init__.py"})
	if want := []string{"pkg/shop/use.py", "src/cart.js", "test/cart.test.js"}; !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
		t.Errorf("got %v", got)
	}
}

// TestFitting holds what runs of a suite that took longer on the base than is left: the
// files that can be affected, and what is said of the others. Where those do not fit
// either, the gate is not finished.
func TestFitting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{"price.py": "", "test_price.py": "import price", "test_slow.py": "import slow", "test_also.py": "import price", "test_new.py": "import price"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		what        string
		limit, took time.Duration
		slow        time.Duration // of its time, test_slow.py
		command     string        // part of it
		notCovered  string
		incomplete  bool
		compared    int // packages of the base
	}{
		{"all fits", time.Hour, time.Minute, 50 * time.Second, "unittest", "", false, 2},
		{"what is near fits", 5 * time.Minute, 2 * time.Minute, 110 * time.Second, "./test_new.py ./test_price.py", "1 of 2 test packages of", false, 1},
		{"nor does that", 5 * time.Minute, 2 * time.Minute, 10 * time.Second, "./test_new.py ./test_also.py ./test_slow.py", "1 of 3 test packages of", true, 2},
	} {
		r := newRunner(&Gate{}, Input{Base: worktreeOf("t1"), Head: &workspace.Tree{OID: "t2", Dir: dir}}, task{})
		r.tests.Limit = tt.limit
		r.files = slices.Sorted(maps.Keys(files))
		r.in.Change.Files = []change.File{{Path: "price.py", Status: change.Modified}, {Path: "test_new.py", Status: change.Added}}
		c := languages.ShellCommand(StageTest, "python3 -m unittest")
		r.executor.Steps = []Step{{Stage: StageTest, Side: Base, Unit: ".", Command: c.Text, Duration: tt.took}}
		r.sides.Suites[Base] = Suite{
			ID{Unit: ".", Package: "test_price.py"}: {Status: Passed, Eco: "Python", Elapsed: tt.took - tt.slow},
			ID{Unit: ".", Package: "test_slow.py"}:  {Status: Passed, Eco: "Python", Elapsed: tt.slow},
		}
		if tt.incomplete {
			r.sides.Suites[Base][ID{Unit: ".", Package: "test_also.py"}] = Test{Status: Passed, Eco: "Python", Elapsed: time.Minute}
		}
		got := r.fitting(c)
		if !strings.Contains(got.Text, tt.command) || strings.Contains(strings.Join(r.res.NotCovered, ""), tt.notCovered) != true ||
			(r.facts.Incomplete != "") != tt.incomplete || len(r.sides.Suites[Base]) != tt.compared {
			t.Errorf("%s: %q, not covered %q, incomplete %q, %d packages", tt.what, got.Text, r.res.NotCovered, r.facts.Incomplete, len(r.sides.Suites[Base]))
		}
	}
}
