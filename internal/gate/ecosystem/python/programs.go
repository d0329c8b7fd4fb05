package python

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	entryPoint   = pattern.New(`^\s*([\w.-]+)\s*=\s*([\w.]+):([\w.]+)\s*$`)
	consoleGroup = pattern.New(`(?ms)^console_scripts\s*=\s*\n((?:[ \t]+.*\n?)+)`)
)

// providedByPython are console scripts, and packages with a __main__.py.
func providedByPython(tree fs.FS, files []string, _ []ecosystem.Package) []ecosystem.Program {
	var out []ecosystem.Program
	add := func(dir, name, run string, calls ...[]string) {
		out = append(out, ecosystem.Program{
			Name: name, Dir: dir, Calls: calls,
			Start: func(up string) string {
				return "PYTHONPATH=" + ecosystem.Quoted(path.Join(up, dir, "src")) + ":" + ecosystem.Quoted(path.Join(up, dir)) + " " + pythonIn(tree, up, dir) + " " + run
			},
			Crashed: func(exit int, stderr string) bool {
				return exit == 1 && strings.Contains(stderr, "Traceback (most recent call last):")
			},
		})
	}
	for _, f := range files {
		dir := path.Dir(f)
		if ecosystem.IgnoredDir(dir) || ecosystem.InFolder(f, "test", "tests") {
			continue
		}
		switch path.Base(f) {
		case "pyproject.toml", "setup.cfg":
			for _, e := range entryPoints(tree, f) {
				add(dir, e[0], "-c "+ecosystem.Quoted("import sys; from "+e[1]+" import "+e[2]+"; sys.argv[0] = '"+e[0]+"'; sys.exit("+e[2]+"())"), []string{e[0]})
			}
		case "__main__.py":
			top := dir
			for slices.Contains(files, path.Join(top, "__init__.py")) && path.Dir(top) != "." {
				top = path.Dir(top)
			}
			if !slices.Contains(files, path.Join(top, "__init__.py")) || top == "." {
				continue
			}
			root := path.Dir(top)
			if top == dir { // else it belongs to another program
				module := path.Base(top)
				if path.Base(root) == "src" {
					root = path.Dir(root)
				}
				add(root, "python -m "+module, "-m "+module, []string{"python", "-m", module}, []string{"python3", "-m", module})
			}
		}
	}
	return out
}

// pythonIn is the interpreter of a project.
func pythonIn(tree fs.FS, up, dir string) string {
	entries, _ := fs.ReadDir(tree, path.Join(dir, ".venv/bin")) // none where there is no folder
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "python" }) {
		return ecosystem.Quoted(path.Join(up, dir, ".venv/bin/python"))
	}
	return "python3"
}

// entryPoints are the console scripts of a manifest: name, module and function.
func entryPoints(tree fs.FS, name string) [][3]string {
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil
	}
	var lines []string
	if path.Base(name) == "setup.cfg" {
		if m := consoleGroup.FindStringSubmatch(string(data)); m != nil {
			lines = strings.Split(m[1], "\n")
		}
	} else {
		d, _ := ecosystem.ParseTOML(data)
		for _, t := range []ecosystem.TOML{d.Table("project", "scripts"), d.Table("tool", "poetry", "scripts")} {
			for _, k := range t.Keys() {
				lines = append(lines, k+" = "+t.Text(k))
			}
		}
	}
	var out [][3]string
	for _, l := range lines {
		if m := entryPoint.FindStringSubmatch(l); m != nil && !strings.Contains(m[3], ".") {
			out = append(out, [3]string{m[1], m[2], m[3]})
		}
	}
	return out
}
