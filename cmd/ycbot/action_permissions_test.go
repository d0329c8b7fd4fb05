package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/report"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// In an Action the rules are those of the base and of the operator, whose file lies
// outside of the workspace. What the change says of itself has no effect, and no
// run begins with a file that is not there or cannot be read.
func TestActionPermissions(t *testing.T) {
	t.Parallel()
	workspace, outside := t.TempDir(), t.TempDir()
	const closed, open = `{"permissions": {"deny": ["Read(test.sh)"]}}`, `{"permissions": {"allow": ["Read(**)"]}}`
	own, broken := filepath.Join(outside, "rules.json"), filepath.Join(outside, "broken.json")
	write(t, own, closed)
	write(t, broken, "{\"permissions\":\n {\"denied\": []}}")
	write(t, filepath.Join(workspace, "ops", "rules.json"), open)
	for _, c := range []struct {
		name, base, env string
		code            int
		log, source     string // "": it is not refused
	}{
		{"no rules", "", "", 0, "", ""},
		{"the base's", closed, "", 0, "", ".ycbot/permissions.json:1"},
		{"the operator's", "", own, 0, "", own + ":1"},
		{"both", open, own, 0, "", own + ":1"},
		{"in the workspace", "", filepath.Join(workspace, "ops", "rules.json"), 3, "lies in the workspace", ""},
		{"with a detour", "", outside + "/../" + filepath.Base(outside) + "/../" + filepath.Base(workspace) + "/ops/rules.json", 3, "", ""},
		{"relative", "", "ops/rules.json", 3, "want an absolute path", ""},
		{"not there", "", filepath.Join(outside, "none.json"), 3, "no such file", ""},
		{"malformed", "", broken, 3, broken + ":2", ""},
		{"the base's, malformed", "{", "", 3, ".ycbot/permissions.json:1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, map[string]string{"sum.sh": good["sum.sh"], ".ycbot/permissions.json": open})
			if c.base != "" {
				h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "rules", Files: map[string]string{".ycbot/permissions.json": c.base}})
			}
			scenario := filepath.Join(t.TempDir(), "scenario")
			write(t, scenario, strings.Replace(honestModel, "-- model --\n", "-- model --\n> read_file {\"path\": \"test.sh\"}\n", 1))
			cmd := h.command(t, "pull_request", h.opened(), map[string]string{"sandbox": "none", "provider": "script", "base_url": scenario}, "action")
			cmd.Env = append(cmd.Env, "GITHUB_WORKSPACE="+workspace)
			if c.env != "" {
				cmd.Env = append(cmd.Env, "YCBOT_PERMISSIONS="+c.env)
			}
			s := ended(t, cmd)
			if s.code != c.code || !strings.Contains(s.log, c.log) {
				t.Fatalf("exit %d, want %d and %q\n%s", s.code, c.code, c.log, s.log)
			}
			if c.code != 0 {
				return
			}
			if v := s.outputs["verdict"]; v != "PASS" {
				t.Errorf("verdict %s\n%s", v, s.log)
			}
			if !strings.Contains(s.log, "alters .ycbot/permissions.json, which has no effect") {
				t.Errorf("nothing is said of the change's rules:\n%s", s.log)
			}
			data, err := os.ReadFile(s.outputs["report-json"])
			if err != nil {
				t.Fatal(err)
			}
			var rep report.Report
			if err := json.Unmarshal(data, &rep); err != nil {
				t.Fatal(err)
			}
			denied := ""
			for _, d := range rep.Denied {
				if d.Code == "policy_deny" {
					denied += d.Rule + " " + d.Source
				}
			}
			if want := strings.TrimSpace(map[bool]string{true: "Read(test.sh) "}[c.source != ""] + c.source); denied != want {
				t.Errorf("refused %q, want %q", denied, want)
			}
		})
	}
}
