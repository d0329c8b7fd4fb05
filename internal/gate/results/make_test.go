package results

import "testing"

// TestRanNothing holds which outputs say that a target had nothing to do.
func TestRanNothing(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]bool{
		"make: 'test' is up to date.\n":           true,
		"make: `test' is up to date.\n":           true,
		"make: Nothing to be done for 'check'.\n": true,
		"task: Task \"test\" is up to date\n":     true,
		"make[1]: Entering directory '/r/a'\nmake[1]: Nothing to be done for 'test'.\nmake[1]: Leaving directory '/r/a'\n": true,
		"":                                      false,
		"./all_test\n":                          false,
		"cc a.c\nmake: 'test' is up to date.\n": false,
		"ok 1 - 'test' is up to date.\n":        false,
	} {
		if got := RanNothing(output); got != want {
			t.Errorf("%q: %v", output, got)
		}
	}
}
