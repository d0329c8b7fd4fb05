package ecosystem

import (
	"time"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// Results is how a command reports each of its tests.
type Results struct {
	Name string // for people: "go test -json", "JUnit XML of pytest"

	// Collect returns what turns the command's standard output into results, for
	// a command that runs in the folder unit of the repository.
	Collect func(unit string) results.Collector

	// Refused knows the exit codes by which the runner says that it failed as a whole, so
	// that its results are none; nil: none does.
	Refused func(exit int) bool

	// Narrow returns c for a part of its tests; false where that cannot be said,
	// so that all of them have to be run. Nil is never.
	Narrow func(c Command, p Part) (Command, bool)

	// Plant makes files with a test that must fail, and the command that runs them; nil:
	// it cannot, and no file: none of the tests that pass is of a style that is known.
	Plant func(c Command, p Planting) (Command, []Planted)

	// Apart says that its packages are run in processes of their own, so that a part
	// of them does what it does among the others.
	Apart bool

	// Probe returns c so that it runs its tests again in another way, and how;
	// nil: they can only be repeated.
	Probe func(c Command, p Probing) (Command, string)

	// Serial says that what Probe returns runs tests one after the other which else run at once.
	Serial bool

	// Hang lets the runner itself end a test that takes longer; nil: it cannot.
	Hang func(c Command, limit time.Duration) Command

	// Covers is what its text calls to measure coverage by other means, as it is written
	// there; empty: nothing.
	Covers string

	// Compiles says that the runner itself compiles the sources that it loads.
	Compiles bool

	// Rebuild says that the build commands have to be run again before changed
	// tests are.
	Rebuild bool
}

// A Part is some of the tests of a command.
type Part struct {
	Packages []string        // as in ID.Package
	Tests    map[string]bool // of these, top-level tests only; nil: all
	Only     string          // one test by itself, where tests belong to files; empty: all
}

// Probing is how tests are run again.
type Probing struct {
	Seed     uint32
	Packages []string // these only, as in ID.Package; nil: all
	Times    int      // how often each, where the ecosystem has [Packages]
	Race     bool     // with the detector of data races, where it has [Race]
}
