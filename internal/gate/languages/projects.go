package languages

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// FindProjects asks every ecosystem for its projects. Targets of a Makefile and
// its like count only where nothing else has tests in or below its folder.
func FindProjects(s *ecosystem.Survey) []ecosystem.Project {
	var out []ecosystem.Project
	for _, eco := range All() {
		for _, p := range eco.Find(s) {
			p.Eco = eco
			if eco.Packages != nil && untested(s, p) && TargetForTests(s, p.Dir) != "" {
				p.Test = nil // its target tests it
			}
			if eco.Calls && callsOthers(s, p, out) {
				if at := slices.IndexFunc(out, func(o ecosystem.Project) bool { return o.Dir == p.Dir && len(o.Test) > 0 && !o.Eco.Calls }); at >= 0 {
					scripted(&out[at], s)
				}
				continue
			}
			for _, list := range [][]ecosystem.Command{p.Setup, p.Warm, p.Build, p.Lint, p.Test, p.OwnTests} {
				for i := range list {
					list[i].Eco = eco.Name
				}
			}
			out = append(out, p)
		}
	}
	for i := range out {
		if len(out[i].Test) == 0 {
			continue
		}
		out[i].Given, out[i].Ungiven = given(s, out[i])
		if !out[i].Eco.Calls && out[i].Differs == "" {
			tested := func(dir string) bool {
				return slices.ContainsFunc(out, func(p ecosystem.Project) bool { return p.Dir == dir && len(p.Test) > 0 })
			}
			if out[i].Target != "" {
				out[i].Differs = otherwise(s, out[i].Dir, tested)
			} else {
				byScript(&out[i], s, tested)
			}
		}
	}
	return out
}

// untested says whether no file of tests stands in or below the folder of a project.
func untested(s *ecosystem.Survey, p ecosystem.Project) bool {
	return !slices.ContainsFunc(s.Files, func(f string) bool { return ecosystem.Inside(p.Dir, f) && p.Eco.IsTest(f) })
}

// callsOthers says whether the targets of a project call what is run by itself: projects in
// its folder that have tests. They do not where it has sources in C that are of none of these,
// as where files for CMake and Meson stand aside in build/.
func callsOthers(s *ecosystem.Survey, p ecosystem.Project, found []ecosystem.Project) bool {
	inside := func(o ecosystem.Project) bool {
		return ecosystem.Inside(p.Dir, o.Dir) && (len(o.Test) > 0 || o.Missing != "")
	}
	return slices.ContainsFunc(found, inside) && !slices.ContainsFunc(s.Files, func(f string) bool {
		return ecosystem.Inside(p.Dir, f) && native.IsProductSource(f) && !ecosystem.IgnoredDir(path.Dir(f)) &&
			!slices.ContainsFunc(found, func(o ecosystem.Project) bool { return inside(o) && ecosystem.Inside(o.Dir, f) })
	})
}

// runsTests is a call of a runner of tests, which ycbot makes by itself.
var runsTests = pattern.New(`\b(?:go\s+test|gotestsum|cargo\s+(?:nextest|test)|pytest|py\.test|unittest|manage\.py\s+test|tox|nox|(?:npm|yarn|pnpm|bun)\s+(?:run\s+)?test|node\s+(?:\S+\s+)*--test|jest|mocha|vitest|ava|tap|rspec|rake|minitest|phpunit|pest|mix\s+test|mvnw?|gradlew?|ctest|meson\s+test|make|dotnet\s+test|swift\s+test)\b`)

// generates is a call that makes sources of what their comments say.
var generates = pattern.New(`\bgo generate\b`)

// scripted notes the target for tests of the project's folder, what it does in another way than
// ycbot calls the runner, and the scripts that it runs beside it, as nothing else runs them.
func scripted(p *ecosystem.Project, s *ecosystem.Survey) {
	file := native.FileOfTargets(s, p.Dir)
	if file == "" {
		return
	}
	recipes := ecosystem.TestRecipes(file, string(native.Targets(s, p.Dir, file)))
	targets := slices.DeleteFunc(native.TargetsForTests(s, p.Dir), func(t string) bool {
		return strings.HasSuffix(t, " check") && !runsTests.MatchString(recipes) // it looks for style
	})
	if len(targets) == 0 {
		return
	}
	p.Target, p.Differs = targets[0], ""
	for i, t := range targets {
		target := ecosystem.Command{Stage: results.StageTest, Unit: p.Dir, Text: t, Eco: p.Eco.Name}.InShell()
		p.OwnTests = slices.Insert(p.OwnTests, i, target) // it may run more than a script
	}
	if generates.MatchString(recipes) {
		p.Scripts = append(p.Scripts, "go generate")
	}
	for _, w := range ecosystem.CalledIn(recipes) {
		name := path.Join(p.Dir, w)
		if s.Has(".", name) && !slices.Contains(p.Scripts, name) && !runsTests.Match(s.Read(".", name)) {
			p.Scripts = append(p.Scripts, name)
		}
	}
}

// testScripts are usual names of scripts that run a project's tests.
var testScripts = strings.Fields(`script/test bin/test scripts/test scripts/test.sh test.sh run_tests.sh run-tests.sh runtests.sh
	hack/test.sh ci/test.sh tools/test.sh dev/test.sh bin/test.sh scripts/run-tests.sh scripts/run_tests.sh
	runtests.py run_tests.py run-tests.py scripts/test.py scripts/run_tests.py`)

// byScript notes a script that runs the tests of a project without a target for them, where it
// calls the runner in another way than ycbot, or does more.
func byScript(p *ecosystem.Project, s *ecosystem.Survey, tested func(dir string) bool) {
	for _, name := range testScripts {
		call := scriptCall(*p, string(s.Read(p.Dir, name)), name, tested)
		if call == "" {
			continue
		}
		p.Target, p.Differs = call, "it is the project's script for its tests"
		p.OwnTests = append(p.OwnTests, ecosystem.Command{Stage: results.StageTest, Unit: p.Dir, Text: p.Target, Eco: p.Eco.Name}.InShell())
		return
	}
}

// scriptCall is the call of a script that runs a project's tests in another way than ycbot, or does
// more; empty: it is none.
func scriptCall(p ecosystem.Project, src, name string, tested func(dir string) bool) string {
	if path.Ext(name) == ".py" {
		if !runsTestsIn(p, src) || elsewhere.MatchString(src) {
			return ""
		}
		return interpreted(p, "python3 "+name)
	}
	if !strings.HasPrefix(src, "#!") || !runsTests.MatchString(src) {
		return ""
	}
	parsed, err := shelltext.Parse(src)
	o := other{dir: p.Dir, tested: tested, script: func(string) bool { return false }}
	if err != nil || !o.in(parsed) {
		return "" // it is none of a shell, or does the same
	}
	return "./" + name
}

// TargetForTests is the command that runs a folder's target for tests, "" where it has none.
func TargetForTests(s *ecosystem.Survey, dir string) string {
	if t := native.TargetsForTests(s, dir); len(t) > 0 {
		return t[0]
	}
	return ""
}
