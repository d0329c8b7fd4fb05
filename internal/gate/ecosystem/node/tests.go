package node

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// placeholder is the test script that "npm init" writes.
const placeholder = "no test specified"

// testNode sets the test commands: the runners that the test script calls, asked for
// machine-readable output, with what the script does before them, and what it runs behind
// them; else the script as a whole. tested says that it is the root of a workspace whose members
// have tests of their own.
func testNode(p *ecosystem.Project, s *ecosystem.Survey, dir string, manifests map[string]manifest, tested bool) {
	m, left := manifests[dir], maxTaken
	scripts := nodeScript{scripts: m.Scripts, hooks: !isBerry(s, dir, m), left: &left}
	c := ecosystem.Command{Stage: results.StageTest, Unit: dir}
	var parts []nodePart
	script := m.Scripts["test"]
	if script == "" || strings.Contains(script, placeholder) {
		if script = nodeRunnerOf(s, dir, manifests, tested); script == "" {
			return
		}
		parts = scripts.parts(script, 0)
	} else {
		parts = scripts.named("test", nil, 0)
	}
	pnp := plugged(s, p)
	whole := scriptsBy(s, p) + " test"
	if left < 0 || pnp && slices.ContainsFunc(parts, func(p nodePart) bool { return p.runner == nil && !p.lints() && !p.reports() }) {
		parts = nil // it is not known what it runs, or its programs are yarn's alone to find
	}
	last := len(parts) - 1
	for last >= 0 && parts[last].runner == nil {
		last--
	}
	if last < 0 {
		if !tested || !onlyMembers(parts) {
			p.Test = append(p.Test, c.Reporting(whole))
			p.Notes = append(p.Notes, fmt.Sprintf("what its test script calls (%s) has no output that names each test", script))
		}
		return
	}
	if script == m.Scripts["test"] {
		p.OwnTests = append(p.OwnTests, c.Reporting(whole))
	}
	built := builtFolders(s, dir, m)
	rebuild := testsBuilt(s, dir, m, built)
	var prelude []string
	for i, part := range parts {
		switch {
		case part.runner != nil:
			r := *part.runner
			r.pnp = pnp
			if r.goes != "" && stopsInSettings(s, dir) {
				r.flags = append(slices.Clone(r.flags), r.goes)
			}
			if slices.ContainsFunc(part.call.files, func(f string) bool { return inFirst(f, built) }) {
				r.nofiles, rebuild = true, true // files by other names than in the tree
			}
			one := r.command(c, part.call, prelude)
			one.Results.Rebuild = rebuild
			if len(prelude) > 0 {
				one.Script = "npm test"
			}
			p.Test = append(p.Test, one)
			prelude = nil
		case part.lints():
			p.Notes = append(p.Notes, fmt.Sprintf("%q of its test script looks at style alone, and is left to lint", part.text))
		case i < last && m.Scripts["build"] != "" && slices.Contains([]string{"npm run build", "yarn build", "pnpm build", "yarn run build", "pnpm run build"}, part.text):
			rebuild = true // it is a command of its own
		case i < last:
			tests, alone := part.tests(func(name string) []byte {
				if !s.Has(dir, name) {
					return nil
				}
				return s.Read(dir, name)
			})
			if tests {
				p.Test = append(p.Test, ecosystem.Command{Stage: results.StageTest, Unit: dir}.Reporting(part.text, binaries(dir)))
			}
			if !alone {
				prelude = append(prelude, part.text)
			}
		case !part.reports():
			own := ecosystem.Command{Stage: results.StageTest, Unit: dir}.Reporting(part.text, binaries(dir))
			p.Test = append(p.Test, own)
		}
	}
}

// stopping is a setting of a runner by which it stops at a failure.
var stopping = pattern.New(`["']?\b(?:bail|failFast)\b["']?\s*:\s*["']?(?:true|[1-9])`)

// stopsInSettings says whether the settings of a runner in a folder have it stop at a failure, so
// that what comes behind it is not known.
func stopsInSettings(s *ecosystem.Survey, dir string) bool {
	return slices.ContainsFunc(ecosystem.RunnerSettings, func(name string) bool { return s.Has(dir, name) && stopping.Match(s.Read(dir, name)) })
}

// isBerry says whether a package is one of yarn 2 or newer, which runs no scripts named
// pre and post.
func isBerry(s *ecosystem.Survey, dir string, m manifest) bool {
	return s.Has(dir, ".yarnrc.yml") || strings.HasPrefix(m.PackageManager, "yarn@") && !strings.HasPrefix(m.PackageManager, "yarn@1")
}

