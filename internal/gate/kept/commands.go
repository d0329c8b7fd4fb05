package kept

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// startAgain runs the commands once more with the head's steering that could not
// start with the base's.
func (k *keeper) startAgain(ctx context.Context) error {
	var again []arms.Selection
	for _, s := range k.run {
		if k.steered(s) && !k.started(k.suite, s) && k.started(k.on.Sides.Suites[results.Head], s) {
			again = append(again, s)
		}
	}
	if len(again) > 0 {
		var err error
		if again, err = k.startForwarded(ctx, again); err != nil {
			return err
		}
	}
	if len(again) == 0 {
		return nil
	}
	a, err := k.newArm(ctx, func(t sides.Touch) bool { return t.Class != compare.Steering })
	if err != nil {
		return err
	}
	suite, err := a.Run(ctx, again)
	if err != nil {
		return err
	}
	for _, s := range again {
		if !k.started(suite, s) {
			continue
		}
		label, why, evidence := k.labelOf(s), "", []string(nil)
		for id, t := range k.suite {
			if id.Unit == s.Unit && t.Status == results.Failed && (t.Eco == s.Eco || id.Command == s.Command) {
				why, evidence = t.Output, []string{t.Evidence}
				delete(k.suite, id)
			}
		}
		if len(evidence) == 0 {
			evidence = slices.Clone(a.Evidence)
		}
		class := compare.CannotApply
		if k.replacedRunner(s) {
			class = compare.SteeringMade
		}
		k.lost = append(k.lost, Expectation{ID: results.ID{Unit: s.Unit, Command: label}, Class: class, Message: why, Evidence: evidence})
	}
	k.suite.Add(suite)
	k.arm = a
	return nil
}

// steered says whether what steers the tests of a selection is touched.
func (k *keeper) steered(s arms.Selection) bool {
	return slices.ContainsFunc(k.on.Sides.Touched, func(t sides.Touch) bool {
		return t.Class == compare.Steering && (ecosystem.Inside(s.Unit, t.Path) || ecosystem.Inside(path.Dir(t.Path), s.Unit))
	})
}

// started says whether any test of a selection ran.
func (k *keeper) started(s results.Suite, sel arms.Selection) bool {
	for id, t := range s {
		if id.Unit != sel.Unit {
			continue
		}
		if sel.Command != "" && id.Command == sel.Command {
			return t.Status == results.Passed || t.Lacks == "" && !results.CannotStart.MatchString(t.Output)
		}
		if t.Eco == sel.Eco && id.Test != "" && (t.Status == results.Passed || t.Status == results.Failed) {
			return true
		}
	}
	return false
}

// labelOf names what runs a selection on the base.
func (k *keeper) labelOf(s arms.Selection) string {
	for _, c := range k.on.Sides.Plans[results.Base].Test {
		if c.Unit == s.Unit && (s.Command == "" && c.Eco == s.Eco || c.Text == s.Command) {
			return c.Label()
		}
	}
	return s.Command
}

// replacedRunner says whether the change runs the tests of a selection by another
// runner or package manager.
func (k *keeper) replacedRunner(s arms.Selection) bool {
	tools := func(side results.Side) (out []string) {
		for _, p := range k.on.Sides.Plans[side].Projects {
			if p.Dir != s.Unit || p.Eco.Name != s.Eco {
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
	return !slices.Equal(tools(results.Base), tools(results.Head))
}
