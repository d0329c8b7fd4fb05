package sides

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/golang"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Forwards are what leads from the old places of sources, and of names in them, that the change
// moves to their new ones, so that tests of the base find what they name: sources of their own, and
// the base's tests where it is they that have to name another place.
func (r *Reader) Forwards() []workspace.Put {
	wanted := r.asking(func(v classes.Versions) []byte { return v.Base })
	out := slices.Concat(r.redirected(), r.declared(), r.ForMakefile(), r.Lists())
	for _, f := range r.moves().sources {
		out = append(out, r.leading(f.OldPath, f.Path, r.onHead, wanted, r.Texts[f.Path].Head)...)
	}
	return append(out, r.leadingNames(r.moves().out, wanted)...)
}

// Backs are what leads from the new places of moved sources to the old ones, so that tests of
// the change find what they name over the base's sources.
func (r *Reader) Backs() []workspace.Put {
	wanted := r.asking(func(v classes.Versions) []byte { return v.Head })
	var out []workspace.Put
	for _, f := range r.moves().sources {
		out = append(out, r.leading(f.Path, f.OldPath, r.onBase, wanted, r.Texts[f.OldPath].Base)...)
	}
	return append(out, r.leadingNames(r.moves().in, wanted)...)
}

// leadingNames are sources with the names that they gave up to others.
func (r *Reader) leadingNames(all []ecosystem.Scattered, wanted [][]byte) []workspace.Put {
	var out []workspace.Put
	for _, s := range all {
		s.Wanted = wanted
		if data := languages.Of(s.Old).Forwarding.Names(s); data != nil {
			out = append(out, workspace.Put{Path: s.Old, Data: data})
		}
	}
	return out
}

// leading is a source at one place that leads to another, whose text is given, where the tree
// has none at the first.
func (r *Reader) leading(from, to string, has func(string) bool, wanted [][]byte, text []byte) []workspace.Put {
	e := languages.Of(from)
	if has(from) || e == nil || e.Forwarding == nil {
		return nil
	}
	data := e.Forwarding.Whole(ecosystem.Moved{Old: from, New: to, Source: text, Wanted: wanted})
	if data == nil {
		return nil
	}
	return []workspace.Put{{Path: from, Data: data}}
}

// asking are the tests that the change touches, and what they share, as a side has them.
func (r *Reader) asking(side func(classes.Versions) []byte) [][]byte {
	var out [][]byte
	for _, t := range r.Touched {
		if src := side(r.Texts[t.Path]); src != nil && (t.Class == compare.Test || t.Class == compare.Support) {
			out = append(out, src)
		}
	}
	return out
}

// redirected are the base's tests of Go with the imports of packages that the change moves
// leading to their new places, and as part of the package of the sources that move with them.
func (r *Reader) redirected() []workspace.Put {
	moved := map[string]golang.MovedPackage{}
	beside := map[[2]string]golang.MovedPackage{} // by the folders before and after
	for _, f := range r.moves().sources {
		if path.Ext(f.OldPath) != ".go" {
			continue
		}
		dir := path.Dir(f.OldPath)
		p := golang.MovedPackage{Was: golang.ClauseName(r.Texts[f.OldPath].Base), Is: golang.ClauseName(r.Texts[f.Path].Head)}
		beside[[2]string{dir, path.Dir(f.Path)}] = p
		to := r.MovedTo(dir)
		if old, now := r.importPath(results.Base, dir), r.importPath(results.Head, to); to != dir && old != "" && now != "" {
			p.Path = now
			moved[old] = p
		}
	}
	var out []workspace.Put
	for _, t := range r.Touched {
		was := cmp.Or(t.Put.At, t.Path)
		src := r.Texts[was].Base
		if path.Ext(t.Path) != ".go" || t.Mixed || src == nil || t.Put.From == "" {
			continue
		}
		if data := golang.Redirect(src, moved, beside[[2]string{path.Dir(was), path.Dir(t.Path)}]); !bytes.Equal(data, src) {
			out = append(out, workspace.Put{Path: t.Path, Data: data})
		}
	}
	return out
}

// declared are the head's modules of Rust with those declared in them, too, that moved elsewhere.
func (r *Reader) declared() []workspace.Put {
	text := map[string][]byte{}
	for _, f := range r.moves().sources {
		parent, declared, ok := rust.Forward(f.OldPath, f.Path, r.onHead)
		if !ok {
			continue
		}
		if text[parent] == nil {
			src, err := ecosystem.ReadInTree(r.Head.Dir, parent)
			if err != nil {
				continue
			}
			text[parent] = src
		}
		text[parent] = slices.Concat(text[parent], []byte(declared))
	}
	var out []workspace.Put
	for _, name := range sorted.Keys(text, strings.Compare) {
		out = append(out, workspace.Put{Path: name, Data: text[name]})
	}
	return out
}

