package gate

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// rewritten looks for what commands of the head did to files by which its tests are judged, or
// which say how they are run, and those of the base do not: what passes over such files says
// nothing.
func (r *runner) rewritten(ctx context.Context) error {
	if r.prep.Unprepared() != "" || r.executor.Prepared(Base) == nil || r.executor.Prepared(Head) == nil {
		return nil
	}
	files, err := r.rewrittenByTests(ctx)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		r.facts.Unbelieved = append(r.facts.Unbelieved, "with the change they rewrite what they are judged by: "+results.Listed(files, 5))
	}
	if left := r.leftBehind(); len(left) > 0 {
		r.facts.Unbelieved = append(r.facts.Unbelieved, "setup or build of the change leaves what tests obey: "+results.Listed(left, 5))
	}
	if files := r.altered(); len(files) > 0 {
		r.facts.Unbelieved = append(r.facts.Unbelieved, "setup or build of the change alters what it has installed for tests: "+results.Listed(files, 5))
	}
	if older := r.older(); len(older) > 0 {
		r.ask("the change has tests compare with an older version: %s", results.Listed(older, 3))
		r.notCovered("what the base's tests hold with the base's version of what they compare with: %s", results.Listed(older, 3))
	}
	return nil
}

// rewrittenByTests are files of tests, their data, support and steering of the base that the
// head's setup, build and tests change while they run, and the base's leave as they are.
func (r *runner) rewrittenByTests(ctx context.Context) ([]string, error) {
	both := map[string]classes.Versions{}
	for f := range r.executor.Rewrote(Head) {
		if src := r.readCommitted(ctx, f); src != nil {
			both[f] = classes.Versions{Base: src, Head: src}
		}
	}
	if len(both) == 0 {
		return nil, nil
	}
	also := r.sides.Referred(both)
	asked := map[string]bool{}
	var out []string
	for _, f := range slices.Sorted(maps.Keys(both)) {
		if class, _ := classes.ClassOfBoth(f, both[f], also); class == compare.Source {
			continue
		}
		head := r.executor.Rewrote(Head)[f]
		for _, c := range r.sides.Plans[Base].Test {
			key := c.Unit + " " + c.Text
			if head.Stage == StageTest && c.Eco == head.Eco && c.Unit == head.Unit && !asked[key] && !r.ranOnBase(c) { // its results were known
				asked[key] = true
				c.Stage = StageTest
				if _, _, err := r.tests.RunFresh(ctx, Base, c); err != nil {
					return nil, err
				}
			}
		}
		if _, too := r.executor.Rewrote(Base)[f]; !too {
			out = append(out, f)
		}
	}
	return out, nil
}

// readCommitted is a file as the base's commit has it, nil where it has none.
func (r *runner) readCommitted(ctx context.Context, name string) []byte {
	src, err := r.Mirror.ReadFile(ctx, r.in.Base.Commit, name)
	if err != nil {
		return nil
	}
	return src
}

// ranOnBase says whether this run has a step of a test command of the base.
func (r *runner) ranOnBase(c ecosystem.Command) bool {
	return slices.ContainsFunc(r.executor.Steps.Of(StageTest, Base), func(s Step) bool { return s.Unit == c.Unit && s.Command == c.Text })
}

// How many files that came to be in a prepared tree are read, and how large these are.
const (
	maxLeft     = 20000
	maxSettings = 1 << 20
)

// leftBehind are files that steer tests, or stand for a program that runs them, in folders of
// the head's commit, that came to be when it was set up and built, and did not with the base.
func (r *runner) leftBehind() []string {
	committed := slices.Concat(r.sides.Plans[Base].Files, r.sides.Plans[Head].Files)
	base := leaves(r.executor.Prepared(Base).Tree.Dir, committed)
	return slices.DeleteFunc(leaves(r.executor.Prepared(Head).Tree.Dir, committed), func(f string) bool { return slices.Contains(base, f) })
}

// leaves are such files below root, in folders of what is committed.
func leaves(root string, committed []string) []string {
	var out []string
	untracked(root, committed, func(name string, src []byte) {
		class, _ := classes.ClassOf(name, src, classes.Referred{})
		if class == compare.Steering || classes.ReplacesRunner(name) || path.Base(name) == "conftest.py" {
			out = append(out, name)
		}
	})
	return out
}
