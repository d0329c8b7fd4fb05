// Package classes says what a file of a tree is to its tests: whether it steers them, supports them,
// is one, is their data, or is what they test ([ClassOf]), and what decides that beside the tables
// of the ecosystems: which files a text names, imports, runs or takes in.
//
// It is given names and texts, and looks at no tree but for [RunnerSettings].
package classes

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Referred is what is said of files elsewhere in a tree.
type Referred struct {
	Called map[string]bool   // scripts that test commands call
	Judges map[string]string // scripts that what declares tests has them run by, and the ecosystem of that
	// Compiles are files that settings of a compiler are an extension of.
	Compiles map[string]bool
	Runs     func(name string) bool // a test command gets to it, and it decides which tests run
	// Product: sources that are no tests import it, and it tests nothing.
	Product func(name string) bool
	Setup   func(name string) bool // the configuration of a runner names it
	Data    func(name string) bool // tests name it and no source does
	// Documented names the ecosystem whose tools run the examples of a document as tests.
	Documented func(name string) (eco string)
	// Ships: sources beside a folder that is called as those of test data are name it.
	Ships func(name string) bool
	// Steered: it is a part of what steers tests, and no source names it; eco is as of ClassOf.
	Steered func(name string) (eco string, ok bool)
	Helper  func(name string) bool // tests import it and no source does
	Table   func(name string) bool // it has nothing but values, which tests alone read
	Holds   func(name string) bool // the base has tests in it, and nothing imports it
	// Doctests: what steers tests speaks of examples of documentation that are run.
	Doctests bool
}

// DataFolders hold what tests read.
var DataFolders = []string{
	"testdata", "_testdata", "fixtures", "__fixtures__", "__snapshots__", "tap-snapshots", "golden", "cassettes", "snapshots",
}

// shippable are those of them that are folders of what programs read, too.
var shippable = []string{"fixtures", "golden", "snapshots", "cassettes"}

// ShippedBy returns the folder in which sources may name a folder of data as their own; empty:
// it is that of tests. ok is false for a file in no such folder.
func ShippedBy(name string) (dir string, ok bool) {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if slices.Contains(shippable, path.Base(at)) {
			dir = path.Dir(at)
			return dir, dir != "." && !InTestFolder(at)
		}
	}
	return "", false
}

// IsShared says whether tests share a file by what it is called, as conftest.py.
func IsShared(name string, src []byte) bool { return sharing(name, src) != nil }

func sharing(name string, src []byte) *ecosystem.Ecosystem {
	for _, e := range languages.All() {
		if e.Classes.Support != nil && e.Classes.Support(name, src) {
			return e
		}
	}
	return nil
}

// InTestFolder says whether a folder of tests, of whatever ecosystem, is on the way to a file.
func InTestFolder(name string) bool {
	return languages.Any(func(e *ecosystem.Ecosystem) bool { return ecosystem.InFolder(name, e.Classes.Folders...) })
}

// Embeds says whether a Go source takes a file into its program.
func Embeds(text, dir, name string) bool {
	for _, m := range goEmbed.FindAllStringSubmatch(text, -1) {
		for _, word := range strings.Fields(m[1]) {
			at := path.Join(dir, strings.TrimPrefix(strings.Trim(word, "\"`"), "all:"))
			if ok, err := path.Match(at, name); err == nil && ok || strings.HasPrefix(name, at+"/") {
				return true
			}
		}
	}
	return false
}

// goEmbed is what a Go source takes files in by (https://pkg.go.dev/embed).
var goEmbed = pattern.New(`(?m)^//go:embed\s+(.*)$`)

