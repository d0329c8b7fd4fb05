package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// keepCommands plans the head from the base's projects and the head's new ones:
// what runs on the base runs on the head, whoever wrote the change. A project that
// the head no longer shows as one, or hides behind another, keeps the base's
// commands; a package manager or runner that this machine lacks does not take a
// project out that the base's commands can run. Deleted projects are gone.
func (r *runner) keepCommands() {
	base, head := r.plan[Base], r.plan[Head]
	changed := false
	for _, from := range []struct{ of, to *[]project }{{&base.projects, &head.projects}, {&base.left, &head.left}} {
		for _, was := range *from.of {
			if len(was.test) == 0 || was.missing != "" {
				continue
			}
			moved := was.movedTo(r.movedTo(was.dir))
			now := r.projectAt(Head, was.eco.name, moved.dir)
			switch {
			case now == nil && r.deleted(was):
				r.note("the change deletes %s", was.what)
			case now == nil:
				r.note("%s is not found in the change, or is hidden behind another project there: the base's commands are run for it (%s)", was.what, listed(texts(moved), 3))
				*from.to, changed = append(*from.to, moved), true
			case now.missing != "":
				changed = r.replaced(now, moved) || changed
			case len(now.test) == 0:
				r.note("the change leaves %s without a test command: the base's is run (%s)", was.what, listed(commandTexts(moved.test), 3))
				now.test, changed = moved.test, true
			default:
				r.noteAltered(was, *now)
			}
		}
	}
	if !changed {
		return
	}
	p := newPlan(head.projects, r.in.Commands)
	p.left, p.files = head.left, head.files
	r.plan[Head] = p
}

// movedTo is a project in another folder.
func (p project) movedTo(dir string) project {
	if dir == p.dir {
		return p
	}
	for _, list := range []*[]command{&p.setup, &p.warm, &p.build, &p.lint, &p.test} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].unit = dir
		}
	}
	p.dir = dir
	return p
}

// projectAt is a project of a side by its ecosystem and folder, nil for none.
func (r *runner) projectAt(side Side, eco, dir string) *project {
	for _, list := range []*[]project{&r.plan[side].projects, &r.plan[side].left} {
		for i, p := range *list {
			if p.eco.name == eco && p.dir == dir {
				return &(*list)[i]
			}
		}
	}
	return nil
}

// deleted says whether the change takes a project of the base away: nothing that
// it was found by is left, also not elsewhere.
func (r *runner) deleted(p project) bool {
	files := r.plan[Head].files
	found := func(name string) bool { _, ok := slices.BinarySearch(files, name); return ok }
	marks := 0
	for _, w := range p.why {
		if _, onBase := slices.BinarySearch(r.plan[Base].files, w); !onBase {
			continue
		}
		if marks++; found(w) || found(r.movedTo(w)) {
			return false
		}
	}
	if marks > 0 {
		return true
	}
	return !slices.ContainsFunc(files, func(f string) bool { return inside(p.dir, f) })
}

// lockfiles are what package managers of Node.js need for what they install.
var lockfiles = []string{"pnpm-lock.yaml", "yarn.lock", "package-lock.json", "npm-shrinkwrap.json", "bun.lock", "bun.lockb", "uv.lock", "poetry.lock", "Pipfile.lock"}

// replaced gives a project that this machine cannot run on the head the base's
// commands, where the change leaves what they need. Else the head lacks a program.
func (r *runner) replaced(now *project, was project) bool {
	for _, w := range was.why {
		if slices.Contains(lockfiles, path.Base(w)) && r.goneFromHead(w) {
			r.lacks = append(r.lacks, fmt.Sprintf("%s: %s", now.what, now.missing))
			r.facts.Replaced = fmt.Sprintf("the change runs %s with another package manager, and there is %s", now.what, now.missing)
			return false
		}
	}
	r.note("the change would run %s by other means, and there is %s: the base's commands are run", now.what, now.missing)
	now.setup, now.warm, now.build, now.lint, now.test, now.missing = was.setup, was.warm, was.build, was.lint, was.test, ""
	return true
}

// noteAltered says that the change alters how a project is built or tested.
func (r *runner) noteAltered(was, now project) {
	before, after := texts(was), texts(now)
	if slices.Equal(before, after) {
		return
	}
	news := slices.DeleteFunc(slices.Clone(after), func(t string) bool { return slices.Contains(before, t) })
	if len(news) == 0 {
		news = slices.DeleteFunc(before, func(t string) bool { return slices.Contains(after, t) })
	}
	r.note("the change alters how %s is built or tested (%s): the base's tests are run as the base runs them too", now.what, listed(news, 3))
}

func commandTexts(list []command) []string {
	var out []string
	for _, c := range list {
		out = append(out, strings.TrimSpace(c.text))
	}
	return out
}
