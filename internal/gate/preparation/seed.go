package preparation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// SeedCache begins the build cache of a new project with the standard library, where another
// project had it compiled.
func (prep *Preparation) SeedCache() error {
	store := prep.Store()
	prep.fresh = store.Go != nil && !folder.Exists(store.ProjectCache())
	if !prep.fresh {
		return nil
	}
	return store.SeedCache(false)
}

// seed gives a new project the standard library as its tests need it, or the race detector. The
// first one on a machine has it compiled for all, where nothing of a project is: what the
// sources and dependencies of one come to is no other's to read.
func (prep *Preparation) seed(ctx context.Context, race bool) error {
	store := prep.Store()
	if !prep.fresh || prep.why != "" || !race && folder.Exists(store.ProjectCache()) {
		return nil
	}
	err := prep.fillSeed(ctx, race)
	if errors.Is(err, errUnseeded) { // each project compiles what it needs, then
		return nil
	}
	if err == nil {
		err = store.SeedCache(race)
	}
	if err != nil {
		return fmt.Errorf("compiled standard library: %w", err)
	}
	return nil
}

var errUnseeded = errors.New("the standard library is not compiled")

func (prep *Preparation) fillSeed(ctx context.Context, race bool) error {
	at := slices.IndexFunc(prep.Plans[results.Base].Projects, func(p ecosystem.Project) bool { return p.Eco.Packages != nil })
	if at < 0 || folder.Exists(prep.Store().Seed(race)) {
		return nil
	}
	err := prep.listStandard(ctx)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if len(prep.standard) == 0 { // also where it could not be listed, as in a run played back that had no need to
		return errUnseeded
	}
	p := prep.Plans[results.Base].Projects[at]
	files, c := p.Eco.Packages.Seed(p, prep.standard, race)
	return prep.Store().FillSeed(race, func(cache string) error {
		c.Cache, c.Timeout = cache, prep.StepLimit
		step, err := prep.RunBare(ctx, files, c)
		if err == nil && step.Failed() || err != nil && ctx.Err() == nil {
			err = errUnseeded
		}
		return err
	})
}

// listStandard lists what the base's projects need of the standard library, once.
func (prep *Preparation) listStandard(ctx context.Context) error {
	if prep.standard != nil {
		return nil
	}
	prep.standard = []string{}
	for _, p := range prep.Plans[results.Base].Projects {
		if p.Eco.Packages == nil {
			continue
		}
		var list bytes.Buffer
		c := p.Eco.Packages.Standard(p)
		c.Timeout = prep.StepLimit
		if _, err := prep.Run(ctx, results.Base, prep.Base, c, &list); err != nil {
			return err
		}
		prep.standard = append(prep.standard, strings.Fields(list.String())...)
	}
	slices.Sort(prep.standard)
	prep.standard = slices.Compact(prep.standard)
	return nil
}
