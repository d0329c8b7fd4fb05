package checks

import (
	"context"
	"runtime"
)

// workers is how many mutants run side by side.
func (m *mutator) workers() int {
	if !m.in.Apart {
		return 1
	}
	return min(runtime.NumCPU(), mutationWindow)
}

// places are where mutants run.
type places struct {
	free chan Place
	own  []Place // copies
}

// places makes them: copies of the prepared head, one for each processor; or the head
// itself as it was prepared, where build output may name its folder.
func (m *mutator) places(ctx context.Context, copies bool) (*places, error) {
	if copies {
		return m.copies(ctx, m.workers())
	}
	if err := m.in.Reset(ctx, Head); err != nil {
		return nil, err
	}
	out := &places{free: make(chan Place, 1)}
	out.free <- m.in.InHead()
	return out, nil
}

// copies makes n copies of the prepared head, with a HOME each.
func (m *mutator) copies(ctx context.Context, n int) (*places, error) {
	out := &places{free: make(chan Place, n)}
	for i := range n {
		p, err := m.in.CopyOf(ctx, i+1)
		if p.Tree != nil {
			out.own = append(out.own, p)
		}
		if err != nil {
			m.giveBack(out)
			return nil, err
		}
		out.free <- p
	}
	return out, nil
}

// giveBack keeps the copies for those who need some next.
func (m *mutator) giveBack(p *places) {
	for _, own := range p.own {
		m.in.GiveBack(own)
	}
}
