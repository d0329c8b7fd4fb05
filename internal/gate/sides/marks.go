package sides

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// Marks finds the lines that the change adds to its sources by which code can recognise a
// test run, and says of what it brings in place of the programs that run its tests why
// results are not to be believed.
func (r *Reader) Marks(ctx context.Context) (found []ecosystem.Mark, unbelieved []string, err error) {
	var brought, over, compiled, library, moved []string
	for _, f := range r.Change.Files {
		if f.Status == change.Added || f.Status == change.Renamed || f.Status == change.Copied || f.Status == change.Retyped {
			switch {
			case ecosystem.ReplacesRunner(f.Path):
				brought = append(brought, f.Path)
			case ecosystem.ShadowsLibrary(f.Path, r.onHead), r.answers(f.Path):
				library = append(library, f.Path)
			}
			if path.Base(f.Path) == "package.json" && r.takesOver(ctx, f.Path) {
				over = append(over, f.Path)
			}
		}
		if f.Status != change.Deleted && ecosystem.SaysOrigins(f.Path) {
			moved = append(moved, r.movedIn(ctx, f)...)
		}
		if f.Status != change.Deleted && r.loadedFor(ctx, f.Path) != "" {
			compiled = append(compiled, f.Path)
		}
		if f.Status != change.Deleted && ecosystem.LinksModule(f.Path) {
			over = append(over, f.Path)
		}
		if f.Status == change.Deleted || f.Binary || f.Added == 0 || !ecosystem.MayHaveMarks(f.Path) || ecosystem.VendoredAnew(f.Path, r.onBase, r.onHead) != "" {
			continue
		}
		added, err := r.addedText(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, slices.DeleteFunc(ecosystem.MarksIn(f.Path, added), func(m ecosystem.Mark) bool { return m.TakesPlace() && r.isTestLibrary(path.Ext(f.Path)) })...)
	}
	if len(brought) > 0 {
		unbelieved = append(unbelieved, "the change brings what can stand for a program that runs tests: "+ecosystem.Listed(brought, 5))
	}
	if len(over) > 0 {
		unbelieved = append(unbelieved, "the change brings what answers imports of tests in place of the package that they lie in: "+ecosystem.Listed(over, 5))
	}
	if len(compiled) > 0 {
		unbelieved = append(unbelieved, "the change brings what is compiled and loaded in place of a source: "+ecosystem.Listed(compiled, 5))
	}
	if len(library) > 0 {
		unbelieved = append(unbelieved, "the change brings modules that are imported in place of the standard library's, or of installed ones: "+ecosystem.Listed(library, 5))
	}
	if len(moved) > 0 {
		slices.Sort(moved)
		unbelieved = append(unbelieved, "the change has dependencies come from its own tree, or from other packages under their names: "+ecosystem.Listed(slices.Compact(moved), 5))
	}
	return found, unbelieved, nil
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
		out = ecosystem.MovedIn(f.Path, base, head)
	}
	if own := ecosystem.Own(f.Path, head); own != "" && r.fromRegistry(own, path.Base(f.Path)) {
		out = append(out, own)
	}
	return out
}

// fromRegistry says whether files of this base name take a package from a registry on the base,
// which has none of its own by that name.
func (r *Reader) fromRegistry(pkg, file string) bool {
	wanted := false
	for _, name := range r.Plans[ecosystem.Base].Files {
		if path.Base(name) != file || ecosystem.InFolder(name, "node_modules", "vendor") {
			continue
		}
		src := r.readBase(name)
		if ecosystem.Own(name, src) == pkg {
			return false
		}
		wanted = wanted || ecosystem.FromRegistry(pkg, name, src)
	}
	return wanted
}

// isTestLibrary says whether the base itself has sources that take the place of a test library,
// as the library has.
func (r *Reader) isTestLibrary(ext string) bool {
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		if path.Ext(f.name) != ext {
			return false
		}
		lines := map[int]string{}
		for i, line := range strings.Split(r.textOf(f), "\n") {
			lines[i] = line
		}
		return slices.ContainsFunc(ecosystem.MarksIn(f.name, lines), ecosystem.Mark.TakesPlace)
	})
}

// answers says whether a file that the change brings is what sources of the base import by a
// name that the base has no file for: something that is installed answered it.
func (r *Reader) answers(name string) bool {
	dir, module := ecosystem.TopModule(name)
	if module == "" || !r.searched(dir) {
		return false
	}
	for _, f := range r.Plans[ecosystem.Base].Files {
		stem := strings.TrimSuffix(f, path.Ext(f))
		if path.Ext(f) == path.Ext(name) && strings.HasSuffix("/"+stem, "/"+module) || strings.Contains("/"+f, "/"+module+"/") {
			return false
		}
	}
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		return ecosystem.SameLanguage(f.name, name) && ecosystem.ImportsTop(r.textOf(f), path.Ext(name), module)
	})
}

// searched says whether modules are looked for in a folder: that of a project, or of its
// sources or tests.
func (r *Reader) searched(dir string) bool {
	for _, p := range r.Plans[ecosystem.Base].Projects {
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
	return ecosystem.LoadedFor(name, read, r.onHead)
}

// onBase says whether the base has a file.
func (r *Reader) onBase(name string) bool {
	_, ok := slices.BinarySearch(r.Plans[ecosystem.Base].Files, name)
	return ok
}

// onHead says whether the head has a file.
func (r *Reader) onHead(name string) bool {
	_, ok := slices.BinarySearch(r.Plans[ecosystem.Head].Files, name)
	return ok
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
			return ecosystem.TakesOver(added, above)
		}
	}
	return false
}

// addedText is the lines that the change adds to a file, by their numbers.
func (r *Reader) addedText(ctx context.Context, f change.File) (map[int]string, error) {
	numbers, err := r.Added(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("added lines of %s: %w", f.Path, err)
	}
	src, err := r.Mirror.ReadFile(ctx, r.Head.Commit, f.Path)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a submodule, or retyped: it has no lines
	}
	lines := strings.Split(string(src), "\n")
	out := map[int]string{}
	for n := range numbers {
		if n > 0 && n <= len(lines) {
			out[n] = lines[n-1]
		}
	}
	return out, nil
}
