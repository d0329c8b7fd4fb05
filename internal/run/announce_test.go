package run

import (
	"strings"
	"testing"
)

// TestAnnounced: what decides how changes are looked at is said in the report.
func TestAnnounced(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		".github/ycbot.yml":             "has no effect on its own verification",
		".ycbot/permissions.json":       "has no effect on its own verification",
		".ycbot/agents/verification.md": "agents in .ycbot/agents",
		".github/workflows/ci.yml":      "may be the change's own",
		".github/actions/x/action.yml":  "may be the change's own",
		"action.yml":                    "may be the change's own",
		"AGENTS.md":                     "before they are merged",
		"sub/CLAUDE.md":                 "before they are merged",
		".cursor/rules/a.mdc":           "before they are merged",
		".github/CODEOWNERS":            "who has to approve",
		"docs/workflows.md":             "",
		"main.go":                       "",
	} {
		got := strings.Join(announced([]string{"a.txt", path}, false), "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := announced([]string{".github/ycbot.yml"}, true); len(got) != 0 {
		t.Errorf("with a configuration from elsewhere: %q", got)
	}
}
