package preparation

import (
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// An unprepared is a project that the base cannot set up or build, and why.
type unprepared struct {
	ecosystem.Project
	why string
}

// dropUnprepared leaves projects out that could not be set up, or not built for want of
// something outside or without a test of theirs, at the base already, where another project has
// tests: examples and a site decide nothing for the library beside them. One whose files the change touches, or
// that has tests and is built with what changed, is missed for a PASS. Who wrote the change
// has no part in it, as the base alone fails.
func (prep *Preparation) dropUnprepared() {
	if prep.Rest {
		return // it is one project
	}
	var out []unprepared
	in := func(p ecosystem.Project) bool {
		return slices.ContainsFunc(out, func(o unprepared) bool { return o.Dir == p.Dir && o.Eco.Name == p.Eco.Name })
	}
	for i, s := range prep.Steps {
		if s.Side != results.Base || !s.Failed() || prep.Fetched(s) || prep.forgiven[s.Evidence] || prep.Steps.RanAgain(i) {
			continue
		}
		if s.Stage != results.StageSetup && (s.Stage != results.StageBuild || s.Lacks != "") { // a build that lacks a program is no failure: see unbuilt
			continue
		}
		p, ok := prep.preparedBy(s)
		if s.Stage == results.StageBuild && s.Environment == "" && (!ok || prep.hasChanges(p) || prep.isTested(p)) {
			continue
		}
		if !ok || prep.hasChanges(p) && !prep.baseFails { // then the others are judged already
			return
		}
		if !in(p) {
			out = append(out, unprepared{p, fmt.Sprintf("%q: %s", s.Command, results.FailureLine(s.Output))})
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range prep.Plans[results.Base].Projects {
			at := slices.IndexFunc(out, func(o unprepared) bool { return p.Needs(o.Dir) })
			if in(p) || at < 0 {
				continue
			}
			if prep.hasChanges(p) && !prep.baseFails {
				return
			}
			out, grown = append(out, unprepared{p, "it needs what is in " + out[at].Dir}), true
		}
	}
	if len(out) == 0 || !slices.ContainsFunc(prep.Plans[results.Base].Projects, func(p ecosystem.Project) bool { return !in(p) && len(p.Test) > 0 }) {
		return
	}
	for _, p := range out {
		if prep.hasChanges(p.Project) || prep.isTested(p.Project) && prep.needsChanged(p.Project) {
			prep.aside = append(prep.aside, fmt.Sprintf("%s: %s", p.InPlace(), p.why))
			continue
		}
		prep.NotCovered("%s, of which the change touches documents at most: the base cannot be set up or built there: %s", p.InPlace(), p.why)
	}
	for _, side := range []results.Side{results.Base, results.Head} {
		was := prep.Plans[side]
		if was == nil {
			continue
		}
		now := prep.Plan(slices.DeleteFunc(slices.Clone(was.Projects), in))
		now.Left, now.Survey, now.Files = was.Left, was.Survey, was.Files
		prep.Plans[side] = now
	}
	if prep.baseFails {
		prep.why, prep.baseFails = "", false
	}
}

// preparedBy is the project of the base that a step of setup or build is of.
func (prep *Preparation) preparedBy(s ecosystem.Step) (ecosystem.Project, bool) {
	if prep.Configured(results.StageSetup) || prep.Configured(results.StageBuild) {
		return ecosystem.Project{}, false
	}
	var there []ecosystem.Project
	for _, p := range prep.Plans[results.Base].Projects {
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
func (prep *Preparation) hasChanges(p ecosystem.Project) bool {
	all := slices.Concat(prep.Plans[results.Base].Projects, prep.Plans[results.Base].Left)
	return slices.ContainsFunc(prep.Change.Paths(), func(name string) bool {
		if dir, ok := ecosystem.Innermost(all, name); !ok || dir != p.Dir || ecosystem.IsDoc(name) {
			return false
		}
		return p.Claims(name) || !slices.ContainsFunc(all, func(o ecosystem.Project) bool { return o.Dir == p.Dir && o.Claims(name) })
	})
}

// isTested says whether the base has a test of a project of its ecosystem.
func (prep *Preparation) isTested(p ecosystem.Project) bool {
	return len(p.Test) > 0 && slices.ContainsFunc(prep.Plans[results.Base].Files, func(name string) bool {
		return ecosystem.Inside(p.Dir, name) && p.Eco.IsTest != nil && p.Eco.IsTest(name)
	})
}

// needsChanged says whether a project is built with one in which the change has files.
func (prep *Preparation) needsChanged(p ecosystem.Project) bool {
	all := slices.Concat(prep.Plans[results.Base].Projects, prep.Plans[results.Base].Left)
	seen := map[string]bool{p.Dir: true}
	for todo := []ecosystem.Project{p}; len(todo) > 0; todo = todo[1:] {
		for _, o := range all {
			if !seen[o.Dir] && todo[0].Needs(o.Dir) {
				if prep.hasChanges(o) {
					return true
				}
				seen[o.Dir] = true
				todo = append(todo, o)
			}
		}
	}
	return false
}
