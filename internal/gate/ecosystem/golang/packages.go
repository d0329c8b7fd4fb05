package golang

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

const listFields = "Dir,ImportPath,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,EmbedFiles,Imports,TestImports,XTestImports"

// goPackages is what Go can do by its packages.
func goPackages() *ecosystem.Packages {
	return &ecosystem.Packages{
		One: "Go package", Many: "Go packages",
		Root:     func(p ecosystem.Project) string { return strings.TrimPrefix(p.What, goWhat) },
		Has:      hasGo,
		List:     listGo,
		Parse:    parseList,
		Affected: affected,
		Tests:    TestFuncs,
		Only:     forPackages,
		At:       goAt,
		But:      butPackages,
		Again: func(c ecosystem.Command, p ecosystem.Probing) ecosystem.Command {
			args := []string{fmt.Sprintf("-count=%d", p.Times), "-vet=off"} // vet has looked when the suite ran
			if ecosystem.GoSince(c.Go, "go1.17") {
				args = append(args, fmt.Sprintf("-shuffle=%d", p.Seed))
			}
			if p.Race {
				args = append(args, "-race")
			}
			return goTestWith(c, append(args, p.Packages...)...)
		},
		Plant: plantGo,
		Cutting: ecosystem.Cutting{
			Complaint: pattern.New(`(?m)^(?:vet: )?(?:\./)?([^\s:]+\.go):(\d+)`),
			Without:   withoutTests,
		},
		Excluded: excluded,
		WarmFor:  warmFor,
		Standard: listStandard,
		Seed:     seedOf,
		Heading:  pattern.New(`(?m)^# (\S+)(?: \[.*\])?$`),
		Installed: func(c ecosystem.Command) (ecosystem.Command, bool) {
			m := goModule{Dir: c.Unit, NoWork: slices.Contains(c.Env, "GOWORK=off"), version: c.Go}
			return m.Command(results.StageList, "list", "-deps", "-test", "./..."), c.FillsModCache()
		},
	}
}

// listGo is the command that lists the packages of a module, by the build tags that
// its test commands set.
func listGo(p ecosystem.Project, tests []ecosystem.Command) ecosystem.Command {
	fields := "-json=" + listFields
	if !ecosystem.GoSince(moduleOf(p).version, "go1.19") {
		fields = "-json"
	}
	return moduleOf(p).Command(results.StageList, slices.Concat([]string{"list", "-e", fields}, goTags(tests), []string{"./..."})...)
}

// goTags are the build tags that test commands set, as a flag.
func goTags(tests []ecosystem.Command) []string {
	for _, c := range tests {
		for i, f := range c.Flags {
			switch name, _, value := strings.Cut(strings.TrimLeft(f, "-"), "="); {
			case name == "tags" && value:
				return []string{f}
			case name == "tags" && i+1 < len(c.Flags):
				return []string{"-tags=" + c.Flags[i+1]}
			}
		}
	}
	return nil
}

// goClause is the package clause of a source.
var goClause = pattern.New(`(?m)^package\s+(\w+)`)

// plantGo is a test that fails, in the package of a test file.
func plantGo(beside []byte, name string) (file, text string) {
	clause := goClause.FindSubmatch(beside)
	if clause == nil {
		return "", ""
	}
	return name + "_test.go", "package " + string(clause[1]) + "\n\nimport \"testing\"\n\nfunc Test" + strings.ToUpper(name[:1]) + name[1:] +
		"(t *testing.T) { t.Errorf(\"got %d, want %d\", 1, 2) }\n"
}

// parseList reads the packages that "go list -json" writes.
func parseList(in io.Reader, root string) ([]ecosystem.Package, error) {
	var pkgs []ecosystem.Package
	dec := json.NewDecoder(in)
	for {
		var p ecosystem.Package
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

// affected returns the import paths of the packages that the changed paths can
// influence: those that they belong to, those that import these, however far
// away, and those whose tests do. Files that steer the build affect all.
func affected(pkgs []ecosystem.Package, changed []string) map[string]bool {
	out := ecosystem.Touched(pkgs, changed)
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

// steersGo recognises files that decide what all of a module is built with.
func steersGo(name string) bool {
	switch path.Base(name) {
	case "go.mod", "go.sum", "go.work", "go.work.sum":
		return true
	}
	if ext := path.Ext(name); ext == ".sum" || ext == ".mod" {
		return isTestMod(strings.TrimSuffix(path.Base(name), ext) + ".mod")
	}
	return strings.HasPrefix(name, "vendor/") || strings.Contains(name, "/vendor/")
}

// hasGo says whether a folder of a tree has Go files, so that it is a package
// there too.
func hasGo(root, dir string) bool {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	return err == nil && len(files) > 0
}

// goAt names packages for the go command. What begins with the name of a host is an import
// path.
func goAt(places []string, unit string) []string {
	if len(places) == 0 {
		return []string{"./..."}
	}
	var out []string
	for _, p := range places {
		first, _, _ := strings.Cut(p, "/")
		if strings.Contains(first, ".") && first != "." && first != ".." && !strings.HasSuffix(p, ".go") {
			out = append(out, p)
			continue
		}
		p = path.Clean(p)
		if strings.HasSuffix(p, ".go") {
			p = path.Dir(p)
		}
		if p == unit {
			p = "."
		}
		if in, ok := strings.CutPrefix(p, unit+"/"); ok && unit != "." {
			p = in
		}
		out = append(out, "./"+strings.TrimPrefix(p, "./"))
	}
	return out
}
