package gate

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A classTable tells what the files of an ecosystem are to its tests. src is a
// file's content on one side, nil where it has none.
type classTable struct {
	// steering tells files that decide what a test command does and hold nothing else.
	steering func(name string, src []byte) bool
	// support tells files that tests share.
	support func(name string, src []byte) bool
	// test tells the files that a runner takes tests from.
	test func(name string, src []byte) bool
	// folders are the names of folders of tests: code in them that is no test is
	// support, and all else is data.
	folders []string
	// mixed returns what puts the base's parts of a class into the head's version of
	// a file that has other things too; nil for other files.
	mixed func(name string) *mixture
}

// A mixture is a file of which only some parts steer or test.
type mixture struct {
	class compare.FileClass
	// merge returns the head's version with the base's parts in place of its own. A
	// side that has no such file is nil. An error says that it cannot be done.
	merge func(base, head []byte) ([]byte, error)
}

// A referred is what is said of files elsewhere in a tree.
type referred struct {
	called map[string]bool        // scripts that test commands call
	setup  func(name string) bool // the configuration of a runner names it
	data   func(name string) bool // tests name it and no source does
}

// dataFolders hold what tests read.
var dataFolders = []string{
	"testdata", "_testdata", "fixtures", "__fixtures__", "__snapshots__", "tap-snapshots", "golden", "cassettes", "snapshots",
}

// classOf is the class of a file by its path and its content: the first of
// steering, support, test and data that it fits, in doubt source. eco names the
// ecosystem whose table says so, empty for what is the same in all.
func classOf(name string, src []byte, also referred) (class compare.FileClass, eco string) {
	if also.called[name] && isWrapper(name, src) {
		return compare.Steering, ""
	}
	tables := ecosystems()
	for _, e := range tables {
		if e.classes.steering != nil && e.classes.steering(name, src) {
			return compare.Steering, e.name
		}
	}
	for _, e := range tables {
		if e.classes.support != nil && e.classes.support(name, src) {
			return compare.Support, e.name
		}
	}
	if also.setup != nil && isSource(name) && also.setup(name) {
		return compare.Support, ""
	}
	kept := inFolder(name, dataFolders...)
	for _, e := range tables {
		if e.classes.test != nil && e.classes.test(name, src) && !kept {
			return compare.Test, e.name
		}
	}
	switch {
	case inFolder(name, "vendor", "node_modules"):
		return compare.Source, ""
	case kept && isSource(name) && inFolder(name, "testdata", "_testdata", "__fixtures__", "__snapshots__", "tap-snapshots"):
		return compare.Support, ""
	case kept && !isSource(name):
		return compare.Data, ""
	}
	if class, eco = inTestFolder(name, tables); class != "" {
		return class, eco
	}
	if !isSource(name) && !isDoc(name) && !steers(name) && also.data != nil && also.data(name) {
		return compare.Data, ""
	}
	return compare.Source, ""
}

// inTestFolder is the class of a file in a folder of tests that is none itself.
func inTestFolder(name string, tables []*ecosystem) (compare.FileClass, string) {
	for _, e := range tables {
		if e.isSource == nil || !e.isSource(name) {
			continue
		}
		if len(e.classes.folders) > 0 && inFolders(name, e.classes.folders) {
			return compare.Support, e.name
		}
		return "", "" // code of another language has folders of its own
	}
	for _, e := range tables {
		if len(e.classes.folders) > 0 && inFolders(name, e.classes.folders) && !steers(name) {
			return compare.Data, ""
		}
	}
	return "", ""
}

// inFolders says whether a path lies in one of these folders, which may have
// several parts.
func inFolders(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return strings.Contains("/"+path.Dir(name)+"/", "/"+f+"/") })
}

// wrapperName is the name of a script that is there to run tests.
var wrapperName = pattern.New(`(?i)test|check|spec|(^|[-_.])ci([-_.]|$)`)

// isWrapper says whether a script that a test command calls is there to run tests.
func isWrapper(name string, src []byte) bool {
	first, _, _ := bytes.Cut(src, []byte("\n"))
	shell := slices.Contains([]string{".sh", ".bash"}, path.Ext(name)) || bytes.HasPrefix(first, []byte("#!")) && bytes.Contains(first, []byte("sh"))
	return shell || wrapperName.MatchString(path.Base(name)) && !isTestSource(name)
}

// mixtureOf returns how the two versions of a file are merged, nil where it is of
// one class.
func mixtureOf(name string) *mixture {
	for _, e := range ecosystems() {
		if e.classes.mixed == nil {
			continue
		}
		if m := e.classes.mixed(name); m != nil {
			return m
		}
	}
	return nil
}

// called makes a test of base names: patterns of path.Match.
func called(patterns ...string) func(string, []byte) bool {
	return func(name string, _ []byte) bool {
		base := path.Base(name)
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := path.Match(p, base)
			return err == nil && ok
		})
	}
}

// mixedBy makes the field of a table from base names.
func mixedBy(by map[string]*mixture) func(string) *mixture {
	return func(name string) *mixture {
		if ignoredDir(path.Dir(name)) {
			return nil
		}
		return by[path.Base(name)]
	}
}

// oneOf says that one of several tests holds.
func oneOf(tests ...func(string, []byte) bool) func(string, []byte) bool {
	return func(name string, src []byte) bool {
		return slices.ContainsFunc(tests, func(is func(string, []byte) bool) bool { return is(name, src) })
	}
}
