package execution

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// Compiles says whether the base or the head has a project that compiles into the build
// cache, also one that the change cannot affect: agents may look at it. A plan may be of
// commands alone, as that of the packages that a change does not reach is.
func (e *Executor) Compiles() bool {
	for _, p := range e.Plans {
		of := func(c ecosystem.Command) bool { e := languages.Named(c.Eco); return e != nil && e.Caches }
		if len(p.Warm) > 0 || slices.ContainsFunc(p.Test, of) || slices.ContainsFunc(slices.Concat(p.Projects, p.Left), func(q ecosystem.Project) bool { return q.Eco.Caches }) {
			return true
		}
	}
	return false
}

// ShareCache gives each side its copy of the project's cache, where something compiles into it.
func (e *Executor) ShareCache() error {
	if !e.Compiles() {
		return folder.Make(e.Store().BuildCache(results.Base), e.Store().BuildCache(results.Head))
	}
	return e.Store().SplitCache()
}

// cacheFor is the build cache that a command writes to: the one that it names, that of its
// side, or one of its own.
func (e *Executor) cacheFor(ctx context.Context, side results.Side, at Place, c ecosystem.Command) (string, error) {
	switch {
	case c.Cache != "":
		return c.Cache, nil
	case c.Seals():
		return e.Store().BuildCache(side), nil
	default:
		return e.ownCache(ctx, side, at)
	}
}

// ownCache makes the cache of one command at a place of a side what the side's is. What an
// earlier command left there is gone; what it did not touch stays.
func (e *Executor) ownCache(ctx context.Context, side results.Side, at Place) (string, error) {
	from, to := e.Store().BuildCache(side), at.Home+"-go-build"
	if e.Store().Go == nil || !e.Compiles() || !folder.Exists(from) {
		from = filepath.Join(e.Scratch, "no-cache")
	}
	if err := folder.Make(from, filepath.Dir(to)); err != nil {
		return "", err
	}
	if err := e.copyAt(from, to).Reset(ctx); err != nil {
		return "", fmt.Errorf("build cache of a command: %w", err)
	}
	return to, nil
}

// copyAt is the copy of a folder at a place, with what is known of it.
func (e *Executor) copyAt(from, to string) *folder.Replica {
	e.copying.Lock()
	defer e.copying.Unlock()
	c := e.copied[to]
	if c == nil || c.From != from {
		c = &folder.Replica{From: from, To: to}
		e.copied[to] = c
	}
	return c
}
