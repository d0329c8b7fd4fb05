package gate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// TestCachesOfCommands holds that commands begin with what is compiled already also where
// the plan has no project but only commands, as that of the packages has that a change does
// not reach: each of them would else compile the standard library.
func TestCachesOfCommands(t *testing.T) {
	t.Parallel()
	for eco, want := range map[string]bool{"Go": true, "Node.js": false} {
		if languages.Named(eco) == nil {
			t.Fatalf("%s is no ecosystem", eco)
		}
		r := newRunner(&Gate{}, Input{}, task{plan: map[Side]*sides.Plan{Base: {Test: []ecosystem.Command{{Eco: eco}}}}})
		if got := r.executor.Compiles(); got != want {
			t.Errorf("%s: %v", eco, got)
		}
	}
}

// TestNoCacheWithoutUse holds that a project that compiles into no build cache waits for no
// copies of it: another one of the same machine may have filled it.
func TestNoCacheWithoutUse(t *testing.T) {
	t.Parallel()
	for eco, want := range map[string]bool{"Go": true, "Node.js": false} {
		g := &Gate{Machine: Machine{CacheDir: t.TempDir(), Shared: t.TempDir(), Scratch: t.TempDir(), Now: time.Now}}
		if err := folder.Make(filepath.Join(g.Store().ProjectCache(), "aa")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(g.Store().ProjectCache(), "aa", "a1-d"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r := newRunner(g, Input{}, task{plan: map[Side]*sides.Plan{Head: {Test: []ecosystem.Command{{Eco: eco}}}}})
		if err := r.executor.ShareCache(); err != nil || !folder.Exists(r.Store().BuildCache(Base)) {
			t.Fatalf("%s: %v", eco, err)
		}
		if got := folder.Exists(filepath.Join(r.Store().BuildCache(Head), "aa", "a1-d")); got != want {
			t.Errorf("%s: a copy is there: %v", eco, got)
		}
	}
}
