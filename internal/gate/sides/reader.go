package sides

import (
	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A Reader reads both sides of a change. What it reads once it keeps. It is not safe for
// concurrent use.
type Reader struct {
	Mirror     *workspace.Mirror
	Change     change.Change
	Base, Head *workspace.Tree
	Plans      map[results.Side]*Plan           // what is run on each side, as far as it is known
	Suites     map[results.Side]results.Suite   // what that reported, as far as it has run
	Packages   []ecosystem.Package              // of the head, of languages whose tests belong to packages; as far as they are listed
	Affected   map[string]bool                  // import paths of Packages that the change affects
	Configured bool                             // the configuration names the commands of tests
	Together   func(ecosystem.Command) bool     // says whether the tests of one file reach all others of a command; nil: they never do
	Note       func(format string, args ...any) // says something of the change once

	Texts   map[string]classes.Versions // of the files of the change
	Touched []Touch                     // paths of the change that are not source

	moved    *moves   // nil: not asked for since the change was classified
	inSpaces *renames // nil: not asked for

	called       map[string]bool // by recipes of tests, by path
	settings     string          // of runners
	recipes      []recipe        // of tests
	onlyOfTests  map[string]bool // packages by their folders, as far as they were asked for
	foldersNamed map[string]bool // by programs that run no tests, as far as they were asked for

	checked     *checkTexts        // filled when asked for
	links       []link             // of the base; filled when asked for
	taken       map[string]bool    // sources, by tests that are scripts; nil: not asked for
	baseSources []*baseSource      // of the base; filled when asked for
	meetings    map[string]meeting // of these, by what a source is; filled when asked for
	// testTexts are the base's test files, and importing which of them import one; filled when asked for.
	testTexts map[string]string
	importing map[string]map[string]bool
	namers    map[string][]*baseSource       // which of them name a file, as far as that was asked for
	failures  map[sideID]failure             // of tests that one side alone has, the same
	helped    map[string][]string            // a file of tests and what helps its tests, the same
	naming    map[[2]string]bool             // whether those in a folder name a file, the same
	testFiles map[string][]byte              // of the base, that tests were asked for in
	testsRead map[[2]string]classes.TestText // of a side and a file, as far as they were asked for
	byDir     map[string]map[string]testFile // of the base's tests in packages, by folder and test, as far as they were asked for
}

// dir is where the files of a side lie.
func (r *Reader) dir(side results.Side) string {
	if side == results.Base {
		return r.Base.Dir
	}
	return r.Head.Dir
}

// Affects says whether the change can influence a test: by its package, of others by
// what is run at all.
func (r *Reader) Affects(id results.ID, t results.Test) bool {
	return id.Command != "" || !languages.ByPackage(t.Eco) || r.Affected[id.Package]
}

// A Plan is what will be run at one side.
type Plan struct {
	Projects                       []ecosystem.Project // that the change can affect
	Left                           []ecosystem.Project // that it cannot: they are run when the others are done
	Files                          []string            // of the tree, by path
	Setup, Warm, Build, Lint, Test []ecosystem.Command
	Fetches                        []ecosystem.Command // where the configuration has the setup: those of the projects that fetch for a head that is not trusted
	Survey                         *ecosystem.Survey
}
