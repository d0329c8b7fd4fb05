package gate

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// list finds the packages of the head and which of them the change affects.
func (r *runner) list(ctx context.Context) error {
	for _, p := range r.plan[Head].projects {
		if p.Eco.Name != "Go" || p.Missing != "" {
			continue
		}
		m := p.Module()
		args := slices.Concat([]string{"list", "-e", "-json=" + ecosystem.ListFields}, r.tags(), []string{"./..."})
		c := m.Command(StageList, args...)
		c.Timeout = r.Limits.step()
		var out bytes.Buffer
		if _, err := r.exec(ctx, Head, r.in.Head, c, &out); err != nil {
			return err
		}
		pkgs, err := ecosystem.ParseList(&out, r.in.Head.Dir)
		if err != nil {
			r.note("packages of %s could not be listed: %v", m.Dir, err)
		}
		for i := range pkgs {
			pkgs[i].Unit = m.Dir
		}
		r.packages = append(r.packages, pkgs...)
	}
	r.affected = ecosystem.Affected(r.packages, r.in.Change.Paths())
	r.res.Runnable = r.runnable(ctx)
	return nil
}

// tags are the build tags that the configuration's test commands set.
func (r *runner) tags() []string {
	for _, c := range r.plan[Head].test {
		for i, f := range c.Flags {
			switch name, _, value := strings.Cut(strings.TrimLeft(f, "-"), "="); {
			case name == "tags" && value:
				return []string{f}
			case name == "tags" && i+1 < len(c.Flags):
				return []string{"-tags=" + c.Flags[i+1]}
			}
		}
	}
	return nil
}
