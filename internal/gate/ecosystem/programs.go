package ecosystem

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A Program is one that a project gives to those who use it, on a command line.
type Program struct {
	Name    string
	Eco     string // name of its ecosystem
	Dir     string // the folder that its sources are in or below
	Package string // import path; empty: it belongs to no package

	// Calls are the words by which command lines call it.
	Calls [][]string
	// Make is what makes it at "$PROGRAM", in a shell at the top of the tree; empty: it
	// is run as it stands.
	Make string
	// Start are the words of a shell that run it, without its arguments, as a person types
	// them, where up leads to the top of the tree.
	Start func(up string) string
	// Crashed says whether it ended by what nothing caught, by its exit code and what it
	// wrote to standard error.
	Crashed func(exit int, stderr string) bool
}

// Provided are the programs of a tree, of whatever ecosystems. files are its paths, and
// pkgs its packages.
func Provided(tree fs.FS, files []string, pkgs []Package) []Program {
	var out []Program
	for _, e := range All() {
		if e.Provided == nil {
			continue
		}
		for _, p := range e.Provided(tree, files, pkgs) {
			if !slices.ContainsFunc(out, func(o Program) bool { return o.Name == p.Name }) {
				p.Eco = e.Name
				out = append(out, p)
			}
		}
	}
	return out
}

// below is a path as it is typed where up leads to the top.
func below(up, name string) string { return quoted(path.Join(up, name)) }

var major = pattern.New(`^v\d+$`)

// providedByGo are packages that are commands.
func providedByGo(tree fs.FS, _ []string, pkgs []Package) []Program {
	var out []Program
	for _, p := range pkgs {
		if len(p.GoFiles) == 0 || p.Eco != "Go" || IgnoredDir(p.Dir) {
			continue
		}
		src, err := fs.ReadFile(tree, path.Join(p.Dir, p.GoFiles[0]))
		if err != nil {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.PackageClauseOnly)
		if err != nil || file.Name.Name != "main" {
			continue
		}
		name := path.Base(p.ImportPath)
		if major.MatchString(name) {
			name = path.Base(path.Dir(p.ImportPath))
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p.Dir, p.Unit), "/")
		if p.Unit == "." {
			rel = p.Dir
		}
		target := "./" + path.Clean(rel)
		build := "go build -o \"$PROGRAM\" " + quoted(target)
		out = append(out, Program{
			Name: name, Dir: p.Dir, Package: p.ImportPath,
			Calls: [][]string{{name}, {"./" + name}, {"go", "run", target}, {"go", "run", p.ImportPath}, {"go", "run", "./" + p.Dir}, {"go", "run", target + "/main.go"}, {"go", "run", "main.go"}},
			Make:  "cd " + quoted(p.Unit) + " && { GOFLAGS=\"$GOFLAGS -buildvcs=false\" " + build + " 2>/dev/null || " + build + "; }",
			Start: func(up string) string {
				dir := path.Join(up, p.Dir)
				if !strings.HasPrefix(dir, ".") {
					dir = "./" + dir
				}
				return "go run " + quoted(dir)
			},
			Crashed: func(exit int, stderr string) bool {
				return exit == 2 && strings.Contains(stderr, "\ngoroutine ") && goCrash.MatchString(stderr)
			},
		})
	}
	return out
}

var goCrash = pattern.New(`(?m)^(panic: |fatal error: )`)

