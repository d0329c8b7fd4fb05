package node

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/sorted"
)

// olderPackages are the installed packages that tests compare with, and those that these compare
// with, of which the head has an older version.
func olderPackages(base, head fs.FS, dir string) []string {
	root := path.Join(dir, "node_modules")
	var out []string
	seen := map[[2]string]bool{}
	var follow func(name, was, is string)
	follow = func(name, was, is string) {
		if was == "" || is == "" || seen[[2]string{was, is}] {
			return
		}
		seen[[2]string{was, is}] = true
		before, needs := installedAt(base, was)
		after, _ := installedAt(head, is)
		if ecosystem.Judges(name) && before != "" && after != "" && ecosystem.IsOlder(after, before) {
			out = append(out, ecosystem.OlderVersion(name, before, after))
		}
		for _, other := range needs {
			follow(other, found(base, was, other), found(head, is, other))
		}
	}
	for _, name := range packagesIn(base, root) {
		if ecosystem.TestPackage.MatchString(name) {
			follow(name, path.Join(root, name), found(head, root, name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// installedAt is the version of the package in a folder, and what it needs.
func installedAt(tree fs.FS, at string) (version string, needs []string) {
	var m struct {
		Version      string            `json:"version"`
		Dependencies map[string]string `json:"dependencies"`
		Peers        map[string]string `json:"peerDependencies"`
	}
	src, err := fs.ReadFile(tree, path.Join(at, "package.json"))
	if err != nil || json.Unmarshal(src, &m) != nil {
		return "", nil
	}
	return m.Version, append(sorted.Keys(m.Dependencies, strings.Compare), sorted.Keys(m.Peers, strings.Compare)...)
}

// found is the folder of the package that another one in a folder gets by a name; empty: none.
func found(tree fs.FS, from, name string) string {
	for at := from; ; at = path.Dir(at) {
		in := at
		if path.Base(at) != "node_modules" {
			in = path.Join(at, "node_modules")
		}
		if _, err := fs.Stat(tree, path.Join(in, name, "package.json")); err == nil {
			return path.Join(in, name)
		}
		if at == "." || at == "/" {
			return ""
		}
	}
}
