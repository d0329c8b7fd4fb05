package ecosystem

import (
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A ClassTable says what the files of an ecosystem are to its tests. src is a
// file's content on one side, nil where it has none.
type ClassTable struct {
	// Steering recognises files that decide what a test command does and hold nothing else.
	Steering func(name string, src []byte) bool
	// Support recognises files that tests share.
	Support func(name string, src []byte) bool
	// Test recognises the files that a runner takes tests from.
	Test func(name string, src []byte) bool
	// Holds recognises sources that have tests in them and nothing that others use, by what
	// is written there: tests whose path says nothing.
	Holds func(name string, src []byte) bool
	// ForTests recognises sources that the build of the tree has for tests alone; read
	// returns its files, nil for none.
	ForTests func(name string, read func(string) []byte) bool
	// Serves recognises sources of a package in the tree that another one has as a dependency of
	// its tests alone; read is as of ForTests.
	Serves func(name string, read func(string) []byte) bool
	// Parts splits a source that is no test into its tests and the rest.
	Parts func(src string) (tests, rest string)
	// Folders are the names of folders of tests: code in them that is no test is
	// support, and all else is data.
	Folders []string
	// Mixed returns what puts the base's parts of a class into the head's version of
	// a file that has other things too; nil for other files.
	Mixed func(name string) *Mixture
	// Origins returns what reads from a file of this base name where packages come from;
	// nil for other files.
	Origins func(name string) func(src []byte) Origins
}

// A Mixture is a file of which only some parts steer or test.
type Mixture struct {
	Class compare.FileClass // of these parts
	// Merge returns the head's version with the base's parts in place of its own. A
	// side that has no such file is nil. An error says that it cannot be done.
	Merge func(base, head []byte) ([]byte, error)
}

// WhereWritten makes the field Holds of a table from what such sources have, each of the patterns,
// but for folders of what others use where imports cannot be followed.
func WhereWritten(folders []string, has ...*pattern.Pattern) func(string, []byte) bool {
	return func(name string, src []byte) bool {
		return !InFolder(name, folders...) && !slices.ContainsFunc(has, func(p *pattern.Pattern) bool { return !p.Match(src) })
	}
}

// Called makes a test of base names: patterns of path.Match.
func Called(patterns ...string) func(string, []byte) bool {
	return func(name string, _ []byte) bool {
		base := path.Base(name)
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := path.Match(p, base)
			return err == nil && ok
		})
	}
}

// MixedBy makes the field Mixed of a table from base names.
func MixedBy(by map[string]*Mixture) func(string) *Mixture {
	return func(name string) *Mixture {
		if IgnoredDir(path.Dir(name)) {
			return nil
		}
		return by[path.Base(name)]
	}
}

// OneOf says that one of several tests holds.
func OneOf(tests ...func(string, []byte) bool) func(string, []byte) bool {
	return func(name string, src []byte) bool {
		return slices.ContainsFunc(tests, func(is func(string, []byte) bool) bool { return is(name, src) })
	}
}
