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
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Forwards are what leads from the old places of sources, and of names in them, that the change
// moves to their new ones, so that tests of the base find what they name: sources of their own, and
// the base's tests where it is they that have to name another place.
func (r *Reader) Forwards() []workspace.Put {
	is := func(v classes.Versions) []byte { return v.Base }
	out := slices.Concat(r.redirected(), r.declared())
	for _, f := range r.movedSources() {
		out = append(out, r.leading(f.OldPath, f.Path, r.onHead, is, r.Texts[f.Path].Head)...)
	}
	return append(out, r.leadingNames(r.scattered(), is)...)
}

// Backs are what leads from the new places of moved sources to the old ones, so that tests of
// the change find what they name over the base's sources.
func (r *Reader) Backs() []workspace.Put {
	is := func(v classes.Versions) []byte { return v.Head }
	var out []workspace.Put
	for _, f := range r.movedSources() {
		out = append(out, r.leading(f.Path, f.OldPath, r.onBase, is, r.Texts[f.OldPath].Base)...)
	}
	return append(out, r.leadingNames(r.gathered(), is)...)
}

// leadingNames are sources with the names that are not in them on a side.
func (r *Reader) leadingNames(all []ecosystem.Scattered, side func(classes.Versions) []byte) []workspace.Put {
	var out []workspace.Put
	for _, s := range all {
		s.Wanted = r.asking(side)
		if data := languages.Of(s.Old).Forwarding.Names(s); data != nil {
			out = append(out, workspace.Put{Path: s.Old, Data: data})
		}
	}
	return out
}

