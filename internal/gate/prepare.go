package gate

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// prepareBase sets the base up and builds it.
func (r *runner) prepareBase(ctx context.Context) error {
	if !r.idle() {
		if err := r.lay(ctx); err != nil {
			return err
		}
	}
	return r.prep.PrepareBase(ctx)
}

// prepareHead does the same with the head, and compares the builds.
func (r *runner) prepareHead(ctx context.Context) error {
	if err := r.prep.PrepareHead(ctx); err != nil || r.prep.Unprepared() != "" {
		return err
	}
	switch made := r.prep.Makings(Head); {
	case len(made) > 0 && len(r.prep.Makings(Base)) == 0:
		r.ask("the head compiles only after %s, and the base without it", results.Listed(made, 3))
		r.note("the head compiles only after %s, and the base without it", results.Listed(made, 3))
	case len(made) > 0:
		r.note("%s is run before the build, as not all compiles without it", results.Listed(made, 3))
	}
	base, head := r.prep.Broken(Base), r.prep.Broken(Head)
	if fixed := slices.DeleteFunc(slices.Clone(base), func(b string) bool { return slices.Contains(head, b) || !r.buildsOnHead(b) }); len(fixed) > 0 {
		r.notCovered("what the base's tests hold, as far as they need what does not build without the change: %s", results.Listed(fixed, 5))
	}
	for _, b := range r.unbuilt(head) {
		if slices.Contains(base, b) {
			r.res.BrokenBoth = append(r.res.BrokenBoth, b)
		} else {
			r.res.Broken = append(r.res.Broken, b)
		}
	}
	return nil
}

// idle says whether the gate has no command for any side and the caller that wants the
// snapshots gets the trees themselves: nothing was written into them, and nothing is.
func (r *runner) idle() bool {
	for _, p := range r.sides.Plans {
		if len(p.Setup)+len(p.Warm)+len(p.Build)+len(p.Lint)+len(p.Test) > 0 {
			return false
		}
	}
	return r.facts.Nothing != "" && r.in.Prepared != nil
}

// buildsOnHead says of what does not build on the base whether the head was built there: of
// a command whether it was run, as it is not where its project is left aside.
func (r *runner) buildsOnHead(name string) bool {
	command := false
	for _, s := range r.executor.Steps {
		if (ID{Unit: s.Unit, Command: s.Command}).String() != name {
			continue
		}
		if command = true; s.Side == Head {
			return true
		}
	}
	return !command // a package
}
