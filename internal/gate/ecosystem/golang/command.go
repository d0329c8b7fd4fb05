package golang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// forPackages is c, which tests a whole module, for these packages only.
func forPackages(c ecosystem.Command, pkgs []string) ecosystem.Command {
	name, whole := c.Label(), cmp.Or(c.Whole, c.Text)
	c = goTestWith(c, pkgs...)
	c.Name, c.Whole, c.Packages = name, whole, pkgs
	return c
}

// butPackages is c, which tests a whole module, for all packages but these.
func butPackages(c ecosystem.Command, pkgs []string) ecosystem.Command {
	name, whole := c.Label(), c.Text
	except := ""
	for _, p := range pkgs {
		except += " -e " + ecosystem.Quoted(p)
	}
	c = goTestWith(c, fmt.Sprintf("$(go list -e ./... | grep -vxF%s)", except))
	how := *c.Results
	hang := how.Hang
	how.Hang = func(c ecosystem.Command, limit time.Duration) ecosystem.Command { return hang(c, limit).InShell() }
	c.Results, c.Name, c.Whole = &how, name, whole
	return c.InShell()
}

// goResults is how "go test -json" reports each test.
func goResults() *ecosystem.Results {
	return &ecosystem.Results{
		Name:    "go test -json",
		Collect: results.GoTest,
		Narrow:  narrowGo,
		Apart:   true,
		Hang: func(c ecosystem.Command, limit time.Duration) ecosystem.Command {
			if slices.ContainsFunc(c.Flags, setsTimeout) || slices.ContainsFunc(c.Argv, setsTimeout) {
				return c
			}
			flag := "-timeout=" + limit.String()
			c.Argv = slices.Insert(slices.Clone(c.Argv), 3, flag)
			c.Text = strings.Replace(c.Text, "-json", "-json "+flag, 1)
			return c
		},
	}
}

// narrowGo runs packages, or some of their tests, again.
func narrowGo(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) {
	args := []string{"-count=1"}
	if p.Tests != nil {
		args = append(args, "-run="+results.Only(p.Tests))
	}
	return goTestWith(c, append(args, p.Packages...)...), true
}

// goTestWith is "go test -json" with args in place of the packages of c, with its
// settings and flags.
func goTestWith(c ecosystem.Command, args ...string) ecosystem.Command {
	before, _, _ := strings.Cut(c.Text, "go test") // settings
	c.Argv = slices.Concat([]string{"go", "test", "-json"}, c.Flags, args)
	c.Text = before + strings.Join(c.Argv, " ")
	return c
}

func setsTimeout(flag string) bool {
	name := strings.TrimPrefix(strings.TrimLeft(flag, "-"), "test.")
	return strings.HasPrefix(flag, "-") && (name == "timeout" || strings.HasPrefix(name, "timeout="))
}

// goSwitches are the flags of "go test" that take no value ("go help build",
// "go help testflag"). All others do.
var goSwitches = []string{
	"a", "asan", "benchmem", "buildvcs", "cover", "failfast", "fullpath", "json", "linkshared", "modcacherw", "msan", "race", "short", "trimpath", "v", "work", "x",
}

// adoptGoTest asks a plain "go test" for machine-readable output.
func adoptGoTest(c ecosystem.Command, words []string) (ecosystem.Command, bool) {
	flags, packages, ok := goTestWords(words)
	if !ok {
		return c, false
	}
	c.Results, c.Flags = goResults(), flags
	c.Argv = slices.Concat([]string{"go", "test", "-json"}, flags, packages)
	c.Text = strings.Join(c.Argv, " ")
	return c, true
}

// goTestWords splits a plain "go test" into its flags, without -json, and its
// packages. It leaves alone what runs elsewhere, runs no tests or passes
// arguments on to them.
func goTestWords(words []string) (flags, packages []string, ok bool) {
	quotes := func(w string) bool { return strings.ContainsAny(w, `"'`) } // which only a shell takes away
	if len(words) < 2 || words[0] != "go" || words[1] != "test" || slices.ContainsFunc(words, quotes) {
		return nil, nil, false
	}
	words = words[2:]
	for i := 0; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "-") {
			packages = append(packages, words[i])
			continue
		}
		name, _, value := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		switch {
		case slices.Contains([]string{"C", "args", "c", "n", "list", "exec", "o"}, name):
			return nil, nil, false
		case name == "json", name == "failfast": // it would stop at a failure
		case value || slices.Contains(goSwitches, name):
			flags = append(flags, words[i])
		case i+1 == len(words):
			return nil, nil, false
		default:
			flags = append(flags, words[i], words[i+1])
			i++
		}
	}
	return flags, packages, true
}
