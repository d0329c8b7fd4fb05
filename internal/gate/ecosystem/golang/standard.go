package golang

import (
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// listStandard prints the packages of the standard library that a module, its tests and what
// both import reach.
func listStandard(p ecosystem.Project) ecosystem.Command {
	return moduleOf(p).Command(results.StageList, "list", "-e", "-deps", "-test", "-f={{if .Standard}}{{.ImportPath}}{{end}}", "./...")
}

// standardName is a package of the standard library, and inner one that no module can import.
var (
	standardName = pattern.New(`^[a-z0-9]+(?:/[a-z0-9]+)*$`)
	inner        = pattern.New(`(?:^|/)(?:internal|vendor|cmd)(?:/|$)|^unsafe$`)
)

// seedOf is a module with a test that imports packages. It is compiled as other modules are.
func seedOf(p ecosystem.Project, packages []string, race bool) (map[string][]byte, ecosystem.Command) {
	var test strings.Builder
	test.WriteString("package standard\n\nimport (\n")
	for _, name := range packages {
		if standardName.MatchString(name) && !inner.MatchString(name) {
			test.WriteString("\t_ \"" + name + "\"\n")
		}
	}
	test.WriteString(")\n")
	files := map[string][]byte{"go.mod": []byte("module standard\n\ngo 1.16\n"), "standard_test.go": []byte(test.String())}
	return files, goModule{Dir: ".", version: moduleOf(p).version}.warmGo(race, ".")
}
