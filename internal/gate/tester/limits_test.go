package tester

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestHanging holds that the head's tests get a time limit of the go command,
// in a place where it is a flag, unless the command has one.
func TestHanging(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"go test -run X -v ./...":        "go test -json -timeout=1m20s -run X -v ./...",
		"go test -timeout 5m ./...":      "go test -json -timeout 5m ./...",
		"go test --timeout=5m ./...":     "go test -json --timeout=5m ./...",
		"go test -test.timeout=5m ./...": "go test -json -test.timeout=5m ./...",
		"go test ./timeout/...":          "go test -json -timeout=1m20s ./timeout/...",
	} {
		tests, _ := tester()
		tests.Longest = 2e9
		c := tests.Hanging(languages.ShellCommand(results.StageTest, text))
		if got := strings.Join(c.Argv, " "); got != want || c.Text != want {
			t.Errorf("%q: %q, printed as %q; want %q", text, got, c.Text, want)
		}
	}
	tests, _ := tester()
	if c := tests.Hanging(languages.ShellCommand(results.StageTest, "go test")); len(c.Argv) != 3 {
		t.Errorf("with nothing to compare: %q", c.Argv)
	}
}
