package gate

import (
	"bytes"
	"context"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// list finds the packages of the head and which of them the change affects.
func (r *runner) list(ctx context.Context) error {
	for _, p := range r.plan[Head].Projects {
		by := p.Eco.Packages
		if by == nil || p.Missing != "" {
			continue
		}
		c := by.List(p, r.plan[Head].Test)
		c.Timeout = r.Limits.step()
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
		r.packages = append(r.packages, pkgs...)
	}
	r.affected = ecosystem.Affected(r.packages, r.in.Change.Paths())
	r.res.Runnable = r.sides.Runnable(ctx, r.packages)
	return nil
}
