package compare

import (
	"fmt"
	"strconv"
)

// A Count is how often a test failed in a number of runs on one side. Runs in which
// it neither passed nor failed are not among them.
type Count struct {
	Failed int `json:"failed"`
	Runs   int `json:"runs"`
}

func (c Count) String() string { return fmt.Sprintf("%d/%d", c.Failed, c.Runs) }

// Passed is how often it passed.
func (c Count) Passed() int { return c.Runs - c.Failed }

// Of words a count, such as "failed 5 of 5 on head".
func (c Count) Of(side string) string {
	return fmt.Sprintf("failed %d of %d on %s", c.Failed, c.Runs, side)
}

// Significant is the greatest p at which two sides differ, and Weak that at which
// they may be said to where there is no time for more runs.
const (
	Significant = 0.005 // 5 of 5 against 0 of 5 is 1/252
	Weak        = 0.05  // 3 of 3 against 0 of 3 is 1/20
)

// P is Fisher's exact test, one-sided: how likely it is, for a test that fails as
// often on one side as on the other, that of the failures in all runs at least so
// many fall to a. It is 1 where either side has no runs.
func P(a, b Count) float64 {
	if a.Runs == 0 || b.Runs == 0 {
		return 1
	}
	failed, sum := a.Failed+b.Failed, 0.0
	for k := a.Failed; k <= min(a.Runs, failed); k++ {
		sum += choose(a.Runs, k) * choose(b.Runs, failed-k)
	}
	return min(1, sum/choose(a.Runs+b.Runs, failed))
}

// choose is the number of ways to take k of n.
func choose(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	out := 1.0
	for i := range k {
		out = out * float64(n-i) / float64(i+1)
	}
	return out
}

// A Rule is how many runs of each side decide between two sides that disagree: all
// of the worse side have to fail, and none of the other one.
type Rule struct{ Runs int }

// The rules.
var (
	Usual = Rule{5}
	// Whole is for tests that failed in the whole suite and passed in a part of it:
	// they had one chance more to disagree by accident.
	Whole = Rule{7}
	// Contested is for tests that the better side fails, too, but not each time: it may
	// have failed once.
	Contested = Rule{12}
	// Slow is for tests of which one round takes over a tenth of the time limit.
	Slow = Rule{3}
)

// A Standing is what two sides that disagree come to.
type Standing int

// The standings.
const (
	Open     Standing = iota // more runs are needed
	Settled                  // the worse side fails each time, the other one never
	Conflict                 // one side gave both results, or both the same
)

// String names a standing for people.
func (s Standing) String() string {
	switch s {
	case Open:
		return "open"
	case Settled:
		return "settled"
	case Conflict:
		return "conflict"
	}
	return "Standing(" + strconv.Itoa(int(s)) + ")"
}

// Stand is what the runs so far say of a test that is thought to fail on the worse
// side alone. alone says that the better side does not have the test, so that it
// has no runs there.
func (r Rule) Stand(worse, better Count, alone bool) Standing {
	switch {
	case worse.Passed() > 0 || better.Failed > 0:
		return Conflict
	case worse.Runs >= r.Runs && (alone || better.Runs >= r.Runs):
		return Settled
	}
	return Open
}

// Despite says what the runs come to of a test that the better side failed as well: more
// are needed where the worse side fails each time and the better one passes, too. What is
// open when there is no time for more is not settled.
func Despite(worse, better Count) Standing {
	enough := worse.Runs >= Contested.Runs && better.Runs >= Contested.Runs
	switch {
	case worse.Failed == 0 || worse.Passed() > 0 || better.Passed() == 0 || better.Failed == 0, enough && P(worse, better) > Weak:
		return Conflict
	case enough && better.Failed == 1:
		return Settled
	}
	return Open
}

// Flaking says what further runs say of a test that both failed and passed on the
// head: it is new flakiness where it failed at least twice there and never on the
// base.
func Flaking(head, base Count) bool { return head.Failed >= 2 && base.Failed == 0 && base.Runs > 0 }
