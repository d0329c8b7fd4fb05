package gate

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A repository of thousands of files is copied, tested, put back and run again as
// a small one is.
func TestHugeRepository(t *testing.T) {
	variants.Only(t) // each scenario shows it in a small one
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
		t.Errorf("verdict %s %q, not covered:\n%s", res.Verdict, res.Reasons, said)
	}
}

// addSubmodule puts a commit that no one has in the index.
func addSubmodule(t testing.TB, dir, path string) {
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

// What the project's build cache lends to the change cannot be written by it: neither
// through the links nor where they lead.
func TestLentCacheIsNotWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if w.box.Status().Tier == sandbox.TierNone {
		t.Skip("there is no sandbox here")
	}
	before := outputs(t, w.cache)
	res := w.run(t, &scenario{
		base: map[string][]byte{"go.mod": []byte("module example.com/m\n\ngo 1.21\n"), "m.go": []byte("package m\n\nfunc One() int { return 1 }\n")},
		head: map[string][]byte{"m_test.go": []byte(`package m

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEvil(t *testing.T) {
	shared := 0
	_ = filepath.Walk(os.Getenv("GOCACHE"), func(name string, info os.FileInfo, err error) error {
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			return nil
		}
		shared++
		to, _ := os.Readlink(name)
		for _, at := range []string{name, to} {
			_ = os.Chmod(at, 0o777)
			if f, err := os.OpenFile(at, os.O_WRONLY, 0); err == nil {
				_, _ = f.WriteString("evil")
				_ = f.Close()
				t.Errorf("%s can be written", at)
			}
		}
		if os.Remove(to) == nil {
			t.Errorf("%s can be removed", to)
		}
		return nil
	})
	if shared == 0 || One() != 1 {
		t.Error("nothing is shared")
	}
}
`)},
	})
	if res.Verdict != Pass {
		t.Errorf("%s %q", res.Verdict, res.Reasons)
		logOutputs(t, res)
	}
	after := outputs(t, w.cache)
	for name, sum := range before {
		if after[name] != sum {
			t.Errorf("%s has changed", name)
		}
	}
}

// outputs are the sums of what a project's build cache holds.
func outputs(t *testing.T, cache string) map[string][sha256.Size]byte {
	t.Helper()
	out := map[string][sha256.Size]byte{}
	names, err := filepath.Glob(filepath.Join(cache, "go-build", "*", "*-d"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil {
			out[name] = sha256.Sum256(data)
		}
	}
	return out
}
