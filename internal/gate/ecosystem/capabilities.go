package ecosystem

import (
	"io"
	"io/fs"
	"time"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Cutting is how tests that do not compile are left out of their files.
type Cutting struct {
	// Complaint is the beginning of a compiler's message. Its groups are the file and the
	// line.
	Complaint *pattern.Pattern

	// Without is a source of tests without the tests in which some lines stand, with
	// their names, and with helpers also without what else is declared there; false where a
	// line stands in something else.
	Without func(src []byte, lines []int, helpers bool) (rest []byte, tests []string, ok bool)
}

// Packages is what an ecosystem can do whose tests belong to packages that are compiled
// one by one: [results.ID].Package is then the path by which one is imported. Where an ecosystem
// has none, it is a file. No function is nil.
type Packages struct {
	One, Many string // for people: "Go package", "Go packages"

	// Root is the import path of what lies in the folder of a project.
	Root func(Project) string

	// Has says whether a folder of the tree at root is a package.
	Has func(root, dir string) bool

	// List is the command that lists the packages of a project, as its test commands
	// compile them, and Parse reads its standard output. The folders of packages are
	// named from root; what lies outside of it is left out. An error comes with the
	// packages before it.
	List  func(p Project, tests []Command) Command
	Parse func(out io.Reader, root string) ([]Package, error)

	// Affected returns the import paths of packages that changed paths can influence.
	Affected func(pkgs []Package, changed []string) map[string]bool

	// Tests returns the text of each top-level test of a source, by name.
	Tests func(src []byte) map[string]string

	// Only and But are a command that tests a whole project, for some of its packages,
	// and for all but these.
	Only, But func(c Command, pkgs []string) Command

	// At names packages, as Only takes them, by their import paths, or by folders and
	// files of the repository; all of the project in the folder unit for none.
	At func(places []string, unit string) []string

	// Again is a test command that runs packages several times in a random order.
	Again func(c Command, p Probing) Command

	// Plant returns a test file of a package, by the name that a test that must fail
	// is to have and a test file of the package; no text where that has no package.
	Plant func(beside []byte, name string) (file, text string)

	Cutting

	// Heading is the line that the compiler writes above the errors of a package. Its
	// group is the import path.
	Heading *pattern.Pattern

	// Excluded says why a source is not compiled with the package of its folder.
	Excluded func(src []byte) string

	// WarmFor are the commands of a project that warm the build cache where test commands of the
	// configuration take the place of its own.
	WarmFor func(p Project, tests []Command) []Command

	// Standard is a command that compiles nothing and prints which packages of the standard
	// library the tests of a project need, one a line. Seed is a project of its own that needs
	// packages and nothing else, and the command that compiles them as the tests of p have
	// them, or for the race detector.
	Standard func(p Project) Command
	Seed     func(p Project, packages []string, race bool) (files map[string][]byte, compile Command)

	// Installed is a command that succeeds where all that the packages of a project
	// need is there, although c, which was to fetch it, failed; false where there is
	// none for c.
	Installed func(c Command) (Command, bool)
}

// Race is a detector of data races.
type Race struct {
	// Missing says why it cannot be used on this machine; empty: it can.
	Missing func(*Toolchains) string

	// Watch is c with its reports kept. They are complete when c has run once.
	Watch func(c Command) (Command, *results.RaceWatch)

	// Functions are those of a source with their lines; none where it cannot be read.
	Functions func(name string, src []byte) []CodeRange
}

// Fuzz runs existing fuzz targets.
type Fuzz struct {
	Prefix string // of the names of top-level tests that are targets

	// In says whether a folder of a tree has targets, in doubt that it has.
	In func(tree fs.FS, dir string) bool

	// Compile compiles what targets in a folder need, and runs nothing.
	Compile func(p Project, dir string) Command

	// Search looks for an input that fails a target, for some time. Record has the input
	// printed behind the results, where Input finds it; empty where there is none.
	Search func(c Command, t FuzzTarget, each time.Duration) Command
	Record func(c Command, t FuzzTarget) Command
	Input  func(printed string) string

	// Failure is what a target reported of the input, without the progress of the search.
	Failure func(output string) string

	// TimeEnded says that what a target reported is no more than the end of the search's time.
	TimeEnded func(failure string) bool

	// Alters says whether a target, or what it uses of the tests beside it, is another one in
	// the head's files of a folder than in the base's, by their names.
	Alters func(base, head map[string][]byte, t FuzzTarget) bool

	// Try runs a target with one input alone, which Lay writes into the tree. The result
	// is that of a subtest called InputName.
	Try func(c Command, t FuzzTarget) Command
	Lay func(c Command, t FuzzTarget, input string) Command
}

// Coverage finds out which lines tests run.
type Coverage struct {
	// Count is the tests of packages with counted lines: those of the changed packages,
	// by their own tests where there are such.
	Count func(c Command, changed []Package, pkgs []string) (Command, *results.LineCounts)

	// Mutant is the tests of packages as they are run for each mutant, and end in a
	// limit; with first, at the first failure.
	Mutant func(c Command, pkgs []string, limit time.Duration, first bool) Command

	// Variants are programs for all mutants, nil where each is compiled by itself.
	Variants *Variants
}

// A CodeRange is the lines of one function of a file.
type CodeRange struct {
	Name     string // with the folder and the receiver
	Text     string
	From, To int
}

// A FuzzTarget is a fuzz test of the head that passes with the inputs it comes with.
type FuzzTarget struct {
	results.ID
	Dir string // of its package, in the repository
}

// InputName is the file of an input that is tried again.
const InputName = "found"
