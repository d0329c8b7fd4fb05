package gate

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// startAgain runs the commands once more with the head's steering that could not
// start with the base's.
func (k *keeper) startAgain(ctx context.Context) error {
	var again []selection
	for _, s := range k.run {
		if k.steered(s) && !k.started(k.suite, s) && k.started(k.r.sides.Suites[Head], s) {
			again = append(again, s)
		}
	}
	if len(again) == 0 {
		return nil
	}
	a, err := k.newArm(ctx, func(t sides.Touch) bool { return t.Class != compare.Steering })
	if err != nil {
		return err
	}
	suite, err := a.run(ctx, again)
	if err != nil {
		return err
	}
	for _, s := range again {
		if !k.started(suite, s) {
			continue
		}
		label, why, evidence := k.r.labelOf(s), "", []string(nil)
		for id, t := range k.suite {
			if id.Unit == s.unit && t.Status == Failed && (t.Eco == s.eco || id.Command == s.command) {
				why, evidence = t.Output, []string{t.Evidence}
				delete(k.suite, id)
			}
		}
		if len(evidence) == 0 {
			evidence = slices.Clone(a.evidence)
		}
		class := compare.CannotApply
		if k.r.replacedRunner(s) {
			class = compare.SteeringMade
		}
		k.lost = append(k.lost, Expectation{ID: ID{Unit: s.unit, Command: label}, Class: class, Message: why, Evidence: evidence})
	}
	k.suite.Add(suite)
	k.arm = a
	return nil
}

// steered says whether what steers the tests of a selection is touched.
func (k *keeper) steered(s selection) bool {
	return slices.ContainsFunc(k.r.sides.Touched, func(t sides.Touch) bool {
		return t.Class == compare.Steering && (ecosystem.Inside(s.unit, t.Path) || ecosystem.Inside(path.Dir(t.Path), s.unit))
	})
}

// started says whether any test of a selection ran.
func (k *keeper) started(s Suite, sel selection) bool {
	for id, t := range s {
		if id.Unit != sel.unit {
			continue
		}
		if sel.command != "" && id.Command == sel.command {
			return t.Status == Passed || t.Lacks == "" && !results.CannotStart.MatchString(t.Output)
		}
		if t.Eco == sel.eco && id.Test != "" && (t.Status == Passed || t.Status == Failed) {
			return true
		}
	}
	return false
}

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

// labelOf names what runs a selection on the base.
func (r *runner) labelOf(s selection) string {
	for _, c := range r.sides.Plans[Base].Test {
		if c.Unit == s.unit && (s.command == "" && c.Eco == s.eco || c.Text == s.command) {
			return c.Label()
		}
	}
	return s.command
}

// replacedRunner says whether the change runs the tests of a selection by another
// runner or package manager.
func (r *runner) replacedRunner(s selection) bool {
	tools := func(side Side) (out []string) {
		for _, p := range r.sides.Plans[side].Projects {
			if p.Dir != s.unit || p.Eco.Name != s.eco {
				continue
			}
			for _, c := range slices.Concat(p.Setup, p.Test) {
				word, _, _ := strings.Cut(strings.TrimPrefix(c.Text, "npx "), " ")
				out = append(out, word)
				if c.Results != nil {
					out = append(out, c.Results.Name)
				}
			}
		}
		return out
	}
	return !slices.Equal(tools(Base), tools(Head))
}
