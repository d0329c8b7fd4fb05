package gate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A repository of thousands of files is copied, tested, put back and run again as
// a small one is.
func TestHugeRepository(t *testing.T) {
	t.Parallel()
	s := readScenario(t, "testdata/scenarios/trap_lockfile.txtar")
	for i := range 5000 {
		s.base[fmt.Sprintf("d%d/e%d/f%d.txt", i%7, i%191, i)] = []byte(fmt.Sprintln(i))
	}
	s.input["test"] = []string{s.input["test"][0] + " && rm -rf d3 && echo spoilt > d1/e1/f1.txt"}
	if res := newWorld(t).run(t, s); res.Verdict != Pass {
		t.Errorf("verdict %s: %v", res.Verdict, res.Reasons)
	}
}

// A submodule stays an empty folder: that is said, and decides nothing.
func TestSubmoduleIsSaid(t *testing.T) {
	t.Parallel()
	s := readScenario(t, "testdata/scenarios/trap_lockfile.txtar")
	s.submodule = "third_party/lib"
	s.base[".gitmodules"] = []byte("[submodule \"lib\"]\n\tpath = third_party/lib\n\turl = https://example.org/lib.git\n")
	res := newWorld(t).run(t, s)
	if said := strings.Join(res.NotCovered, "\n"); res.Verdict != Pass || !strings.Contains(said, "submodules are empty folders: \"third_party/lib\"") {
		t.Errorf("verdict %s, not covered:\n%s", res.Verdict, said)
	}
}

// addSubmodule puts a commit that nobody has in the index.
func addSubmodule(t *testing.T, dir, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, path), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "git", "update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,"+path)
	cmd.Dir, cmd.Env = dir, userGit()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git update-index: %v\n%s", err, out)
	}
}
