package gate

import (
	"cmp"
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// keptTests are the commands of the kept arm: the base's own, by what the head's setup brings. otherwise are those that are
// detected in the head with the base's steering and tests, and report each test as the base's do,
// where they are other ones: what stands in the tree may ask for another call, such as a source
// folder, and so may what the change only puts there.
func (r *runner) keptTests(ctx context.Context) (base, otherwise []ecosystem.Command, err error) {
	p := r.sides.Plans[Head]
	if !r.configured(StageTest) {
		if p, err = r.keptPlan(ctx); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range r.sides.Plans[Base].Test {
		c.Unit = r.sides.MovedTo(c.Unit)
		at := slices.IndexFunc(p.Test, func(h ecosystem.Command) bool { return sides.SameCall(h, c) })
		if at >= 0 {
			h := r.sides.AsPrepared(Head, p.Test[at])
			if h.Text != c.Text {
				h.Name = c.Label()
			}
			base = append(base, h)
			continue
		}
		base = append(base, r.sides.AsPrepared(Head, c))
		if r.configured(StageTest) {
			continue
		}
		for _, h := range p.Test {
			if sides.SameRun(h, c) {
				otherwise = append(otherwise, r.sides.AsPrepared(Head, h))
			}
		}
	}
	return base, otherwise, nil
}

// keptPlan is what is detected in the tree of the kept arm.
func (r *runner) keptPlan(ctx context.Context) (*sides.Plan, error) {
	over := map[string][]byte{}
	files := slices.Clone(r.sides.Plans[Head].Files)
	for _, t := range r.sides.Touched {
		data := t.Put.Data
		if t.Put.From != "" {
			var err error
			if data, err = r.Mirror.ReadFile(ctx, t.Put.From, cmp.Or(t.Put.At, t.Path)); err != nil {
				data = nil
			}
		}
		files = slices.DeleteFunc(files, func(f string) bool { return f == t.Path })
		if data != nil {
			files = append(files, t.Path)
		}
		over[t.Path] = data
	}
	slices.Sort(files)
	s := ecosystem.NewSurvey(ecosystem.InTree(r.in.Head.Dir), files, r.Tools, func(string, ...any) {})
	s.Over = over
	return newPlan(languages.FindProjects(s), r.in.Commands), nil
}
