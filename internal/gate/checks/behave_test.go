package checks

import (
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/behave"
)

// TestUncounted: a function that differed at first, and not again, is none of those that do what
// they did; what calls one that differs is said with that, or with another that calls it.
func TestUncounted(t *testing.T) {
	t.Parallel()
	function := func(name, through string, differing int) behave.Compared {
		return behave.Compared{Function: behave.Function{Name: name, Through: through}, Key: name, Inputs: 10, Differing: differing}
	}
	b := &behaviour{out: &Behaviour{Functions: 4, Callers: 4, Inputs: 80}}
	one := []behave.Candidate{{}}
	b.uncount(
		[]behave.Compared{function("Same", "", 0), function("Differs", "", 1), function("Clock", "", 2), function("Late", "", 3), function("Calls", "Differs", 1), function("Waits", "Clock", 1), function("First", "Gone", 1), function("Second", "Gone", 1)},
		map[string][]behave.Candidate{"Differs": one, "Clock": one, "Late": one, "First": one},
		map[string]string{"Differs": "", "Clock": behave.NotSteady, "First": ""},
	)
	left := map[string][]string{}
	for _, l := range b.out.LeftOut {
		left[l.Why] = l.Functions
	}
	if b.out.Functions != 2 || b.out.Callers != 1 || b.out.Inputs != 30 || len(left) != 2 || !slices.Equal(left[behave.NotSteady], []string{"Clock"}) || !slices.Equal(left[behave.NotAgain], []string{"Late", "Waits"}) {
		t.Errorf("%+v", b.out)
	}
}
