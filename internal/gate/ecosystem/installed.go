package ecosystem

import (
	"encoding/json"
	"io/fs"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// testPackage is what packages are called that run tests, or that these compare with.
var testPackage = pattern.New(`(?i)(^|[/_.-])(jest|mocha|vitest|ava|tape|tap|chai|expect\w*|assert\w*|sinon|should|jasmine|karma|uvu|cypress|playwright|power-assert|_?pytest|pluggy|nose\w*|hypothesis|mock|testing-library|test\w*)($|[/_.-])`)

// installedNode are packages of node_modules, by their own word for their version.
func installedNode(base, head fs.FS, dir string, says, bumped func(string) bool) []string {
	root := path.Join(dir, "node_modules")
	var out []string
	for _, name := range packagesIn(base, root) {
		if !testPackage.MatchString(name) && !says(name) {
			continue
		}
		at := path.Join(root, name)
		if versionIn(base, at) == versionIn(head, at) || !bumped(name) {
			out = append(out, at)
		}
	}
	return out
}

// packagesIn are the packages in a folder of them, with those of a scope.
func packagesIn(tree fs.FS, root string) []string {
	var out []string
	entries, err := fs.ReadDir(tree, root)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "."):
		case strings.HasPrefix(name, "@"):
			scope, err := fs.ReadDir(tree, path.Join(root, name))
			for _, in := range scope {
				if err == nil {
					out = append(out, name+"/"+in.Name())
				}
			}
		default:
			out = append(out, name)
		}
	}
	return out
}

func versionIn(tree fs.FS, at string) string {
	var m struct {
		Version string `json:"version"`
	}
	src, err := fs.ReadFile(tree, path.Join(at, "package.json"))
	if err != nil || json.Unmarshal(src, &m) != nil {
		return ""
	}
	return m.Version
}

// installedPython are packages of a virtual environment in which the same versions are
// installed, as the folders ".dist-info" say
// (https://packaging.python.org/en/latest/specifications/recording-installed-packages/).
func installedPython(base, head fs.FS, dir string, says, bumped func(string) bool) []string {
	roots, err := fs.Glob(base, path.Join(dir, ".venv/lib/python*/site-packages"))
	if err != nil {
		return nil
	}
	var out []string
	for _, root := range roots {
		entries, err := fs.ReadDir(base, root)
		if err != nil {
			continue
		}
		for _, e := range entries {
			dist, ok := strings.CutSuffix(e.Name(), ".dist-info")
			if !ok {
				continue
			}
			name, _, _ := strings.Cut(dist, "-")
			if _, err := fs.Stat(head, path.Join(root, e.Name())); err != nil && (bumped(name) || bumped(strings.ReplaceAll(name, "_", "-"))) {
				continue
			}
			for _, module := range modulesOf(base, path.Join(root, e.Name()), name) {
				if testPackage.MatchString(module) || says(module) {
					out = append(out, path.Join(root, module))
				}
			}
		}
	}
	return out
}

// modulesOf are the folders of an installed package, as its record has them.
func modulesOf(tree fs.FS, info, name string) []string {
	record, err := fs.ReadFile(tree, path.Join(info, "RECORD"))
	if err != nil {
		return []string{name}
	}
	seen := map[string]bool{}
	var out []string
	for line := range strings.Lines(string(record)) {
		top, rest, ok := strings.Cut(line, "/")
		if ok && top != "" && rest != "" && !seen[top] && !strings.Contains(top, ".") && top != "__pycache__" {
			seen[top] = true
			out = append(out, top)
		}
	}
	return out
}
