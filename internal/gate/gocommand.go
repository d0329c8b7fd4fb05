package gate

import (
	"slices"
	"strings"
	"time"
)

// goResults is how "go test -json" tells tests apart.
func goResults() *results {
	return &results{
		name:    "go test -json",
		collect: func(unit string) collector { return newGoStream(unit) },
		narrow:  narrowGo,
		apart:   true,
		hang: func(c command, limit time.Duration) command {
			if slices.ContainsFunc(c.flags, setsTimeout) {
				return c
			}
			flag := "-timeout=" + limit.String()
			c.argv = slices.Insert(slices.Clone(c.argv), 3, flag)
			c.text = strings.Replace(c.text, "-json", "-json "+flag, 1)
			return c
		},
	}
}

// narrowGo runs packages, or some of their tests, anew.
func narrowGo(c command, p part) (command, bool) {
	args := []string{"-count=1"}
	if p.tests != nil {
		args = append(args, "-run="+only(p.tests))
	}
	return c.goTest(append(args, p.packages...)...), true
}

// goTest is "go test -json" with args in place of the packages of c, with its
// settings and flags.
func (c command) goTest(args ...string) command {
	before, _, _ := strings.Cut(c.text, "go test") // settings
	c.argv = slices.Concat([]string{"go", "test", "-json"}, c.flags, args)
	c.text = before + strings.Join(c.argv, " ")
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
func adoptGoTest(c command, words []string) (command, bool) {
	flags, packages, ok := goTestWords(words)
	if !ok {
		return c, false
	}
	c.results, c.flags = goResults(), flags
	c.argv = slices.Concat([]string{"go", "test", "-json"}, flags, packages)
	c.text = strings.Join(c.argv, " ")
	return c, true
}

// goTestWords splits a plain "go test" into its flags, without -json, and its
// packages. It leaves alone what runs elsewhere, runs no tests or passes
// arguments on to them.
func goTestWords(words []string) (flags, packages []string, ok bool) {
	if len(words) < 2 || words[0] != "go" || words[1] != "test" {
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
		case name == "json":
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
