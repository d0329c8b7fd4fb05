package runs

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/suites"
)

// TestForgive holds that what fails inside of a passing package counts, except what
// the base shows as well, and that a program that fails is not explained by that.
func TestForgive(t *testing.T) {
	t.Parallel()
	p := NewPhantoms()
	inner := results.ID{Unit: ".", Package: "m", Test: "TestInner"}
	other := results.ID{Unit: ".", Package: "m", Test: "TestOther"}
	p.Note(inner, results.Test{Status: results.Failed, Masked: true})
	p.Note(other, results.Test{Status: results.Failed})
	for _, tt := range []struct{ what, want string }{
		{"forgiven beside a pass", "m TestInner pass~; m pass"},
		{"another one counts", "m TestInner pass~; m TestOther fail~; m pass"},
		{"the program fails by itself", "m TestInner pass; m fail"},
		{"the program fails for another test", "m TestInner pass; m TestOther fail; m pass"},
	} {
		s := results.Suite{inner: {Status: results.Failed, Masked: tt.what[0] != 't'}, {Unit: ".", Package: "m"}: {Status: results.Passed, Ended: results.Passed}}
		if tt.what[0] == 't' {
			s[results.ID{Unit: ".", Package: "m"}] = results.Test{Status: results.Passed, Ended: results.Failed}
		}
		switch tt.what {
		case "another one counts":
			s[other] = results.Test{Status: results.Failed, Masked: true}
		case "the program fails for another test":
			s[other] = results.Test{Status: results.Failed}
		}
		for id, test := range s {
			test.Leaf = true
			s[id] = test
		}
		if p.ForgiveIn(s); suites.Statuses(s) != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, suites.Statuses(s), tt.want)
		}
	}
}
