package docstest

import (
	"os/exec"
	"strings"
	"testing"
)

// LintWorkflow holds a workflow against actionlint, where that is installed.
func LintWorkflow(tb testing.TB, workflow string) {
	tb.Helper()
	program, err := exec.LookPath("actionlint")
	if err != nil {
		return
	}
	cmd := exec.CommandContext(tb.Context(), program, "-no-color", "-")
	cmd.Stdin = strings.NewReader(workflow)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Errorf("actionlint: %v\n%s\n%s", err, out, workflow)
	}
}
