package gate

import (
	"bytes"
	"context"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// list finds the packages of the head and which of them the change affects.
func (r *runner) list(ctx context.Context) error {
	for _, p := range r.sides.Plans[Head].Projects {
		by := p.Eco.Packages
		if by == nil || p.Missing != "" {
			continue
		}
		c := by.List(p, r.sides.Plans[Head].Test)
		c.Timeout = r.Limits.Step
		var out bytes.Buffer
		if _, err := r.executor.Run(ctx, Head, r.in.Head, c, &out); err != nil {
			return err
		}
		pkgs, err := by.Parse(&out, r.in.Head.Dir)
		if err != nil {
			r.note("packages of %s could not be listed: %v", p.Dir, err)
		}
		for i := range pkgs {
			pkgs[i].Unit, pkgs[i].Eco = p.Dir, p.Eco.Name
		}
		r.sides.Packages = append(r.sides.Packages, pkgs...)
	}
	r.sides.Affected = languages.Affected(r.sides.Packages, r.in.Change.Paths())
	for _, p := range r.sides.Packages {
		if !r.sides.Affected[p.ImportPath] && r.testsReadOutside(p) {
			r.sides.Affected[p.ImportPath] = true
		}
	}
	r.res.Runnable = r.sides.Runnable(ctx, r.sides.Packages)
	return nil
}

// testsReadOutside says whether tests of a package name a file of the change by a way out of
// their folder, as those do that read a document or run a program of the repository.
func (r *runner) testsReadOutside(p ecosystem.Package) bool {
	for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		src, err := ecosystem.ReadInTree(r.in.Head.Dir, path.Join(p.Dir, file))
		if err != nil || !bytes.Contains(src, []byte("..")) {
			continue
		}
		text := string(src)
		if slices.ContainsFunc(r.in.Change.Paths(), func(name string) bool {
			return path.Dir(name) != p.Dir && classes.Names(text, p.Dir, name)
		}) {
			return true
		}
	}
	return false
}
