// Package variants leaves tests out of "make test" that "make variants" runs: what shows a
// promise once more, in another language, for another author or in its whole size, and what
// takes longer than someone who changes a line should wait. Each is left out for a reason,
// which stands beside it. test/summary counts them apart. The Makefile finds the tests by the
// calls of this package in them, so that a function that tests share does not call it.
package variants

import (
	"flag"
	"testing"
)

var asked = flag.Bool("variants", false, "run what is left out otherwise, and of tests with cases only that")

// Left is what a test says that is left out.
const Left = "left to make variants"

// Asked says whether the run is one of variants.
func Asked() bool { return *asked }

// Only leaves a whole test out.
func Only(t *testing.T) {
	t.Helper()
	if !*asked {
		t.Skip(Left)
	}
}

// Run is t.Run for one case of a test, of which some are variants.
func Run(t *testing.T, name string, variant bool, f func(*testing.T)) {
	t.Helper()
	switch {
	case variant == *asked:
		t.Run(name, f)
	case variant:
		t.Run(name, func(t *testing.T) { t.Skip(Left) })
	}
}
