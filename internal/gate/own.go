package gate

import (
	"context"
	"slices"
)

// ownCommands runs the projects' own commands on the base, where they may show more.
func (r *runner) ownCommands(ctx context.Context) error {
	if r.prep.Unprepared() != "" {
		return nil
	}
	r.own.Known = r.known
	return r.own.OnBase(ctx)
}

// ownAltered takes the blame from those that fail on the head for what the change makes of them.
func (r *runner) ownAltered(context.Context) error {
	r.own.Altered(&r.res.Tests, r.res.Expectations)
	return nil
}

// passByOwn takes the blame from new and edited tests that pass by them.
func (r *runner) passByOwn(ctx context.Context) error {
	r.own.Known = r.known
	return r.own.PassNew(ctx, &r.res.Tests, r.res.Expectations)
}

// covered takes back that something is not covered.
func (r *runner) covered(line string) {
	r.res.NotCovered = slices.DeleteFunc(r.res.NotCovered, func(l string) bool { return l == line })
}
