package python

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
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
func pythonOrigins(name string) func([]byte) ecosystem.Origins {
	switch {
	case name == "pyproject.toml":
		return pyprojectOrigins
	case name == "poetry.lock", name == "uv.lock":
		return ecosystem.TOMLLockOrigins
	case requirementFile.MatchString(name):
		return func(src []byte) ecosystem.Origins {
			out := ecosystem.Origins{Of: map[string]string{}, Replaced: map[string]string{}}
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
func require(o ecosystem.Origins, line string) {
	if m := findLinks.FindStringSubmatch(line); m != nil && o.Replaced != nil {
		o.Replaced[m[1]] = "links"
		return
	}
	m := requirementFrom.FindStringSubmatch(strings.TrimSpace(line))
	switch {
	case m == nil:
	case m[1] != "":
		o.Add(pythonName(m[1]), m[2])
	case m[3] != "": // its folder is called what the package is
		o.Add(pythonName(path.Base(strings.TrimRight(m[3], "/"))), m[3])
	default:
		o.Add(pythonName(m[4]), "")
	}
}

// pyprojectOrigins reads a pyproject.toml, with what poetry and uv add to it.
func pyprojectOrigins(src []byte) ecosystem.Origins {
	doc, _ := ecosystem.ParseTOML(src)
	project := doc.Table("project")
	out := ecosystem.Origins{Own: pythonName(project.Text("name")), Of: map[string]string{}}
	lists := [][]string{project.Texts("dependencies")}
	for _, groups := range []ecosystem.TOML{project.Table("optional-dependencies"), doc.Table("dependency-groups")} {
		for _, group := range groups.Keys() {
			lists = append(lists, groups.Texts(group))
		}
	}
	for _, list := range lists {
		for _, requirement := range list {
			require(out, requirement)
		}
	}
	poetry := doc.Table("tool", "poetry")
	tables := []ecosystem.TOML{poetry.Table("dependencies"), poetry.Table("dev-dependencies"), doc.Table("tool", "uv", "sources")}
	for _, group := range poetry.Table("group").Keys() {
		tables = append(tables, poetry.Table("group", group, "dependencies"))
	}
	for _, t := range tables {
		for _, pkg := range t.Keys() {
			spec := t.Table(pkg)
			from := spec.Text("path") + spec.Text("git") + spec.Text("url")
			if spec["workspace"] == true {
				from = "the workspace"
			}
			out.Add(pythonName(pkg), from)
		}
	}
	return out
}
