package runs

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/suites"
)

// TestForgive holds that what fails inside of a passing package counts, except what
// the base shows as well, and that a program that fails is not explained by that.
func TestForgive(t *testing.T) {
	t.Parallel()
	p := NewPhantoms()
	inner := ecosystem.ID{Unit: ".", Package: "m", Test: "TestInner"}
	other := ecosystem.ID{Unit: ".", Package: "m", Test: "TestOther"}
	p.Note(inner, ecosystem.Test{Status: ecosystem.Failed, Masked: true})
	p.Note(other, ecosystem.Test{Status: ecosystem.Failed})
	for _, tt := range []struct{ what, want string }{
		{"forgiven beside a pass", "m TestInner pass~; m pass"},
		{"another one counts", "m TestInner pass~; m TestOther fail~; m pass"},
		{"the program fails by itself", "m TestInner pass; m fail"},
		{"the program fails for another test", "m TestInner pass; m TestOther fail; m pass"},
	} {
		s := ecosystem.Suite{inner: {Status: ecosystem.Failed, Masked: tt.what[0] != 't'}, {Unit: ".", Package: "m"}: {Status: ecosystem.Passed, Ended: ecosystem.Passed}}
		if tt.what[0] == 't' {
			s[ecosystem.ID{Unit: ".", Package: "m"}] = ecosystem.Test{Status: ecosystem.Passed, Ended: ecosystem.Failed}
		}
		switch tt.what {
		case "another one counts":
			s[other] = ecosystem.Test{Status: ecosystem.Failed, Masked: true}
		case "the program fails for another test":
			s[other] = ecosystem.Test{Status: ecosystem.Failed}
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
