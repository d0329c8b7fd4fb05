package ecosystem

import (
	"time"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// Variants are test programs that are compiled once and run many times: for each mutant
// that a source holds, and for each test by itself.
type Variants struct {
	// Build compiles the test programs of packages as their sources stand, and prints what
	// the compiler says; with counted packages, so that their lines are counted.
	Build func(c Command, tested, counted []Package) Command

	// Run runs the programs.
	Run func(c Command, tested []Package, how VariantRun) Command

	// Each runs tests, each by itself, in programs that count lines.
	Each func(c Command, tests []VariantTest, limit time.Duration) (Command, *results.EachCounts)
}

// ExitUnbuilt is the exit code of a command whose programs are not there.
const ExitUnbuilt = 97

// A VariantRun is how programs run.
type VariantRun struct {
	Setting string // "NAME=value", which the programs see
	Tests   map[string][]string
	Limit   time.Duration
	First   bool // up to the first failure
}

// A VariantTest is a top-level test of a package.
type VariantTest struct {
	Package Package
	Test    string
}
