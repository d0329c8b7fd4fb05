package ecosystem

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/regular"
)

// IgnoredDir recognises folders that "./..." does not enter either.
func IgnoredDir(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if part == "testdata" || part == "vendor" || part == "node_modules" || part != "." && strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return true
		}
	}
	return false
}

// ReadInTree reads a file of an untrusted tree: no link leads out of it, and no pipe, device or
// file without an end is read.
func ReadInTree(root, name string) ([]byte, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return fs.ReadFile(regular.FS(r), filepath.FromSlash(name))
}

// InFolder says whether a path lies in a folder of one of these names.
func InFolder(name string, folders ...string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains(folders, part) {
			return true
		}
	}
	return false
}

// InFolders says whether a path lies in one of these folders, which may have
// several parts.
func InFolders(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return strings.Contains("/"+path.Dir(name)+"/", "/"+f+"/") })
}

// Inside says whether a path lies in a folder.
func Inside(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

var testFolderName = pattern.New(`(?:^|_)(?:tests|specs|unittests|autotests)$|^(?:unit|integration|functional|e2e|system|regression|acceptance)_test$|^tests?_(?:data|cases?|fixtures?|resources|files|suites?)$`)

// IsTestFolder says whether a file is in a folder of one of these names, whatever their
// letters, or of one that says of what its tests are: AppTests, integration-tests, test_data.
// One such as speed-test may be what is tested.
func IsTestFolder(name string, names []string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(part string) bool {
		words := NameWords(part)
		return len(words) == 1 && slices.Contains(names, words[0]) || len(words) > 1 && testFolderName.MatchString(strings.Join(words, "_"))
	})
}

var (
	camelCase = pattern.New(`([a-z])([A-Z])`)
	acronym   = pattern.New(`([A-Z])([A-Z][a-z])`)
)

// NameWords returns the words of a name in small letters: those of AppUITests are app, ui
// and tests.
func NameWords(name string) []string {
	name = acronym.ReplaceAllString(camelCase.ReplaceAllString(name, "${1}_${2}"), "${1}_${2}")
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("_-.+ ", r) })
}

// IsDoc recognises files that people read and nothing runs.
func IsDoc(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".rst", ".adoc", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf":
		return true
	case "", ".txt":
		base := strings.ToUpper(path.Base(name))
		for _, doc := range []string{"LICENSE", "LICENCE", "COPYING", "AUTHORS", "CONTRIBUTORS", "NOTICE", "CHANGELOG", "CHANGES", "README", "PATENTS"} {
			if strings.HasPrefix(base, doc) {
				return true
			}
		}
	}
	switch path.Base(name) {
	case ".gitignore", ".gitattributes", ".editorconfig", ".mailmap", "CODEOWNERS":
		return true
	}
	return strings.HasPrefix(name, ".github/")
}