// leading is a source at one place that leads to another, whose text is given, where the tree
// has none at the first.
func (r *Reader) leading(from, to string, has func(string) bool, side func(classes.Versions) []byte, text []byte) []workspace.Put {
	e := languages.Of(from)
	if has(from) || e == nil || e.Forwarding == nil {
		return nil
	}
	data := e.Forwarding.Whole(ecosystem.Moved{Old: from, New: to, Source: text, Wanted: r.asking(side)})
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

// scattered are the sources out of which the change moves names to others: a name that one offers
// on the base alone, and another that the change edits or brings on the head alone.
func (r *Reader) scattered() []ecosystem.Scattered {
	return r.apart(func(v classes.Versions) (was, is []byte) { return v.Base, v.Head })
}

// gathered are the same the other way around: those into which it moves names.
func (r *Reader) gathered() []ecosystem.Scattered {
	return r.apart(func(v classes.Versions) (was, is []byte) { return v.Head, v.Base })
}

func (r *Reader) apart(versions func(classes.Versions) (was, is []byte)) []ecosystem.Scattered {
	gone, now := map[string][]string{}, map[string][]string{} // names by path, paths by name
	for name, v := range r.Texts {
		e := languages.Of(name)
		if e == nil || e.Forwarding == nil || e.Forwarding.Offers == nil || languages.IsTestFile(name) ||
			slices.ContainsFunc(r.Touched, func(t Touch) bool { return t.Path == name }) ||
			slices.ContainsFunc(r.movedSources(), func(f change.File) bool { return f.OldPath == name || f.Path == name }) {
			continue
		}
		was, is := versions(v)
		before, after := e.Forwarding.Offers(was), e.Forwarding.Offers(is)
		for _, n := range before {
			if !slices.Contains(after, n) {
				gone[name] = append(gone[name], n)
			}
		}
		for _, n := range after {
			if !slices.Contains(before, n) && !slices.Contains(now[n], name) {
				now[n] = append(now[n], name)
			}
		}
	}
	var out []ecosystem.Scattered
	for _, old := range sorted.Keys(gone, strings.Compare) {
		s := ecosystem.Scattered{Old: old, To: map[string]string{}}
		_, s.Rest = versions(r.Texts[old])
		for _, n := range gone[old] {
			if at := now[n]; len(at) == 1 && languages.SameLanguage(old, at[0]) {
				s.To[n] = at[0]
				_, s.Any = versions(r.Texts[at[0]])
			}
		}
		if len(s.To) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// redirected are the base's tests of Go with the imports of packages that the change moves
// leading to their new places.
func (r *Reader) redirected() []workspace.Put {
	moved, at := map[string]golang.MovedPackage{}, map[string]golang.MovedPackage{}
	for _, f := range r.movedSources() {
		dir := path.Dir(f.OldPath)
		to := r.MovedTo(dir)
		old, now := r.importPath(results.Base, dir), r.importPath(results.Head, to)
		if path.Ext(f.OldPath) != ".go" || to == dir || old == "" || now == "" {
			continue
		}
		at[to] = golang.MovedPackage{Path: now, Was: golang.ClauseName(r.Texts[f.OldPath].Base), Is: golang.ClauseName(r.Texts[f.Path].Head)}
		moved[old] = at[to]
	}
	var out []workspace.Put
	for _, t := range r.Touched {
		src := r.Texts[cmp.Or(t.Put.At, t.Path)].Base
		if path.Ext(t.Path) != ".go" || t.Mixed || src == nil || t.Put.From == "" || len(moved) == 0 {
			continue
		}
		if data := golang.Redirect(src, moved, at[path.Dir(t.Path)]); !bytes.Equal(data, src) {
			out = append(out, workspace.Put{Path: t.Path, Data: data})
		}
	}
	return out
}

// declared are the head's modules of Rust with those declared in them, too, that moved elsewhere.
func (r *Reader) declared() []workspace.Put {
	text := map[string][]byte{}
	for _, f := range r.movedSources() {
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

// movedSources are the sources that the change moves.
func (r *Reader) movedSources() []change.File {
	return slices.DeleteFunc(slices.Clone(r.Change.Files), func(f change.File) bool {
		return f.Status != change.Renamed || !languages.IsSource(f.OldPath) || strings.EqualFold(f.OldPath, f.Path) ||
			slices.ContainsFunc(r.Touched, func(t Touch) bool { return t.Path == f.OldPath && !t.Mixed })
	})
}

var (
	quoted  = pattern.New("'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`")
	imports = pattern.New(`(?m)^\s*(?:from\s+[\w.]+\s+)?import\s+[^\n]*$`)
)

// MovedTextStands says whether all lines of the file of a test of the base stand in the head's, in
// their order, but for how they name sources that the change moves.
func (r *Reader) MovedTextStands(file string) bool {
	v := r.Texts[file]
	head := v.Head
	if to := r.MovedTo(file); to != file {
		head = r.Texts[to].Head
	}
	if v.Base == nil || head == nil {
		return false
	}
	var names, stems []string
	for _, f := range r.movedSources() {
		names = append(names, f.OldPath, f.Path)
	}
	for _, s := range r.scattered() {
		names = append(slices.AppendSeq(names, maps.Values(s.To)), s.Old)
	}
	for _, name := range names {
		stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
		if stem == "index" || stem == "__init__" || stem == "mod" {
			stem = path.Base(path.Dir(name))
		}
		stems = append(stems, stem)
	}
	masked := func(src []byte) string {
		mask := func(said string) string {
			for _, stem := range stems {
				if namesPart(said, stem) {
					return "…"
				}
			}
			return said
		}
		return quoted.ReplaceAllStringFunc(imports.ReplaceAllStringFunc(string(src), mask), mask)
	}
	rest := strings.Split(masked(head), "\n")
	for line := range strings.SplitSeq(masked(v.Base), "\n") {
		at := slices.Index(rest, line)
		if at < 0 {
			return false
		}
		rest = rest[at+1:]
	}
	return true
}

// SaysMoved says whether an output names a source at the place from which the change moves it, or
// a name that it moves.
func (r *Reader) SaysMoved(output string) bool {
	if slices.ContainsFunc(r.movedSources(), func(f change.File) bool { return strings.Contains(output, path.Base(f.OldPath)) }) {
		return true
	}
	said := classes.Words([]byte(output))
	return slices.ContainsFunc(r.scattered(), func(s ecosystem.Scattered) bool {
		for name := range s.To {
			if said[name] {
				return true
			}
		}
		return false
	})
}

// namesPart says whether a path, or a name with dots, has a part that is stem.
func namesPart(said, stem string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(said, func(c rune) bool { return strings.ContainsRune("\"'`/\\ ,;()\t", c) }), func(part string) bool {
		return part == stem || strings.HasPrefix(part, stem+".") || strings.HasSuffix(part, "."+stem) || strings.Contains(part, "."+stem+".")
	})
}
