package languages

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/workflows"
	"github.com/ycbot/ycbot/internal/pattern"
)

// naming says which of a project's sources name a variable.
type naming int

const (
	byNone naming = iota
	bySources
	byTests // files of tests, or conftest.py
)

// A namer looks for names of variables in the sources of a project.
type namer struct {
	s     *ecosystem.Survey
	p     ecosystem.Project
	known map[string]naming
}

// those are the variables that sources name, and that are not set for all commands anyway.
func (n namer) those(vars [][2]string) [][2]string {
	return slices.DeleteFunc(vars, func(v [2]string) bool {
		if _, known := n.known[v[0]]; !known {
			n.known[v[0]] = n.of(v[0])
		}
		return n.known[v[0]] == byNone || v == alwaysSet || !decidesTests(v[0])
	})
}

// learn looks for the variables of jobs in one walk through the sources.
func (n namer) learn(jobs []workflows.Job) {
	var names []string
	for _, j := range jobs {
		for _, v := range workflows.AlwaysSet(j.File) {
			names = append(names, v[0])
		}
		names = slices.AppendSeq(names, maps.Keys(j.Env))
		for _, s := range j.Steps {
			names = slices.AppendSeq(names, maps.Keys(s.Env))
			for _, m := range assignmentWord.FindAllStringSubmatch(s.Run, -1) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	n.look(slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !variableName.MatchString(name) || !decidesTests(name) }))
}

// assignmentWord is what a command sets a variable by.
var assignmentWord = pattern.New(`\b([A-Za-z_]\w*)=`)

func (n namer) of(variable string) naming {
	n.look([]string{variable})
	return n.known[variable]
}

// look says of variables which sources name them.
func (n namer) look(variables []string) {
	words := map[string]*regexp.Regexp{}
	for _, v := range variables {
		n.known[v] = byNone
		if slices.Contains(ofInterpreters, v) {
			n.known[v] = byTests
			continue
		}
		words[v] = regexp.MustCompile(`\b` + regexp.QuoteMeta(v) + `\b`)
	}
	for _, f := range n.s.Files {
		if len(words) == 0 || !ecosystem.Inside(n.p.Dir, f) || !IsSource(f) {
			continue
		}
		src := n.s.Read(".", f)
		for v, word := range words {
			switch {
			case !bytes.Contains(src, []byte(v)) || !word.Match(src):
			case n.p.Eco.IsTest != nil && n.p.Eco.IsTest(f), path.Base(f) == "conftest.py", bytes.Contains(src, []byte("#[cfg(test)]")):
				n.known[v] = byTests
				delete(words, v)
			default:
				n.known[v] = bySources
			}
		}
	}
}

// ofInterpreters are variables by which interpreters and runners do otherwise, also where no source names them.
var ofInterpreters = strings.Fields("PYTHONWARNINGS PYTHONDEVMODE PYTHONOPTIMIZE PYTEST_ADDOPTS NODE_OPTIONS RUBYOPT GOFLAGS GODEBUG GOEXPERIMENT RUSTFLAGS TZ LC_ALL LANG")
