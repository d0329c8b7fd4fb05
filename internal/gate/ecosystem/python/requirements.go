package python

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// pythonData are the requirements of the Python project in dir, by name and version,
// and what its lockfile says of the versions of all others.
func pythonData(s *ecosystem.Survey, dir string) map[string][]byte {
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
func pythonRequirements(s *ecosystem.Survey, dir string) []string {
	f := pythonFacts(s, dir, candidatesIn(pythonDirs(s)...))
	var found []string
	for _, name := range f.deps {
		found = append(found, requirementLines(s, path.Join(dir, name), 0)...)
	}
	locked := f.lock != "" // then all extras and groups are installed
	selected, without := f.extras(), f.conflicting()+" "
	project := f.pyproject.Table("project")
	found = append(found, f.more...)
	found = append(found, f.ofExtras()...)
	names := []string{cmp.Or(project.Text("name"), f.pyproject.Table("tool", "poetry").Text("name"))}
	for _, at := range append([]string{dir}, siblings(s, dir)...) {
		doc := pyproject(s, at)
		found = append(found, doc.Table("project").Texts("dependencies")...)
		found = append(found, doc.Table("build-system").Texts("requires")...)
		for _, m := range installRequires.FindAllStringSubmatch(string(s.Read(at, "setup.py")), -1) {
			list, _ := ecosystem.ParseTOML([]byte("list = " + m[1])) // strings in a list are written alike
			found = append(found, list.Texts("list")...)
		}
		if m := cfgRequires.FindStringSubmatch(string(s.Read(at, "setup.cfg"))); m != nil {
			found = append(found, strings.Split(m[1], "\n")...)
		}
		if (s.Has(at, "setup.py") || doc.Has("project")) && !doc.Has("build-system") { // what pip takes to build it with
			found = append(found, "setuptools", "wheel")
		}
		if at != dir {
			names = append(names, cmp.Or(doc.Table("project").Text("name"), doc.Table("tool", "poetry").Text("name")))
			found = append(found, registered(doc.Table("tool", "poetry", "dependencies"))...)
		}
	}
	if f.workspace != "" && f.workspace != dir {
		for _, key := range f.top.Table("dependency-groups").Keys() {
			found = append(found, f.top.Table("dependency-groups").Texts(key)...)
		}
		found = append(found, f.top.Table("tool", "uv").Texts("dev-dependencies")...)
	}
	optional := project.Table("optional-dependencies")
	for _, key := range optional.Keys() {
		if (locked || slices.Contains(selected, key)) && !strings.Contains(without, " --no-extra "+key+" ") {
			found = append(found, optional.Texts(key)...)
		}
	}
	if groups := f.pyproject.Table("dependency-groups"); locked {
		for _, key := range groups.Keys() {
			if !strings.Contains(without, " --no-group "+key+" ") {
				found = append(found, groups.Texts(key)...)
			}
		}
	} else {
		found = append(found, f.grouped()...)
	}
	pipfile, _ := ecosystem.ParseTOML(s.Read(dir, "Pipfile"))
	for _, t := range append(poetryTables(f.pyproject), pipfile.Table("packages"), pipfile.Table("dev-packages")) {
		found = append(found, registered(t)...)
	}
	if f.pytest {
		found = append(found, "pytest")
	}
	if f.django {
		found = append(found, "django")
	}
	var out []string
	for _, line := range found {
		m := requirement.FindStringSubmatch(strings.TrimSpace(line))
		if m != nil && !slices.ContainsFunc(names, func(own string) bool { return sameDistribution(m[1], own) }) {
			out = append(out, strings.TrimSpace(m[0]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var (
	installRequires = pattern.New(`(?s)\b(?:install_requires|setup_requires|tests_require)\s*=\s*(\[[^\]]*\])`)
	cfgRequires     = pattern.New(`(?m)^install_requires\s*=(.*(?:\n[ \t]+.*)*)`)
	nameParts       = pattern.New(`[-_.]+`)
)

// registered are the names in a table of poetry or pipenv of what comes from a registry.
func registered(t ecosystem.TOML) []string {
	return slices.DeleteFunc(t.Keys(), func(key string) bool {
		return key == "python" || slices.ContainsFunc(append(t.Tables(key), t.Table(key)), fromElsewhere)
	})
}

// fromElsewhere says whether a requirement names a place that is no registry.
func fromElsewhere(requirement ecosystem.TOML) bool {
	return requirement.Has("path", "git", "url", "file", "hg", "svn")
}

// sameDistribution compares names as PEP 503 does.
func sameDistribution(a, b string) bool {
	norm := func(s string) string { return strings.ToLower(nameParts.ReplaceAllString(s, "-")) }
	return norm(a) == norm(b)
}

// pinned is a requirement of one version, whatever the machine is.
var pinned = pattern.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*===?\s*([^\s;,*]+)$`)

// consistent are the files of requirements that pip can install together: of those that want another
// version of a distribution, such as for all platforms or an older Python, those that come later are
// left out.
func consistent(s *ecosystem.Survey, dir string, files []string) []string {
	versions := pins{}
	return slices.DeleteFunc(files, func(name string) bool { return !versions.take(requirementLines(s, path.Join(dir, name), 0)...) })
}

// besideOthers are the requirements that tools install, without those that pip would refuse: of
// another version of a distribution than one before, or than what is installed with them.
func (f pyFacts) besideOthers(s *ecosystem.Survey, dir string) []string {
	versions := pins{}
	for _, name := range f.deps {
		versions.take(requirementLines(s, path.Join(dir, name), 0)...)
	}
	project := f.pyproject.Table("project")
	others := slices.Concat(lockedVersions(s, dir), project.Texts("dependencies"), f.grouped(), f.ofExtras())
	for _, key := range f.extras() {
		others = append(others, project.Table("optional-dependencies").Texts(key)...)
	}
	for _, line := range others {
		versions.take(line)
	}
	out := slices.DeleteFunc(f.more, func(line string) bool { return !versions.take(line) })
	slices.Sort(out)
	return slices.Compact(out)
}

// pins are the versions that distributions are pinned to, by their names.
type pins map[string]string

// take adds the pins of lines, or none where one is of another version than what is there.
func (p pins) take(lines ...string) bool {
	own := pins{}
	for _, line := range lines {
		if m := pinned.FindStringSubmatch(line); m != nil {
			own[strings.ToLower(nameParts.ReplaceAllString(m[1], "-"))] = m[2]
		}
	}
	for of, version := range own {
		if was, ok := p[of]; ok && was != version {
			return false
		}
	}
	maps.Copy(p, own)
	return true
}

// requirementLines reads a file of pip's, and those of the tree that it names.
func requirementLines(s *ecosystem.Survey, name string, nested int) []string {
	if nested > maxNested || !s.Has(".", name) {
		return nil
	}
	var out []string
	text := strings.ReplaceAll(string(s.Read(".", name)), "\\\n", " ")
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

// withHashes says whether a file of requirements, or one that it names, has hashes.
func withHashes(s *ecosystem.Survey, name string, nested int) bool {
	if nested > maxNested || !s.Has(".", name) {
		return false
	}
	for line := range strings.Lines(string(s.Read(".", name))) {
		if m := otherRequirements.FindStringSubmatch(strings.TrimSpace(line)); m != nil && withHashes(s, path.Join(path.Dir(name), m[1]), nested+1) || hashOf.MatchString(line) {
			return true
		}
	}
	return false
}

// hashOf is what a requirement has after which pip takes no other than with one
// (https://pip.pypa.io/en/stable/topics/secure-installs/).
var hashOf = pattern.New(`(?:^|\s)--hash[=\s]`)

var otherRequirements = pattern.New(`^(?:-r|--requirement)[\s=]*(\S+)$`)

// lockedVersions are those that the lockfile of a project names, one for each distribution
// that has one only.
func lockedVersions(s *ecosystem.Survey, dir string) []string {
	versions := map[string][]string{}
	for _, lock := range []string{"uv.lock", "poetry.lock"} {
		at := dir
		if root := uvWorkspace(s, dir); lock == "uv.lock" && root != "" && !s.Has(dir, lock) {
			at = root
		}
		locked, _ := ecosystem.ParseTOML(s.Read(at, lock))
		for _, p := range locked.Tables("package") {
			if source := p.Table("source"); source.Has("editable", "virtual", "directory") || source.Text("type") == "directory" {
				continue // of this tree
			}
			versions[p.Text("name")] = append(versions[p.Text("name")], p.Text("version"))
		}
	}
	var pipfile map[string]map[string]struct{ Version string }
	if data := s.Read(dir, "Pipfile.lock"); data != nil {
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

// pythonOfStranger sets a project up for a head that is not trusted: pip brings wheels,
// whatever the project's own tool is, and installs them without a network. The base's may
// be built from sources, and the head's begin with them.
func pythonOfStranger(p *ecosystem.Project, s *ecosystem.Survey, c ecosystem.Command, f pyFacts, installable bool) func(results.Side) []ecosystem.Command {
	const wheels = `"$HOME/` + WheelFolder + `"`
	// The machine's own pip, or one outside of the tree: no module of the tree is in the way.
	const pip = `{ python=python3; $python -I -m pip --version >/dev/null 2>&1 || { python3 -I -m venv --clear "$HOME/.fetch" && python="$HOME/.fetch/bin/python"; }; } && "$python" -I -m pip `
	const quiet = " --quiet --disable-pip-version-check --find-links " + wheels
	list := wheels + "/" + ecosystem.Quoted(strings.ReplaceAll(c.Unit, "/", "+"))
	local := append(editable(p.Dir, f.siblings), localRequirements(s, p.Dir, f.deps)...)
	if installable {
		local = append(local, "-e "+ecosystem.Quoted(f.self()))
	}
	return func(side results.Side) []ecosystem.Command {
		get := "download --only-binary :all: --dest "
		if side == results.Base {
			get = "wheel --wheel-dir "
		}
		fetch := c.Reporting("mkdir -p " + wheels + " && " + pip + get + wheels + quiet + " -r requirements.txt -c constraints.txt" +
			" && cp requirements.txt " + list + ".in && cp constraints.txt " + list + ".txt")
		fetch.Data = func(s *ecosystem.Survey) map[string][]byte { return pythonData(s, c.Unit) }
		install := strings.Join(append([]string{".venv/bin/python -m pip install" + quiet + " --no-index -r " + list + ".in -c " + list + ".txt"}, local...), " ")
		return []ecosystem.Command{fetch, c.Reporting("python3 -m venv --clear .venv"), c.Reporting(install)}
	}
}

// localRequirements are the folders of the tree that files of requirements name, for pip.
func localRequirements(s *ecosystem.Survey, dir string, files []string) []string {
	var out []string
	for _, name := range files {
		for line := range strings.Lines(string(s.Read(dir, name))) {
			if m := localRequirement.FindStringSubmatch(strings.TrimSpace(line)); m != nil && !slices.Contains(out, m[1]+m[2]) {
				out = append(out, m[1]+m[2])
			}
		}
	}
	return out
}

var localRequirement = pattern.New(`^(-e\s+)?(\.{1,2}(?:/[\w./-]*)?(?:\[[\w,-]+\])?)$`)

// WheelFolder is where wheels for an untrusted head's Python projects are, below HOME.
const WheelFolder = ".cache/ycbot/wheels"
