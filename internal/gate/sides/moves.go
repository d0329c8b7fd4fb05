package sides

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/sorted"
)

// moves are what a change moves of the sources of the base.
type moves struct {
	sources []change.File
	out     []ecosystem.Scattered // sources with the names that they give up to others
	in      []ecosystem.Scattered // the same the other way around: sources with the names that they get
}

// moves are found once.
func (r *Reader) moves() *moves {
	if r.moved != nil {
		return r.moved
	}
	apart := map[string]bool{} // what is of tests
	for _, t := range r.Touched {
		apart[t.Path] = true
	}
	m := &moves{}
	for _, f := range r.Change.Files {
		if f.Status != change.Renamed || !languages.IsSource(f.OldPath) || strings.EqualFold(f.OldPath, f.Path) {
			continue
		}
		if !slices.ContainsFunc(r.Touched, func(t Touch) bool { return t.Path == f.OldPath && !t.Mixed }) {
			m.sources = append(m.sources, f)
			apart[f.OldPath], apart[f.Path] = true, true // all names in it move with it
		}
	}
	m.out = r.namesMoved(apart, func(v classes.Versions) (was, is []byte) { return v.Base, v.Head })
	m.in = r.namesMoved(apart, func(v classes.Versions) (was, is []byte) { return v.Head, v.Base })
	r.moved = m
	return m
}

// namesMoved are the sources out of which names move to others, of those that are not apart: a
// name that one offers in its first version alone, and one other in its second alone.
func (r *Reader) namesMoved(apart map[string]bool, versions func(classes.Versions) (was, is []byte)) []ecosystem.Scattered {
	gone, now := map[string][]string{}, map[string][]string{} // names by path, paths by name
	for name, v := range r.Texts {
		e := languages.Of(name)
		if e == nil || e.Forwarding == nil || e.Forwarding.Offers == nil || languages.IsTestFile(name) || apart[name] {
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

// SaysMoved says whether an output names a source at the place from which the change moves it, or
// a name that it moves.
func (r *Reader) SaysMoved(output string) bool {
	if slices.ContainsFunc(r.moves().sources, func(f change.File) bool { return strings.Contains(output, path.Base(f.OldPath)) }) {
		return true
	}
	said := classes.Words([]byte(output))
	return slices.ContainsFunc(r.moves().out, func(s ecosystem.Scattered) bool {
		for name := range s.To {
			if said[name] {
				return true
			}
		}
		return false
	})
}
