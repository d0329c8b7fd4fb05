package sides

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestReported holds of which files it is said that they are files of tests, because the
// base's runners report tests that stand in them.
func TestReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	suite := results.Suite{}
	for name, text := range map[string]string{
		"check_money.py": "def check_tax(): assert tax() == 19\n",
		"money.py":       "def check_tax():\n    \"\"\"\n    >>> check_tax()\n    \"\"\"\n",
		"money.ts":       "if (import.meta.vitest) { it('check_tax', () => {}) }\n",
		"other.py":       "def other(): pass\n", // has its test from elsewhere
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		suite[results.ID{Unit: ".", Package: name, Test: "check_tax"}] = results.Test{Status: results.Passed}
	}
	r := &Reader{Base: &workspace.Tree{Dir: dir}, Suites: map[results.Side]results.Suite{results.Base: suite}}
	for name, want := range map[string]bool{"check_money.py": true, "money.py": false, "money.ts": false, "other.py": false, "absent.py": false} {
		if got := r.Reported(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
