package agent

import (
	"fmt"
	"sync"

	"github.com/ycbot/ycbot/internal/model"
)

// A Budget bounds what agents use together. It is checked before every question,
// so that questions under way may pass it by what they cost. It is safe for
// concurrent use.
type Budget struct {
	Tokens  int     // uncached input, and output; 0: no limit
	CostUSD float64 // 0: no limit; usage of unknown price does not count
	// Unpriced bounds the tokens of unknown price, as Tokens does all; 0: no limit.
	Unpriced int
	Parent   *Budget // is charged too, and must have something left too

	mu       sync.Mutex
	used     model.Usage
	cost     float64
	priced   bool
	unpriced int  // tokens of unknown price
	blind    bool // something was charged whose price is not known
}

// Charge adds what one answer used.
func (b *Budget) Charge(u model.Usage, usd float64, known bool) {
	for ; b != nil; b = b.Parent {
		b.mu.Lock()
		b.used = b.used.Add(u)
		b.cost += usd
		b.priced = b.priced || known
		b.blind = b.blind || !known
		if !known {
			b.unpriced += u.Uncached()
		}
		b.mu.Unlock()
	}
}

// Exceeded says which limit is reached, "" for none.
func (b *Budget) Exceeded() string { return b.near(0) }

// near says which limit is reached but for a share of it, "" for none.
func (b *Budget) near(share float64) string {
	for ; b != nil; b = b.Parent {
		b.mu.Lock()
		tokens, unpriced, cost := b.used.Uncached(), b.unpriced, b.cost
		b.mu.Unlock()
		if b.Tokens > 0 && float64(tokens) >= float64(b.Tokens)*(1-share) {
			return fmt.Sprintf("the token budget of %d is %s (%d)", b.Tokens, usedUp(tokens < b.Tokens), tokens)
		}
		if b.Unpriced > 0 && float64(unpriced) >= float64(b.Unpriced)*(1-share) {
			return fmt.Sprintf("the budget of %d tokens of unknown price is %s (%d)", b.Unpriced, usedUp(unpriced < b.Unpriced), unpriced)
		}
		if b.CostUSD > 0 && cost >= b.CostUSD*(1-share) {
			return fmt.Sprintf("the cost budget of $%.2f is %s ($%.2f)", b.CostUSD, usedUp(cost < b.CostUSD), cost)
		}
	}
	return ""
}

// Share returns a budget for a share of what is left of b, which is charged too.
func (b *Budget) Share(part float64) *Budget {
	out := &Budget{Parent: b}
	if b == nil {
		return out
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Tokens > 0 {
		out.Tokens = max(int(float64(b.Tokens-b.used.Uncached())*part), 1)
	}
	if b.Unpriced > 0 {
		out.Unpriced = max(int(float64(b.Unpriced-b.unpriced)*part), 1)
	}
	if b.CostUSD > 0 {
		out.CostUSD = max((b.CostUSD-b.cost)*part, 1e-9)
	}
	return out
}

// Used returns what was charged so far; known is false where a price was not known.
func (b *Budget) Used() (u model.Usage, usd float64, known bool) {
	if b == nil {
		return u, 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.cost, b.priced && !b.blind
}

// usedUp words how much of a limit is gone.
func usedUp(left bool) string {
	if left {
		return "used but for the reserve"
	}
	return "used"
}