// bareRunners are those that a package without a test script can have among what it needs, with their
// calls.
var bareRunners = [][2]string{{"vitest", "vitest run"}, {"jest", "jest"}, {"mocha", "mocha"}, {"ava", "ava"}}

// nodeRunnerOf is the call of the runner that a package without a test script has. tested says that
// members of its workspace have such scripts.
func nodeRunnerOf(s *ecosystem.Survey, dir string, manifests map[string]manifest, tested bool) string {
	near := testsBelow(s, dir, func(in string) bool { _, ok := manifests[in]; return ok })
	own := testsBelow(s, dir, func(in string) bool { return manifests[in].testsItself() })
	if len(own) == 0 && (tested || len(testsBelow(s, dir, func(string) bool { return false })) > 0) {
		return ""
	}
	all := manifests[dir].all()
	for _, r := range bareRunners {
		if all[r[0]] != "" {
			return r[1]
		}
	}
	if slices.ContainsFunc(near[:min(len(near), maxTestsRead)], func(f string) bool { return nodeDefault.MatchString(f) && runsAlone.Match(s.Read(dir, f)) }) {
		return "node --test"
	}
	return ""
}

// runsAlone is what a file has that "node --test" can run, and none that other tests read.
var runsAlone = pattern.New(`\bnode:test\b|["'](?:node:)?assert\b`)

// testsBelow are the files of tests below a folder but for those in folders further in that are apart.
func testsBelow(s *ecosystem.Survey, dir string, apart func(in string) bool) []string {
	return slices.DeleteFunc(slices.Clone(s.Below(dir)), func(f string) bool {
		if !isNodeTest(f) && !nodeDefault.MatchString(f) || ecosystem.IgnoredDir(path.Dir(f)) {
			return true
		}
		in := path.Dir(f)
		for in != "." && !apart(path.Join(dir, in)) {
			in = path.Dir(in)
		}
		return in != "."
	})
}

// testsItself says whether a package has a script or a runner for its tests.
func (m manifest) testsItself() bool {
	script, all := m.Scripts["test"], m.all()
	return script != "" && !strings.Contains(script, placeholder) || slices.ContainsFunc(bareRunners, func(r [2]string) bool { return all[r[0]] != "" })
}

// quotedPath is a path of the package in the values of exports and bin.
var quotedPath = pattern.New(`"\.?/?([\w@.-]+)/[^"]*"`)

// builtFolders are the folders that the entries of a package lie in and the tree has not:
// its build makes them.
func builtFolders(s *ecosystem.Survey, dir string, m manifest) []string {
	if m.Scripts["build"] == "" && m.Scripts["pretest"] == "" && m.Scripts["compile"] == "" {
		return nil
	}
	var out []string
	text := fmt.Sprintf("%q %q %s %s", m.Main, m.Module, m.Bin, m.Exports)
	below := s.Below(dir)
	for _, found := range quotedPath.FindAllStringSubmatch(text, -1) {
		name := found[1]
		if !slices.Contains(out, name) && !slices.ContainsFunc(below, func(f string) bool { return strings.HasPrefix(f, name+"/") }) {
			out = append(out, name)
		}
	}
	return out
}

// inFirst says whether a path as written begins with one of the folders.
func inFirst(file string, folders []string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.Trim(file, `"'`), "./"), "/")
	return slices.Contains(folders, first)
}

// maxTestsRead bounds how many test files are searched for what they import.
const maxTestsRead = 200

// testsBuilt says whether tests of a package import what its build makes.
func testsBuilt(s *ecosystem.Survey, dir string, m manifest, built []string) bool {
	if len(built) == 0 {
		return false
	}
	names := make([]string, len(built))
	for i, b := range built {
		names[i] = regexp.QuoteMeta(b)
	}
	ways := []string{`(?:\.{1,2}/)+(?:` + strings.Join(names, "|") + `)(?:/[^"']*)?`, `\.\.(?:/\.\.)*/?`}
	way := `["'](?:` + strings.Join(ways, "|") + `)["']`
	if m.Name != "" { // which may be no more than a word of a test
		way += `|(?:\bfrom|\bimport|\brequire|\bmock|\bresolve)\s*\(?\s*["']` + regexp.QuoteMeta(m.Name) + `(?:/[^"']*)?["']`
	}
	imports := regexp.MustCompile(way)
	read := 0
	for _, f := range s.Below(dir) {
		if !isNodeTest(f) || ecosystem.IgnoredDir(path.Dir(f)) {
			continue
		}
		if read++; read > maxTestsRead {
			return true
		}
		if text, err := s.File(path.Join(dir, f)); err == nil && imports.Match(text) {
			return true
		}
	}
	return false
}
