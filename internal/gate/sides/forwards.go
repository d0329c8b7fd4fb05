package sides

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
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

// Forwards are what leads from the old places of sources that the change moves to their new
// ones, so that tests of the base find what they name: sources of their own, and the base's tests
// where it is they that have to name another place.
func (r *Reader) Forwards() []workspace.Put {
	var wanted [][]byte
	for _, t := range r.Touched {
		if src := r.Texts[t.Path].Base; src != nil && (t.Class == compare.Test || t.Class == compare.Support) {
			wanted = append(wanted, src)
		}
	}
	out := slices.Concat(r.redirected(), r.declared())
	for _, f := range r.movedSources() {
		e := languages.Of(f.OldPath)
		if r.onHead(f.OldPath) || e == nil || e.Forward == nil {
			continue
		}
		if data := e.Forward(ecosystem.Moved{Old: f.OldPath, New: f.Path, Source: r.Texts[f.Path].Head, Wanted: wanted}); data != nil {
			out = append(out, workspace.Put{Path: f.OldPath, Data: data})
		}
	}
	return out
}

// Backs are what leads from the new places of moved sources to the old ones, so that tests of
// the change find what they name over the base's sources.
func (r *Reader) Backs() []workspace.Put {
	var wanted [][]byte
	for _, t := range r.Touched {
		if src := r.Texts[t.Path].Head; src != nil && (t.Class == compare.Test || t.Class == compare.Support) {
			wanted = append(wanted, src)
		}
	}
	var out []workspace.Put
	for _, f := range r.movedSources() {
		e := languages.Of(f.Path)
		if r.onBase(f.Path) || e == nil || e.Forward == nil {
			continue
		}
		if data := e.Forward(ecosystem.Moved{Old: f.Path, New: f.OldPath, Source: r.Texts[f.OldPath].Base, Wanted: wanted}); data != nil {
			out = append(out, workspace.Put{Path: f.Path, Data: data})
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
	var stems []string
	for _, f := range r.movedSources() {
		for _, name := range []string{f.OldPath, f.Path} {
			stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
			if stem == "index" || stem == "__init__" || stem == "mod" {
				stem = path.Base(path.Dir(name))
			}
			stems = append(stems, stem)
		}
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

// SaysMoved says whether an output names a source at the place from which the change moves it.
func (r *Reader) SaysMoved(output string) bool {
	return slices.ContainsFunc(r.movedSources(), func(f change.File) bool { return strings.Contains(output, path.Base(f.OldPath)) })
}

// namesPart says whether a path, or a name with dots, has a part that is stem.
func namesPart(said, stem string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(said, func(c rune) bool { return strings.ContainsRune("\"'`/\\ ,;()\t", c) }), func(part string) bool {
		return part == stem || strings.HasPrefix(part, stem+".") || strings.HasSuffix(part, "."+stem) || strings.Contains(part, "."+stem+".")
	})
}
