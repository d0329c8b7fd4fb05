package golang

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// warmFor are the commands of p that warm the build cache where tests of the configuration, which
// run at the top of the repository, take the place of the detected ones. Where each of them is
// a plain "go test" that names packages, these alone are compiled, and nothing of modules in
// other folders, which such tests reach in a workspace only.
func warmFor(p ecosystem.Project, tests []ecosystem.Command) []ecosystem.Command {
	var packages []string
	for _, c := range tests {
		if c.Eco != p.Eco.Name || c.Results == nil || len(c.Argv) == 3+len(c.Flags) || slices.Contains(c.Argv, "./...") {
			return p.Warm
		}
		packages = append(packages, c.Argv[3+len(c.Flags):]...)
	}
	switch {
	case len(packages) == 0 || moduleOf(p).workspace:
		return p.Warm
	case moduleOf(p).Dir != ".":
		return nil
	}
	var out []ecosystem.Command
	for _, c := range p.Warm {
		out = append(out, moduleOf(p).warmGo(c.Race, packages...))
	}
	return out
}

// warmGo compiles packages, their tests and what these need, runs nothing, and so puts it into
// the build cache. race asks for what the race detector needs.
//
// "go test" also lets vet look at each dependency (https://pkg.go.dev/cmd/go#hdr-Test_packages),
// which for the standard library takes longer than most tests, and "go list" does not. Each
// later command begins with the cache of its side and loses what it adds, so vet is run here,
// too: on a file that imports all that can be imported and has no test, so that nothing is
// linked. What the cache says that vet has looked at, by the digest of its export data, is not imported again.
// Probes do without vet, see [ecosystem.Packages.Again].
func (m goModule) warmGo(race bool, packages ...string) ecosystem.Command {
	list := []string{"list", "-e", "-export", "-test", "-deps"}
	if race {
		c := m.Command(results.StageWarm, slices.Concat(list, []string{"-f={{with .Error}}{{.}}{{end}}", "-race"}, packages)...)
		c.Race = true
		return c
	}
	c := m.Command(results.StageWarm, slices.Concat(list, packages)...)
	goes, _ := strings.CutSuffix(c.Text, " "+strings.Join(packages, " "))
	quoted := ""
	for _, name := range packages {
		word, err := syntax.Quote(name, syntax.LangBash)
		if err != nil { // a name that no shell can say is of no package
			continue
		}
		quoted += " " + word
	}
	c.Text += ` && go test "$DEPENDENCIES"`
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", strings.Join([]string{
		`dir=$(command -p mktemp -d) || exit 1`,
		goes + ` '-f=` + vetFields + `'` + quoted + ` >"$dir/list"`,
		`status=$?`,
		`command -p grep -v '^=	' "$dir/list"`,
		// What is not used for days is removed from a cache, so that what vet has looked at is
		// forgotten sooner.
		`vetted=${GOCACHE:-$(go env GOCACHE)}/vetted-$(($(command -p date +%s) / 259200))`,
		`[ -e "$vetted" ] || : >"$vetted"`,
		`command -p awk '` + vetWanted + `' "$vetted" "$dir/list" >"$dir/wanted"`,
		`if [ -s "$dir/wanted" ]; then`,
		`{ echo package dependencies; command -p sed 's/\([^ ]*\) .*/import _ "\1"/' "$dir/wanted"; } >"$dir/dependencies.go"`,
		`go test "$dir/dependencies.go" >/dev/null 2>&1 && command -p cat "$dir/wanted" >>"$vetted"`, // it decides nothing
		`fi`,
		`command -p rm -rf "$dir"`,
		`exit $status`,
	}, "\n")}
	return c
}

// vetFields is a template of "go list": an error, or a line of a package, which has its import
// path, its export data, whether it is of the module that is tested, whether it can be imported
// (a program, what is in a package of its tests, and what has nothing but tests cannot), and
// what it imports.
const vetFields = `{{with .Error}}{{.}}{{else}}={{"\t"}}{{.ImportPath}}{{"\t"}}{{.Export}}{{"\t"}}{{with .Module}}{{.Main}}{{end}}{{"\t"}}` +
	`{{if and (or .GoFiles .CgoFiles) (not (or .ForTest .Incomplete (eq .Name "main")))}}true{{end}}{{"\t"}}{{join .Imports "\t"}}{{end}}`

// vetWanted prints the import path and the name of the export data, which is its digest, of
// what vet has not looked at yet and looks at for others: of the tested module that is what
// others import, and what reaches what is internal or vendored, which cannot be imported itself.
const vetWanted = `
BEGIN { FS = "\t"; inner = "(^|/)(internal|vendor)(/|$)" }
FILENAME == ARGV[1] { vetted[$0]; next }
$1 != "=" || $2 ~ /\.test$/ { next }
{ for (i = 6; i <= NF; i++) { imported[$i]; if ($i ~ inner) reaches[$2] } }
$5 == "true" && $2 !~ inner && $2 != "unsafe" { sub(/.*\//, "", $3); digest[$2] = $3; own[$2] = $4 }
END { for (p in digest) if ((own[p] != "true" || p in imported || p in reaches) && !((p " " digest[p]) in vetted)) print p, digest[p] }`
