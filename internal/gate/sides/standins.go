package sides

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/node"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A standIn is one way in which a file of a change is used in place of what the tests of the
// base are run by, or compare with.
type standIn int

const (
	ofRunner   standIn = iota // a program that runs tests
	ofPackage                 // what answers imports in the package that tests lie in
	ofSource                  // a source that is compiled
	ofLibrary                 // a module that is installed, or of the standard library
	ofPlugin                  // what a program that runs tests loads of what is installed
	ofRegistry                // a package of a registry
)

// standInReasons say why results are not believed, in the order in which people read them.
var standInReasons = []string{
	ofRunner:   "the change brings what can stand for a program that runs tests: ",
	ofPackage:  "the change brings what answers imports of tests in place of the package that they lie in: ",
	ofSource:   "the change brings what is compiled and loaded in place of a source: ",
	ofLibrary:  "the change brings modules that are imported in place of the standard library's, or of installed ones: ",
	ofPlugin:   "the change has pytest load what it brings by itself, once it is installed: ",
	ofRegistry: "the change has dependencies come from its own tree, or from other packages under their names: ",
}

// StandIns are the reasons for which results are not to be believed: what the change brings in
// place of what its tests are run by, or compare with.
func (r *Reader) StandIns(ctx context.Context) []string {
	names := make([][]string, len(standInReasons))
	add := func(of standIn, name ...string) { names[of] = append(names[of], name...) }
	for _, f := range r.Change.Files {
		if f.Status == change.Deleted {
			continue
		}
		if f.Status != change.Modified {
			switch {
			case r.inProject(f.Path, func(in string, _ func(string) bool) bool { return classes.ReplacesRunner(in) }), r.standsForProgram(ctx, f.Path):
				add(ofRunner, f.Path)
			case r.inProject(f.Path, classes.ShadowsLibrary), r.answers(f.Path), classes.ImportsAtStart(f.Path, r.readHead):
				add(ofLibrary, f.Path)
			}
			if path.Base(f.Path) == "package.json" && r.takesOver(ctx, f.Path) {
				add(ofPackage, f.Path)
			}
		}
		if classes.LinksModule(f.Path) {
			add(ofPackage, f.Path)
		}
		if r.loadedFor(ctx, f.Path) != "" {
			add(ofSource, f.Path)
		}
		if classes.BringsPlugin(f.Path, r.readBase(cmp.Or(f.OldPath, f.Path)), r.readHead) {
			add(ofPlugin, f.Path)
		}
		if languages.SaysOrigins(f.Path) {
			add(ofRegistry, r.movedIn(ctx, f)...)
		}
	}
	var out []string
	for of, list := range names {
		if len(list) > 0 {
			slices.Sort(list)
			out = append(out, standInReasons[of]+results.Listed(slices.Compact(list), 5))
		}
	}
	return out
}

// inProject asks for a file by its path in the tree, and by the one in each project that it is in.
func (r *Reader) inProject(name string, is func(in string, has func(string) bool) bool) bool {
	if is(name, r.onHead) {
		return true
	}
	for _, p := range r.Plans[results.Base].Projects {
		if in, ok := strings.CutPrefix(name, p.Dir+"/"); ok && is(in, func(f string) bool { return r.onHead(path.Join(p.Dir, f)) }) {
			return true
		}
	}
	return false
}

