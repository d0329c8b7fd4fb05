package gate

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// A split is a Go module of whose packages only some are what the change can
// affect: their tests are run first, the others when all else is known.
type split struct {
	first []string // import paths, of the head
	gone  []string // import paths of packages that only the base has
	rest  []string // packages with tests that are not among them
}

// split finds the modules in which running the affected packages first is worth
// a second call of the go command: at most half of the packages that have tests
// are affected. Where the configuration names the test commands, they are run as
// they stand.
func (r *runner) split(context.Context) error {
	r.splits = map[string]split{}
	if r.in.Commands.Test != nil {
		return nil
	}
	byUnit := map[string]*split{}
	tested := map[string]int{}
	for _, p := range r.sides.Packages {
		s := byUnit[p.Unit]
		if s == nil {
			s = &split{}
			byUnit[p.Unit] = s
		}
		switch {
		case r.sides.Affected[p.ImportPath]:
			s.first = append(s.first, p.ImportPath)
			tested[p.Unit] += b2i(p.HasTests())
		case p.HasTests():
			s.rest = append(s.rest, p.ImportPath)
		}
	}
	for unit, s := range byUnit {
		// Without results of the base nothing would follow from there being none.
		if tested[unit] == 0 || tested[unit] > len(s.rest) || !r.sameModule(unit) || r.resteered(unit) || !slices.ContainsFunc(s.first, r.onBase) {
			continue
		}
		s.gone = r.goneFrom(unit)
		r.splits[unit] = *s
	}
	return nil
}

// sameModule says whether both sides have the Go module at unit, of the same
// name, so that its packages are called the same.
func (r *runner) sameModule(unit string) bool {
	name := func(side Side) string {
		for _, p := range r.sides.Plans[side].Projects {
			if p.Eco.Packages != nil && p.Dir == unit {
				return p.What
			}
		}
		return ""
	}
	return name(Base) != "" && name(Base) == name(Head)
}

// goneFrom are packages of the base's module at unit of which the change touches files
// and which the head does not have, or has for other platforms alone.
func (r *runner) goneFrom(unit string) []string {
	var out []string
	for _, f := range r.in.Change.Paths() {
		dir := path.Dir(f)
		m, ok := ecosystem.ModuleAround(r.sides.Plans[Base].Projects, dir)
		if !ok || !m.Eco.IsSource(f) || m.Dir != unit || ecosystem.IgnoredDir(dir) || !m.Eco.Packages.Has(r.in.Base.Dir, dir) || r.listed(dir) {
			continue
		}
		if p := path.Join(m.Eco.Packages.Root(m), strings.TrimPrefix(strings.TrimPrefix(dir, unit), "/")); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// listed says whether the head has a package in a folder.
func (r *runner) listed(dir string) bool {
	return slices.ContainsFunc(r.sides.Packages, func(p ecosystem.Package) bool { return p.Dir == dir })
}

// resteered says whether the change alters what a module's packages are, or how they are
// tested.
func (r *runner) resteered(unit string) bool {
	return slices.ContainsFunc(r.sides.Touched, func(t sides.Touch) bool {
		return t.Class == compare.Steering && (ecosystem.Inside(unit, t.Path) || ecosystem.Inside(path.Dir(t.Path), unit))
	})
}

// firstTests are a side's test commands for what the change can affect.
func (r *runner) firstTests(side Side) []ecosystem.Command {
	var out []ecosystem.Command
	for _, c := range r.sides.Plans[side].Test {
		s, ok := r.splits[c.Unit]
		by := languages.PackagesOf(c.Eco)
		if !ok || by == nil || c.Results == nil {
			out = append(out, c)
			continue
		}
		pkgs := s.first
		if side == Base {
			pkgs = slices.Concat(slices.DeleteFunc(slices.Clone(s.first), func(p string) bool { return !r.onBase(p) }), s.gone)
		}
		if len(pkgs) > 0 {
			out = append(out, by.Only(c, pkgs))
		}
	}
	return out
}

// onBase says whether the base has Go files in the folder of a package of the head.
func (r *runner) onBase(importPath string) bool {
	return slices.ContainsFunc(r.sides.Packages, func(p ecosystem.Package) bool {
		return p.ImportPath == importPath && languages.PackagesOf(p.Eco).Has(r.in.Base.Dir, p.Dir)
	})
}