// ClassOf is the class of a file by its path and its content: the first of
// steering, support, test and data that it fits, in doubt source. eco names the
// ecosystem whose table says so, empty for what is the same in all.
func ClassOf(name string, src []byte, also Referred) (class compare.FileClass, eco string) {
	if also.Called[name] && isWrapper(name, src) || also.Runs != nil && also.Runs(name) {
		return compare.Steering, ""
	}
	if eco = also.Judges[name]; eco != "" && !languages.IsTestSource(name) && (slices.Contains([]string{".cmake", ".json"}, path.Ext(name)) || judgeName.MatchString(path.Base(name))) {
		return compare.Steering, eco
	}
	tables := languages.All()
	for _, e := range tables {
		if e.Classes.Steering != nil && e.Classes.Steering(name, src) {
			return compare.Steering, e.Name
		}
	}
	if also.Product != nil && also.Product(name) {
		return compare.Source, ""
	}
	if testSettings.MatchString(name) && !ecosystem.InFolder(name, "node_modules", "vendor") {
		return compare.Support, ""
	}
	if e := sharing(name, src); e != nil {
		return compare.Support, e.Name
	}
	if (languages.IsSource(name) || IsScript(name)) && (also.Setup != nil && also.Setup(name) || also.Helper != nil && also.Helper(name)) {
		return compare.Support, ""
	}
	if also.Table != nil && also.Table(name) {
		return compare.Data, ""
	}
	kept := ecosystem.InFolder(name, DataFolders...) && (also.Ships == nil || !also.Ships(name))
	for _, e := range tables {
		if e.Classes.Test != nil && e.Classes.Test(name, src) && !kept {
			return compare.Test, e.Name
		}
	}
	if !kept && also.Holds != nil && also.Holds(name) {
		return compare.Test, holder(name)
	}
	switch {
	case ecosystem.InFolder(name, "vendor", "node_modules"):
		return compare.Source, ""
	case kept && languages.IsSource(name) && ecosystem.InFolder(name, "testdata", "_testdata", "__fixtures__", "__snapshots__", "tap-snapshots"):
		return compare.Support, ""
	case kept && !languages.IsSource(name):
		return compare.Data, ""
	}
	if class, eco = inTestFolder(name, tables); class != "" {
		return class, eco
	}
	if ecosystem.IsDoc(name) && also.Documented != nil {
		if eco = also.Documented(name); eco != "" {
			return compare.Test, eco
		}
	}
	if ecosystem.IsDoc(name) || languages.Steers(name) {
		return compare.Source, ""
	}
	if also.Steered != nil {
		if eco, ok := also.Steered(name); ok {
			return compare.Steering, eco
		}
	}
	switch {
	case !languages.IsSource(name) && also.Data != nil && also.Data(name):
		return compare.Data, ""
	}
	return compare.Source, ""
}

// testSettings are the settings of a program for its test environment, by the names that
// frameworks have for them: Mix, Rails, Django, Spring, Symfony, Laravel, .NET, dotenv and
// node-config. By them a program is for its tests what it is for no user.
var testSettings = pattern.New(`(?i)(^|/)((config|settings|conf|environments?|env|profiles?)/(test|testing|unittest)\.(exs|rb|py|js|cjs|mjs|ts|php|json5?|ya?ml|toml|ini|properties|env)` +
	`|(config|settings|application|appsettings|bootstrap|local|database|services)[._-](test|testing)\.(exs|rb|py|js|cjs|mjs|ts|php|json|ya?ml|toml|ini|properties|conf)` +
	`|(test|testing)[._-](settings|config)\.(exs|rb|py|js|cjs|mjs|ts|php|json|ya?ml|toml|ini|properties|conf)|\.env[._-](test|testing)(\.local)?|(test|testing)\.env)$`)

// ForTests names the ecosystem in whose build of a tree a source is for tests alone, by what
// declares it; empty: there is none. read returns files of the tree, nil for none.
func ForTests(name string, read func(string) []byte) string {
	for _, e := range languages.All() {
		if e.Classes.ForTests != nil && e.IsSource(name) && read(name) != nil && e.Classes.ForTests(name, read) {
			return e.Name
		}
	}
	return ""
}

// Serves names the ecosystem of a source that is of a package which is in the tree for tests
// alone, by what manifests say; empty: it is of none. read returns files of the tree, nil for none.
func Serves(name string, read func(string) []byte) (eco string) {
	for _, e := range languages.All() {
		if e.Classes.Serves != nil && e.IsSource(name) && read(name) != nil && e.Classes.Serves(name, read) {
			return e.Name
		}
	}
	return ""
}

// PartsOf splits a source of this name into its tests and the rest; nil: they are not known apart.
func PartsOf(name string) func(src string) (tests, rest string) {
	for _, e := range languages.All() {
		if e.Classes.Parts != nil && e.IsSource(name) {
			return e.Classes.Parts
		}
	}
	return nil
}

