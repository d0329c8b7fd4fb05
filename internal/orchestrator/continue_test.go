package orchestrator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/rundir"
)

// What an agent had added to its tree is in the tree that it has after a crash,
// and after one more; what the head has stays the head's, and a link leads nowhere.
func TestAddedFilesAreRestored(t *testing.T) {
	t.Parallel()
	trees := t.TempDir()
	outside := t.TempDir()
	path := func(parts ...string) string { return filepath.Join(append([]string{trees}, parts...)...) }
	put := func(text string, parts ...string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path(parts...)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(parts...), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(want string, parts ...string) {
		t.Helper()
		if got, _ := os.ReadFile(path(parts...)); string(got) != want {
			t.Errorf("%s holds %q, want %q", filepath.Join(parts...), got, want)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	aside := func() { t.Helper(); must(SetAside(t.Context(), rundir.Layout{Trees: trees})) }

	aside() // nothing to do yet
	put("old head", rundir.AgentTrees, "a1", "code.go")
	put("probe", rundir.AgentTrees, "a1", "probe_test.go")
	put("deep", rundir.AgentTrees, "a1", "new", "deep", "x")
	put("through", rundir.AgentTrees, "a1", "linked", "x")
	put("pointer", rundir.AgentTrees, "a1", ".git")
	must(os.Symlink(outside, path(rundir.AgentTrees, "a1", "out")))
	aside()
	put("head", rundir.AgentTrees, "a1", "code.go") // a copy that was cut short by another kill
	aside()
	put("head", rundir.AgentTrees, "a1", "code.go")
	must(os.Symlink(outside, path(rundir.AgentTrees, "a1", "linked"))) // the head has a link where the agent had a folder
	must(restoreAdded(t.Context(), trees, "a1"))
	has("head", rundir.AgentTrees, "a1", "code.go")
	has("probe", rundir.AgentTrees, "a1", "probe_test.go")
	has("deep", rundir.AgentTrees, "a1", "new", "deep", "x")
	has("", rundir.AgentTrees, "a1", ".git")
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("outside: %v", left)
	}
	if left, _ := os.ReadDir(path(rundir.EarlierTrees)); len(left) != 0 {
		t.Errorf("set aside still: %v", left)
	}
	must(restoreAdded(t.Context(), trees, "a1")) // once more does nothing
	has("probe", rundir.AgentTrees, "a1", "probe_test.go")
}

// A line of model.jsonl that a crash cut off is not in the way of the next one.
func TestModelLogAfterCrash(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "model.jsonl")
	if err := os.WriteFile(name, []byte("{\"n\":1}\n{\"n\":2,\"reque"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := openModelLog(name, func(b []byte) []byte { return b })
	if err != nil {
		t.Fatal(err)
	}
	if err := l.record(t.Context(), model.Exchange{N: 2, Request: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 2 || lines[0] != `{"n":1}` || !strings.HasPrefix(lines[1], `{"time":`) {
		t.Errorf("%q", lines)
	}
}
