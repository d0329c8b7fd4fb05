package gate

import (
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// An unprepared is a project that the base cannot set up or build, and why.
type unprepared struct {
	ecosystem.Project
	why string
}

// dropUnprepared leaves projects out that could not be set up, or not built for want of
// something outside, at the base already, where another project has tests: examples and a
// site decide nothing for the library beside them. One whose files the change touches, or
// that has tests and is built with what changed, is missed for a PASS. Who wrote the change
// has no part in it, as the base alone fails.
func (r *runner) dropUnprepared() {
	if r.resting {
		return // it is one project
	}
	var out []unprepared
	in := func(p ecosystem.Project) bool {
		return slices.ContainsFunc(out, func(o unprepared) bool { return o.Dir == p.Dir && o.Eco.Name == p.Eco.Name })
	}
	for i, s := range r.res.Steps {
		if s.Side != Base || !s.Failed() || r.fetches[s.Evidence] || r.forgiven[s.Evidence] || r.ranAgain(i) {
			continue
		}
		if s.Stage != StageSetup && (s.Stage != StageBuild || s.Environment == "" || s.Lacks != "") { // a build that lacks a program is no failure: see unbuilt
			continue
		}
		p, ok := r.preparedBy(s)
		if !ok || r.hasChanges(p) && !r.baseFails { // then the others are judged already
			return
		}
		if !in(p) {
			out = append(out, unprepared{p, fmt.Sprintf("%q: %s", s.Command, ecosystem.FailureLine(s.Output))})
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range r.plan[Base].Projects {
			at := slices.IndexFunc(out, func(o unprepared) bool { return p.Needs(o.Dir) })
			if in(p) || at < 0 {
				continue
			}
			if r.hasChanges(p) && !r.baseFails {
				return
			}
			out, grown = append(out, unprepared{p, "it needs what is in " + out[at].Dir}), true
		}
	}
	if len(out) == 0 || !slices.ContainsFunc(r.plan[Base].Projects, func(p ecosystem.Project) bool { return !in(p) && len(p.Test) > 0 }) {
		return
	}
	for _, p := range out {
		if r.hasChanges(p.Project) || r.isTested(p.Project) && r.needsChanged(p.Project) {
			r.facts.Aside = append(r.facts.Aside, fmt.Sprintf("%s in %s: %s", p.What, p.Dir, p.why))
			continue
		}
		r.notCovered("%s in %s, of which the change touches documents at most: the base cannot be set up there: %s", p.What, p.Dir, p.why)
	}
	for _, side := range []Side{Base, Head} {
		was := r.plan[side]
		if was == nil {
			continue
		}
		now := newPlan(slices.DeleteFunc(slices.Clone(was.Projects), in), r.in.Commands)
		now.Left, now.Survey, now.Files = was.Left, was.Survey, was.Files
		r.plan[side] = now
	}
	if r.baseFails {
		r.facts.Unprepared, r.baseFails = "", false
	}
}

// preparedBy is the project of the base that a step of setup or build is of.
func (r *runner) preparedBy(s Step) (ecosystem.Project, bool) {
	if r.configured(StageSetup) || r.configured(StageBuild) {
		return ecosystem.Project{}, false
	}
	var there []ecosystem.Project
	for _, p := range r.plan[Base].Projects {
		if p.Dir != s.Unit || len(p.Setup)+len(p.Build) == 0 {
			continue
		}
		if slices.ContainsFunc(slices.Concat(p.Setup, p.Build), func(c ecosystem.Command) bool { return c.Text == s.Command }) {
			return p, true
		}
		there = append(there, p)
	}
	if len(there) == 1 { // the commands of an untrusted head are others
		return there[0], true
	}
	return ecosystem.Project{}, false
}

// hasChanges says whether the change has a file of a project that is more than a document.
func (r *runner) hasChanges(p ecosystem.Project) bool {
	all := slices.Concat(r.plan[Base].Projects, r.plan[Base].Left)
	return slices.ContainsFunc(r.in.Change.Paths(), func(name string) bool {
		if dir, ok := ecosystem.Innermost(all, name); !ok || dir != p.Dir || ecosystem.IsDoc(name) {
			return false
		}
		return p.Claims(name) || !slices.ContainsFunc(all, func(o ecosystem.Project) bool { return o.Dir == p.Dir && o.Claims(name) })
	})
}

// isTested says whether the base has a test of a project of its ecosystem.
func (r *runner) isTested(p ecosystem.Project) bool {
	return len(p.Test) > 0 && slices.ContainsFunc(r.plan[Base].Files, func(name string) bool {
		return ecosystem.Inside(p.Dir, name) && p.Eco.IsTest != nil && p.Eco.IsTest(name)
	})
}

// needsChanged says whether a project is built with one in which the change has files.
func (r *runner) needsChanged(p ecosystem.Project) bool {
	all := slices.Concat(r.plan[Base].Projects, r.plan[Base].Left)
	seen := map[string]bool{p.Dir: true}
	for todo := []ecosystem.Project{p}; len(todo) > 0; todo = todo[1:] {
		for _, o := range all {
			if !seen[o.Dir] && todo[0].Needs(o.Dir) {
				if r.hasChanges(o) {
					return true
				}
				seen[o.Dir] = true
				todo = append(todo, o)
			}
		}
	}
	return false
}
