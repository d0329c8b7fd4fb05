package gate

import (
	"context"
	"time"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/kept"
	"github.com/ycbot/ycbot/internal/gate/lines"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// Bounds of counting which lines ran: the part of the time that is left, and how much at most.
const (
	linesShare = 8
	linesMost  = 3 * time.Minute
)

// linesTime is how long counting may take.
func linesTime(limits Limits, left time.Duration) time.Duration {
	if limits.Lines != 0 {
		return limits.Lines
	}
	return min(left/linesShare, linesMost)
}

// executed finds out whether tests run the changed lines. It is left out where the change
// fails anyway.
func (r *runner) executed(ctx context.Context) error {
	budget := linesTime(r.Limits, r.left(ctx))
	if budget < 0 || !r.res.Runnable || r.prep.Unprepared() != "" || r.fails() {
		return nil
	}
	subject := r.subject()
	files, err := checks.ChangedSources(ctx, subject)
	if err != nil || len(files) == 0 {
		return err
	}
	out, err := lines.Count(ctx, r.arms(), lines.Input{
		Untrusted: r.in.Untrusted, Files: files, Probed: checks.Probed(subject), Expectations: r.res.Expectations,
		Kept: r.keptAgain, Now: r.Now, Until: r.Now().Add(budget), Step: r.Limits.Step,
	})
	if out.Executed != nil {
		r.res.Executed = out.Executed
	}
	r.res.NotCovered = append(r.res.NotCovered, out.NotCovered...)
	r.facts.Asks = append(r.facts.Asks, out.Asks...)
	return err
}

// keptAgain is the arm of the base's tests over the head's sources, also where what is touched
// reaches no test of the base and it has not run.
func (r *runner) keptAgain(ctx context.Context) (*arms.Arm, error) {
	if r.keptArm != nil {
		return r.keptArm, nil
	}
	return kept.Arm(ctx, r.arms(), r.keptInput())
}

// uncompiled finds the changed sources that the head's build compiles nothing of.
func (r *runner) uncompiled(ctx context.Context) error {
	if !r.res.Runnable || r.prep.Unprepared() != "" {
		return nil
	}
	files, err := checks.ChangedSources(ctx, r.subject())
	if err != nil {
		return err
	}
	out := lines.Uncompiled(r.arms(), files)
	if out == nil {
		return nil
	}
	var names []string
	for _, u := range out.Unloaded {
		names = append(names, u.Path)
	}
	r.notCovered("what the change does in %s: the build compiles nothing of %s here, as where an option is off; \"commands: {build: …}\" in .github/ycbot.yml at the base can set it",
		results.Listed(names, 3), results.Plural(len(names), "it", "them"))
	if len(names) == len(files) {
		r.res.Executed = out
		r.facts.KeptRan = 0 // whatever ran, it does not reach what the change does
	}
	return nil
}
