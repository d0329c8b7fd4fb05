package gate

import (
	"context"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// workers is how many mutants run side by side.
func (m *mutator) workers() int {
	if !m.apart() {
		return 1
	}
	return min(runtime.NumCPU(), mutationWindow)
}

// apart says whether commands see nothing of one another: else servers in their
// tests would be in one another's way, and a copy could run what lies in another.
func (r *runner) apart() bool {
	tier := r.Sandbox.Status().Tier
	return tier == sandbox.TierFull || tier == sandbox.TierStrong
}

// spots are the places in which mutants run.
type spots struct {
	free chan spot
	own  []spot // copies
}

// spots makes them: copies of the prepared head, one for each processor; or the
// head itself as it was prepared, where build output may name its folder.
func (m *mutator) spots(ctx context.Context, copies bool) (*spots, error) {
	if copies {
		return m.copies(ctx, m.workers())
	}
	if err := m.reset(ctx, Head); err != nil {
		return nil, err
	}
	out := &spots{free: make(chan spot, 1)}
	out.free <- spot{tree: m.in.Head, home: m.home(Head)}
	return out, nil
}

// copies makes n copies of the prepared head, with a HOME each.
func (m *mutator) copies(ctx context.Context, n int) (*spots, error) {
	out := &spots{free: make(chan spot, n)}
	snap := m.prepared[Head]
	for i := range n {
		name := "mutant-" + strconv.Itoa(i+1)
		tree, err := m.trees.Copy(ctx, snap.tree, filepath.Join(filepath.Dir(m.in.Head.Dir), name))
		if err != nil {
			m.giveBack(out)
			return nil, err
		}
		s := spot{tree: tree, home: filepath.Join(m.Scratch, string(Head), name)}
		out.own = append(out.own, s)
		if err := m.same(ctx, &workspace.Replica{From: snap.home.From, To: s.home}); err != nil {
			m.giveBack(out)
			return nil, err
		}
		out.free <- s
	}
	return out, nil
}

// giveBack keeps the copies for those who need some next.
func (m *mutator) giveBack(s *spots) {
	for _, own := range s.own {
		m.trees.Put(own.tree, m.prepared[Head].tree)
	}
}
