package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// advised is a scenario in which an agent "risks" is asked before the
// verification; text is what its prompt must hold.
func advised(text string) string {
	return "-- risks --\n<* " + text + "\nOne risk.\n" + strings.Replace(honestModel, "-- model --\n", "-- model --\n<* One risk.\n", 1)
}

const risksAgent = "---\nname: risks\ndescription: Counts risks\ntools: [read_file]\n---\n"

// In an Action agents are read at the base alone, those of the input agents-dir
// too: what lies in the workspace may be the pull request's. A folder outside of
// it is the operator's.
func TestActionAgents(t *testing.T) {
	variants.Only(t) // a run with agents for each case; the scripts agents_fail and agents_honest have them
	t.Parallel()
	outside := t.TempDir()
	write(t, filepath.Join(outside, "risks.md"), risksAgent+"From outside.\n")
	workspace := t.TempDir()
	write(t, filepath.Join(workspace, "ops", "agents", "risks.md"), risksAgent+"EVIL, from the workspace.\n")
	for _, c := range []struct {
		name, dir, prompt string
		code              int
		log               string
	}{
		{"the base's own", "", "From the base.", 0, ""},
		{"a folder of the base", "ops/agents", "From the folder.", 0, ""},
		{"the same in the workspace", filepath.Join(workspace, "ops", "agents"), "From the folder.", 0, ""},
		{"outside", outside, "From outside.", 0, ""},
		{"only in the head", "head/agents", "", 3, "the base has no such folder"},
		{"above", "../agents", "", 3, "want a folder of the repository"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, map[string]string{
				"sum.sh": good["sum.sh"], ".ycbot/agents/risks.md": risksAgent + "EVIL.\n",
				"ops/agents/risks.md": risksAgent + "EVIL.\n", "head/agents/risks.md": risksAgent + "EVIL.\n",
			})
			h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "agents", Files: map[string]string{
				".ycbot/agents/risks.md": risksAgent + "From the base.\n", "ops/agents/risks.md": risksAgent + "From the folder.\n",
			}})
			scenario := filepath.Join(t.TempDir(), "scenario")
			write(t, scenario, advised(c.prompt))
			cmd := h.command(t, "pull_request", h.opened(), map[string]string{
				"sandbox": "none", "provider": "script", "base_url": scenario, "agents": "risks", "agents_dir": c.dir,
			}, "action")
			cmd.Env = append(cmd.Env, "GITHUB_WORKSPACE="+workspace)
			s := ended(t, cmd)
			if s.code != c.code || !strings.Contains(s.log, c.log) {
				t.Fatalf("exit %d, want %d and %q\n%s", s.code, c.code, c.log, s.log)
			}
			if c.code != 0 {
				return
			}
			if v := s.outputs["verdict"]; v != "PASS" { // an agent whose question lacked what it wants makes it PARTIAL
				t.Errorf("verdict %s\n%s", v, s.log)
			}
			found, err := filepath.Glob(filepath.Join(s.outputs["report-dir"], "subagents", "risks-*.md"))
			if err != nil || len(found) != 1 {
				t.Fatalf("transcripts %q, %v\n%s", found, err, s.log)
			}
			journal, err := os.ReadFile(filepath.Join(s.outputs["report-dir"], "journal.jsonl"))
			if err != nil || strings.Contains(string(journal), "EVIL, ") || !strings.Contains(string(journal), c.prompt) {
				t.Errorf("journal, %v:\n%s", err, journal)
			}
			if !strings.Contains(s.log, "alters agents in .ycbot/agents") {
				t.Errorf("nothing is said of the change's agents:\n%s", s.log)
			}
		})
	}
}

// Agents of a pull request's run read what GitHub was asked of it before: its text,
// what people said, what other checks found. Nothing asks GitHub while they work.
func TestActionPullTools(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	h.says("bob", "Please look at negative numbers.")
	says := `
-- model --
> pr_read {}
> run_bash {"command": "sh sum.sh -2 -3"}
---
<* Please look at negative numbers.
<* Work on sums
### Check: adds below zero [adversarial]
**Command run:** ` + "`sh sum.sh -2 -3`" + `
**Output observed:**
` + "```\n{{output 1}}\n```" + `
**Result: PASS**

VERDICT: PASS
`
	scenario := filepath.Join(t.TempDir(), "scenario")
	write(t, scenario, says)
	_, event := h.says("alice", "/verify")
	s := h.step(t, "issue_comment", event, map[string]string{"provider": "script", "base_url": scenario})
	if s.code != 0 || s.outputs["verdict"] != "PASS" {
		t.Fatalf("exit %d, %q\n%s", s.code, s.outputs, s.log)
	}
	h.one(t, "success", "PASS")
}
