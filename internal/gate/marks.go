package gate

import "context"

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
	r.facts.Marks = len(found)
	r.res.Marks = found[:min(len(found), maxMarks)]
	return nil
}
