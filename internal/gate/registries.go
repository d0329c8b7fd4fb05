package gate

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// noteRegistries says what setup was kept from.
func (r *runner) noteRegistries() {
	refused, restricted := r.executor.Refused()
	if !restricted {
		return
	}
	if len(refused) > 0 {
		r.note("setup asked for %s and was refused: for a head that is not trusted only package registries can be reached", results.Listed(refused, 3))
	}
	if slices.ContainsFunc(r.executor.Steps, func(s Step) bool { return s.Stage == StageSetup && s.Failed() }) {
		r.note("setup ran without install scripts, and with package registries as the only network of what fetches, because the head is not trusted")
	}
}
