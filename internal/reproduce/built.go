package reproduce

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// compiled says whether a file is a program, a part of one or code for an interpreter's machine.
// data is its beginning, at least.
func compiled(name string, data []byte) bool {
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "!<arch>\n", "\x00asm", "FOR1"} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return true
		}
	}
	switch path.Ext(name) {
	case ".pyc":
		return true
	case ".jar", ".war", ".ear", ".aar", ".whl", ".egg", ".pyz", ".nupkg": // other archives may be what a check is about
		return bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("#!"))
	}
	return bytes.HasPrefix(data, []byte("MZ")) && bytes.IndexByte(data, 0) > 0
}

// beginning is how much of a file says what it is.
const beginning = 512

// isCode says whether a text is one that is run or loaded: what a build makes, and no data that
// both sides are asked about.
func isCode(name string, data []byte) bool {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".ts", ".css", ".html", ".py", ".rb", ".php", ".sh", ".pl", ".lua":
		return true
	}
	return bytes.HasPrefix(data, []byte("#!"))
}

// ignored finds those of some paths that git ignores in the head; nil: none.
type ignored func(ctx context.Context, paths []string) (map[string]bool, error)

// of asks about files. Where the answer cannot be had they are taken for the agent's own.
func (f ignored) of(ctx context.Context, names []string) map[string]bool {
	if f == nil || len(names) == 0 {
		return nil
	}
	found, err := f(ctx, names)
	if err != nil {
		return nil
	}
	return found
}

// removeCompiled takes out of a folder what was compiled, and returns the names.
func removeCompiled(dir string) (names []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return skipped(d)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if data, err := beginsWith(root, name); err != nil || !compiled(name, data) {
			return nil //nolint:nilerr // what cannot be read does not run
		}
		names = append(names, name)
		return root.Remove(name)
	})
	return names, err
}

func beginsWith(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, beginning))
}

// stillMissing are those of some files that are not in a folder, and the folders of them that
// are not there either: the names of these end with a slash.
func stillMissing(dir string, names []string) []string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return names
	}
	defer root.Close()
	var out []string
	for _, name := range names {
		if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		out = append(out, name)
		for in := path.Dir(name); in != "."; in = path.Dir(in) {
			if _, err := root.Lstat(in); !errors.Is(err, fs.ErrNotExist) || slices.Contains(out, in+"/") {
				break
			}
			out = append(out, in+"/")
		}
	}
	return out
}

// namedIn are those of what [stillMissing] found that a text names: files, or folders where it
// names none of the files.
func namedIn(text string, missing []string) []string {
	words := pathWord.FindAllString(text, -1)
	for i, w := range words {
		words[i] = strings.TrimRight(w, ".")
	}
	var files, folders []string
	for _, name := range missing {
		base := path.Base(name)
		stem := strings.TrimSuffix(base, path.Ext(base))
		switch path.Ext(base) {
		case ".js", ".mjs", ".cjs":
		case ".class", ".beam":
			if slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "."+stem) }) { // with its package
				files = append(files, name)
				continue
			}
		default:
			stem = base
		}
		switch {
		case !slices.Contains(words, base) && !slices.Contains(words, stem):
		case strings.HasSuffix(name, "/"):
			folders = append(folders, name)
		default:
			files = append(files, name)
		}
	}
	if len(files) > 0 {
		return files
	}
	return folders
}

var pathWord = pattern.New(`[\w.+-]+`)
