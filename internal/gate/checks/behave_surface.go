package checks

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// surface compiles a use of what only the base exports on both sides.
func (b *behaviour) surface(ctx context.Context, c called) error {
	plan, ok := c.plan.(behave.Surfaced)
	if !ok || c.by.Uses == nil || len(plan.Gone()) == 0 {
		return nil
	}
	texts := map[string]string{c.by.File(b.test): plan.Uses(b.test)}
	var output string
	for _, side := range []Side{Base, Head} {
		left := b.until.Sub(b.in.Now())
		if left <= 0 {
			b.late(c, ctx.Err() == nil)
			return nil
		}
		command := c.by.Uses(c.commands[side], c.pkg.ImportPath, b.test)
		command.Stage, command.Timeout = StageProbe, min(left+callsCompile, b.in.StepLimit)
		out, step, err := b.laid(ctx, side, &c, texts, command, b.in.Exec)
		if err != nil || step.Stopped() || step.Failed() == (side == Base) {
			return err
		}
		output = out + step.Output
		if side == Base {
			continue
		}
		gone := behave.Undefined(plan.Gone(), output)
		if len(gone) == 0 {
			return nil
		}
		b.out.Evidence = append(b.out.Evidence, c.evidence...)
		b.out.Gone = append(b.out.Gone, gone...)
		b.out.Differences = append(b.out.Differences, Difference{
			Function: results.Listed(gone, 5), Path: plan.GoneFrom(), Inputs: 1, Differing: 1, Example: results.Listed(gone, 5), Gone: true, Symbols: gone,
			Was: "can be used by other modules", Is: results.Plural(len(gone), "is", "are") + " gone: what uses " + results.Plural(len(gone), "it", "them") + " does not compile any more",
			Test: plan.Uses(b.test), Command: step.Command, Evidence: slices.Clone(c.evidence),
		})
	}
	return nil
}
