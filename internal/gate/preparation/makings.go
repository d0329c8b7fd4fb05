package preparation

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// compile builds a side and compiles its tests. Where a project does not compile, its own
// commands that make sources are run one after the other, until it does: a repository need not
// have what its workflows and targets make before the tests.
func (prep *Preparation) compile(ctx context.Context, side results.Side) error {
	if side == results.Base {
		if err := prep.seed(ctx, false); err != nil {
			return err
		}
	}
	if err := prep.build(ctx, side); err != nil {
		return err
	}
	broken, err := prep.uncompiled(ctx, side)
	if err != nil || len(broken) == 0 || prep.As != nil || prep.Configured(results.StageSetup) {
		return err
	}
	var failed string
	p := prep.Plans[side]
	for _, q := range p.Projects {
		if !broken[q.Dir] {
			continue
		}
		var ran []ecosystem.Making
		for _, m := range languages.Makings(p.Survey, q) {
			step, err := prep.Run(ctx, side, prep.Tree(side), prep.Limited(side, m.Command), nil)
			if err != nil {
				return err
			}
			if step.Failed() {
				prep.forgiven[step.Evidence] = true // nothing asked for it
				failed = cmp.Or(failed, m.Text+" ("+m.From+"): "+results.FailureLine(step.Output))
				continue
			}
			ran = append(ran, m)
			if err := prep.build(ctx, side); err != nil {
				return err
			}
			if broken, err = prep.uncompiled(ctx, side); err != nil {
				return err
			}
			if !broken[q.Dir] {
				prep.keepMakings(side, ran)
				break
			}
		}
	}
	if failed != "" && len(broken) > 0 {
		prep.NotCovered("%s: not all compiles, and what may make the files that it lacks fails: %s", side, failed)
	}
	return nil
}

// keepMakings makes commands a part of a side's setup, as a project does not compile without them.
func (prep *Preparation) keepMakings(side results.Side, ran []ecosystem.Making) {
	for _, m := range ran {
		prep.Plans[side].Setup = append(prep.Plans[side].Setup, m.Command)
		prep.makings[side] = append(prep.makings[side], m.Text+" ("+m.From+")")
	}
}

// Makings are the project's own commands that were run before a side's build, with the files
// that name them, because it does not compile without what they make.
func (prep *Preparation) Makings(side results.Side) []string { return prep.makings[side] }

// uncompiled are the folders of the projects of a side whose build failed, or whose tests do not
// compile. These are compiled ahead by the way.
func (prep *Preparation) uncompiled(ctx context.Context, side results.Side) (map[string]bool, error) {
	out := map[string]bool{}
	if prep.why != "" || prep.Rest || prep.As != nil {
		return out, nil
	}
	for i, s := range prep.Steps {
		if s.Side == side && s.Stage == results.StageBuild && s.Failed() && !prep.Steps.RanAgain(i) {
			out[s.Unit] = true
		}
	}
	cache := prep.Store().ProjectCache()
	if side == results.Head {
		cache = prep.Store().BuildCache(results.Head)
	}
	for _, c := range prep.Plans[side].Warm {
		if c.Race {
			continue
		}
		var said bytes.Buffer
		c.Timeout, c.Cache, c.Stderr = prep.StepLimit, cache, &said
		if _, err := prep.Run(ctx, side, prep.Tree(side), c, &said); err != nil {
			return nil, err
		}
		if complains(said.String()) {
			out[c.Unit] = true
		}
	}
	return out, nil
}

// complaint is a line of the go command about a place in a source. Its group is what it says.
var complaint = pattern.New(`(?m)^\S+\.go:\d+(?::\d+)?: (.*)$`)

// complains says whether a list of packages names one that does not compile. One of which the
// compiler of C only warns does.
func complains(said string) bool {
	return slices.ContainsFunc(complaint.FindAllStringSubmatch(said, -1), func(m []string) bool {
		return !strings.HasPrefix(m[1], "warning:") && !strings.HasPrefix(m[1], "note:")
	})
}
