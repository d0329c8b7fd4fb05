package python

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// What tests need stands in the settings of many tools, beside the standard tables of pyproject.toml. All
// of it is read as text: what is put together by code is left out.

var (
	setupExtras = pattern.New(`(?s)\bextras_require\s*=\s*(?:dict\(|\{)(.*)`)
	setupExtra  = pattern.New(`(?s)(?:["']([\w.-]+)["']\s*:|\b(\w+)\s*=)\s*(\[[^\]]*\])`)
	cfgExtras   = pattern.New(`(?ms)^\[options\.extras_require\][ \t]*$(.*?)(?:^\[|\z)`)
	cfgExtra    = pattern.New(`(?m)^([\w.-]+)[ \t]*=(.*(?:\n[ \t]+.*)*)`)
	toxDeps     = pattern.New(`(?m)^deps[ \t]*=(.*(?:\n[ \t]+.*)*)`)
	noxSession  = pattern.New(`(?m)^(?:async )?def (\w+)\(`)
	noxInstalls = pattern.New(`(?s)\bsession\.install\(([^()]*)\)`)
	quotedWord  = pattern.New(`["']([^"'\n]*)["']`)
	toxRequires = pattern.New(`^(?:-r|--requirement)[\s=]*(?:\{toxinidir\}/|\{tox_root\}/|\./)?([\w./-]+)$`)
)

// setupToolsExtras are the extras that setup.cfg and setup.py have, each with what it needs.
func setupToolsExtras(s *ecosystem.Survey, dir string) map[string][]string {
	out := map[string][]string{}
	if section := cfgExtras.FindStringSubmatch(string(s.Read(dir, "setup.cfg"))); section != nil {
		for _, m := range cfgExtra.FindAllStringSubmatch(section[1], -1) {
			out[m[1]] = requirementsIn(strings.Split(m[2], "\n"))
		}
	}
	if all := setupExtras.FindStringSubmatch(string(s.Read(dir, "setup.py"))); all != nil {
		for _, m := range setupExtra.FindAllStringSubmatch(all[1], -1) {
			if list, broken := ecosystem.ParseTOML([]byte("list = " + m[3])); !broken { // strings in a list are written alike
				out[m[1]+m[2]] = requirementsIn(list.Texts("list"))
			}
		}
	}
	return out
}

// requirementsIn are the lines of a text, or the words of a call, that are requirements.
func requirementsIn(lines []string) []string {
	var out []string
	for _, line := range lines {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); requirement.MatchString(line) {
			out = append(out, line)
		}
	}
	return out
}

// byTools are the requirements of tests that tox, nox, hatch, PDM and uv install, and those of setup.py,
// with the files of requirements that they name.
func (f pyFacts) byTools(s *ecosystem.Survey, dir string) (found, files []string) {
	file := func(name string) {
		if s.Has(dir, name) && !slices.Contains(files, name) {
			files = append(files, path.Clean(name))
		}
	}
	if base := toxBase.FindStringSubmatch(f.tox); base != nil {
		for _, m := range toxDeps.FindAllStringSubmatch(base[1], -1) {
			for line := range strings.SplitSeq(m[1], "\n") {
				if r := toxRequires.FindStringSubmatch(strings.TrimSpace(line)); r != nil {
					file(r[1])
				}
				found = append(found, requirementsIn([]string{line})...)
			}
		}
	}
	for _, call := range noxInstalls.FindAllStringSubmatch(noxOfTests(f.nox), -1) {
		was := ""
		for _, word := range quotedWord.FindAllStringSubmatch(call[1], -1) {
			if was == "-r" {
				file(word[1])
			} else if !strings.HasPrefix(was, "-") {
				found = append(found, requirementsIn([]string{word[1]})...)
			}
			was = word[1]
		}
	}
	tool := f.pyproject.Table("tool")
	for _, name := range hatchEnvironments {
		env := tool.Table("hatch", "envs", name)
		found = append(found, requirementsIn(slices.Concat(env.Texts("dependencies"), env.Texts("extra-dependencies")))...)
	}
	pdm := tool.Table("pdm", "dev-dependencies")
	for _, name := range pdm.Keys() {
		if slices.Contains(usualExtras, name) {
			found = append(found, requirementsIn(pdm.Texts(name))...)
		}
	}
	found = append(found, requirementsIn(tool.Table("uv").Texts("dev-dependencies"))...)
	for _, m := range testsRequire.FindAllStringSubmatch(string(s.Read(dir, "setup.py")), -1) {
		list, _ := ecosystem.ParseTOML([]byte("list = " + m[1]))
		found = append(found, requirementsIn(list.Texts("list"))...)
	}
	return slices.DeleteFunc(found, func(r string) bool { return notForTests.MatchString(requirement.FindStringSubmatch(r)[1]) }), files
}

// noxOfTests is the text of the session of nox that runs the tests, one where there are several: each has
// an environment of its own, with versions that pip does not install together.
func noxOfTests(nox string) string {
	best, out := 4, ""
	sessions := noxSession.FindAllStringSubmatchIndex(nox, -1)
	for i, at := range sessions {
		end := len(nox)
		if i+1 < len(sessions) {
			end = sessions[i+1][0]
		}
		name, text, rank := nox[at[2]:at[3]], nox[at[0]:end], best
		named, runs := testTask.MatchString(name) || strings.HasPrefix(name, "test"), noxTests.MatchString(text)
		switch {
		case name == "tests" || name == "test":
			rank = 0
		case named && runs:
			rank = 1
		case runs && !notForTests.MatchString(strings.ReplaceAll(name, "_", "-")):
			rank = 2
		case named:
			rank = 3
		}
		if rank < best {
			best, out = rank, text
		}
	}
	return out
}

var testsRequire = pattern.New(`(?s)\btests_require\s*=\s*(\[[^\]]*\])`)

// byMissingManager are the requirements of tests that poetry or pipenv would install, where this machine has
// not the manager: in the versions of the lockfile where that says them.
func byMissingManager(s *ecosystem.Survey, dir string, f pyFacts) []string {
	poetry := f.pyproject.Table("tool", "poetry")
	tables := []ecosystem.TOML{poetry.Table("dev-dependencies")}
	for _, name := range poetry.Table("group").Keys() {
		if slices.Contains(usualExtras, name) {
			tables = append(tables, poetry.Table("group", name, "dependencies"))
		}
	}
	pipfile, _ := ecosystem.ParseTOML(s.Read(dir, "Pipfile"))
	tables = append(tables, pipfile.Table("packages"), pipfile.Table("dev-packages"))
	locked := lockedVersions(s, dir)
	var out []string
	for _, t := range tables {
		for _, key := range requirementsIn(registered(t)) {
			at := slices.IndexFunc(locked, func(line string) bool { return sameDistribution(strings.SplitN(line, "=", 2)[0], key) })
			if at >= 0 {
				key = locked[at]
			}
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
