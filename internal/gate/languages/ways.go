package languages

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// ways say whether a call runs a project's tests in another way than ycbot does.
type ways struct {
	p       ecosystem.Project
	calls   other
	scripts map[string]string // of package.json, by name
	usual   map[string]bool   // those that "test" runs
	targets map[string]string // recipes of its Makefile, but of those for tests
}

func newWays(s *ecosystem.Survey, p ecosystem.Project) ways {
	w := ways{
		p:       p,
		calls:   other{dir: p.Dir, tested: func(string) bool { return true }, script: func(string) bool { return false }},
		scripts: scriptsOf(s, p.Dir), usual: map[string]bool{},
	}
	if file := native.FileOfTargets(s, p.Dir); file != "" {
		text := string(native.Targets(s, p.Dir, file))
		w.targets = ecosystem.Recipes(expanded(text, text))
		for _, t := range native.TargetsForTests(s, p.Dir) {
			delete(w.targets, strings.TrimPrefix(t, "make "))
		}
	}
	for next := []string{"test"}; len(next) > 0; next = next[1:] {
		if w.usual[next[0]] {
			continue
		}
		w.usual[next[0]] = true
		text := w.scripts[next[0]]
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'", r) }) {
			for rest, more := word, true; more; _, rest, more = strings.Cut(rest, ":") {
				if w.scripts[rest] != "" {
					next = append(next, rest)
				}
			}
		}
		if !strings.Contains(text, ":*") {
			continue
		}
		for name := range w.scripts {
			if prefix, _, ok := strings.Cut(name, ":"); ok && !w.usual[name] && strings.Contains(text, prefix+":*") {
				next = append(next, name)
			}
		}
	}
	return w
}

// decides says whether a call of a runner has options that decide how its tests run.
func (w ways) decides(call string) bool {
	parsed, err := shelltext.Parse(call)
	return err == nil && w.calls.in(parsed)
}

// script is the script of package.json that a line calls; empty: none.
func (w ways) script(line string) string {
	return (&caller{scripts: w.scripts}).script(strings.Fields(line))
}

// elsewhere says whether a script names other files and folders than the usual ones do.
func (w ways) elsewhere(text string) bool {
	usual := map[string]bool{}
	for name := range w.usual {
		for _, word := range strings.Fields(w.scripts[name]) {
			usual[strings.Trim(word, `"'/.`)] = true
		}
	}
	return slices.ContainsFunc(strings.Fields(text)[1:], func(word string) bool {
		word = strings.Trim(word, `"'/.`)
		return !usual[word] && !strings.HasPrefix(word, "-") && strings.ContainsAny(word, "/*") || !usual[word] && testFolder.MatchString(word)
	})
}

// testFolder is the name of a folder of tests.
var testFolder = pattern.New(`(?i)^(?:e2e|spec|specs|tests?|__tests__|integration|acceptance|functional|unit|system|smoke)$`)

// named is a line that runs tests in another way than the project's usual call does, by a script of
// package.json, a target of its Makefile, or several commands; empty: it is none.
func (w ways) named(line string) string {
	words := strings.Fields(line)
	if len(words) < 2 || strings.Contains(line, "${{") {
		return ""
	}
	script := w.script(line)
	switch {
	case script != "":
		if text := w.scripts[script]; w.usual[script] || !runsTests.MatchString(text) || !w.decides(text) && !w.elsewhere(text) {
			return ""
		}
	case words[0] == "make" && len(words) == 2 && w.targets[words[1]] != "":
		if recipe := w.targets[words[1]]; !runsTests.MatchString(recipe) || !slices.ContainsFunc(strings.Split(recipe, "\n"), func(l string) bool {
			return w.decides(strings.TrimLeft(strings.TrimSpace(strings.ReplaceAll(l, "$$", "$")), "@+-"))
		}) {
			return ""
		}
	case !w.whole(line) || !w.decides(line):
		return ""
	}
	return line
}

// whole says whether a line runs tests of the project, and can be run as it stands: all is known that
// it says, and a failure of the tests is one of the line.
func (w ways) whole(line string) bool {
	return runsTests.MatchString(line) && ofRunner(w.p, line) && !unknownValue.MatchString(line) && !strings.Contains(line, "||")
}

// unknownValue is a variable with the value of another one.
var unknownValue = pattern.New(`\b[A-Za-z_]\w*=["']?[^\s"']*[$` + "`" + `]|<<\s*\w+\.`)
