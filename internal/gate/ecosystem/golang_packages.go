package ecosystem

import (
	"encoding/json"
	"errors"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// GoPackageInfo is what "go list -json" says of a package ("go help list"),
// with Dir made relative to the repository.
type GoPackageInfo struct {
	Dir, ImportPath                    string
	GoFiles, CgoFiles                  []string
	TestGoFiles, XTestGoFiles          []string
	EmbedFiles                         []string
	Imports, TestImports, XTestImports []string
	Unit                               string `json:"-"` // folder of its module
}

func (p GoPackageInfo) HasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

const ListFields = "Dir,ImportPath,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,EmbedFiles,Imports,TestImports,XTestImports"

func ParseList(in io.Reader, root string) ([]GoPackageInfo, error) {
	var pkgs []GoPackageInfo
	dec := json.NewDecoder(in)
	for {
		var p GoPackageInfo
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs, nil
		}
		if err != nil {
			return pkgs, err
		}
		rel, err := filepath.Rel(root, p.Dir)
		if err != nil || !filepath.IsLocal(rel) {
			continue // "-e" invents packages for what it cannot find
		}
		p.Dir = filepath.ToSlash(rel)
		pkgs = append(pkgs, p)
	}
}

// PackageOf returns the package that a path belongs to: that of its folder, or
// of the nearest folder above that has one.
func PackageOf(pkgs []GoPackageInfo, name string) (GoPackageInfo, bool) {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		for _, p := range pkgs {
			if p.Dir == dir {
				return p, true
			}
		}
		if dir == "." || dir == "/" {
			return GoPackageInfo{}, false
		}
	}
}

// Touched returns the packages that the changed paths belong to.
func Touched(pkgs []GoPackageInfo, changed []string) map[string]bool {
	out := map[string]bool{}
	for _, c := range changed {
		if p, ok := PackageOf(pkgs, c); ok {
			out[p.ImportPath] = true
		}
	}
	return out
}

// Affected returns the import paths of the packages that the changed paths can
// influence: those that they belong to, those that import these, however far
// away, and those whose tests do. Files that steer the build affect all.
func Affected(pkgs []GoPackageInfo, changed []string) map[string]bool {
	out := Touched(pkgs, changed)
	if slices.ContainsFunc(changed, steersGo) {
		for _, p := range pkgs {
			out[p.ImportPath] = true
		}
		return out
	}
	any := func(imports []string) bool {
		return slices.ContainsFunc(imports, func(i string) bool { return out[i] })
	}
	for grown := true; grown; {
		grown = false
		for _, p := range pkgs {
			if !out[p.ImportPath] && any(p.Imports) {
				out[p.ImportPath], grown = true, true
			}
		}
	}
	byTests := []string{}
	for _, p := range pkgs {
		if any(p.TestImports) || any(p.XTestImports) {
			byTests = append(byTests, p.ImportPath)
		}
	}
	for _, p := range byTests {
		out[p] = true
	}
	return out
}

// steersGo tells files that decide what all of a module is built with.
func steersGo(name string) bool {
	switch path.Base(name) {
	case "go.mod", "go.sum", "go.work", "go.work.sum":
		return true
	}
	return strings.HasPrefix(name, "vendor/") || strings.Contains(name, "/vendor/")
}

// HasGo says whether a folder of a tree has Go files, so that it is a package
// there too.
func HasGo(root, dir string) bool {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	return err == nil && len(files) > 0
}
