package agent

import "testing"

// A reply that was cut goes on with what comes next, unless that starts over with the whole line
// that the reply began with, where this says enough to be no other one.
func TestJoin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ said, next, want string }{
		{"### Check: a\n**Res", "ult: PASS**\n", "### Check: a\n**Result: PASS**\n"},
		{"### Check: a\n**Res", "### Check: a\n**Result: PASS**\n", "### Check: a\n**Result: PASS**\n"},
		{"\n### Check: a \n**Res", "### Check: a\n**Result: PASS**\n", "### Check: a\n**Result: PASS**\n"},
		{"### Check: a\nx\n", "### Check: b\ny\n", "### Check: a\nx\n### Check: b\ny\n"},
		{"### Check: a", "### Check: a\n", "### Check: a### Check: a\n"}, // where it was cut is not known
		{"- one\n- two\n", "- one\n- three\n", "- one\n- two\n- one\n- three\n"},
	} {
		var r turn
		r.join(tt.said)
		r.join(tt.next)
		if r.last != tt.want {
			t.Errorf("%q and %q: %q, want %q", tt.said, tt.next, r.last, tt.want)
		}
	}
}
