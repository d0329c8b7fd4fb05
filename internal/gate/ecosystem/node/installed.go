package node

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// installedNode are packages of node_modules, by their own word for their version.
func installedNode(base, head fs.FS, dir string, says, bumped func(string) bool) []string {
	root := path.Join(dir, "node_modules")
	var out []string
	for _, name := range packagesIn(base, root) {
		if !ecosystem.TestPackage.MatchString(name) && !says(name) {
			continue
		}
		at := path.Join(root, name)
		if versionIn(base, at) == versionIn(head, at) || !bumped(name) {
			out = append(out, at)
		}
	}
	return append(out, added(base, head, root, bumped)...)
}

// added are packages that only the head has, where the change asks for none of them, and so for
// nothing that could need the others.
func added(base, head fs.FS, root string, bumped func(string) bool) []string {
	was := packagesIn(base, root)
	var out []string
	for _, name := range packagesIn(head, root) {
		if slices.Contains(was, name) {
			continue
		}
		if bumped(name) {
			return nil
		}
		out = append(out, path.Join(root, name))
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
