package caches

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// TestGoEnv holds that only setup can fetch, and that the operator's download
// settings reach no other command.
func TestGoEnv(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	if err := os.MkdirAll(filepath.Join(cache, "cache", "download"), 0o700); err != nil {
		t.Fatal(err)
	}
	g := Store{Project: "/p", Shared: "/s", Go: &ecosystem.GoToolchain{ModCache: cache, Proxy: "https://me:secret@p.example.org", SumDB: "sum.example.org", Private: "corp.example.org"}}
	install, download := ecosystem.Command{Stage: results.StageSetup}, ecosystem.Command{Stage: results.StageSetup, Argv: []string{"go", "mod", "download"}}
	for _, of := range []struct {
		closed bool
		side   results.Side
		c      ecosystem.Command
		host   bool // it gets what the operator has downloaded
	}{
		{false, results.Base, download, true},
		{false, results.Head, download, true},
		{false, results.Head, install, true},
		{true, results.Base, download, true},
		{true, results.Base, install, false},
		{true, results.Head, download, false}, // a stranger would name anything
		{true, results.Head, install, false},
	} {
		g.Closed = of.closed
		want, files := "GOPROXY=https://p.example.org GOSUMDB=sum.example.org", []string(nil)
		if of.host {
			files = []string{filepath.Join(cache, "cache", "download")}
			want = strings.Replace(want, "=", "=file://"+files[0]+",", 1)
		}
		if setup := strings.Join(g.GoEnv(of.side, "/c", of.c), " "); !strings.Contains(setup, want) {
			t.Errorf("%+v: setup: %s", of, setup)
		}
		g.Scratch = t.TempDir()
		run := sandbox.Command{}
		if err := g.SetupModCache(of.side, of.c, &run); err != nil || slices.Contains(run.ReadOnly, filepath.Join(cache, "cache", "download")) != of.host {
			t.Errorf("%+v: %q, %v; want %q", of, run.ReadOnly, err, files)
		}
	}
	for _, stage := range []results.Stage{results.StageBuild, results.StageTest, results.StageLint, results.StageProbe} {
		env := strings.Join(g.GoEnv(results.Head, "/c", ecosystem.Command{Stage: stage, Env: []string{"GOWORK=off"}}), " ")
		if env != "GOCACHE=/c GOMODCACHE=/p/go-mod GOENV=off GOTOOLCHAIN=local GOTELEMETRY=off GOPROXY=off GOWORK=off" {
			t.Errorf("%s: %s", stage, env)
		}
	}
	if env := (Store{}).GoEnv(results.Head, "/c", ecosystem.Command{}); env != nil {
		t.Errorf("without Go: %v", env)
	}
}

