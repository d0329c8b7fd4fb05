package behave

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const zzTestName = "TestCalls"

// laid runs the test file of a plan beside sources of one side.
func laid(t *testing.T, p Plan, files map[string][]byte, which string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.24\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if !strings.HasSuffix(name, "_test.go") {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "zcalls_test.go"), []byte(p.File(zzTestName)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-v", "-run=^"+zzTestName+"$", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if which != "" {
		cmd.Env = append(cmd.Env, "CALLS="+which)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// compared calls what differs between two versions of a package.
func compared(t *testing.T, base, head map[string][]byte) ([]Compared, []Call, []Call) {
	t.Helper()
	p, ok := Compare(base, head)
	if !ok {
		return nil, nil, nil
	}
	out := p.Compare(All(laid(t, p, base, "")), All(laid(t, p, head, "")))
	var calls [][2]int
	for _, c := range out {
		if len(c.Candidates) > 0 {
			calls = append(calls, [2]int{c.At, c.Candidates[0].Index})
		}
	}
	if len(calls) == 0 {
		return out, nil, nil
	}
	which := Which(2*time.Second, calls)
	return out, Some(laid(t, p, base, which)), Some(laid(t, p, head, which))
}
