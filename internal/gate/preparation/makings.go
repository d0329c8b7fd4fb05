package preparation

import (
	"bytes"
	"cmp"
	"context"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// compile builds a side and compiles its tests. Where something does not compile, the project's
// own commands that make sources are run one after the other, until all does: a repository
// need not have what its workflows and targets make before the tests.
func (prep *Preparation) compile(ctx context.Context, side results.Side) error {
	if err := prep.build(ctx, side); err != nil {
		return err
	}
	whole, err := prep.compiles(ctx, side)
	if err != nil || whole || prep.As != nil || prep.Configured(results.StageSetup) {
		return err
	}
	var failed string
	var ran []ecosystem.Making
	p := prep.Plans[side]
	for _, q := range p.Projects {
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
			if whole, err = prep.compiles(ctx, side); err != nil || whole {
				prep.make(side, ran)
				return err
			}
		}
	}
	if failed != "" {
		prep.NotCovered("%s: not all compiles, and what may make the files that it lacks fails: %s", side, failed)
	}
	return nil
}

// make notes commands without which a side does not compile, as a part of its setup.
func (prep *Preparation) make(side results.Side, ran []ecosystem.Making) {
	var said []string
	for _, m := range ran {
		prep.Plans[side].Setup = append(prep.Plans[side].Setup, m.Command)
		said = append(said, m.Text+" ("+m.From+")")
	}
	prep.makings[side] = said
}

// Makings are the project's own commands that were run before a side's build, with the files
// that name them, because it does not compile without what they make.
func (prep *Preparation) Makings(side results.Side) []string { return prep.makings[side] }

// uncompiled is what a list of packages says of one that does not compile.
var uncompiled = pattern.New(`(?m)^# \S|no required module provides package|is not in std|cannot find module|no (?:non-test )?Go files|no matching files found`)

// compiles says whether the builds of a side work, and compiles its tests ahead.
func (prep *Preparation) compiles(ctx context.Context, side results.Side) (bool, error) {
	if prep.why != "" || prep.Rest || prep.As != nil {
		return true, nil
	}
	whole := len(prep.Broken(side)) == 0
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
			return false, err
		}
		whole = whole && !uncompiled.MatchString(said.String())
	}
	return whole, nil
}
