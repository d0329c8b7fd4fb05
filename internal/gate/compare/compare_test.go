package compare_test

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/compare"
)

// What became of a test follows from the arms as docs/gate.md says, each class by the least that
// makes it.
func TestClassOf(t *testing.T) {
	t.Parallel()
	const pass, fail, skip, absent = compare.Passed, compare.Failed, compare.Skipped, compare.Absent
	made := func(c ...compare.FileClass) []compare.FileClass { return c }
	for _, tt := range []struct {
		what string
		o    compare.Observation
		want compare.Class
	}{
		{"it passes", compare.Observation{Kept: pass, Head: fail}, compare.Holds},
		{"both versions fail", compare.Observation{Kept: fail, Head: fail}, compare.Regressed},
		{"nothing of its tests explains the pass", compare.Observation{Kept: fail, Head: pass}, compare.Regressed},
		{"it stands and does not run", compare.Observation{Kept: fail, Head: absent, Stands: true}, compare.Silenced},
		{"it is gone", compare.Observation{Kept: fail, Head: absent}, compare.Dropped},
		{"its edit skips it", compare.Observation{Kept: fail, Head: skip, EditSkips: true}, compare.Weakened},
		{"the sources skip it", compare.Observation{Kept: skip, Head: skip}, compare.Silent},
		{"it asks for less", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Test), OverBase: pass}, compare.Weakened},
		{"it is expected to fail", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Test), OverBase: fail, Lenient: true}, compare.Weakened},
		{"it asks for something else, and loses a check", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Test), OverBase: fail, Lost: true}, compare.Weakened},
		{"it follows a removed name, and loses a check", compare.Observation{NotApplied: true, NamesRemoved: true, Head: pass, Lost: true}, compare.Weakened},
		{"it asks for something else", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Test), OverBase: fail}, compare.Rewritten},
		{"what it imports of another test makes it pass", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Test), OverBase: fail, Shared: true}, compare.SupportMade},
		{"what it imports of another test asks for less", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Test), OverBase: pass, Shared: true}, compare.SupportMade},
		{"other files of tests keep it from failing", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Test), OverBase: pass, Beside: true}, compare.Silenced},
		{"others do, and what is shared", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Test, compare.Support), Beside: true}, compare.Silenced},
		{"what is shared makes it pass", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Support), Beside: true}, compare.SupportMade},
		{"how it is run makes it pass", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Steering, compare.Test), OverBase: pass, Beside: true}, compare.SteeringMade},
		{"its data make it pass", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Data), OverBase: fail}, compare.DataChanged},
		{"its data ask for less", compare.Observation{Kept: fail, Head: pass, Made: made(compare.Data), OverBase: pass}, compare.Weakened},
		{"it does not compile for what is renamed", compare.Observation{Kept: absent, Head: pass, NotApplied: true, NamesRemoved: true}, compare.NeedsOldAPI},
		{"it does not start", compare.Observation{Kept: absent, Head: pass, NotApplied: true}, compare.CannotApply},
	} {
		if got := compare.ClassOf(tt.o); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
}

// What a class does to the verdict grows with the policy, and a test that is known to be broken
// is never accepted.
func TestEffectOf(t *testing.T) {
	t.Parallel()
	order := []compare.Effect{compare.None, compare.Listed, compare.Partial, compare.Fail}
	at := func(c compare.Class, p compare.Policy, stands bool) int {
		for i, e := range order {
			if e == compare.EffectOf(c, p, stands) {
				return i
			}
		}
		t.Fatalf("%s under %s has another effect", c, p)
		return 0
	}
	for _, c := range compare.Classes() {
		for _, stands := range []bool{false, true} {
			report, ack, strict := at(c, compare.Report, stands), at(c, compare.Acknowledge, stands), at(c, compare.Strict, stands)
			if report == 0 || report > ack || ack > strict && c != compare.Silent {
				t.Errorf("%s: %d under report, %d under acknowledge, %d under strict", c, report, ack, strict)
			}
			if compare.Acceptable(c) == (report == 3) {
				t.Errorf("%s: fails under report and can be accepted, or neither", c)
			}
		}
	}
}
