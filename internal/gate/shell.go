package gate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// Prepare sets both sides up and builds them, giving in.Prepared a snapshot of
// each, and does no more. It is for a run that has its result and needs the trees again.
func (g *Gate) Prepare(ctx context.Context, in Input) error {
	r := newRunner(g.restricted(ctx), in, task{})
	defer r.executor.Close()
	for _, step := range []func(context.Context) error{r.detect, r.prepareBase, r.prepareHead} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("gate: %w", err)
		}
	}
	return nil
}

// Shell is the template for commands of an agent in dir, a copy of a prepared
// snapshot: the environment that the gate's own commands have, with caches of
// its own below home, and the base to read.
func (g *Gate) Shell(ctx context.Context, dir, base, home string) (sandbox.Command, error) {
	history, err := g.Mirror.Shown(ctx)
	if err != nil {
		return sandbox.Command{}, err
	}
	cache := filepath.Join(home, "go-build")
	if err := folder.Make(home); err != nil {
		return sandbox.Command{}, err
	}
	if _, err := os.Stat(cache); err != nil && folder.Exists(g.Store().ProjectCache()) {
		if err := g.Store().LinkCache(cache); err != nil {
			return sandbox.Command{}, fmt.Errorf("build cache: %w", err)
		}
	}
	if err := folder.Make(cache, g.Store().ModCache()); err != nil {
		return sandbox.Command{}, err
	}
	env := g.Store().GoEnv(Head, cache, ecosystem.Command{})
	if g.Store().Go.Since("go1.18") {
		env = append(env, "GOFLAGS=-buildvcs=false")
	}
	if path := g.Tools.Search(g.Sandbox.Status().Search, dir); path != "" {
		env = append(env, path)
	}
	return sandbox.Command{
		Env: env, Home: home,
		Writable: []string{dir}, ReadOnly: append([]string{base, history, g.Store().ModCache()}, g.Store().Linked()...),
		Network: g.Network.Of(sandbox.NetworkNone), Services: g.Services,
	}, nil
}
