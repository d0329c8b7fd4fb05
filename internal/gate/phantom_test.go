package gate

import (
	"testing"
)

// TestForgive holds that what fails inside of a passing package counts, except what
// the base shows as well, and that a program that fails is not explained by that.
func TestForgive(t *testing.T) {
	t.Parallel()
	r := &runner{phantoms: newPhantoms()}
	inner := ID{Unit: ".", Package: "m", Test: "TestInner"}
	other := ID{Unit: ".", Package: "m", Test: "TestOther"}
	r.phantoms.note(inner, Test{Status: Failed, Masked: true})
	r.phantoms.note(other, Test{Status: Failed})
	for _, tt := range []struct{ what, want string }{
		{"forgiven beside a pass", "m TestInner pass~; m pass"},
		{"another one counts", "m TestInner pass~; m TestOther fail~; m pass"},
		{"the program fails by itself", "m TestInner pass; m fail"},
		{"the program fails for another test", "m TestInner pass; m TestOther fail; m pass"},
	} {
		s := Suite{inner: {Status: Failed, Masked: tt.what[0] != 't'}, {Unit: ".", Package: "m"}: {Status: Passed, Ended: Passed}}
		if tt.what[0] == 't' {
			s[ID{Unit: ".", Package: "m"}] = Test{Status: Passed, Ended: Failed}
		}
		switch tt.what {
		case "another one counts":
			s[other] = Test{Status: Failed, Masked: true}
		case "the program fails for another test":
			s[other] = Test{Status: Failed}
		}
		for id, test := range s {
			test.Leaf = true
			s[id] = test
		}
		if r.forgive(s); statuses(s) != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, statuses(s), tt.want)
		}
	}
}
