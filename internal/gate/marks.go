package gate

import (
	"context"
	"fmt"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// ask says what the change does that a person has to accept where expectations that are given up
// have to be.
func (r *runner) ask(format string, args ...any) {
	r.facts.Asks = append(r.facts.Asks, fmt.Sprintf(format, args...))
}

// maxMarks bounds how many are named.
const maxMarks = 50

// marks finds those of the change, and what it brings in place of the programs that run its
// tests.
func (r *runner) marks(ctx context.Context) error {
	found, err := r.sides.Marks(ctx)
	if err != nil {
		return err
	}
	r.facts.Unbelieved = append(r.facts.Unbelieved, r.sides.StandIns(ctx)...)
	var checks []string
	for _, m := range found {
		if m.Unwatches() {
			checks = append(checks, fmt.Sprintf("%s (%s)", m.Text, m.Path))
		} else {
			r.facts.Marks++
		}
	}
	if len(checks) > 0 {
		r.ask("the change removes checks that the program makes of itself: %s", results.Listed(checks, 3))
	}
	r.res.Marks = found[:min(len(found), maxMarks)]
	return nil
}
