package ecosystem

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// pythonData are the requirements of the Python project in dir, by name and version,
// and what its lockfile says of the versions of all others.
func pythonData(s *Survey, dir string) map[string][]byte {
	req := pythonRequirements(s, dir)
	return map[string][]byte{
		path.Join(dir, "requirements.txt"): []byte(strings.Join(req, "\n") + "\n"),
		path.Join(dir, "constraints.txt"):  []byte(strings.Join(lockedVersions(s, dir), "\n") + "\n"),
	}
}

// What a Python project needs, read out of its files without running any: names, versions
// and markers as of PEP 508. What is computed, a path, a URL or a repository is left out.

// requirement is a line that names a distribution: its name, extras, versions and marker.
var requirement = pattern.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[A-Za-z0-9,._\s-]*\])?\s*(\(?(?:(?:[<>!~=]=|[<>]|===)\s*[A-Za-z0-9.*+!_-]+\s*,?\s*)*\)?)\s*(;[^#\\]*)?$`)

// maxNested bounds files of requirements that name others.
const maxNested = 8

// pythonRequirements are those of the project in dir, and of its tests.
func pythonRequirements(s *Survey, dir string) []string {
	f := pythonFacts(s, dir, s.dirs("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "pytest.ini", "Pipfile", "requirements.txt", "conftest.py"))
	var found []string
	for _, name := range f.deps {
		found = append(found, requirementLines(s, path.Join(dir, name), 0)...)
	}
	locked := f.lock != "" // then all extras and groups are installed
	selected := strings.Split(strings.Trim(extras(f.pyproject), "[]"), ",")
	for _, t := range tomlTables(f.pyproject) {
		for _, e := range t.entries {
			group := t.name == "dependency-groups" || strings.HasPrefix(t.name, "tool.poetry.") && strings.HasSuffix(t.name, "dependencies")
			switch {
			case t.name == "project" && e.key == "dependencies", t.name == "build-system" && e.key == "requires",
				t.name == "project.optional-dependencies" && (locked || slices.Contains(selected, e.key)), t.name == "dependency-groups" && locked:
				found = append(found, tomlStrings(e.value)...)
			case group && t.name != "dependency-groups" && e.key != "python" && !elsewhere.MatchString(e.value):
				found = append(found, e.key)
			}
		}
	}
	for _, t := range tomlTables(string(s.read(dir, "Pipfile"))) {
		for _, e := range t.entries {
			if (t.name == "packages" || t.name == "dev-packages") && !elsewhere.MatchString(e.value) {
				found = append(found, e.key)
			}
		}
	}
	for _, m := range installRequires.FindAllStringSubmatch(string(s.read(dir, "setup.py")), -1) {
		found = append(found, tomlStrings(m[1])...)
	}
	if m := cfgRequires.FindStringSubmatch(string(s.read(dir, "setup.cfg"))); m != nil {
		found = append(found, strings.Split(m[1], "\n")...)
	}
	if f.pytest {
		found = append(found, "pytest")
	}
	if s.has(dir, "setup.py") || strings.Contains(f.pyproject, "[project]") {
		if !strings.Contains(f.pyproject, "[build-system]") { // what pip takes to build it with
			found = append(found, "setuptools", "wheel")
		}
	}
	own := ""
	if m := projectName.FindStringSubmatch(f.pyproject); m != nil {
		own = m[1]
	}
	var out []string
	for _, line := range found {
		m := requirement.FindStringSubmatch(strings.TrimSpace(line))
		if m != nil && !sameDistribution(m[1], own) {
			out = append(out, strings.TrimSpace(m[0]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var (
	elsewhere       = pattern.New(`\b(path|git|url|file|hg|svn)\s*=`)
	installRequires = pattern.New(`(?s)\b(?:install_requires|setup_requires|tests_require)\s*=\s*(\[[^\]]*\])`)
	cfgRequires     = pattern.New(`(?m)^install_requires\s*=(.*(?:\n[ \t]+.*)*)`)
	projectName     = pattern.New(`(?m)^name\s*=\s*["']([^"']+)["']`)
	nameParts       = pattern.New(`[-_.]+`)
)

// sameDistribution compares names as PEP 503 does.
func sameDistribution(a, b string) bool {
	norm := func(s string) string { return strings.ToLower(nameParts.ReplaceAllString(s, "-")) }
	return norm(a) == norm(b)
}

// requirementLines reads a file of pip's, and those of the tree that it names.
func requirementLines(s *Survey, name string, nested int) []string {
	if nested > maxNested || !s.present[name] {
		return nil
	}
	var out []string
	text := strings.ReplaceAll(string(s.read(".", name)), "\\\n", " ")
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		line, _, _ = strings.Cut(line, " --hash")
		line = strings.TrimSpace(line)
		if m := otherRequirements.FindStringSubmatch(line); m != nil {
			out = append(out, requirementLines(s, path.Join(path.Dir(name), m[1]), nested+1)...)
			continue
		}
		out = append(out, line)
	}
	return out
}

var otherRequirements = pattern.New(`^(?:-r|--requirement)[\s=]*(\S+)$`)

// lockedVersions are those that the lockfile of a project names, one for each distribution
// that has one only.
func lockedVersions(s *Survey, dir string) []string {
	versions := map[string][]string{}
	for _, lock := range []string{"uv.lock", "poetry.lock"} {
		for _, m := range lockedPackage.FindAllStringSubmatch(string(s.read(dir, lock)), -1) {
			versions[m[1]] = append(versions[m[1]], m[2])
		}
	}
	var pipfile map[string]map[string]struct{ Version string }
	if data := s.read(dir, "Pipfile.lock"); data != nil {
		var all map[string]json.RawMessage
		if json.Unmarshal(data, &all) == nil {
			pipfile = map[string]map[string]struct{ Version string }{}
			for _, group := range []string{"default", "develop"} {
				var g map[string]struct{ Version string }
				if json.Unmarshal(all[group], &g) == nil {
					pipfile[group] = g
				}
			}
		}
	}
	for _, g := range pipfile {
		for name, p := range g {
			versions[name] = append(versions[name], strings.TrimPrefix(p.Version, "=="))
		}
	}
	var out []string
	for name, all := range versions {
		slices.Sort(all)
		line := name + "==" + all[0]
		if len(slices.Compact(all)) == 1 && requirement.MatchString(line) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

var lockedPackage = pattern.New(`(?m)^name = "([^"]+)"\nversion = "([^"]+)"$`)

// A tomlTable is what is read of one: keys with the text of their values.
type tomlTable struct {
	name    string
	entries []struct{ key, value string }
}

var (
	tomlHeading = pattern.New(`^\[\s*([A-Za-z0-9_."' -]+?)\s*\]`)
	tomlKey     = pattern.New(`^["']?([A-Za-z0-9_.-]+)["']?\s*=\s*(.*)$`)
)

// tomlTables splits a document into its tables, as far as manifests need that: a value goes
// on to the next line that begins with a key or a heading.
func tomlTables(text string) []tomlTable {
	out := []tomlTable{{}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		last := &out[len(out)-1]
		if m := tomlHeading.FindStringSubmatch(line); m != nil {
			out = append(out, tomlTable{name: m[1]})
			continue
		}
		if m := tomlKey.FindStringSubmatch(line); m != nil {
			last.entries = append(last.entries, struct{ key, value string }{m[1], m[2]})
			continue
		}
		if n := len(last.entries); n > 0 {
			last.entries[n-1].value += "\n" + line
		}
	}
	return out
}

// tomlStrings are the strings of an array, which begins with its bracket.
func tomlStrings(text string) []string {
	var out []string
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return out
			}
			out = append(out, text[i+1:i+1+end])
			i += end + 1
		case '#':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return out
			}
			i += end
		case ']':
			return out
		}
	}
	return out
}

// pythonOfStranger sets a project up for a head that is not trusted: pip brings wheels,
// whatever the project's own tool is, and installs them without a network. The base's may
// be built from sources, and the head's begin with them.
func (p *Project) pythonOfStranger(s *Survey, c Command, f pyFacts, installable bool) func(Side) []Command {
	const wheels = `"$HOME/` + wheelFolder + `"`
	// The machine's own pip, or one outside of the tree: no module of the tree is in the way.
	const pip = `{ python=python3; $python -I -m pip --version >/dev/null 2>&1 || { python3 -I -m venv --clear "$HOME/.fetch" && python="$HOME/.fetch/bin/python"; }; } && "$python" -I -m pip `
	const quiet = " --quiet --disable-pip-version-check --find-links " + wheels
	list := wheels + "/" + quoted(strings.ReplaceAll(c.Unit, "/", "+"))
	local := localRequirements(s, p.Dir, f.deps)
	if installable {
		local = append(local, "-e "+quoted("."+extras(f.pyproject)))
	}
	return func(side Side) []Command {
		get := "download --only-binary :all: --dest "
		if side == Base {
			get = "wheel --wheel-dir "
		}
		fetch := c.reporting("mkdir -p " + wheels + " && " + pip + get + wheels + quiet + " -r requirements.txt -c constraints.txt" +
			" && cp requirements.txt " + list + ".in && cp constraints.txt " + list + ".txt")
		fetch.Data = func(s *Survey) map[string][]byte { return pythonData(s, c.Unit) }
		install := strings.Join(append([]string{".venv/bin/python -m pip install" + quiet + " --no-index -r " + list + ".in -c " + list + ".txt"}, local...), " ")
		return []Command{fetch, c.reporting("python3 -m venv --clear .venv"), c.reporting(install)}
	}
}

// localRequirements are the folders of the tree that files of requirements name, for pip.
func localRequirements(s *Survey, dir string, files []string) []string {
	var out []string
	for _, name := range files {
		for line := range strings.Lines(string(s.read(dir, name))) {
			if m := localRequirement.FindStringSubmatch(strings.TrimSpace(line)); m != nil && !slices.Contains(out, m[1]+m[2]) {
				out = append(out, m[1]+m[2])
			}
		}
	}
	return out
}

var (
	localRequirement = pattern.New(`^(-e\s+)?(\.{1,2}(?:/[\w./-]*)?(?:\[[\w,-]+\])?)$`)
	notAPackage      = pattern.New(`(?m)^package-mode\s*=\s*false`)
)
