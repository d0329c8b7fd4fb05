package caches

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestGoEnv holds that only setup can fetch, and that the operator's download
// settings reach no other command.
func TestGoEnv(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	if err := os.MkdirAll(filepath.Join(cache, "cache", "download"), 0o700); err != nil {
		t.Fatal(err)
	}
	g := Store{Shared: "/s", Go: &ecosystem.GoToolchain{ModCache: cache, Proxy: "https://me:secret@p.example.org", SumDB: "sum.example.org", Private: "corp.example.org"}}
	setup := strings.Join(g.GoEnv("/c", ecosystem.Command{Stage: results.StageSetup}), " ")
	if want := "GOPROXY=file://" + cache + "/cache/download,https://p.example.org GOSUMDB=sum.example.org"; !strings.Contains(setup, want) {
		t.Errorf("setup: %s", setup)
	}
	for _, stage := range []results.Stage{results.StageBuild, results.StageTest, results.StageLint, results.StageProbe} {
		env := strings.Join(g.GoEnv("/c", ecosystem.Command{Stage: stage, Env: []string{"GOWORK=off"}}), " ")
		if env != "GOCACHE=/c GOMODCACHE=/s/go-mod GOENV=off GOTOOLCHAIN=local GOTELEMETRY=off GOPROXY=off GOWORK=off" {
			t.Errorf("%s: %s", stage, env)
		}
	}
	if env := (Store{}).GoEnv("/c", ecosystem.Command{}); env != nil {
		t.Errorf("without Go: %v", env)
	}
}

// TestCaches holds that each side has a cache of its own, that the first project's
// cache becomes the seed of the next, that no cache is half there, and that what is
// shared is not what the go command may remove meanwhile.
func TestCaches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := func(project string) Store {
		return Store{Go: &ecosystem.GoToolchain{}, Shared: filepath.Join(dir, "shared"), Project: filepath.Join(dir, project), Scratch: filepath.Join(dir, project+"-run"), Now: time.Now}
	}
	g := store("one")
	if err := g.SeedCache(); err != nil || folder.Exists(g.ProjectCache()) {
		t.Fatalf("without a seed: %v", err)
	}
	if err := g.SplitCache(); err != nil || folder.Exists(g.Seed()) || !folder.Exists(g.BuildCache(results.Head)) {
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
	second := store("two")
	if err := second.SeedCache(); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{g.ProjectCache(), g.BuildCache(results.Base), g.Seed(), second.ProjectCache()} {
		data, err := os.ReadFile(filepath.Join(cache, "aa/x-a"))
		if err != nil || string(data) != "std" || folder.Exists(filepath.Join(cache, "bb")) {
			t.Errorf("%s: %q %v", cache, data, err)
		}
	}
	lay(t, second.ProjectCache(), map[string]string{"cc/z-a": "two"})
	if err := second.SplitCache(); err != nil || folder.Exists(filepath.Join(second.Seed(), "cc")) {
		t.Errorf("the seed changed: %v", err)
	}
	since = g.Now()
	lay(t, second.ProjectCache(), map[string]string{"ee/r-a": "race", "ee/r-d": "output"})
	if err := second.GrowSeed("race", since.Add(-time.Second)); err != nil || !folder.Exists(filepath.Join(g.Seed(), "ee/r-d")) {
		t.Errorf("what the race detector needs of the standard library is compiled by each project: %v", err)
	}
	lay(t, second.ProjectCache(), map[string]string{"ff/s-a": "two"})
	if err := second.GrowSeed("race", since.Add(-time.Second)); err != nil || folder.Exists(filepath.Join(g.Seed(), "ff")) {
		t.Errorf("the seed changed: %v", err)
	}
	for _, where := range []string{dir, g.Shared, g.Project, g.Scratch, filepath.Join(g.Scratch, "head")} {
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
