package python

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// uvWorkspace is the folder of the workspace of uv that a folder is in, itself where it is the top of one,
// and "" for none (https://docs.astral.sh/uv/concepts/projects/workspaces/).
func uvWorkspace(s *ecosystem.Survey, dir string) string {
	for up, rel := dir, "."; ; up, rel = path.Dir(up), path.Join(path.Base(up), rel) {
		if w := pyproject(s, up).Table("tool", "uv", "workspace"); w != nil {
			if up == dir || isMember(w, rel) {
				return up
			}
			return ""
		}
		if up == "." {
			return ""
		}
	}
}

// isMember says whether a workspace has a folder below its own.
func isMember(workspace ecosystem.TOML, rel string) bool {
	in := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := doublestar.Match(path.Clean(p), rel)
			return err == nil && ok
		})
	}
	return in(workspace.Texts("members")) && !in(workspace.Texts("exclude"))
}

func pyproject(s *ecosystem.Survey, dir string) ecosystem.TOML {
	if !s.Has(dir, "pyproject.toml") {
		return nil
	}
	doc, _ := ecosystem.ParseTOML(s.Read(dir, "pyproject.toml"))
	return doc
}

// siblings are the other folders of the tree that a project is built with, and these are: members of its
// workspace, and paths, as uv and poetry have them in place of what a registry has.
func siblings(s *ecosystem.Survey, dir string) []string {
	root := uvWorkspace(s, dir)
	shared, members := ecosystem.TOML(nil), map[string]string(nil)
	if root != "" {
		shared, members = pyproject(s, root).Table("tool", "uv", "sources"), membersOf(s, root)
	}
	var out []string
	add := func(at string) {
		if at != "" && at != dir && s.First(at, "pyproject.toml", "setup.py") != "" && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	for i := -1; i < len(out); i++ {
		of := dir
		if i >= 0 {
			of = out[i]
		}
		doc := pyproject(s, of)
		for _, table := range append(poetryTables(doc), doc.Table("tool", "uv", "sources")) {
			for _, name := range table.Keys() {
				if at := table.Table(name).Text("path"); at != "" {
					add(path.Join(of, at))
				}
			}
		}
		own := doc.Table("tool", "uv", "sources")
		for _, r := range declared(doc) {
			m := requirement.FindStringSubmatch(r)
			if m == nil {
				continue
			}
			name := pythonName(m[1])
			for _, sources := range []ecosystem.TOML{own, shared} { // what the top says holds for its members
				for _, key := range sources.Keys() {
					if pythonName(key) == name && sources.Table(key)["workspace"] == true {
						add(members[name])
					}
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// membersOf are the folders of the members of a workspace, by their names.
func membersOf(s *ecosystem.Survey, root string) map[string]string {
	workspace, out := pyproject(s, root).Table("tool", "uv", "workspace"), map[string]string{}
	for _, dir := range s.Dirs("pyproject.toml") {
		rel, err := filepath.Rel(root, dir)
		if err != nil || dir != root && !isMember(workspace, filepath.ToSlash(rel)) {
			continue
		}
		if name := pyproject(s, dir).Table("project").Text("name"); name != "" {
			out[pythonName(name)] = dir
		}
	}
	return out
}

// poetryTables are the dependencies of a project of poetry, and of its groups.
func poetryTables(doc ecosystem.TOML) []ecosystem.TOML {
	poetry := doc.Table("tool", "poetry")
	out := []ecosystem.TOML{poetry.Table("dependencies"), poetry.Table("dev-dependencies")}
	for _, group := range poetry.Tables("group") {
		out = append(out, group.Table("dependencies"))
	}
	return out
}

// declared are all requirements of a pyproject.toml, also of its extras and groups.
func declared(doc ecosystem.TOML) []string {
	out := doc.Table("project").Texts("dependencies")
	for _, table := range []ecosystem.TOML{doc.Table("project", "optional-dependencies"), doc.Table("dependency-groups")} {
		for _, key := range table.Keys() {
			out = append(out, table.Texts(key)...)
		}
	}
	return append(out, doc.Table("tool", "uv").Texts("dev-dependencies")...)
}

// editable are options of pip for folders of the repository, from one of them.
func editable(dir string, folders []string) []string {
	var out []string
	for _, f := range folders {
		if rel, err := filepath.Rel(dir, f); err == nil {
			if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, ".") {
				rel = "./" + rel
			}
			out = append(out, "-e", ecosystem.Quoted(rel))
		}
	}
	return out
}