// providedByNode are those that "bin" of a package.json names, and what "start" runs.
func providedByNode(tree fs.FS, files []string, _ []Package) []Program {
	var out []Program
	for _, f := range files {
		if path.Base(f) != "package.json" || IgnoredDir(path.Dir(f)) {
			continue
		}
		var m Manifest
		data, err := fs.ReadFile(tree, f)
		if err != nil || json.Unmarshal(data, &m) != nil {
			continue
		}
		dir := path.Dir(f)
		out = append(out, startedByNode(tree, dir, m.Scripts["start"])...)
		bins := map[string]string{}
		var one string
		if json.Unmarshal(m.Bin, &one) == nil {
			bins[path.Base(m.Name)] = one
		} else if json.Unmarshal(m.Bin, &bins) != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(bins)) {
			at := path.Join(dir, bins[name])
			if info, err := fs.Stat(tree, at); name == "" || err != nil || !info.Mode().IsRegular() {
				continue
			}
			rel := path.Clean(bins[name])
			out = append(out, Program{
				Name: name, Dir: dir,
				Calls:   [][]string{{name}, {"npx", name}, {"node", rel}, {"node", "./" + rel}, {"./" + rel}, {"node", at}},
				Start:   func(up string) string { return "node " + below(up, at) },
				Crashed: func(exit int, stderr string) bool { return exit != 0 && nodeCrash.MatchString(stderr) },
			})
		}
	}
	return out
}

// startedByNode is the program that the script "start" of a package in a folder runs,
// where that is Node.js with a file and plain words.
func startedByNode(tree fs.FS, dir, script string) []Program {
	words, ok := plainWords(script)
	if !ok || len(words) < 2 || words[0] != "node" {
		return nil
	}
	rel := path.Clean(words[1])
	at := path.Join(dir, rel)
	info, err := fs.Stat(tree, at)
	if err == nil && info.IsDir() {
		at = path.Join(at, "index.js")
		info, err = fs.Stat(tree, at)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	name := "npm start"
	if dir != "." {
		name = "npm start --prefix " + quoted(dir)
	}
	return []Program{{
		Name: name, Dir: dir,
		Calls: [][]string{{"npm", "start"}, {"npm", "run", "start"}, {"yarn", "start"}, {"pnpm", "start"}, {"node", rel}, {"node", "./" + rel}, {"node", at}},
		Start: func(up string) string {
			return strings.TrimSpace("node " + below(up, at) + " " + quoted(words[2:]...))
		},
		Crashed: func(exit int, stderr string) bool { return exit != 0 && nodeCrash.MatchString(stderr) },
	}}
}

var nodeCrash = pattern.New(`(?m)^\s+at .+(?:\n.*)*\nNode\.js v\d`)

var (
	entryPoint   = pattern.New(`^\s*([\w.-]+)\s*=\s*([\w.]+):([\w.]+)\s*$`)
	consoleGroup = pattern.New(`(?ms)^console_scripts\s*=\s*\n((?:[ \t]+.*\n?)+)`)
)

// providedByPython are console scripts, and packages with a __main__.py.
func providedByPython(tree fs.FS, files []string, _ []Package) []Program {
	var out []Program
	add := func(dir, name, run string, calls ...[]string) {
		out = append(out, Program{
			Name: name, Dir: dir, Calls: calls,
			Start: func(up string) string {
				return "PYTHONPATH=" + below(up, path.Join(dir, "src")) + ":" + below(up, dir) + " " + pythonIn(tree, up, dir) + " " + run
			},
			Crashed: func(exit int, stderr string) bool {
				return exit == 1 && strings.Contains(stderr, "Traceback (most recent call last):")
			},
		})
	}
	for _, f := range files {
		dir := path.Dir(f)
		if IgnoredDir(dir) || InFolder(f, "test", "tests") {
			continue
		}
		switch path.Base(f) {
		case "pyproject.toml", "setup.cfg":
			for _, e := range entryPoints(tree, f) {
				add(dir, e[0], "-c "+quoted("import sys; from "+e[1]+" import "+e[2]+"; sys.argv[0] = '"+e[0]+"'; sys.exit("+e[2]+"())"), []string{e[0]})
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
		return below(up, path.Join(dir, ".venv/bin/python"))
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
		d, _ := parseTOML(data)
		for _, t := range []tomlDoc{d.table("project", "scripts"), d.table("tool", "poetry", "scripts")} {
			for _, k := range t.keys() {
				lines = append(lines, k+" = "+t.text(k))
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
