package gate

import (
	"context"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// workers is how many mutants run side by side. Without a network of their own,
// servers in their tests would be in one another's way.
func (m *mutator) workers() int {
	switch m.Sandbox.Status().Tier {
	case sandbox.TierFull, sandbox.TierStrong:
		return min(runtime.NumCPU(), mutationWindow)
	default:
		return 1
	}
}

// spots are the places in which mutants run.
type spots struct {
	free chan spot
	own  []spot // copies
}

// spots makes them: copies of the prepared head, one for each processor; or the
// head itself as it was prepared, where build output may name its folder.
func (m *mutator) spots(ctx context.Context, copies bool) (*spots, error) {
	out := &spots{free: make(chan spot, mutationWindow)}
	if !copies {
		if err := m.reset(ctx, Head); err != nil {
			return nil, err
		}
		out.free <- spot{tree: m.in.Head, home: m.home(Head)}
		return out, nil
	}
	snap := m.prepared[Head]
	for i := range m.workers() {
		name := "mutant-" + strconv.Itoa(i+1)
		tree, err := snap.tree.Copy(ctx, filepath.Join(filepath.Dir(m.in.Head.Dir), name))
		if err != nil {
			out.close(m.runner)
			return nil, err
		}
		s := spot{tree: tree, home: filepath.Join(m.Scratch, string(Head), name)}
		out.own = append(out.own, s)
		if err := m.same(ctx, &workspace.Replica{From: snap.home.From, To: s.home}); err != nil {
			out.close(m.runner)
			return nil, err
		}
		out.free <- s
	}
	return out, nil
}

func (s *spots) close(r *runner) {
	for _, own := range s.own {
		if err := own.tree.Close(); err != nil {
			r.note("%s could not be removed: %v", own.tree.Dir, err)
		}
	}
}