// TestCaches holds that each side has a cache of its own, that projects share seeds and
// nothing that one of them compiled, that no cache is half there, and that what is
// shared is not what the go command may remove meanwhile.
func TestCaches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := func(project string) Store {
		return Store{Go: &ecosystem.GoToolchain{}, Shared: filepath.Join(dir, "shared"), Project: filepath.Join(dir, project), Scratch: filepath.Join(dir, project+"-run"), Now: time.Now}
	}
	g := store("one")
	if err := g.SeedCache(false); err != nil || folder.Exists(g.ProjectCache()) {
		t.Fatalf("without a seed: %v", err)
	}
	fill := func(race bool, files map[string]string, failure error) error {
		return g.FillSeed(race, func(cache string) error {
			lay(t, cache, files)
			return failure
		})
	}
	broken := errors.New("it does not compile")
	if err := fill(false, map[string]string{"aa/x-a": "half"}, broken); !errors.Is(err, broken) || folder.Exists(g.Seed(false)) {
		t.Fatalf("a seed that is not whole: %v", err)
	}
	if err := fill(false, map[string]string{"aa/s-a": "std", "aa/s-d": "of std"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := fill(false, nil, broken); err != nil {
		t.Fatalf("a seed is filled twice: %v", err)
	}
	if err := g.SplitCache(); err != nil || folder.Exists(g.ProjectCache()) || !folder.Exists(g.BuildCache(results.Head)) {
		t.Fatalf("without a cache: %v", err)
	}
	lay(t, g.ProjectCache(), map[string]string{"aa/x-a": "std", "aa/o-d": "output", "aa/p-d/prog": "program", "aa/old-d": "old", "trim.txt": "1"})
	old := time.Now().Add(-5 * 24 * time.Hour)
	if err := os.Chtimes(filepath.Join(g.ProjectCache(), "aa/old-d"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := g.SplitCache(); err != nil {
		t.Fatal(err)
	}
	for name, shared := range map[string]bool{"aa/x-a": false, "aa/o-d": true, "aa/p-d/prog": true, "trim.txt": false} {
		at, err := os.Readlink(filepath.Join(g.BuildCache(results.Head), name))
		if !folder.Exists(filepath.Join(g.BuildCache(results.Head), name)) || shared != (err == nil) || shared && at != filepath.Join(g.ProjectCache(), name) {
			t.Errorf("%s is a link to %q (%v), want one: %v", name, at, err, shared)
		}
	}
	since := g.Now()
	wait := g.SplitAhead()
	lay(t, g.BuildCache(results.Base), map[string]string{"aa/x-a": "of a command"})
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	lay(t, g.ProjectCache(), map[string]string{"aa/x-a": "std", "dd/new-a": "new", "dd/new-d": "output"})
	if err := g.SplitRest(since); err != nil {
		t.Fatal(err)
	}
	for _, side := range []results.Side{results.Base, results.Head} {
		for name, want := range map[string]string{"aa/x-a": "std", "aa/o-d": "output", "dd/new-a": "new", "dd/new-d": "output"} {
			if data, err := os.ReadFile(filepath.Join(g.BuildCache(side), name)); err != nil || string(data) != want {
				t.Errorf("%s of %s, with what came later: %q, %v", name, side, data, err)
			}
		}
	}
	if folder.Exists(filepath.Join(g.BuildCache(results.Head), "aa/old-d")) {
		t.Error("what may be removed at any moment is shared")
	}
	lay(t, g.BuildCache(results.Head), map[string]string{"aa/x-a": "evil", "bb/y-a": "evil"})
	if err := fill(true, map[string]string{"ee/r-a": "race", "ee/r-d": "output", "aa/x-a": "other"}, nil); err != nil {
		t.Fatal(err)
	}
	second := store("two")
	if err := second.SeedCache(false); err != nil {
		t.Fatal(err)
	}
	lay(t, second.ProjectCache(), map[string]string{"ee/r-a": "its own"})
	if err := second.SeedCache(true); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"aa/s-a": "std", "aa/s-d": "of std", "ee/r-a": "its own", "ee/r-d": "output", "aa/x-a": "other"} {
		if data, err := os.ReadFile(filepath.Join(second.ProjectCache(), name)); err != nil || string(data) != want {
			t.Errorf("%s of the second project: %q, %v", name, data, err)
		}
	}
	for _, name := range []string{"aa/o-d", "aa/p-d", "dd"} {
		if folder.Exists(filepath.Join(second.ProjectCache(), name)) || folder.Exists(filepath.Join(g.Seed(false), name)) || folder.Exists(filepath.Join(g.Seed(true), name)) {
			t.Errorf("%s of the first project is the second's, too", name)
		}
	}
	for _, cache := range []string{g.ProjectCache(), g.BuildCache(results.Base)} {
		data, err := os.ReadFile(filepath.Join(cache, "aa/x-a"))
		if err != nil || string(data) != "std" || folder.Exists(filepath.Join(cache, "bb")) {
			t.Errorf("%s: %q %v", cache, data, err)
		}
	}
	if second.ModCache() == g.ModCache() {
		t.Error("two projects share a module cache")
	}
	for _, where := range []string{dir, g.Shared, filepath.Dir(g.Seed(false)), g.Project, g.Scratch, filepath.Join(g.Scratch, "head")} {
		if left, err := filepath.Glob(filepath.Join(where, "*.part-*")); err != nil || len(left) > 0 {
			t.Errorf("left over: %v %v", left, err)
		}
	}
}

func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
