package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// TestGoEnv holds that only setup can fetch, and that the operator's download
// settings reach no other command.
func TestGoEnv(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	if err := os.MkdirAll(filepath.Join(cache, "cache", "download"), 0o700); err != nil {
		t.Fatal(err)
	}
	g := &Gate{Shared: "/s", Tools: &Toolchains{Go: &GoToolchain{ModCache: cache, Proxy: "https://me:secret@p.example.org", SumDB: "sum.example.org", Private: "corp.example.org"}}}
	setup := strings.Join(g.goEnv("/c", ecosystem.Command{Stage: StageSetup}), " ")
	if want := "GOPROXY=file://" + cache + "/cache/download,https://p.example.org GOSUMDB=sum.example.org"; !strings.Contains(setup, want) {
		t.Errorf("setup: %s", setup)
	}
	for _, stage := range []Stage{StageBuild, StageTest, StageLint, StageProbe} {
		env := strings.Join(g.goEnv("/c", ecosystem.Command{Stage: stage, Env: []string{"GOWORK=off"}}), " ")
		if env != "GOCACHE=/c GOMODCACHE=/s/go-mod GOENV=off GOTOOLCHAIN=local GOTELEMETRY=off GOPROXY=off GOWORK=off" {
			t.Errorf("%s: %s", stage, env)
		}
	}
	if env := (&Gate{}).goEnv("/c", ecosystem.Command{}); env != nil {
		t.Errorf("without Go: %v", env)
	}
}

// TestCachesOfCommands holds that commands begin with what is compiled already also where
// the plan has no project but only commands, as that of the packages has that a change does
// not reach: each of them would else compile the standard library.
func TestCachesOfCommands(t *testing.T) {
	t.Parallel()
	for eco, want := range map[string]bool{"Go": true, "Node.js": false} {
		if ecosystem.Named(eco) == nil {
			t.Fatalf("%s is no ecosystem", eco)
		}
		r := newRunner(&Gate{}, Input{}, task{plan: map[Side]*sides.Plan{Base: {Test: []ecosystem.Command{{Eco: eco}}}}})
		if got := r.caches(); got != want {
			t.Errorf("%s: %v", eco, got)
		}
	}
}

// TestNoCacheWithoutUse holds that a project that compiles into no build cache waits for no
// copies of it: another one of the same machine may have filled it.
func TestNoCacheWithoutUse(t *testing.T) {
	t.Parallel()
	for eco, want := range map[string]bool{"Go": true, "Node.js": false} {
		g := &Gate{CacheDir: t.TempDir(), Shared: t.TempDir(), Scratch: t.TempDir(), Now: time.Now}
		if err := mkdirs(filepath.Join(g.projectCache(), "aa")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(g.projectCache(), "aa", "a1-d"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r := newRunner(g, Input{}, task{plan: map[Side]*sides.Plan{Head: {Test: []ecosystem.Command{{Eco: eco}}}}})
		if err := r.shareCache(); err != nil || !exists(r.buildCache(Base)) {
			t.Fatalf("%s: %v", eco, err)
		}
		if got := exists(filepath.Join(r.buildCache(Head), "aa", "a1-d")); got != want {
			t.Errorf("%s: a copy is there: %v", eco, got)
		}
	}
}
