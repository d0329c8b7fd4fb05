package golang

import (
	"io/fs"
	"path"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// olderModules are the modules that tests compare with and that a go.mod asks for in an older
// version, by a replacement too.
func olderModules(base, head fs.FS, dir string) []string {
	was, is := goModAt(base, dir), goModAt(head, dir)
	if was == nil || is == nil {
		return nil
	}
	var out []string
	for _, q := range was.Require {
		from, into := versionOf(was, q.Mod.Path), versionOf(is, q.Mod.Path)
		if goTesting.MatchString(q.Mod.Path) && from != "" && into != "" && semver.Compare(into, from) < 0 {
			out = append(out, ecosystem.OlderVersion(q.Mod.Path, from, into))
		}
	}
	return out
}

func goModAt(tree fs.FS, dir string) *modfile.File {
	src, err := fs.ReadFile(tree, path.Join(dir, "go.mod"))
	if err != nil {
		return nil
	}
	f, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		return nil
	}
	return f
}

// versionOf is the version of a module that is built; empty: none, or it comes from elsewhere.
func versionOf(f *modfile.File, module string) string {
	version := ""
	for _, q := range f.Require {
		if q.Mod.Path == module {
			version = q.Mod.Version
		}
	}
	for _, r := range f.Replace {
		if r.Old.Path != module || r.Old.Version != "" && r.Old.Version != version {
			continue
		}
		if r.New.Path != module {
			return ""
		}
		version = r.New.Version
	}
	return version
}
