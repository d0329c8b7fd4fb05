package golang

import (
	"go/version"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// goName is what people call the ecosystem.
const goName = "Go"

// goMain is what makes a test file one that others depend on.
var (
	goMain   = pattern.New(`(?m)^func TestMain\(`)
	goTested = pattern.New(`(?m)^func (Test|Example|Fuzz|Benchmark)`)
)

func goClasses() ecosystem.ClassTable {
	isTest := func(name string) bool { return strings.HasSuffix(name, "_test.go") }
	mixed := ecosystem.MixedBy(map[string]*ecosystem.Mixture{"go.mod": {Class: compare.Steering, Merge: mergeGoMod}})
	return ecosystem.ClassTable{
		Steering: ecosystem.Called("go.work"),
		Support: func(name string, src []byte) bool {
			return isTest(name) && src != nil && (goMain.Match(src) || !goTested.Match(src))
		},
		Test:    func(name string, _ []byte) bool { return isTest(name) },
		Origins: ecosystem.OriginsIn(map[string]func([]byte) ecosystem.Origins{"go.mod": goOrigins, "go.work": goWorkOrigins}),
		Mixed: func(name string) *ecosystem.Mixture {
			if isTestMod(path.Base(name)) {
				name = path.Join(path.Dir(name), "go.mod")
			}
			return mixed(name)
		},
	}
}

// goTesting are modules that tests compare with, by what their paths hold.
var goTesting = pattern.New(`(?i)(^|[/._-])(testify|go-cmp|cmp|gomega|ginkgo|quicktest|is|goconvey|gotest\.tools|\w*(test|assert|check|expect|mock)\w*)($|[/._-])`)

// putMeaning puts what lines that are equal in tests mean as on the base: the version of
// the language where the head's is an older one, settings of the runtime
// (https://go.dev/doc/godebug), and which module the tests compare with where the head leads it
// into its own tree.
func putMeaning(from, into *modfile.File) (err error) {
	setting := func(f *modfile.File, key string) string {
		i := slices.IndexFunc(f.Godebug, func(g *modfile.Godebug) bool { return g.Key == key })
		if i < 0 {
			return ""
		}
		return f.Godebug[i].Value
	}
	for _, g := range slices.Clone(into.Godebug) {
		if setting(from, g.Key) == "" {
			err = joinErrors(err, into.DropGodebug(g.Key))
		}
	}
	for _, g := range from.Godebug {
		if setting(into, g.Key) != g.Value {
			err = joinErrors(err, into.AddGodebug(g.Key, g.Value))
		}
	}
	if from.Go != nil && into.Go != nil && semver.Compare("v"+into.Go.Version, "v"+from.Go.Version) < 0 {
		err = into.AddGoStmt(from.Go.Version)
	}
	replaced := func(f *modfile.File, path string) *modfile.Replace {
		i := slices.IndexFunc(f.Replace, func(r *modfile.Replace) bool { return r.Old.Path == path })
		if i < 0 {
			return nil
		}
		return f.Replace[i]
	}
	for _, r := range slices.Clone(into.Replace) {
		required := slices.ContainsFunc(from.Require, func(q *modfile.Require) bool { return q.Mod.Path == r.Old.Path })
		was := replaced(from, r.Old.Path)
		if !required || r.New.Version != "" || !goTesting.MatchString(r.Old.Path) || was != nil && was.New == r.New {
			continue
		}
		err = joinErrors(err, into.DropReplace(r.Old.Path, r.Old.Version))
		if was != nil {
			err = joinErrors(err, into.AddReplace(was.Old.Path, was.Old.Version, was.New.Path, was.New.Version))
		}
	}
	return err
}

// VendoredAnew names the ecosystem of a copy of dependencies that a file is in and that only
// one side has, as its list says (https://go.dev/ref/mod#vendoring): that side is built with it,
// and the other from the cache of modules. Empty: it is in none.
func VendoredAnew(name string, onBase, onHead func(name string) bool) string {
	before, _, ok := strings.Cut("/"+name, "/vendor/")
	list := path.Join(strings.TrimPrefix(before, "/"), "vendor", "modules.txt")
	if !ok || onBase(list) == onHead(list) {
		return ""
	}
	return goName
}

// goOrigins reads a go.mod (https://go.dev/ref/mod#go-mod-file). A replacement is one of what
// tests compare with alone, as modules of one repository replace each other.
func goOrigins(src []byte) ecosystem.Origins {
	f, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		return ecosystem.Origins{}
	}
	out := ecosystem.Origins{Of: map[string]string{}}
	if f.Module != nil {
		out.Own = f.Module.Mod.Path
	}
	for _, q := range f.Require {
		out.Of[q.Mod.Path] = ""
	}
	out.Replaced = goReplaced(f.Replace)
	return out
}

// goWorkOrigins reads a go.work, which replaces modules for all that it uses.
func goWorkOrigins(src []byte) ecosystem.Origins {
	f, err := modfile.ParseWork("go.work", src, nil)
	if err != nil {
		return ecosystem.Origins{}
	}
	return ecosystem.Origins{Replaced: goReplaced(f.Replace)}
}

func goReplaced(all []*modfile.Replace) map[string]string {
	out := map[string]string{}
	for _, r := range all {
		if goTesting.MatchString(r.Old.Path) && r.New.Path != r.Old.Path {
			out[r.Old.Path] = r.New.Path
		}
	}
	return out
}

// mergeGoMod puts the base's toolchain, tool and ignore lines into the head's go.mod,
// and what lines that are equal in tests mean.
func mergeGoMod(base, head []byte) ([]byte, error) {
	into, err := modfile.Parse("go.mod", head, nil)
	if err != nil {
		return nil, err
	}
	from := &modfile.File{Syntax: &modfile.FileSyntax{}}
	if base != nil {
		if from, err = modfile.Parse("go.mod", base, nil); err != nil {
			return head, nil //nolint:nilerr // what the go command refuses steers nothing
		}
	}
	before := string(modfile.Format(into.Syntax))
	for _, t := range slices.Clone(into.Tool) {
		err = joinErrors(err, into.DropTool(t.Path))
	}
	for _, i := range slices.Clone(into.Ignore) {
		err = joinErrors(err, into.DropIgnore(i.Path))
	}
	into.DropToolchainStmt()
	for _, t := range from.Tool {
		err = joinErrors(err, into.AddTool(t.Path))
	}
	for _, i := range from.Ignore {
		err = joinErrors(err, into.AddIgnore(i.Path))
	}
	// One that is older than the language the go command takes out, which tests do not let it.
	if from.Toolchain != nil && (into.Go == nil || version.Compare(from.Toolchain.Name, "go"+into.Go.Version) > 0) {
		err = joinErrors(err, into.AddToolchainStmt(from.Toolchain.Name))
	}
	err = joinErrors(err, putMeaning(from, into))
	into.Cleanup()
	if after := modfile.Format(into.Syntax); err != nil || string(after) != before {
		return after, err
	}
	return head, nil
}

func joinErrors(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
