package redact

import "testing"

// Expressions are made when they are needed: each can be.
func TestLooks(t *testing.T) {
	t.Parallel()
	for _, s := range shapes() {
		if s.expr.MatchString("") || len(s.literal) < 2 {
			t.Errorf("%q is in every text", s.literal)
		}
	}
}
