package gate

import (
	"cmp"
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// keptTests are the commands of the kept arm: those that are detected in the head
// with the base's steering and tests, where they report each test as the base's do,
// else the base's own.
func (r *runner) keptTests(ctx context.Context) ([]ecosystem.Command, error) {
	p := r.sides.Plans[Head]
	if !r.configured(StageTest) {
		var err error
		if p, err = r.keptPlan(ctx); err != nil {
			return nil, err
		}
	}
	how := func(c ecosystem.Command) string {
		if c.Results == nil {
			return c.Text
		}
		return c.Results.Name
	}
	var out []ecosystem.Command
	for _, c := range r.sides.Plans[Base].Test {
		unit, found := r.sides.MovedTo(c.Unit), false
		for _, h := range p.Test {
			if h.Eco == c.Eco && h.Unit == unit && how(h) == how(c) && (h.Text == c.Text || !r.configured(StageTest)) {
				out, found = append(out, h), true
			}
		}
		if !found {
			c.Unit = unit
			out = append(out, c)
		}
	}
	return out, nil
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
