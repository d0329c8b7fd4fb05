package ecosystem

import (
	"cmp"
	"path"
)

// A Package is one that an ecosystem lists. The fields are those of "go list -json"
// ("go help list"), with Dir made relative to the repository.
type Package struct {
	Dir, ImportPath                    string
	GoFiles, CgoFiles                  []string
	TestGoFiles, XTestGoFiles          []string
	EmbedFiles                         []string
	Imports, TestImports, XTestImports []string
	Unit                               string `json:"-"` // folder of its project
	Eco                                string `json:"-"` // name of its ecosystem
}

// HasTests says whether the package has test files.
func (p Package) HasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// PackageOf returns the package that a path belongs to: that of its folder, or
// of the nearest folder above that has one.
func PackageOf(pkgs []Package, name string) (Package, bool) {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		for _, p := range pkgs {
			if p.Dir == dir {
				return p, true
			}
		}
		if dir == "." || dir == "/" {
			return Package{}, false
		}
	}
}

// Touched returns the packages that the changed paths belong to.
func Touched(pkgs []Package, changed []string) map[string]bool {
	out := map[string]bool{}
	for _, c := range changed {
		if p, ok := PackageOf(pkgs, c); ok {
			out[p.ImportPath] = true
		}
	}
	return out
}

// A Group is the test commands of one ecosystem in one folder.
type Group struct{ Eco, Unit string }

// Compare orders groups by ecosystem and folder.
func (g Group) Compare(h Group) int {
	return cmp.Or(cmp.Compare(g.Eco, h.Eco), cmp.Compare(g.Unit, h.Unit))
}

// GroupOf is the group that runs the tests of a package.
func GroupOf(p Package) Group { return Group{Eco: p.Eco, Unit: p.Unit} }