// ForMakefile are the sources of C and C++ that the change moves, also by their functions to several others,
// where the base's Makefile compiles them, which is put back with its tests.
func (r *Reader) ForMakefile() []workspace.Put {
	makefile := r.makefiles(r.Touched)
	if len(makefile) == 0 {
		return nil
	}
	var out []workspace.Put
	for _, f := range r.Change.Files {
		old := cmp.Or(f.OldPath, f.Path)
		if f.Status != change.Renamed && f.Status != change.Deleted || !native.IsSource(old) || r.onHead(old) || !r.sourceText(old) {
			continue
		}
		var text []byte
		for _, now := range r.madeInto(old, f) {
			m := ecosystem.Moved{Old: old, New: now, Source: r.Texts[now].Head}
			if data := native.Compiled(m, makefile, r.onHead); data != nil {
				text = append(append(text, bytes.TrimRight(data, "\n")...), '\n')
			}
		}
		if text != nil {
			out = append(out, workspace.Put{Path: old, Data: text})
		}
	}
	return out
}

// madeInto are the sources that the change makes of one: the one that it becomes, and others that have a function
// of it.
func (r *Reader) madeInto(old string, f change.File) []string {
	var out []string
	if f.Status == change.Renamed {
		out = append(out, f.Path)
	}
	had := native.Functions(r.Texts[old].Base)
	for _, o := range r.Change.Files {
		v := r.Texts[o.Path]
		if o.Path == f.Path || v.Base != nil || v.Head == nil || !native.IsSource(o.Path) || !r.sourceText(o.Path) {
			continue
		}
		if slices.ContainsFunc(native.Functions(v.Head), func(name string) bool { return slices.Contains(had, name) }) {
			out = append(out, o.Path)
		}
	}
	return out
}

// StandsUncalled says whether a function of the base's sources stands in the head's, and the head's Makefile does not
// run for tests all that the base's does: its name is then not what they lack.
func (r *Reader) StandsUncalled(name string) bool {
	stands := func(of string, v classes.Versions) bool {
		return native.IsSource(of) && r.sourceText(of) && slices.Contains(native.Functions(v.Head), name)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(r.Texts)), func(of string) bool { return stands(of, r.Texts[of]) }) {
		return false
	}
	return slices.ContainsFunc(r.Touched, func(t Touch) bool {
		v := r.Texts[t.Path]
		return t.Class == compare.Steering && isMakefile(t.Path) && v.Base != nil && v.Head != nil && !runsAll(v)
	})
}

// runsAll says whether the head's targets for tests have all lines that the base's run.
func runsAll(v classes.Versions) bool {
	lines := func(src []byte) []string {
		var out []string
		for _, m := range ecosystem.TestTargets.FindAllStringSubmatch(string(src), -1) {
			for line := range strings.Lines(m[len(m)-1]) {
				out = append(out, strings.TrimSpace(line))
			}
		}
		return out
	}
	now := lines(v.Head)
	return !slices.ContainsFunc(lines(v.Base), func(line string) bool { return !slices.Contains(now, line) })
}

// Lists are the base's Makefiles that are put back, with the head's lists of the sources that the product is
// made of: a function that moves to a file of its own is no other way to run tests. Nothing else of the
// change may set such a list.
func (r *Reader) Lists() []workspace.Put {
	var out []workspace.Put
	for _, t := range r.Touched {
		if t.Class != compare.Steering || t.Mixed || t.File.Status != change.Modified || !isMakefile(t.Path) {
			continue
		}
		base, head := r.madeOf(results.Base, t.Path), r.madeOf(results.Head, t.Path)
		data := classes.ListsOf(r.Texts[t.Path], func(variable string) bool {
			return base[variable] && head[variable] && r.setAlike(variable)
		})
		if data != nil {
			out = append(out, workspace.Put{Path: t.Path, Data: data})
		}
	}
	return out
}

// madeOf are the variables of which the Makefiles around one make something that is not for tests.
func (r *Reader) madeOf(side results.Side, name string) map[string]bool {
	read, text := r.readBase, []byte{}
	if side == results.Head {
		read = r.readHead
	}
	n := 0
	for _, f := range r.Plans[side].Files {
		if near := ecosystem.Inside(path.Dir(name), f) || ecosystem.Inside(path.Dir(f), name); near && isMakefile(f) && !ecosystem.IgnoredDir(path.Dir(f)) && n < maxRead {
			text, n = append(append(text, read(f)...), '\n'), n+1
		}
	}
	return classes.MadeOf(string(text))
}

// setAlike says whether all files of the change set a variable in the same way, but for lines of Makefiles that
// set it whatever is made.
func (r *Reader) setAlike(variable string) bool {
	for name, v := range r.Texts {
		if !classes.SetAlike(v, variable, isMakefile(name)) {
			return false
		}
	}
	return true
}

// importPath is that of a folder on a side, as its project says; empty: it is in none.
func (r *Reader) importPath(side results.Side, dir string) string {
	best, found := -1, ""
	for _, p := range r.allProjects(side) {
		within := strings.TrimSuffix(p.Dir, ".") // nothing for the top
		if p.Eco.Packages == nil || len(within) <= best || !ecosystem.Inside(p.Dir, dir) {
			continue
		}
		best, found = len(within), path.Join(p.Eco.Packages.Root(p), strings.TrimPrefix(dir, within))
	}
	return found
}
