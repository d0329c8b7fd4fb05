package gate

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// A split is a Go module of whose packages only some are what the change can
// affect: their tests are run first, the others when all else is known.
type split struct {
	first []string // import paths, of the head
	gone  []string // import paths of packages that only the base has
	rest  []string // packages with tests that are not among them
}

// splitGo finds the modules in which running the affected packages first is worth
// a second call of the go command: at most half of the packages that have tests
// are affected. Where the configuration names the test commands, they are run as
// they stand.
func (r *runner) splitGo(context.Context) error {
	r.splits = map[string]split{}
	if r.in.Commands.Test != nil {
		return nil
	}
	byUnit := map[string]*split{}
	tested := map[string]int{}
	for _, p := range r.packages {
		s := byUnit[p.unit]
		if s == nil {
			s = &split{}
			byUnit[p.unit] = s
		}
		switch {
		case r.affected[p.ImportPath]:
			s.first = append(s.first, p.ImportPath)
			tested[p.unit] += b2i(p.hasTests())
		case p.hasTests():
			s.rest = append(s.rest, p.ImportPath)
		}
	}
	for unit, s := range byUnit {
		// Without results of the base nothing could be told from there being none.
		if tested[unit] == 0 || tested[unit] > len(s.rest) || !r.sameModule(unit) || !slices.ContainsFunc(s.first, r.onBase) {
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
		for _, p := range r.plan[side].projects {
			if p.eco.name == "Go" && p.dir == unit {
				return p.what
			}
		}
		return ""
	}
	return name(Base) != "" && name(Base) == name(Head)
}

// goneFrom are packages of the base's module at unit out of which the change
// takes files and which the head does not have.
func (r *runner) goneFrom(unit string) []string {
	var out []string
	for _, f := range r.in.Change.Paths() {
		dir := path.Dir(f)
		m, ok := r.moduleOf(dir)
		if !isGoSource(f) || !ok || m.dir != unit || ignoredDir(dir) || !hasGo(r.in.Base.Dir, dir) || hasGo(r.in.Head.Dir, dir) {
			continue
		}
		if p := path.Join(m.path, strings.TrimPrefix(strings.TrimPrefix(dir, unit), "/")); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// firstTests are a side's test commands for what the change can affect.
func (r *runner) firstTests(side Side) []command {
	var out []command
	for _, c := range r.plan[side].test {
		s, ok := r.splits[c.unit]
		if !ok || c.eco != "Go" || c.results == nil {
			out = append(out, c)
			continue
		}
		pkgs := s.first
		if side == Base {
			pkgs = slices.Concat(slices.DeleteFunc(slices.Clone(s.first), func(p string) bool { return !r.onBase(p) }), s.gone)
		}
		if len(pkgs) > 0 {
			out = append(out, c.forPackages(pkgs))
		}
	}
	return out
}

// onBase says whether the base has Go files in the folder of a package of the head.
func (r *runner) onBase(importPath string) bool {
	return slices.ContainsFunc(r.packages, func(p goPackageInfo) bool { return p.ImportPath == importPath && hasGo(r.in.Base.Dir, p.Dir) })
}

// forPackages is c, which tests a whole module, for these packages only.
func (c command) forPackages(pkgs []string) command {
	name, whole := c.label(), cmp.Or(c.whole, c.text)
	c = c.goTest(pkgs...)
	c.name, c.whole, c.packages = name, whole, pkgs
	return c
}

// butPackages is c, which tests a whole module, for all packages but these.
func (c command) butPackages(pkgs []string) command {
	name, whole := c.label(), c.text
	except := ""
	for _, p := range pkgs {
		except += " -e " + quoted(p)
	}
	c = c.goTest(fmt.Sprintf("$(go list -e ./... | grep -vxF%s)", except))
	how := *c.results
	hang := how.hang
	how.hang = func(c command, limit time.Duration) command { return hang(c, limit).inShell() }
	c.results, c.name, c.whole = &how, name, whole
	return c.inShell()
}

// inShell runs the text of c in a shell.
func (c command) inShell() command {
	c.argv = []string{"bash", "--noprofile", "--norc", "-c", c.text}
	return c
}
