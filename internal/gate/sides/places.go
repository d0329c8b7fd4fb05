package sides

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A Site is a test by where it stands in a tree, so that results of both sides
// compare although a module or a folder is called otherwise.
type Site struct{ At, Test string }

// PackageDir is the folder of a package of a side.
func (r *Reader) PackageDir(side results.Side, id results.ID) string {
	best, dir := "", id.Package
	for _, p := range r.allProjects(side) {
		if p.Eco.Packages == nil {
			continue
		}
		root := p.Eco.Packages.Root(p)
		if rest, ok := strings.CutPrefix(id.Package, root); ok && len(root) >= len(best) && (rest == "" || rest[0] == '/') {
			best, dir = root, path.Join(p.Dir, rest)
		}
	}
	return dir
}

func (r *Reader) allProjects(side results.Side) []ecosystem.Project {
	if p := r.Plans[side]; p != nil {
		return slices.Concat(p.Projects, p.Left)
	}
	return nil
}

// PlaceOf is where a test of a side stands.
func (r *Reader) PlaceOf(side results.Side, id results.ID, eco string) Site {
	switch {
	case id.Command != "":
		return Site{id.Unit + "$" + id.Command, ""}
	case languages.ByPackage(eco):
		return Site{r.PackageDir(side, id), id.Test}
	}
	// Runners of one language name the groups around a test each in its own way.
	return Site{id.Package, groups.Replace(id.Test)}
}

var groups = strings.NewReplacer("::", " ", results.NameSep, " ")

// module is where the test of a program that is made of several sources stands in that of its
// module; false where that is the one that it is reported by.
func (r *Reader) module(side results.Side, id results.ID) (Site, bool) {
	p := r.Plans[side]
	if p == nil || path.Ext(id.Package) != ".rs" {
		return Site{}, false
	}
	file, within := rust.InModule(id.Package, id.Test, func(f string) bool {
		_, ok := slices.BinarySearch(p.Files, f)
		return ok
	})
	return Site{file, groups.Replace(within)}, file != id.Package
}

// moduleTo is the test of the head that one of Rust has become whose file is gone, whatever git shows of it as renamed:
// the only one of its name, new there, whose module has the same text, all of it.
func (r *Reader) moduleTo(id results.ID) (to results.ID, ok bool) {
	head := r.Plans[results.Head]
	if head == nil || path.Ext(id.Package) != ".rs" {
		return to, false
	}
	file, own := r.NamedIn(id)
	if file == "" || r.onHead(file) {
		return to, false
	}
	_, within := rust.InModule(id.Package, id.Test, r.onBase)
	was := rust.ModuleOf(r.Texts[file].Base, within) // the trees are what an arm makes of them
	if was == "" {
		return to, false
	}
	found := 0
	for have := range r.Suites[results.Head] {
		if path.Ext(have.Package) != ".rs" || have.Test != own && !strings.HasSuffix(have.Test, "::"+own) || r.Suites[results.Base][have].Status != "" {
			continue
		}
		if at, in := rust.InModule(have.Package, have.Test, r.onHead); rust.ModuleOf(r.Texts[at].Head, in) == was {
			to, found = have, found+1
		}
	}
	return to, found == 1
}

// ranInModule says whether a test of the head ran that stands in a file as a module of its program, by its name there.
func (r *Reader) ranInModule(file, own string) bool {
	for id, t := range r.Suites[results.Head] {
		if t.Status == results.NotRun || t.Status == results.Skipped || !strings.HasSuffix(id.Test, "::"+own) {
			continue
		}
		if at, ok := r.module(results.Head, id); ok && at.At == file {
			return true
		}
	}
	return false
}

// ByPlace finds the tests of a suite by where they stand.
func (r *Reader) ByPlace(side results.Side, s results.Suite) map[Site]results.ID {
	out := make(map[Site]results.ID, len(s))
	for id, t := range s {
		eco := t.Eco
		if eco == "" {
			eco = r.EcoOf(id)
		}
		out[r.PlaceOf(side, id, eco)] = id
	}
	for id := range s { // sources can move from one program to another
		if at, ok := r.module(side, id); ok && out[at] == (results.ID{}) {
			out[at] = id
		}
	}
	return out
}

// MovedTo is where the head has a file or folder of the base: what git shows as
// renamed is the same, of folders where nothing is left in the old one. It is the
// same place where nothing moved. Tests that the change removes would stand where what
// stood beside them is now.
func (r *Reader) MovedTo(name string) string {
	to := map[string]int{}
	for _, f := range r.Change.Files {
		if f.Status == change.Deleted && f.Path == name && languages.IsTestFile(name) {
			if dir := path.Dir(name); r.MovedTo(dir) != dir {
				return path.Join(r.MovedTo(dir), path.Base(name))
			}
			return name
		}
		if f.Status != change.Renamed {
			continue
		}
		if f.OldPath == name {
			return f.Path
		}
		if rest, ok := strings.CutPrefix(f.OldPath, name+"/"); ok {
			if dir, ok := strings.CutSuffix(f.Path, "/"+rest); ok {
				to[dir]++
			} else if !strings.Contains(rest, "/") { // the file has another name, too
				to[path.Dir(f.Path)]++
			}
		}
	}
	best := name
	for dir, n := range to {
		if n > to[best] || n == to[best] && dir < best {
			best = dir
		}
	}
	if p := r.Plans[results.Head]; best != name && p != nil && slices.ContainsFunc(p.Files, func(f string) bool { return ecosystem.Inside(name, f) }) {
		return name
	}
	return best
}