// RunnersBrought is the same reason for files that a command calls which runs tests on the base: there
// something made them that is no part of the tree, such as Composer in the folder of its programs. The head
// can have such a command lead elsewhere, too. made says of a file that the head's own build made it anyway.
// Empty: there are none.
func (r *Reader) RunnersBrought(made func(name string) bool) string {
	base, head := r.Plans[results.Base], r.Plans[results.Head]
	calls := func(c ecosystem.Command, most int, name string) bool {
		words := ecosystem.CalledIn(c.Text)
		for i, w := range words[:min(most, len(words))] {
			if (i > 0 || strings.Contains(w, "/")) && path.Join(c.Unit, w) == name {
				return true
			}
		}
		return false
	}
	var out []string
	for _, f := range r.Change.Files {
		if f.Status == change.Deleted || r.onBase(f.Path) || classes.ReplacesRunner(f.Path) || made(f.Path) {
			continue
		}
		if slices.ContainsFunc(base.Test, func(c ecosystem.Command) bool {
			elsewhere := func(h ecosystem.Command) bool { return SameRun(c, h) && calls(h, 1, f.Path) }
			return r.passesOnBase(c) && (calls(c, math.MaxInt, f.Path) || slices.ContainsFunc(head.Test, elsewhere))
		}) {
			out = append(out, f.Path)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return standInReasons[ofRunner] + results.Listed(out, 5)
}

// passesOnBase says whether a test passed that a command of the base reported.
func (r *Reader) passesOnBase(c ecosystem.Command) bool {
	for id, t := range r.Suites[results.Base] {
		if t.Status == results.Passed && id.Unit == c.Unit && (t.Eco == c.Eco || id.Command == c.Label()) {
			return true
		}
	}
	return false
}

// movedIn are the packages that a file of the change takes from elsewhere than the base does,
// and the package that it makes of its folder, where the base takes one of that name from a
// registry: members of a workspace come first.
func (r *Reader) movedIn(ctx context.Context, f change.File) []string {
	head, err := r.Mirror.ReadFile(ctx, r.Head.Commit, f.Path)
	if err != nil {
		return nil // a submodule, or a link that leads nowhere
	}
	var out []string
	base := r.readBase(cmp.Or(f.OldPath, f.Path))
	if base != nil {
		out = languages.MovedIn(f.Path, base, head)
	}
	if own := languages.Own(f.Path, head); own != "" && r.fromRegistry(own, path.Base(f.Path)) {
		out = append(out, own)
	}
	return out
}

// fromRegistry says whether files of this base name take a package from a registry on the base,
// which has none of its own by that name.
func (r *Reader) fromRegistry(pkg, file string) bool {
	wanted := false
	for _, name := range r.Plans[results.Base].Files {
		if path.Base(name) != file || ecosystem.InFolder(name, "node_modules", "vendor") {
			continue
		}
		src := r.readBase(name)
		if languages.Own(name, src) == pkg {
			return false
		}
		wanted = wanted || languages.FromRegistry(pkg, name, src)
	}
	return wanted
}

// Bumped says whether the change asks for another version of a package: a file that says where
// packages come from has other lines with its name.
func (r *Reader) Bumped(pkg string) bool {
	return slices.ContainsFunc(r.Change.Files, func(f change.File) bool {
		v := r.Texts[f.Path]
		return languages.SaysOrigins(f.Path) && !slices.Equal(languages.LinesNaming(v.Base, pkg), languages.LinesNaming(v.Head, pkg))
	})
}

// answers says whether a file that the change brings is what sources of the base import by a
// name that the base has no file for: something that is installed answered it.
func (r *Reader) answers(name string) bool {
	dir, module := classes.TopModule(name)
	if module == "" || !r.searched(dir) {
		return false
	}
	for _, f := range r.Plans[results.Base].Files {
		stem := strings.TrimSuffix(f, path.Ext(f))
		if path.Ext(f) == path.Ext(name) && strings.HasSuffix("/"+stem, "/"+module) || strings.Contains("/"+f, "/"+module+"/") {
			return false
		}
	}
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		return languages.SameLanguage(f.name, name) && classes.ImportsTop(r.textOf(f), path.Ext(name), module)
	})
}

// searched says whether modules are looked for in a folder: that of a project, or of its
// sources or tests.
func (r *Reader) searched(dir string) bool {
	for _, p := range r.Plans[results.Base].Projects {
		for _, in := range []string{"", "src", "lib", "python", "include", "inc", "test", "tests", "spec"} {
			if path.Join(p.Dir, in) == dir {
				return true
			}
		}
	}
	return false
}

// loadedFor is the source of the head in place of which a file of it would be loaded.
func (r *Reader) loadedFor(ctx context.Context, name string) string {
	read := func() []byte {
		code, err := r.Mirror.ReadFile(ctx, r.Head.Commit, name)
		if err != nil {
			return nil // a submodule, or a link that leads nowhere
		}
		return code
	}
	return classes.LoadedFor(name, read, r.onHead)
}

// takesOver says whether a package.json that the change brings stands for one above it.
func (r *Reader) takesOver(ctx context.Context, name string) bool {
	added, err := r.Mirror.ReadFile(ctx, r.Head.Commit, name)
	if err != nil {
		return false // a submodule, or a link that leads nowhere
	}
	for dir := path.Dir(name); dir != "."; {
		dir = path.Dir(dir)
		if above, err := r.Mirror.ReadFile(ctx, r.Base.Commit, path.Join(dir, "package.json")); err == nil {
			return node.TakesOver(added, above)
		}
	}
	return false
}
