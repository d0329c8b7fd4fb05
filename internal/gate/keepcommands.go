package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// keepCommands plans the head from the base's projects and the head's new ones:
// what runs on the base runs on the head, no matter who wrote the change. A project that
// the head no longer shows as one, or hides behind another, keeps the base's
// commands; a package manager or runner that this machine lacks does not take a
// project out that the base's commands can run. Deleted projects are gone.
func (r *runner) keepCommands() {
	base, head := r.sides.Plans[Base], r.sides.Plans[Head]
	changed, gone, lack := false, "", ""
	for _, from := range []struct{ of, to *[]ecosystem.Project }{{&base.Projects, &head.Projects}, {&base.Left, &head.Left}} {
		for _, was := range *from.of {
			if len(was.Test) == 0 || was.Missing != "" {
				continue
			}
			moved := was.MovedTo(r.sides.ProjectMovedTo(was))
			now := r.sides.ProjectAt(Head, was.Eco.Name, moved.Dir)
			switch {
			case now == nil && r.sides.Deleted(was):
				r.note("the change deletes %s", was.What)
			case r.targetGone(now, moved):
				if now != nil {
					lack = now.Missing
				}
				if !slices.ContainsFunc(was.Why, func(w string) bool { return !r.sides.GoneFromHead(w) }) {
					moved.Build = nil // they are targets of the file that is gone
				}
				for _, c := range moved.Test {
					gone = c.Text
					r.own.Gone = append(r.own.Gone, ID{Unit: moved.Dir, Command: c.Text})
				}
				if now != nil {
					*now = moved
				} else {
					*from.to = append(*from.to, moved)
				}
				changed = true
			case now == nil:
				r.note("%s is not found in the change, or is hidden behind another project there: the base's commands are run for it (%s)", was.What, results.Listed(texts(moved), 3))
				*from.to, changed = append(*from.to, moved), true
			case now.Missing != "":
				changed = r.replaced(now, moved) || changed
			case len(now.Test) == 0:
				r.note("the change leaves %s without a test command: the base's is run (%s)", was.What, results.Listed(commandTexts(moved.Test), 3))
				now.Test, changed = moved.Test, true
			default:
				r.noteAltered(was, *now)
				changed = nameAlike(now, moved) || changed
			}
		}
	}
	others := func(p ecosystem.Project) bool { return len(p.Test) > 0 && p.Missing == "" && p.Test[0].Text != gone }
	if gone != "" && !slices.ContainsFunc(head.Projects, others) {
		instead := "nothing here runs its tests in another way"
		if lack != "" {
			instead = "what it has in its place cannot run: " + lack
		}
		r.facts.Replaced = fmt.Sprintf("the change has no %q any more, and %s", gone, instead)
	}
	if !changed {
		return
	}
	p := newPlan(head.Projects, r.in.Commands)
	p.Left, p.Files, p.Survey = head.Left, head.Files, head.Survey
	r.sides.Plans[Head] = p
}

// nameAlike gives commands of the head that another interpreter starts than on the base the names that they have
// there, by which they are compared where they fail as a whole, and says whether there are any.
func nameAlike(now *ecosystem.Project, was ecosystem.Project) bool {
	some := false
	for i, c := range now.Test {
		at := slices.IndexFunc(was.Test, func(b ecosystem.Command) bool { return b.Text != c.Text && sides.SameCall(b, c) })
		if at >= 0 {
			now.Test[i].Name, some = was.Test[at].Label(), true
		}
	}
	return some
}

// targetGone says whether a project of the base is one for its target for tests alone, and the head
// has none there: that it cannot be called is no failure of the tests.
func (r *runner) targetGone(now *ecosystem.Project, was ecosystem.Project) bool {
	if !was.Eco.Calls || now != nil && now.Missing == "" {
		return false
	}
	there := func(w string) bool { return !r.sides.GoneFromHead(w) }
	if now != nil {
		return !slices.ContainsFunc(was.Why, there)
	}
	return languages.TargetForTests(r.sides.Plans[Head].Survey, was.Dir) == ""
}

// sameProjects has each side run what the other one runs of what it has: one where the change
// adds a project lies in another project of the base, which all of its members then count with.
func (r *runner) sameProjects() {
	for _, side := range []Side{Base, Head} {
		p := r.sides.Plans[side]
		var taken []ecosystem.Project
		left := slices.DeleteFunc(slices.Clone(p.Left), func(l ecosystem.Project) bool {
			wanted := slices.ContainsFunc(r.sides.Plans[other(side)].Projects, func(o ecosystem.Project) bool {
				if side == Head {
					return len(o.Test) > 0 && o.Eco.Name == l.Eco.Name && o.MovedTo(r.sides.ProjectMovedTo(o)).Dir == l.Dir
				}
				return len(o.Test) > 0 && o.Eco.Name == l.Eco.Name && l.MovedTo(r.sides.ProjectMovedTo(l)).Dir == o.Dir
			})
			if wanted {
				taken = append(taken, l)
			}
			return wanted
		})
		if len(taken) == 0 {
			continue
		}
		now := newPlan(append(slices.Clone(p.Projects), taken...), r.in.Commands)
		now.Left, now.Files, now.Survey = left, p.Files, p.Survey
		r.sides.Plans[side] = now
	}
}

func other(side Side) Side {
	if side == Base {
		return Head
	}
	return Base
}

// replaced gives a project that this machine cannot run on the head the base's
// commands, where the change leaves what they need. Else the head lacks a program.
func (r *runner) replaced(now *ecosystem.Project, was ecosystem.Project) bool {
	for _, w := range was.Why {
		if slices.Contains(languages.Lockfiles, path.Base(w)) && r.sides.GoneFromHead(w) {
			r.lacks = append(r.lacks, fmt.Sprintf("%s: %s", now.What, now.Missing))
			r.facts.Replaced = fmt.Sprintf("the change runs %s with another package manager, and there is %s", now.What, now.Missing)
			return false
		}
	}
	r.note("the change would run %s by other means, and there is %s: the base's commands are run", now.What, now.Missing)
	now.Setup, now.Warm, now.Build, now.Lint, now.Test, now.Missing = was.Setup, was.Warm, was.Build, was.Lint, was.Test, ""
	return true
}

// noteAltered says that the change alters how a project is built or tested.
func (r *runner) noteAltered(was, now ecosystem.Project) {
	before, after := texts(was), texts(now)
	if slices.Equal(before, after) {
		return
	}
	news := slices.DeleteFunc(slices.Clone(after), func(t string) bool { return slices.Contains(before, t) })
	if len(news) == 0 {
		news = slices.DeleteFunc(before, func(t string) bool { return slices.Contains(after, t) })
	}
	r.note("the change alters how %s is built or tested (%s): the base's tests are run as the base runs them too", now.What, results.Listed(news, 3))
}

func commandTexts(list []ecosystem.Command) []string {
	var out []string
	for _, c := range list {
		out = append(out, strings.TrimSpace(c.Typed()))
	}
	return out
}
