package ecosystem

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	// requirementFrom is a line of requirements: a name with an address or a place, or these alone.
	requirementFrom = pattern.New(`^(?:([\w.-]+)(?:\[[^\]]*\])?\s*@\s*(\S+)|(?:-e\s+|--editable[\s=]+)?(\.{0,2}/\S*|file:\S+)|([A-Za-z0-9][\w.-]*))`)
	requirementFile = pattern.New(`^(?:[\w-]*requirements[\w.-]*|constraints[\w.-]*|[\w-]+-requirements)\.(?:txt|in)$`)
	findLinks       = pattern.New(`^\s*(?:-f|--find-links)[\s=]+(\S+)`)
	pythonSeparator = pattern.New(`[-_.]+`)
)

// pythonOrigins reads requirements, pyproject.toml and the lockfiles of poetry and uv.
func pythonOrigins(name string) func([]byte) origins {
	switch {
	case name == "pyproject.toml":
		return pyprojectOrigins
	case name == "poetry.lock", name == "uv.lock":
		return tomlLockOrigins
	case requirementFile.MatchString(name):
		return func(src []byte) origins {
			out := origins{of: map[string]string{}, replaced: map[string]string{}}
			for line := range strings.Lines(string(src)) {
				require(out, line)
			}
			return out
		}
	}
	return nil
}

// pythonName is the name of a package as registries compare it
// (https://packaging.python.org/en/latest/specifications/name-normalization/).
func pythonName(name string) string {
	return strings.ToLower(pythonSeparator.ReplaceAllString(name, "-"))
}

// require notes a requirement (https://peps.python.org/pep-0508/, and what pip adds).
func require(o origins, line string) {
	if m := findLinks.FindStringSubmatch(line); m != nil && o.replaced != nil {
		o.replaced[m[1]] = "links"
		return
	}
	m := requirementFrom.FindStringSubmatch(strings.TrimSpace(line))
	switch {
	case m == nil:
	case m[1] != "":
		o.add(pythonName(m[1]), m[2])
	case m[3] != "": // its folder is called what the package is
		o.add(pythonName(path.Base(strings.TrimRight(m[3], "/"))), m[3])
	default:
		o.add(pythonName(m[4]), "")
	}
}

// pyprojectOrigins reads a pyproject.toml, with what poetry and uv add to it.
func pyprojectOrigins(src []byte) origins {
	doc, _ := parseTOML(src)
	project := doc.table("project")
	out := origins{own: pythonName(project.text("name")), of: map[string]string{}}
	lists := [][]string{project.texts("dependencies")}
	for _, groups := range []tomlDoc{project.table("optional-dependencies"), doc.table("dependency-groups")} {
		for _, group := range groups.keys() {
			lists = append(lists, groups.texts(group))
		}
	}
	for _, list := range lists {
		for _, requirement := range list {
			require(out, requirement)
		}
	}
	poetry := doc.table("tool", "poetry")
	tables := []tomlDoc{poetry.table("dependencies"), poetry.table("dev-dependencies"), doc.table("tool", "uv", "sources")}
	for _, group := range poetry.table("group").keys() {
		tables = append(tables, poetry.table("group", group, "dependencies"))
	}
	for _, t := range tables {
		for _, pkg := range t.keys() {
			spec := t.table(pkg)
			from := spec.text("path") + spec.text("git") + spec.text("url")
			if spec["workspace"] == true {
				from = "the workspace"
			}
			out.add(pythonName(pkg), from)
		}
	}
	return out
}
