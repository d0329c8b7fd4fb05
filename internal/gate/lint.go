package gate

import (
	"context"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/preparation"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// lint asks for complaints, which decide nothing, when all that decides has run.
func (r *runner) lint(ctx context.Context) error {
	since, shared := r.Now(), ""
	if r.Sandbox.Status().Tier != sandbox.TierNone { // else the head could have written into the base's tree
		shared = r.Store().ProjectCache()
	}
	for _, side := range []Side{Base, Head} {
		if len(r.sides.Plans[side].Lint) == 0 || r.executor.Prepared(side) == nil || r.prep.Unprepared() != "" {
			continue
		}
		if err := r.executor.Reset(ctx, side); err != nil {
			return err
		}
		for _, c := range r.sides.Plans[side].Lint {
			c = r.tests.Limited(side, c)
			if side == Base {
				c = preparation.Compiling(c, shared)
			}
			if _, err := r.executor.Run(ctx, side, r.executor.Tree(side), c, nil); err != nil {
				return err
			}
		}
		if err := r.prep.LinkSince(since); err != nil {
			return err
		}
	}
	r.compareLint()
	return nil
}

// place is the position in a line of a compiler or linter.
var place = pattern.New(`:\d+(:\d+)?:`)

// HasPlace says whether an output names a place in a file, as complaints do.
func HasPlace(output string) bool { return place.MatchString(output) }

// compareLint keeps the complaints of the head that the base does not have.
func (r *runner) compareLint() {
	for _, s := range r.lackingBoth(StageLint) {
		r.lack(StageLint, s.Unit, s.Command, s.Lacks)
	}
	seen := map[string]int{}
	for _, s := range r.executor.Steps.Of(StageLint, Base) {
		for _, line := range complaints(s) {
			seen[place.ReplaceAllString(line, ":")]++
		}
	}
	for _, s := range r.executor.Steps.Of(StageLint, Head) {
		for _, line := range complaints(s) {
			key := place.ReplaceAllString(line, ":")
			if seen[key] > 0 {
				seen[key]--
				continue
			}
			r.res.Lint = append(r.res.Lint, Case{ID: ID{Unit: s.Unit, Command: s.Command}, Output: line, Evidence: []string{s.Evidence}})
		}
	}
}

// complaints returns the lines of a failed lint step that say something.
func complaints(s Step) []string {
	if !s.Failed() {
		return nil
	}
	var out []string
	for line := range strings.Lines(s.Output) {
		more := len(out) > 0 && strings.TrimLeft(line, " \t") != line
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "vet: "))
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case more:
			out[len(out)-1] += "; " + line
		default:
			out = append(out, line)
		}
	}
	return out
}
