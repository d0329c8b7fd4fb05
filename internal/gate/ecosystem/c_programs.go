package ecosystem

import (
	"path"
	"regexp"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	cMain         = pattern.New(`\bmain\s*\(`)
	cTestProgram  = pattern.New(`[Tt][Ee][Ss][Tt][Ss]?$|^(?:run|unit|self)[_-]?tests?|^tests?(?:[_-]|[A-Z0-9]|all|main|suite|runner|$)`)
	mesonTests    = pattern.New(`\btest\s*\(`)
	cmakePrograms = pattern.New(`(?i)\badd_executable\s*\(\s*"?([\w.+:-]+)"?([^()]*)\)`)
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
	{"GNUmakefile", makeTest, nil},
	{"makefile", makeTest, nil},
	{"Makefile", makeTest, nil},
}

// IsTestProgram says whether a C source whose path says nothing of it is the program of a test:
// what builds it, in its folder or one above, runs tests, and makes it into a program whose
// name, or its own, says that it is one. read returns a file of the tree, nil where there
// is none.
func IsTestProgram(name string, src []byte, read func(name string) []byte) bool {
	eco := cEcosystem()
	if !eco.IsSource(name) || isCTest(name) || !cMain.Match(src) {
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
			if cTestProgram.MatchString(stem) && namesWord(text, stem) {
				return true
			}
			if b.programs == nil {
				continue
			}
			for _, m := range b.programs.FindAllSubmatch(text, -1) {
				if cTestProgram.MatchString(string(m[1])) && namesWord(m[2], within) {
					return true
				}
			}
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// namesWord says whether a text has a name that is no part of a longer one.
func namesWord(text []byte, name string) bool {
	return regexp.MustCompile(`(?:^|[^\w-])` + regexp.QuoteMeta(name) + `(?:$|[^\w-])`).Match(text)
}
