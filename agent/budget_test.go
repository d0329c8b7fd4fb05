package agent_test

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
)

// A budget counts what a provider had to work for, and bounds by tokens what has no
// price; a share of it is of what is left, and charges all of it.
func TestBudget(t *testing.T) {
	t.Parallel()
	cached := model.Usage{Input: 1000, Cached: 990, Output: 10}
	b := &agent.Budget{Tokens: 100, CostUSD: 1, Unpriced: 50}
	third := b.Share(1.0 / 3)
	third.Charge(cached, 0.1, true)
	if b.Exceeded() != "" || third.Exceeded() != "" {
		t.Errorf("20 tokens of 100: %q %q", b.Exceeded(), third.Exceeded())
	}
	third.Charge(cached, 0.3, true)
	if !strings.Contains(third.Exceeded(), "token budget of 33") || b.Exceeded() != "" {
		t.Errorf("40 tokens: %q %q", third.Exceeded(), b.Exceeded())
	}
	b.Charge(model.Usage{Input: 50}, 0, false)
	if !strings.Contains(b.Exceeded(), "50 tokens of unknown price") {
		t.Errorf("unpriced: %q", b.Exceeded())
	}
	b = &agent.Budget{CostUSD: 1}
	b.Charge(cached, 0.4, true)
	if third = b.Share(1.0 / 3); third.Exceeded() != "" || third.CostUSD < 0.199 || third.CostUSD > 0.201 {
		t.Errorf("a third of 0.6: %v", third.CostUSD)
	}
	if none := (*agent.Budget)(nil).Share(0.5); none.Exceeded() != "" {
		t.Error("a share of no budget has a limit")
	}
}
