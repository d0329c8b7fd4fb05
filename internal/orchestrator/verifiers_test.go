package orchestrator

import (
	"os"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
)

// auto adds verifications for large changes where the limits are four times those of
// one; a number counts whatever the change.
func TestVerifiers(t *testing.T) {
	t.Parallel()
	one := config.DefaultLimits()
	large := agent.Budget{CostUSD: 4 * one.CostUSD, Tokens: 4 * max(one.Tokens, oneTokens)}
	for name, tc := range map[string]struct {
		verifiers config.Verifiers
		lines     int
		usd       float64
		tokens    int
		want      int
	}{
		"nothing said":      {0, 5000, large.CostUSD, large.Tokens, 1},
		"a number":          {3, 1, one.CostUSD, one.Tokens, 3},
		"auto, large":       {config.VerifiersAuto, 801, large.CostUSD, large.Tokens, 4},
		"auto, no limits":   {config.VerifiersAuto, 801, 0, 0, 4},
		"auto, small":       {config.VerifiersAuto, 800, large.CostUSD, large.Tokens, 1},
		"auto, little cost": {config.VerifiersAuto, 801, large.CostUSD - 1, large.Tokens, 1},
		"auto, few tokens":  {config.VerifiersAuto, 801, large.CostUSD, 100_000, 1},
	} {
		a := &Agents{
			config: &config.Config{Agents: config.Agents{Verifiers: tc.verifiers}}, budget: &agent.Budget{CostUSD: tc.usd, Tokens: tc.tokens},
			source: rundir.Source{Change: change.Change{Files: []change.File{{Added: tc.lines - 1, Deleted: 1}}}},
		}
		if got := a.verifiers(); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// A change is large from six files or 250 lines on.
func TestLarge(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		files, lines int
		want         bool
	}{{5, 249, false}, {6, 6, true}, {1, 250, true}, {5, 250, true}} {
		files := make([]change.File, tc.files)
		files[0] = change.File{Added: tc.lines - 1, Deleted: 1}
		a := &Agents{source: rundir.Source{Change: change.Change{Files: files}}}
		if a.large() != tc.want {
			t.Errorf("%d files, %d lines: %v", tc.files, tc.lines, !tc.want)
		}
	}
}

// The bounds that docs/agents.md and docs/evidence.md name are those of the program.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	for page, bounds := range map[string]map[string]bool{
		"agents": {
			"It may start eight subagents in all, three at a time": addedMost == 8 && sideBySide == 3,
			"each failing check that stands (five at most)":        refutedMost == 5,
			"10 commands of a subagent are run again":              helperMost == 10,
			"more than 800 lines changed":                          manyLines == 800,
		},
		"evidence": {"Up to three passing checks are run again": sampleMost == 3, "Failing checks may take three fourths": reproduce.ShareOfFailing == 0.75 && reproduce.ShareOfHeld == 0.25},
	} {
		text, err := os.ReadFile("../../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for words, right := range bounds {
			if !right || !strings.Contains(string(text), words) {
				t.Errorf("docs/%s.md: %q: is it right: %v", page, words, right)
			}
		}
	}
}
