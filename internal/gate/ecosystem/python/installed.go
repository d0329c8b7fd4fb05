package python

import (
	"io/fs"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

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
				if ecosystem.TestPackage.MatchString(module) || says(module) {
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

// olderPython are the installed packages that tests compare with, or run by, of which the head has
// an older version.
func olderPython(base, head fs.FS, dir string) []string {
	versions := func(tree fs.FS) map[string][]string {
		found, err := fs.Glob(tree, path.Join(dir, ".venv/lib/python*/site-packages/*.dist-info"))
		out := map[string][]string{}
		for _, at := range found {
			if name, version, ok := strings.Cut(strings.TrimSuffix(path.Base(at), ".dist-info"), "-"); ok && err == nil {
				out[name] = append(out[name], version)
			}
		}
		return out
	}
	return ecosystem.OlderOf(versions(base), versions(head))
}
