package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// goPackageInfo is what "go list -json" says of a package ("go help list"),
// with Dir made relative to the repository.
type goPackageInfo struct {
	Dir, ImportPath                    string
	GoFiles, CgoFiles                  []string
	TestGoFiles, XTestGoFiles          []string
	EmbedFiles                         []string
	Imports, TestImports, XTestImports []string
	unit                               string
}

func (p goPackageInfo) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

const listFields = "Dir,ImportPath,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,EmbedFiles,Imports,TestImports,XTestImports"

// list finds the packages of the head and which of them the change affects.
func (r *runner) list(ctx context.Context) error {
	for _, p := range r.plan[Head].projects {
		if p.eco.name != "Go" || p.missing != "" {
			continue
		}
		m := p.module()
		args := slices.Concat([]string{"list", "-e", "-json=" + listFields}, r.tags(), []string{"./..."})
		c := m.command(StageList, args...)
		c.timeout = r.Limits.step()
		var out bytes.Buffer
		if _, err := r.exec(ctx, Head, r.in.Head, c, &out); err != nil {
			return err
		}
		pkgs, err := parseList(&out, r.in.Head.Dir)
		if err != nil {
			r.note("packages of %s could not be listed: %v", m.dir, err)
		}
		for i := range pkgs {
			pkgs[i].unit = m.dir
		}
		r.packages = append(r.packages, pkgs...)
	}
	r.affected = affected(r.packages, r.in.Change.Paths())
	r.res.Runnable = r.runnable(ctx)
	return nil
}

// tags are the build tags that the configuration's test commands set.
func (r *runner) tags() []string {
	for _, c := range r.plan[Head].test {
		for i, f := range c.flags {
			switch name, _, value := strings.Cut(strings.TrimLeft(f, "-"), "="); {
			case name == "tags" && value:
				return []string{f}
			case name == "tags" && i+1 < len(c.flags):
				return []string{"-tags=" + c.flags[i+1]}
			}
		}
	}
	return nil
}

func parseList(in io.Reader, root string) ([]goPackageInfo, error) {
	var pkgs []goPackageInfo
	dec := json.NewDecoder(in)
	for {
		var p goPackageInfo
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

// packageOf returns the package that a path belongs to: that of its folder, or
// of the nearest folder above that has one.
func packageOf(pkgs []goPackageInfo, name string) (goPackageInfo, bool) {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		for _, p := range pkgs {
			if p.Dir == dir {
				return p, true
			}
		}
		if dir == "." || dir == "/" {
			return goPackageInfo{}, false
		}
	}
}

// touched returns the packages that the changed paths belong to.
func touched(pkgs []goPackageInfo, changed []string) map[string]bool {
	out := map[string]bool{}
	for _, c := range changed {
		if p, ok := packageOf(pkgs, c); ok {
			out[p.ImportPath] = true
		}
	}
	return out
}

// affected returns the import paths of the packages that the changed paths can
// influence: those that they belong to, those that import these, however far
// away, and those whose tests do. Files that steer the build affect all.
func affected(pkgs []goPackageInfo, changed []string) map[string]bool {
	out := touched(pkgs, changed)
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
