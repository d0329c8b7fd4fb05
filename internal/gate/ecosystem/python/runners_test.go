package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestPytestOrder holds that pytest gets a random order from whichever plugin is
// there and nothing where none is, and that the probe keeps to the changed files.
func TestPytestOrder(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is needed")
	}
	for plugin, want := range map[string]string{
		"pytest_randomly": "--randomly-seed=7", "random_order": "--random-order --random-order-seed=7", "": "",
	} {
		dir := t.TempDir()
		python := "#!/bin/sh\n[ \"$1 $2\" = \"-c import " + plugin + "\" ]\n"
		if err := os.WriteFile(filepath.Join(dir, "python3"), []byte(python), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-o", "pipefail", "-c", "echo "+pytestOrder("./python3", 7))
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("with %q: %q, %v, want %q", plugin, out, err, want)
		}
	}
	c := pytestCommand(ecosystem.Command{Stage: results.StageTest, Unit: "api"}, "", "", nil, []string{"tests"})
	probed, _ := c.Results.Probe(c, ecosystem.Probing{Seed: 7, Packages: []string{"api/tests/test_a.py"}})
	if !strings.HasSuffix(probed.Text, " ./tests/test_a.py") {
		t.Errorf("the probe of one file is %q", probed.Text)
	}
}
