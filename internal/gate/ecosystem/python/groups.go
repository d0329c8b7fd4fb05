package python

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// usualExtras are the optional dependencies that tests usually need.
var usualExtras = []string{"test", "tests", "testing", "dev", "all"}

// What tox.ini says of all environments (https://tox.wiki/en/stable/config.html), and
// its settings that name extras and groups of pyproject.toml; single environments are
// often of style, types and documentation.
var (
	toxBase   = pattern.New(`(?ms)^\[testenv\][ \t]*$(.*?)(?:^\[|\z)`)
	toxExtras = pattern.New(`(?m)^extras[ \t]*=(.*(?:\n[ \t]+.*)*)`)
	toxGroups = pattern.New(`(?m)^dependency_groups[ \t]*=(.*(?:\n[ \t]+.*)*)`)
)

// toxWords are what such settings name, of what there is.
func toxWords(tox string, settings *pattern.Pattern, there []string) []string {
	var out []string
	base := toxBase.FindStringSubmatch(tox)
	if base == nil {
		return nil
	}
	for _, m := range settings.FindAllStringSubmatch(base[1], -1) {
		for _, word := range strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' }) {
			if slices.Contains(there, word) && !slices.Contains(out, word) && !notForTests.MatchString(word) {
				out = append(out, word)
			}
		}
	}
	return out
}

// extras are the optional dependencies that tests need: the usual ones, and those that
// tox installs.
func (f pyFacts) extras() []string {
	there := slices.Concat(f.pyproject.Table("project", "optional-dependencies").Keys(), slices.Sorted(maps.Keys(f.extrasBeside)))
	out := slices.DeleteFunc(slices.Clone(there), func(key string) bool { return !slices.Contains(usualExtras, key) })
	for _, key := range toxWords(f.tox, toxExtras, there) {
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ofExtras are the requirements of those that setup.cfg and setup.py have.
func (f pyFacts) ofExtras() []string {
	var out []string
	for _, key := range f.extras() {
		out = append(out, f.extrasBeside[key]...)
	}
	return out
}

// conflicting are options of uv that leave out all but one of the extras and groups that are not
// installed together (https://docs.astral.sh/uv/concepts/projects/config/#conflicting-dependencies):
// one of tests stays, else the first.
func (f pyFacts) conflicting() string {
	out := ""
	sets, _ := f.top.Table("tool", "uv")["conflicts"].([]any)
	for _, set := range sets {
		list, _ := set.([]any)
		var options, names []string
		for _, item := range list {
			one, _ := item.(map[string]any)
			if of, ok := one["package"]; ok && f.workspace == "" && of != f.pyproject.Table("project").Text("name") {
				continue
			}
			for _, kind := range []string{"extra", "group"} {
				if name, _ := one[kind].(string); name != "" {
					options, names = append(options, " --no-"+kind+" "+ecosystem.Quoted(name)), append(names, name)
				}
			}
		}
		keep := max(0, slices.IndexFunc(names, func(name string) bool { return slices.Contains(usualExtras, name) }))
		for i, option := range options {
			if i != keep && !strings.Contains(out+" ", option+" ") {
				out += option
			}
		}
	}
	return out
}

// optionalGroups is the option of poetry for the groups of tests that it installs only where they are named
// (https://python-poetry.org/docs/managing-dependencies/#optional-groups).
func (f pyFacts) optionalGroups() string {
	groups := f.pyproject.Table("tool", "poetry", "group")
	names := slices.DeleteFunc(groups.Keys(), func(name string) bool {
		return groups.Table(name)["optional"] != true || !slices.Contains(usualExtras, name)
	})
	if len(names) == 0 {
		return ""
	}
	return " --with " + strings.Join(names, ",")
}

// self is the project with its extras, for pip.
func (f pyFacts) self() string {
	if names := f.extras(); len(names) > 0 {
		return ".[" + strings.Join(names, ",") + "]"
	}
	return "."
}

// grouped are the requirements of the dependency groups that tests need
// (https://packaging.python.org/en/latest/specifications/dependency-groups/): those that
// tox installs, else those that are called after tests, else, where no extra is, those of
// developers.
func (f pyFacts) grouped() []string {
	groups := f.pyproject.Table("dependency-groups")
	names := toxWords(f.tox, toxGroups, groups.Keys())
	ofTests := []string{"test", "tests", "testing"}
	usual := ofTests
	if !slices.ContainsFunc(f.extras(), func(name string) bool { return slices.Contains(ofTests, name) }) {
		usual = append(slices.Clone(ofTests), "dev")
	}
	for _, key := range usual {
		if len(names) == 0 && groups.Has(key) {
			names = append(names, key)
		}
	}
	var out []string
	seen := map[string]bool{}
	var include func(key string)
	include = func(key string) {
		if seen[key] {
			return
		}
		seen[key] = true
		out = append(out, groups.Texts(key)...)
		for _, t := range groups.Tables(key) {
			include(t.Text("include-group"))
		}
	}
	for _, key := range names {
		include(key)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// notForTests are names of requirements that documentation, style and releases need.
var notForTests = pattern.New(`(?i)(?:^|[-_./])(?:docs?|rtd|sphinx|lint(?:ing|ers?)?|style|typing|mypy|pyright|release|publish|bench(?:marks?)?|examples?)(?:[-_./]|$)`)

// requirementsFolder are the files of requirements in a folder of such that are for tests, and else for
// developers: such a file names those that it needs.
var requirementsFolder = pattern.New(`^requirements/(?:(tests?|testing)|dev|devel|develop|development)\.txt$`)

// usual leaves out the files for developers of a folder that has one for tests.
func usual(files []string) []string {
	ofTests := func(name string) bool {
		m := requirementsFolder.FindStringSubmatch(name)
		return m != nil && m[1] != ""
	}
	if !slices.ContainsFunc(files, ofTests) {
		return files
	}
	return slices.DeleteFunc(files, func(name string) bool { return requirementsFolder.MatchString(name) && !ofTests(name) })
}

// isForTests says whether a file of requirements is one that tests can need.
func isForTests(name string) bool {
	return requirementsFolder.MatchString(name) || requirements.MatchString(path.Base(name)) && len(strings.Split(name, "/")) <= 2 && !notForTests.MatchString(name)
}
