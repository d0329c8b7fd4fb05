package toolchains

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
)

// A tree is a file system below a directory of this one, in which links lead to
// paths of its own.
type tree struct{ root string }

func (t tree) at(path string) string {
	if t.root == "" {
		return path
	}
	return filepath.Join(t.root, path)
}

// resolve is path with its links followed, or path itself where that fails.
func (t tree) resolve(path string) string {
	if t.root == "" {
		return Resolve(path)
	}
	rest, done := strings.Split(strings.Trim(path, "/"), "/"), "/"
	for links := 0; len(rest) > 0; {
		next := filepath.Join(done, rest[0])
		rest = rest[1:]
		target, err := os.Readlink(t.at(next))
		if err != nil {
			if _, err := os.Lstat(t.at(next)); err != nil {
				return path
			}
			done = next
			continue
		}
		if links++; links > 40 {
			return path
		}
		if filepath.IsAbs(target) {
			done = "/"
		}
		rest = append(strings.Split(strings.Trim(target, "/"), "/"), rest...)
	}
	return done
}

func (t tree) readlink(path string) (string, error) {
	return os.Readlink(t.at(filepath.Join(t.resolve(filepath.Dir(path)), filepath.Base(path))))
}

func (t tree) isLink(path string) bool {
	_, err := t.readlink(path)
	return err == nil
}

func (t tree) exists(path string) bool {
	_, err := os.Lstat(t.at(t.resolve(path)))
	return err == nil
}

func (t tree) isDir(path string) bool {
	info, err := os.Lstat(t.at(t.resolve(path)))
	return err == nil && info.IsDir()
}

// entries are those of a directory; none where it cannot be read, or where it has
// too many.
func (t tree) entries(dir string) []fs.DirEntry {
	f, err := os.Open(t.at(t.resolve(dir)))
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxEntries) // what cannot be read cannot be run either
	sorted.By(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// glob is the paths that match pattern, in which * is a part of a name.
func (t tree) glob(pattern string) []string {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}
	}
	names, _ := filepath.Glob(t.at(pattern)) // the patterns are this program's own
	for i, name := range names {
		names[i] = "/" + strings.TrimLeft(strings.TrimPrefix(name, t.root), "/")
	}
	return names
}
