package ecosystem

import "strings"

// warmGo compiles all packages, their tests and what these need, runs nothing, and so puts
// it into the build cache. race asks for what the race detector needs.
//
// "go test" also lets vet look at each dependency (https://pkg.go.dev/cmd/go#hdr-Test_packages),
// which for the standard library takes longer than most tests, and "go list" does not. Each
// later command begins with the cache of its side and loses what it adds, so vet is run here,
// too: on a file that imports all that can be imported and has no test, so that nothing is
// linked. The race detector's runs do without vet, see [Packages.Again].
func (m goModule) warmGo(race bool) Command {
	list := []string{"list", "-e", "-export", "-test", "-deps"}
	if race {
		c := m.Command(StageWarm, append(list, "-f={{with .Error}}{{.}}{{end}}", "-race", "./...")...)
		c.Race = true
		return c
	}
	c := m.Command(StageWarm, append(list, "./...")...)
	goes, _ := strings.CutSuffix(c.Text, " ./...")
	c.Text += ` && go test "$DEPENDENCIES"`
	// A program, what is in a package of its tests, and what has nothing but tests cannot be
	// imported; what is internal or vendored is reached through what imports it.
	const imports = `{{with .Error}}{{.}}{{else}}{{if and (or .GoFiles .CgoFiles) (not (or .ForTest .Incomplete (eq .Name "main")))}}import _ "{{.ImportPath}}"{{end}}{{end}}`
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", strings.Join([]string{
		`dir=$(command -p mktemp -d) || exit 1`,
		goes + ` '-f=` + imports + `' ./... >"$dir/list"`,
		`status=$?`,
		`{ echo package dependencies; command -p grep '^import _' "$dir/list" | command -p grep -vE '"(.*/)?(internal|vendor)(/.*)?"|"(unsafe|C)"'; } >"$dir/dependencies.go"`,
		`command -p grep -v '^import _' "$dir/list"`,
		`go test "$dir/dependencies.go" >/dev/null 2>&1`, // it decides nothing
		`command -p rm -rf "$dir"`,
		`exit $status`,
	}, "\n")}
	return c
}
