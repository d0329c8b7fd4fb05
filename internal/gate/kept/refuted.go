package kept

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A refuted test is one that holds, and fails each time in another arm of the head.
type refuted struct{ was, now *examined }

// take has the test fail as it does there, by files of a class.
func (r refuted) take(by compare.FileClass) {
	r.was.kept, r.was.output, r.was.evidence, r.was.made = r.now.kept, r.now.output, r.now.evidence, []compare.FileClass{by}
}

// refutedIn runs tests that hold in another arm of the head. counts says of one that fails there whether
// that says something.
func (k *keeper) refutedIn(ctx context.Context, a *arms.Arm, tests []*examined, counts func(*examined) bool) ([]refuted, error) {
	over := &keeper{in: k.in, on: k.on, out: k.out, arm: a, commands: k.commands, otherwise: k.otherwise, steers: k.steers, run: narrowTo(k.on.Sides, tests)}
	var err error
	if over.suite, err = over.runAgain(ctx, tests); err != nil {
		return nil, err
	}
	l := over.lookup(results.Head, over.suite)
	var out []refuted
	var failing []*examined
	for _, e := range tests {
		status, _, t, broken, _ := l.status(e)
		if status != compare.Failed || broken {
			continue
		}
		now := *e
		now.kept, now.output, now.evidence = status, t.Output, append(slices.Clone(e.evidence), t.Evidence)
		if counts(&now) {
			out, failing = append(out, refuted{e, &now}), append(failing, &now)
		}
	}
	if err := over.disputed(ctx, failing); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(out, func(r refuted) bool { return r.now.drop }), nil
}
