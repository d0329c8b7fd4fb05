package elixir

import "testing"

// TestElixirAbsent holds that a module that is not there is what is missing, and not its
// function, which another one may have.
func TestElixirAbsent(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"function Calc.Numbers.double/1 is undefined (module Calc.Numbers is not available)": "Numbers",
		"function Calc.half/1 is undefined or private":                                       "half",
		"Assertion with == failed":                                                           "",
	} {
		if got, _ := New().Absent(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
