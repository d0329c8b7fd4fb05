package gate

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/caches"
)

// ownCache makes the cache of one command at a place of a side what the side's is. What an
// earlier command left there is gone; what it did not touch stays.
func (r *runner) ownCache(ctx context.Context, side Side, at spot) (string, error) {
	from, to := r.store().BuildCache(side), at.home+"-go-build"
	if r.store().Go == nil || !r.caches() || !folder.Exists(from) {
		from = filepath.Join(r.Scratch, "no-cache")
	}
	if err := folder.Make(from, filepath.Dir(to)); err != nil {
		return "", err
	}
	if err := r.copyAt(from, to).Reset(ctx); err != nil {
		return "", fmt.Errorf("build cache of a command: %w", err)
	}
	return to, nil
}

// copyAt is the copy of a folder at a place, with what is known of it.
func (r *runner) copyAt(from, to string) *folder.Replica {
	r.copying.Lock()
	defer r.copying.Unlock()
	c := r.copied[to]
	if c == nil || c.From != from {
		if r.copied == nil {
			r.copied = map[string]*folder.Replica{}
		}
		c = &folder.Replica{From: from, To: to}
		r.copied[to] = c
	}
	return c
}

// store says where the caches of the go command lie.
func (g *Gate) store() caches.Store {
	out := caches.Store{Project: g.CacheDir, Shared: g.Shared, Scratch: g.Scratch, Closed: g.Network == NetworkRegistries, Now: g.Now}
	if g.Tools != nil {
		out.Go = g.Tools.Go
	}
	return out
}
