package preparation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// warm fills the project's caches from the base, this time and next time, by
// commands that compile and run nothing; whether they work is the later steps'
// affair.
func (prep *Preparation) warm(ctx context.Context, commands []ecosystem.Command) error {
	if prep.why != "" {
		return nil
	}
	for _, c := range commands {
		c.Timeout, c.Cache = prep.StepLimit, prep.Store().ProjectCache()
		if _, err := prep.Run(ctx, results.Base, prep.Base, c, nil); err != nil {
			return err
		}
	}
	return nil
}

// WarmLate does so for what only probes need, when they begin: what decides does not
// wait for it. Both sides get what has come. Where commands of the head could have
// written into the base's tree, each side compiles for itself.
func (prep *Preparation) WarmLate(ctx context.Context, commands []ecosystem.Command) error {
	if len(commands) == 0 || prep.Prepared(results.Base) == nil || prep.Sandbox.Status().Tier == sandbox.TierNone {
		return nil
	}
	if err := prep.Reset(ctx, results.Base); err != nil {
		return err
	}
	since := prep.Now()
	if slices.ContainsFunc(commands, func(c ecosystem.Command) bool { return c.Race }) {
		if err := prep.seed(ctx, true); err != nil {
			return err
		}
	}
	if err := prep.warm(ctx, commands); err != nil {
		return err
	}
	return prep.LinkSince(since)
}

// LinkSince gives both sides what has come into the project's cache.
func (prep *Preparation) LinkSince(since time.Time) error {
	if !folder.Exists(prep.Store().ProjectCache()) {
		return nil
	}
	for _, side := range []results.Side{results.Base, results.Head} {
		if err := prep.Store().Link(prep.Store().ProjectCache(), prep.Store().BuildCache(side), since.Add(-time.Second)); err != nil {
			return fmt.Errorf("build cache of %s: %w", side, err)
		}
	}
	return nil
}

// Warming are the commands of the base that compile ahead: those for the race detector, or the
// others.
func (prep *Preparation) Warming(race bool) []ecosystem.Command {
	return slices.DeleteFunc(slices.Clone(prep.Plans[results.Base].Warm), func(c ecosystem.Command) bool { return c.Race != race })
}
