package ecosystem

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Behaviour compares what functions return on both sides.
type Behaviour struct {
	// ByFile says that calls are planned for the changed files of a project, and not for
	// a package.
	ByFile bool

	// Plan is what is called in one place of both trees; false where there is nothing.
	Plan func(base, head fs.FS, at Calling) (behave.Planned, bool)

	// File is where the file of a plan is laid in the folder of its place.
	File func(test string) string

	// Calls is c as it makes the calls of a plan, all of them or those of which.
	Calls func(c Command, pkg, test, which string) Command

	// Uses is c as it compiles a use of what is gone, and says all that is not there; nil: that
	// is not known.
	Uses func(c Command, pkg, test string) Command

	// Record is c as it runs tests that say what functions are called with; nil: that is
	// not done.
	Record func(c Command, pkg string, tests []string) Command
}

// A Calling is a place where functions are called.
type Calling struct {
	Dir     string   // of the package or of the project, in the repository
	Files   []string // that changed there, by file
	Command Command  // that tests it

	Packages []Package // all that the change alters
}

// Bounds of the texts that are handed to a driver.
const (
	maxCalledTests = 300
	maxCalledText  = 3 << 20
)

// PlanScript plans calls for a driver that finds the functions itself: it gets the changed
// files on both sides, and the test files that have a name of what they define.
func PlanScript(s behave.Script, base, head fs.FS, at Calling, is func(string) bool, defines *pattern.Pattern) (behave.Planned, bool) {
	names := map[string]bool{}
	s.Dir = at.Dir
	size := 0
	for _, name := range at.Files {
		was, err1 := fs.ReadFile(base, name)
		now, err2 := fs.ReadFile(head, name)
		if size += len(was) + len(now); err1 != nil || err2 != nil || size > maxCalledText {
			continue
		}
		for _, m := range defines.FindAllSubmatch(now, -1) {
			for _, name := range m[1:] {
				names[string(name)] = len(name) > 1
			}
		}
		s.Modules = append(s.Modules, behave.Source{Path: inDir(at.Dir, name), Base: string(was), Head: string(now)})
	}
	about := func(text []byte) bool {
		return slices.ContainsFunc(calledWord.FindAll(text, -1), func(w []byte) bool { return names[string(w)] })
	}
	for _, name := range callingTests(base, head, at.Dir, is) {
		was, _ := fs.ReadFile(base, name) // what is not there has no text
		now, _ := fs.ReadFile(head, name)
		if len(s.Tests) == maxCalledTests || size+len(was)+len(now) > maxCalledText || !about(was) && !about(now) {
			continue
		}
		size += len(was) + len(now)
		s.Tests = append(s.Tests, behave.Source{Path: inDir(at.Dir, name), Base: string(was), Head: string(now)})
	}
	return s, len(s.Modules) > 0
}

var calledWord = pattern.New(`[\p{L}_$][\p{L}\p{N}_$]*`)

// inDir is a file of the repository as it is named in a folder.
func inDir(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}

// callingTests are the test files of either side in a folder.
func callingTests(base, head fs.FS, dir string, is func(string) bool) []string {
	var out []string
	for _, tree := range []fs.FS{base, head} {
		_ = fs.WalkDir(tree, dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil && d != nil && d.IsDir(), d != nil && d.IsDir() && name != dir && (IgnoredDir(name) || strings.HasPrefix(path.Base(name), ".")):
				return fs.SkipDir
			case err == nil && d.Type().IsRegular() && is(name):
				out = append(out, name)
			}
			return nil
		}) // a folder that cannot be read has none
	}
	slices.Sort(out)
	return slices.Compact(out)
}
