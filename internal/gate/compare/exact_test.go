package compare

import (
	"fmt"
	"math"
	"testing"
)

// TestP holds the exact test against numbers that can be counted by hand.
func TestP(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b Count
		want float64
	}{
		{Count{5, 5}, Count{0, 5}, 1.0 / 252},
		{Count{4, 4}, Count{0, 4}, 1.0 / 70},
		{Count{3, 3}, Count{0, 3}, 1.0 / 20},
		{Count{2, 4}, Count{2, 4}, 53.0 / 70},
		{Count{0, 5}, Count{5, 5}, 1},
		{Count{0, 3}, Count{0, 3}, 1},
		{Count{3, 3}, Count{}, 1},
		{Count{5, 20}, Count{0, 20}, 15504.0 / 658008},
	} {
		if got := P(tt.a, tt.b); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("P(%v, %v) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
	if p := P(Count{Usual.Runs, Usual.Runs}, Count{0, Usual.Runs}); p > Significant {
		t.Errorf("the usual rule is settled at p = %v", p)
	}
	if p := P(Count{Slow.Runs, Slow.Runs}, Count{0, Slow.Runs}); p > Weak {
		t.Errorf("the rule of slow suites is settled at p = %v", p)
	}
}

// wrong is the probability that a rule settles a test that fails with probability p
// in each run, whatever the side: every course of the runs is followed to its end.
func wrong(r Rule, p float64, head, base Count) float64 {
	st := r.Stand(head, base, false)
	if st == Conflict && r != Slow { // there is no time for more
		st = Despite(head, base)
		if min(head.Runs, base.Runs) >= Contested.Runs && st == Open {
			st = Conflict
		}
	}
	switch st {
	case Settled:
		return 1
	case Conflict:
		return 0
	}
	sum := 0.0
	for failedHead := range 2 {
		for failedBase := range 2 {
			h, b := Count{head.Failed + failedHead, head.Runs + 1}, Count{base.Failed + failedBase, base.Runs + 1}
			sum += odds(p, failedHead) * odds(p, failedBase) * wrong(r, p, h, b)
		}
	}
	return sum
}

func odds(p float64, failed int) float64 {
	if failed == 1 {
		return p
	}
	return 1 - p
}

// procedure is the probability of a wrong FAIL of the whole procedure: the sides
// disagree at first; in a part of the suite the runs go on, and where the head passes
// in the first of them they go on in the whole suite.
func procedure(p float64) float64 {
	first := p * (1 - p)
	one := Count{1, 1}
	zero := Count{0, 1}
	sum := wrong(Usual, p, one, zero) // in the part: with the first run
	bothPass := (1 - p) * (1 - p)     // in the part's first run
	sum += bothPass * wrong(Whole, p, one, zero)
	return first * sum
}

// TestFalseFail enumerates what a flaky test can do: in at most one run in a
// thousand it is taken for a regression where five runs decide against five.
func TestFalseFail(t *testing.T) {
	t.Parallel()
	worst, worstSlow := 0.0, 0.0
	for p := 0.05; p < 0.951; p += 0.01 {
		worst = max(worst, procedure(p))
		worstSlow = max(worstSlow, p*(1-p)*wrong(Slow, p, Count{1, 1}, Count{0, 1}))
	}
	if worst > 0.001 {
		t.Errorf("a flaky test is taken for a regression with probability %.4f %%", 100*worst)
	}
	// docs/gate.md has these numbers.
	for p, want := range map[float64]string{
		0.05: "0.0000 % 0.01 %", 0.1: "0.0006 % 0.07 %", 0.2: "0.0107 % 0.41 %", 0.3: "0.0417 % 0.93 %", 0.5: "0.0992 % 1.56 %",
	} {
		if got := fmt.Sprintf("%.4f %% %.2f %%", 100*procedure(p), 100*p*(1-p)*wrong(Slow, p, Count{1, 1}, Count{0, 1})); got != want {
			t.Errorf("p = %v: %s, want %s", p, got, want)
		}
	}
	if worstSlow > 1.0/64+1e-12 {
		t.Errorf("in slow suites with probability %.2f %%", 100*worstSlow)
	}
}

// TestStand holds the standings.
func TestStand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule  Rule
		head  Count
		base  Count
		alone bool
		want  Standing
	}{
		{Usual, Count{1, 1}, Count{0, 1}, false, Open},
		{Usual, Count{5, 5}, Count{0, 5}, false, Settled},
		{Usual, Count{5, 5}, Count{0, 4}, false, Open},
		{Usual, Count{2, 3}, Count{0, 3}, false, Conflict},
		{Usual, Count{3, 3}, Count{1, 3}, false, Conflict},
		{Usual, Count{5, 5}, Count{}, true, Settled},
		{Slow, Count{3, 3}, Count{0, 3}, false, Settled},
	} {
		if got := tt.rule.Stand(tt.head, tt.base, tt.alone); got != tt.want {
			t.Errorf("%v %v %v: %v, want %v", tt.rule, tt.head, tt.base, got, tt.want)
		}
	}
	for _, tt := range []struct {
		head, base Count
		want       Standing
	}{
		{Count{3, 3}, Count{1, 3}, Open},
		{Count{3, 4}, Count{1, 4}, Conflict},
		{Count{4, 4}, Count{4, 4}, Conflict},
		{Count{5, 5}, Count{0, 5}, Conflict},
		{Count{12, 12}, Count{1, 12}, Settled},
		{Count{12, 12}, Count{1, 11}, Open},
		{Count{12, 12}, Count{2, 12}, Open},
		{Count{12, 12}, Count{8, 12}, Open},
		{Count{12, 12}, Count{9, 12}, Conflict},
	} {
		if got := Despite(tt.head, tt.base); got != tt.want {
			t.Errorf("Despite(%v, %v) = %v, want %v", tt.head, tt.base, got, tt.want)
		}
	}
	for _, tt := range []struct {
		head, base Count
		want       bool
	}{{Count{2, 20}, Count{0, 20}, true}, {Count{1, 20}, Count{0, 20}, false}, {Count{9, 20}, Count{1, 20}, false}, {Count{2, 20}, Count{}, false}} {
		if got := Flaking(tt.head, tt.base); got != tt.want {
			t.Errorf("Flaking(%v, %v) = %v", tt.head, tt.base, got)
		}
	}
}

// A standing is named where a test prints it.
func TestStandingString(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(Open, Settled, Conflict, Standing(7)); got != "open settled conflict Standing(7)" {
		t.Error(got)
	}
}
