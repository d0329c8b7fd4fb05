package golang

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// goVariants does so with the programs that "go test" makes.
func goVariants() *ecosystem.Variants {
	return &ecosystem.Variants{
		Build: func(c ecosystem.Command, tested, counted []ecosystem.Package) ecosystem.Command {
			flags := slices.Concat(c.Flags, []string{"-vet=off"})
			if !slices.ContainsFunc(c.Flags, func(f string) bool { return strings.HasPrefix(strings.TrimLeft(f, "-"), "gcflags") }) {
				flags = append(flags, "-gcflags=-e") // all errors
			}
			if len(counted) > 0 {
				flags = append(flags, "-cover", "-coverpkg="+strings.Join(importPaths(counted), ","))
			}
			script := "status=0\n"
			for _, p := range tested {
				call := slices.Concat([]string{"go", "test", "-c"}, flags, []string{"-o"})
				script += fmt.Sprintf("command -p mkdir -p %s && %s %s %s || status=1\n", path.Dir(testProgram(p, len(counted) > 0)), ecosystem.Quoted(call...), testProgram(p, len(counted) > 0), ecosystem.Quoted(p.ImportPath))
			}
			c.Text = "go test -c " + strings.Join(slices.Concat(flags, importPaths(tested)), " ")
			c.Argv = []string{"bash", "--noprofile", "--norc", "-c", "exec 2>&1\n" + script + "exit $status"}
			c.Results = nil
			return c
		},
		Run: func(c ecosystem.Command, tested []ecosystem.Package, how ecosystem.VariantRun) ecosystem.Command {
			script, own := "status=0\n", programFlags(c.Flags)
			var texts []string
			for _, p := range tested {
				if names, ok := how.Tests[p.ImportPath]; ok && len(names) == 0 {
					continue // none of its tests
				}
				flags := slices.Concat([]string{"-test.paniconexit0", "-test.v=true", "-test.timeout=" + how.Limit.String()}, own)
				if how.First {
					flags = append(flags, "-test.failfast")
				}
				if names := how.Tests[p.ImportPath]; len(names) > 0 && !selects(c.Flags) {
					flags = append(flags, "-test.run="+exactly(names))
				}
				script += "printf '%s\\n' " + ecosystem.Quoted(results.PackageMark+" "+p.ImportPath) + "\n" + inProgram(c.Unit, p, false, flags, "") + " || status=1\n"
				texts = append(texts, path.Base(p.ImportPath)+".test "+strings.Join(flags, " "))
			}
			c.Text = how.Setting + " " + strings.Join(texts, "; ")
			c.Argv = []string{"bash", "--noprofile", "--norc", "-c", "export " + how.Setting + "\n" + script + "exit $status"}
			c.Results = &ecosystem.Results{Name: "lines of test programs", Collect: results.GoPrograms}
			return c
		},
		Each: func(c ecosystem.Command, tests []ecosystem.VariantTest, limit time.Duration) (ecosystem.Command, *results.EachCounts) {
			script, own := "COUNTS=$(command -p mktemp) || exit 1\n", programFlags(c.Flags)
			for _, t := range tests {
				flags := slices.Concat([]string{"-test.paniconexit0", "-test.timeout=" + limit.String(), "-test.run=" + exactly([]string{t.Test})}, own)
				script += "command -p rm -f \"$COUNTS\"\n" + inProgram(c.Unit, t.Package, true, flags, " -test.coverprofile=\"$COUNTS\" >/dev/null") +
					"\nprintf '%s %s %s\\n' " + ecosystem.Quoted(results.TestMark) + " $? " + ecosystem.Quoted(t.Package.ImportPath+" "+t.Test) + "; command -p cat \"$COUNTS\" 2>/dev/null\n"
			}
			c.Text = fmt.Sprintf("each of %s by itself: %s", results.Count(len(tests), "test", "tests"), results.Listed(testNames(tests), 3))
			c.Argv = []string{"bash", "--noprofile", "--norc", "-c", script + "command -p rm -f \"$COUNTS\""}
			c.Results = nil
			return c, results.NewEachCounts(c.Unit)
		},
	}
}

func testNames(tests []ecosystem.VariantTest) []string {
	var out []string
	for _, t := range tests {
		out = append(out, t.Test)
	}
	return out
}

func importPaths(pkgs []ecosystem.Package) []string {
	var out []string
	for _, p := range pkgs {
		out = append(out, p.ImportPath)
	}
	return out
}

// testProgram is where the program of a package is, as a shell takes it: in HOME, where no
// test looks for sources.
func testProgram(p ecosystem.Package, counted bool) string {
	kind := "plain"
	if counted {
		kind = "counted"
	}
	return `"$HOME"/` + ecosystem.Quoted(".test-programs/"+kind+"/"+strings.ReplaceAll(p.ImportPath, "/", "_")+"/"+path.Base(p.ImportPath)+".test")
}

// inProgram runs the program of a package in its folder, with more behind the flags.
func inProgram(unit string, p ecosystem.Package, counted bool, flags []string, more string) string {
	program := testProgram(p, counted)
	dir := p.Dir
	if unit != "." {
		dir = cmp.Or(strings.TrimPrefix(strings.TrimPrefix(dir, unit), "/"), ".")
	}
	return fmt.Sprintf("[ -x %s ] || exit %d\n( cd ./%s && exec %s %s%s </dev/null )", program, ecosystem.ExitUnbuilt, ecosystem.Quoted(dir), program, ecosystem.Quoted(flags...), more)
}

// programFlags are the flags of "go test" that are for the program, as it takes them.
func programFlags(flags []string) []string {
	var out []string
	for i := 0; i < len(flags); i++ {
		name, value, has := strings.Cut(strings.TrimPrefix(strings.TrimLeft(flags[i], "-"), "test."), "=")
		if !has && !slices.Contains(goSwitches, name) && i+1 < len(flags) {
			i++
			value, has = flags[i], true
		}
		switch name {
		case "short":
			out = append(out, "-test.short="+map[bool]string{true: value, false: "true"}[has])
		case "parallel", "cpu", "run", "skip":
			out = append(out, "-test."+name+"="+value)
		}
	}
	return out
}

// selects says whether flags choose tests already.
func selects(flags []string) bool {
	return slices.ContainsFunc(programFlags(flags), func(f string) bool { return strings.HasPrefix(f, "-test.run=") })
}

// exactly is the expression for these top-level tests.
func exactly(names []string) string {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return results.Only(set)
}
