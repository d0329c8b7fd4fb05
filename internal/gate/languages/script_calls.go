package languages

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// file is the script of the project that a line of a step calls, from the project's folder; empty: it
// calls none.
func (c *calls) file(line string) string {
	words := strings.Fields(line)
	for len(words) > 0 && ecosystem.IsAssignment(words[0]) {
		words = words[1:]
	}
	if started, plain := launched(words); plain {
		words = started
	}
	if len(words) > 1 && interpreters.MatchString(words[0]) {
		words = words[1:]
		for len(words) > 1 && strings.HasPrefix(words[0], "-") && words[0] != "-c" && words[0] != "-m" {
			words = words[1:]
		}
	}
	if len(words) == 0 || strings.ContainsAny(line, "|&;$<>`") {
		return ""
	}
	name := strings.TrimPrefix(strings.Trim(words[0], `"'`), "./")
	if !strings.ContainsAny(name, "/.") || !c.s.Has(c.p.Dir, name) {
		return ""
	}
	return name
}

var interpreters = pattern.New(`^(?:\S*/)?(?:ba|da|k|z)?sh$|^(?:\S*/)?python[\d.]*$`)

// script looks at a script of the project that a step calls with variables: it is run where it runs the
// project's tests in another way than ycbot, or does more.
func (c *calls) script(from, line, name string, vars [][2]string) {
	src := string(c.s.Read(c.p.Dir, name))
	switch {
	case !runsTestsIn(c.p, src):
	case elsewhere.MatchString(src):
		c.leave("what its tests do as %s calls %q, which needs more than is here", from, line)
	case len(vars) > 0 || doesMore(c.p, name, src):
		c.add(from, withVariables(vars, interpreted(c.p, line)), vars, true)
	}
}

// byName looks at the script of the project that a script of package.json or a target calls, by its line in
// a step.
func (c *calls) byName(from, line string, vars [][2]string) {
	words := strings.Fields(line)
	text := c.ways.scripts[c.ways.script(line)]
	if len(words) == 2 && words[0] == "make" {
		text = c.ways.targets[words[1]]
	}
	for recipe := range strings.Lines(text) {
		recipe = strings.TrimLeft(strings.TrimSpace(recipe), "@+-")
		name := c.file(recipe)
		if src := string(c.s.Read(c.p.Dir, name)); name != "" && runsTestsIn(c.p, src) && !elsewhere.MatchString(src) && doesMore(c.p, name, src) {
			c.add(from, withVariables(vars, line), vars, true)
			return
		}
	}
}

// runsTestsIn says whether a script runs tests of a project, in a shell or as words of a program.
func runsTestsIn(p ecosystem.Project, src string) bool {
	words := inWords.ReplaceAllString(src, " ")
	return runsTests.MatchString(words) && ofRunner(p, words)
}

// elsewhere is what reaches beyond a machine of tests.
var elsewhere = pattern.New(`(?m)^\s*(?:sudo|docker|docker-compose|podman|kubectl|helm|terraform|aws|gcloud|ssh|scp|vagrant|apt-get|apt|brew)\s`)

// doesMore says whether a script that runs a project's tests does so in another way than ycbot, or
// does more. What a program does that is no shell is not known.
func doesMore(p ecosystem.Project, name, src string) bool {
	if path.Ext(name) == ".py" {
		return true
	}
	parsed, err := shelltext.Parse(src)
	o := other{dir: p.Dir, tested: func(string) bool { return true }, script: func(string) bool { return false }}
	return err == nil && o.in(parsed)
}

// interpreted is a call of a program of Python by the interpreter that the project's tests have here.
func interpreted(p ecosystem.Project, line string) string {
	words := strings.Fields(line)
	at := slices.IndexFunc(words, func(w string) bool { return !ecosystem.IsAssignment(w) })
	if at < 0 || !strings.HasPrefix(words[at], "python") {
		return line
	}
	words[at] = "python3"
	for _, t := range p.Test {
		for w := range strings.FieldsSeq(t.Text) {
			if strings.HasPrefix(path.Base(w), "python") && strings.Contains(w, "/") {
				words[at] = w
			}
		}
	}
	return strings.Join(words, " ")
}

// setsVariable is what programs set variables of commands by.
var setsVariable = pattern.New(`(?i)\benv\b|\benviron\b|\b(?:set|put)env\b`)

// programs names the programs by which tools run a project's tests with variables, where these are not
// here: what they do cannot be read.
func (c *calls) programs() {
	for _, f := range c.s.Files {
		rest, inside := f, c.p.Dir == "."
		if !inside {
			rest, inside = strings.CutPrefix(f, c.p.Dir+"/")
		}
		tool := ""
		switch {
		case !inside || strings.Count(rest, "/") > 1:
			continue
		case slices.Contains([]string{"tasks.py", "tasks/__init__.py"}, rest):
			tool = "invoke"
		case rest == "dodo.py":
			tool = "doit"
		case rest == "fabfile.py":
			tool = "fabric"
		case path.Ext(rest) == ".go" && (strings.HasPrefix(rest, "magefile") || strings.HasPrefix(rest, "mage")):
			tool = "mage"
		default:
			continue
		}
		if src := string(c.s.Read(".", f)); (tool != "mage" || strings.Contains(src, "mage")) && setsVariable.MatchString(src) && runsTestsIn(c.p, src) {
			c.leave("what its tests do as %s has %s run them", f, tool)
		}
	}
}