// mayTest is what a source has that has tests in it, or helps those of others.
var mayTest = pattern.New(`(?i)\bassert|\bexpect|\b(?:test|it|describe|suite|specify|context)\b[\w.]*\s*[('"]|\bdef\s+test|\bfunc\s+\w*Test|class\s+\w*(?:Test|Spec)|unittest|pytest|"testing"|minitest|rspec|phpunit|junit|#\[\w*test`)

// MayTest says whether a source may have tests, or something that checks results.
func MayTest(src []byte) bool { return mayTest.Match(src) }

// HoldsTests says whether a source has tests in it, by what is written there. Others may use it.
func HoldsTests(name string, src []byte) bool {
	return languages.Any(func(e *ecosystem.Ecosystem) bool {
		return e.IsSource != nil && e.IsSource(name) && e.Classes.Holds != nil && e.Classes.Holds(name, src)
	})
}

// holder names the ecosystem of a source that holds tests.
func holder(name string) string {
	for _, e := range languages.All() {
		if e.IsSource != nil && e.IsSource(name) && e.Classes.Holds != nil {
			return e.Name
		}
	}
	return ""
}

// inTestFolder is the class of a file in a folder of tests that is none itself.
func inTestFolder(name string, tables []*ecosystem.Ecosystem) (compare.FileClass, string) {
	for _, e := range tables {
		if e.IsSource == nil || !e.IsSource(name) {
			continue
		}
		if len(e.Classes.Folders) > 0 && ecosystem.InFolders(name, e.Classes.Folders) {
			return compare.Support, e.Name
		}
		return "", "" // code of another language has folders of its own
	}
	for _, e := range tables {
		if len(e.Classes.Folders) > 0 && ecosystem.InFolders(name, e.Classes.Folders) && !languages.Steers(name) {
			return compare.Data, ""
		}
	}
	if languages.Steers(name) || ecosystem.IsDoc(name) {
		return "", ""
	}
	return otherTest(name), ""
}

// wrapperName is the name of a script that is there to run tests.
var wrapperName = pattern.New(`(?i)test|check|spec|verif|suite|smoke|regress|e2e|(^|[-_.])ci([-_.]|$)`)

// wrapperText is what a script has that runs tests, and one that is tested has not.
var wrapperText = pattern.New(`(?i)test|check|spec\b|\b(prove|bats|tox|nox|mvn|gradlew?|phpunit|ctest)\b`)

// judgeName is what people call scripts by which tests are run, and not what they test.
var judgeName = pattern.New(`(?i)compare|check|test|verify|valid|run|diff|assert|expect|golden|match|driver|wrap`)

// isWrapper says whether a script that a test command calls is there to run tests, and is
// not what they test.
func isWrapper(name string, src []byte) bool {
	if languages.IsTestSource(name) {
		return false
	}
	first, _, _ := bytes.Cut(src, []byte("\n"))
	shell := slices.Contains([]string{".sh", ".bash"}, path.Ext(name)) || bytes.HasPrefix(first, []byte("#!")) && bytes.Contains(first, []byte("sh"))
	return wrapperName.MatchString(path.Base(name)) || shell && (ecosystem.InFolder(name, "ci", ".ci") || wrapperText.Match(src))
}

// MixtureOf returns how the two versions of a file are merged, nil where it is of
// one class.
func MixtureOf(name string) *ecosystem.Mixture {
	for _, e := range languages.All() {
		if e.Classes.Mixed == nil {
			continue
		}
		if m := e.Classes.Mixed(name); m != nil {
			return m
		}
	}
	return nil
}

// Versions are the two contents of a changed file, nil where a side has none.
type Versions struct{ Base, Head []byte }

// ClassOfBoth is the class of a file that differs between the sides: the first of steering,
// support, test and data that either version fits, in doubt source. See [ClassOf].
func ClassOfBoth(name string, v Versions, also Referred) (compare.FileClass, string) {
	order := []compare.FileClass{compare.Steering, compare.Support, compare.Test, compare.Data, compare.Source}
	best, of := compare.Source, ""
	for _, src := range [][]byte{v.Base, v.Head} {
		if src == nil && (v.Base != nil || v.Head != nil) {
			continue
		}
		if c, eco := ClassOf(name, src, also); slices.Index(order, c) < slices.Index(order, best) {
			best, of = c, eco
		}
	}
	return best, of
}
