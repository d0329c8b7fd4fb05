package report

import "testing"

// The title counts what behaves differently by its kind, without what is expected.
func TestBehaves(t *testing.T) {
	t.Parallel()
	function, line, request := Difference{Function: "f"}, Difference{CommandLine: true}, Difference{CommandLine: true, Request: true}
	expected := request
	expected.Expected = true
	for want, all := range map[string][]Difference{
		"":                              {expected},
		"1 request behaves differently": {request, expected},
		"1 function and 2 requests behave differently":                 {request, function, request},
		"2 functions, 1 command line and 1 request behave differently": {function, line, function, request},
	} {
		if got := (&Report{Behaviour: all}).behaves(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
