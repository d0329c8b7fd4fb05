package native

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	cMain         = pattern.New(`\bmain\s*\(`)
	cTestProgram  = pattern.New(`[Tt][Ee][Ss][Tt][Ss]?$|^(?:run|unit|self)[_-]?tests?|^tests?(?:[_-]|[A-Z0-9]|all|main|suite|runner|$)`)
	mesonTests    = pattern.New(`\btest\s*\(`)
	cmakePrograms = pattern.New(`(?i)\badd_executable\s*\(\s*"?([\w.+:-]+)"?([^()]*)\)`)
	cInstalls     = pattern.New(`(?i)\binstall\s*\(\s*TARGETS\b[^)]*|(?m)^.*(?:\binstall\b|\bbin_PROGRAMS\b|\bPREFIX\b|\bDESTDIR\b|\bprefix\b).*$`)
	mesonInstalls = pattern.New(`\binstall\s*:\s*true`)
	mesonPrograms = pattern.New(`\bexecutable\s*\(\s*'([\w.+-]+)'([^()]*)`)
)

// builds are the files that say what C programs are made of: how they show that they run
// tests, and what names a program and its sources.
var builds = []struct {
	file     string
	runs     *pattern.Pattern
	programs *pattern.Pattern
}{
	{"CMakeLists.txt", cmakeTests, cmakePrograms},
	{"meson.build", mesonTests, mesonPrograms},
	{"Makefile.am", automakeTests, nil},
	{"GNUmakefile", ecosystem.TestTargets, nil},
	{"makefile", ecosystem.TestTargets, nil},
	{"Makefile", ecosystem.TestTargets, nil},
}

// IsTestProgram says whether a C source whose path says nothing of it is the program of a test:
// what builds it, in its folder or one above, runs tests, and makes it into a program whose
// name, or its own, says that it is one. read returns a file of the tree, nil where there
// is none.
func IsTestProgram(name string, src []byte, read func(name string) []byte) bool {
	if !IsSource(name) || isCTest(name) || !cMain.Match(src) {
		return false
	}
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		within := strings.TrimPrefix(name, dir+"/")
		for _, b := range builds {
			text := read(path.Join(dir, b.file))
			if !b.runs.Match(text) {
				continue
			}
			if b.programs != nil {
				for _, m := range b.programs.FindAllSubmatch(text, -1) {
					program := string(m[1])
					if NamesWord(m[2], within) && (cTestProgram.MatchString(program) || cTestProgram.MatchString(stem)) {
						return !isProduct(text, program) && !mesonInstalls.Match(m[2])
					}
				}
			}
			if cTestProgram.MatchString(stem) && NamesWord(text, stem) {
				return !isProduct(text, stem)
			}
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// isProduct says whether a program that is called after tests, such as a memtest, is what a
// project is for: the project has its name, or the build installs it.
func isProduct(text []byte, program string) bool {
	if slices.Contains([]string{firstGroup(cmakeNamed.FindSubmatch(text)), firstGroup(mesonNamed.FindSubmatch(text))}, program) {
		return true
	}
	for _, m := range cInstalls.FindAll(text, -1) {
		if NamesWord(m, program) {
			return true
		}
	}
	return false
}

// NamesWord says whether a text has a name that is no part of a longer one.
func NamesWord(text []byte, name string) bool {
	return regexp.MustCompile(`(?:^|[^\w-])` + regexp.QuoteMeta(name) + `(?:$|[^\w-])`).Match(text)
}

// OnlyNamedTest says of a source that is called as tests are whether it has none in it, so that
// what is built of it is no test program.
func OnlyNamedTest(name string, src []byte) bool {
	return src != nil && IsProductSource(name) && !cTested.Match(src) && !cFramework.Match(src)
}
