package toolchains

import (
	"path/filepath"
	"slices"
)

// Temp is where commands have a directory of their own, whatever the machine has there.
const Temp = "/tmp"

// SystemDirs is what a command sees of the host, read-only, beside toolchains. It
// is a list of what is allowed: mounting more and hiding parts of it always
// forgets one.
func SystemDirs() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"}
}

// besideSystem is what programs of the system need that distributions keep elsewhere: the gems
// of Debian, whose programs lie in /usr/local/bin, and the certificates of openSUSE.
var besideSystem = []string{"/var/lib/gems", "/var/lib/ca-certificates"}

// SystemBin is where programs of the system lie, in the order of the search.
func SystemBin() []string {
	return []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
}

// UnderSystem says whether every sandbox shows a path.
func UnderSystem(path string) bool {
	return slices.ContainsFunc(SystemDirs(), func(dir string) bool { return Within(dir, path) })
}

// Within reports whether path is root or lies below it, by their names.
func Within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// Resolve is path with its links followed, or path itself where that fails.
func Resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
