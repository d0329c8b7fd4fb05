package orchestrator

import (
	"testing"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/config"
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