// Sites are where a test of the base can stand in the head's tree.
func (r *Reader) Sites(id results.ID, eco string) []Site {
	at := r.PlaceOf(results.Base, id, eco)
	out := []Site{at}
	if id.Command != "" {
		return append(out, Site{r.MovedTo(id.Unit) + "$" + id.Command, ""})
	}
	if moved := r.MovedTo(at.At); moved != at.At {
		out = append(out, Site{moved, at.Test})
	}
	if to, ok := r.renamed().to[id]; ok {
		out = append(out, r.PlaceOf(results.Head, to, eco))
	}
	if in, ok := r.module(results.Base, id); ok && r.MovedTo(in.At) != in.At {
		out = append(out, Site{r.MovedTo(in.At), in.Test})
	}
	if to, ok := r.moduleTo(id); ok {
		out = append(out, r.PlaceOf(results.Head, to, eco))
	}
	file, src := r.TestFileOf(id)
	if languages.ByPackage(eco) && file != "" && r.MovedTo(file) != file {
		out = append(out, Site{path.Dir(r.MovedTo(file)), at.Test})
	}
	if !languages.ByPackage(eco) && src == nil && id.Test != "" {
		for _, class := range r.classMovedTo(id) {
			out = append(out, Site{class, at.Test})
		}
	}
	return out
}

// MovedAsItIs says whether the file of a test of the base has another name on the head and the
// same text, so that what runs there is the base's: in the same folder, or moved along with the
// sources, as its relative imports would lead elsewhere. A module of Rust that becomes a crate with
// its tests as they are has all that it names in itself, and one of tests alone asks the sources around it.
func (r *Reader) MovedAsItIs(id results.ID) bool {
	if in, ok := r.module(results.Base, id); ok && r.becomesCrate(in.At) {
		return true
	}
	if _, ok := r.moduleTo(id); ok {
		return true
	}
	file, src := r.TestFileOf(id)
	return src != nil && slices.ContainsFunc(r.Change.Files, func(f change.File) bool {
		return f.Status == change.Renamed && f.OldPath == file && f.Added == 0 && f.Deleted == 0 && !f.Binary &&
			(path.Dir(f.Path) == path.Dir(file) || r.movedWhole(f))
	})
}

// becomesCrate says whether a source of the base is, with the tests that it has, the whole of a
// program of tests on the head.
func (r *Reader) becomesCrate(file string) bool {
	return slices.ContainsFunc(r.Change.Files, func(f change.File) bool {
		return f.Status == change.Renamed && f.OldPath == file && rust.ByItself(r.readBase(file)) && rust.ByItself(r.readHead(f.Path)) &&
			rust.SameTests(r.readBase(file), r.readHead(f.Path)) &&
			slices.ContainsFunc(slices.Collect(maps.Keys(r.Suites[results.Head])), func(id results.ID) bool { return id.Package == f.Path && id.Test != "" })
	})
}

// MovesAsTheyAre says whether the change moves files and edits none of them.
func (r *Reader) MovesAsTheyAre(files []string) bool {
	return !slices.ContainsFunc(files, func(name string) bool {
		return !slices.ContainsFunc(r.Change.Files, func(f change.File) bool {
			return f.Status == change.Renamed && f.Added == 0 && f.Deleted == 0 && !f.Binary && (f.Path == name || f.OldPath == name)
		})
	})
}

// movedWhole says whether all that was in a folder moved with a file to where that is now, and
// no source is new: nothing else can be used where the old one was.
func (r *Reader) movedWhole(f change.File) bool {
	from, to := movedPrefix(f)
	inside := func(name string) (rel string, ok bool) {
		if from == "" {
			return name, true
		}
		return strings.CutPrefix(name, from+"/")
	}
	moved := map[string]bool{}
	for _, o := range r.Change.Files {
		switch {
		case o.Status == change.Renamed:
			rel, ok := inside(o.OldPath)
			moved[o.OldPath] = ok && o.Path == path.Join(to, rel)
		case o.Status != change.Deleted && o.Status != change.Modified && languages.IsSource(o.Path):
			return false
		}
	}
	return !slices.ContainsFunc(r.Plans[results.Base].Files, func(name string) bool {
		_, ok := inside(name)
		return ok && languages.IsSource(name) && !moved[name]
	})
}

// EcoOf names the ecosystem of the command that reported a test.
func (r *Reader) EcoOf(id results.ID) string {
	pkg := results.ID{Unit: id.Unit, Package: id.Package}
	return cmp.Or(r.Suites[results.Head][id].Eco, r.Suites[results.Base][id].Eco, r.Suites[results.Head][pkg].Eco, r.Suites[results.Base][pkg].Eco)
}
