package sides

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// OverlayCommands are the test commands of a side that report the tests of each file, and
// that have to do with one of files.
func (r *Reader) OverlayCommands(side results.Side, files []string) []ecosystem.Command {
	var out []ecosystem.Command
	for _, c := range r.Plans[side].Test {
		mine := func(f string) bool { return r.Runs(side, c, f) }
		if c.Results != nil && !languages.ByPackage(c.Eco) && slices.ContainsFunc(files, mine) {
			out = append(out, c)
		}
	}
	return out
}

// Runs says whether a test command of a side has to do with a file: it lies in
// the command's folder and in that of no project further in.
func (r *Reader) Runs(side results.Side, c ecosystem.Command, name string) bool {
	var same []ecosystem.Project
	for _, p := range r.Plans[side].Projects {
		if p.Eco.Name == c.Eco && ecosystem.Inside(c.Unit, p.Dir) {
			same = append(same, p)
		}
	}
	dir, ok := ecosystem.Innermost(same, name)
	return ecosystem.Inside(c.Unit, name) && (!ok || dir == c.Unit || !slices.ContainsFunc(r.Plans[side].Test, func(d ecosystem.Command) bool { return d.Unit == dir && d.Eco == c.Eco }))
}

// GoneFromHead says whether the head has no file of a name.
func (r *Reader) GoneFromHead(name string) bool {
	_, there := slices.BinarySearch(r.Plans[results.Head].Files, name)
	return !there
}

// Untested says why a command of the head finds no test, where that is none of its failures: the change
// takes the last tests out of its folder, or brings the command before any. Those inside of sources count, too.
// Empty: it has some.
func (r *Reader) Untested(c ecosystem.Command) string {
	eco := languages.Named(c.Eco)
	if eco == nil || eco.IsTest == nil || r.Plans[results.Base] == nil || r.Plans[results.Head] == nil {
		return ""
	}
	tests := func(side results.Side) bool {
		return slices.ContainsFunc(r.Plans[side].Files, func(f string) bool {
			return ecosystem.Inside(c.Unit, f) && (eco.IsTest(f) && path.Base(f) != "conftest.py" && path.Base(f) != "__init__.py" || r.testsInside(side, eco, f))
		})
	}
	switch {
	case tests(results.Head):
		return ""
	case tests(results.Base) && c.Unit != ".":
		return "the change takes the last tests out of " + c.Unit
	case !tests(results.Base) && !slices.ContainsFunc(r.Plans[results.Base].Test, func(b ecosystem.Command) bool { return SameRun(b, c) }):
		return "the change adds no tests to " + c.Unit
	}
	return ""
}

// testsInside says whether a source of a side has tests among what it is made of.
func (r *Reader) testsInside(side results.Side, eco *ecosystem.Ecosystem, name string) bool {
	if eco.Classes.Parts == nil || !eco.IsSource(name) {
		return false
	}
	src, err := ecosystem.ReadInTree(r.dir(side), name)
	if err != nil {
		return false
	}
	tests, _ := eco.Classes.Parts(string(src))
	return classes.MayTest([]byte(tests))
}

// Wanting returns what says of a failed test whether it wants what only the
// change has: a dependency, or a name that its sources define.
func (r *Reader) Wanting() func(results.Test) (deps, api bool) {
	before, after := map[string]bool{}, map[string]bool{}
	steered := false
	for _, f := range r.Change.Files {
		if languages.IsTestFile(f.Path) {
			continue
		}
		steered = steered || languages.Steers(f.Path)
		if b, err := ecosystem.ReadInTree(r.Base.Dir, f.Path); err == nil {
			maps.Copy(before, classes.Words(b))
		}
		if a, err := ecosystem.ReadInTree(r.Head.Dir, f.Path); err == nil {
			maps.Copy(after, classes.Words(a))
			after[strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))] = true
		}
	}
	return func(t results.Test) (deps, api bool) {
		e := languages.Named(t.Eco)
		if e == nil || e.Absent == nil {
			return false, false
		}
		name, dep := e.Absent(t.Output)
		if name == "" {
			return false, false
		}
		for w := range classes.Words([]byte(name)) {
			api = api || after[w] && !before[w]
		}
		deps = dep && steered && !api
		return deps, api
	}
}

// ProjectAt is a project of a side by its ecosystem and folder, nil for none.
func (r *Reader) ProjectAt(side results.Side, eco, dir string) *ecosystem.Project {
	for _, list := range []*[]ecosystem.Project{&r.Plans[side].Projects, &r.Plans[side].Left} {
		for i, p := range *list {
			if p.Eco.Name == eco && p.Dir == dir {
				return &(*list)[i]
			}
		}
	}
	return nil
}

// ProjectMovedTo is the folder in which the head has a project of the base, its own where that
// did not move: one that all of its files of tests are in, in the same places below it.
func (r *Reader) ProjectMovedTo(p ecosystem.Project) string {
	if to := r.MovedTo(p.Dir); to != p.Dir || r.Plans[results.Head] == nil || p.Eco.IsTest == nil {
		return to
	}
	to, some := p.Dir, false
	for _, f := range r.Plans[results.Base].Files {
		if !ecosystem.Inside(p.Dir, f) || !p.Eco.IsTest(f) || !r.ownedBy(p, f) {
			continue
		}
		rel := f
		if p.Dir != "." {
			rel = strings.TrimPrefix(f, p.Dir+"/")
		}
		dir, ok := strings.CutSuffix(r.MovedTo(f), "/"+rel)
		if !ok || some && dir != to {
			return p.Dir
		}
		to, some = dir, true
	}
	if !some || to == p.Dir || r.ProjectAt(results.Head, p.Eco.Name, to) == nil {
		return p.Dir
	}
	return to
}

// ownedBy says whether a file of the base is in no project of the same ecosystem further in.
func (r *Reader) ownedBy(p ecosystem.Project, name string) bool {
	for _, list := range [][]ecosystem.Project{r.Plans[results.Base].Projects, r.Plans[results.Base].Left} {
		for _, in := range list {
			if in.Eco == p.Eco && len(in.Dir) > len(p.Dir) && in.Dir != p.Dir && ecosystem.Inside(in.Dir, name) {
				return false
			}
		}
	}
	return true
}

// Deleted says whether the change takes a project of the base away: nothing that
// it was found by is left, also not elsewhere.
func (r *Reader) Deleted(p ecosystem.Project) bool {
	files := r.Plans[results.Head].Files
	found := func(name string) bool { _, ok := slices.BinarySearch(files, name); return ok }
	marks := 0
	for _, w := range p.Why {
		if _, onBase := slices.BinarySearch(r.Plans[results.Base].Files, w); !onBase {
			continue
		}
		if marks++; found(w) || found(r.MovedTo(w)) {
			return false
		}
	}
	if marks > 0 {
		return true
	}
	return !slices.ContainsFunc(files, func(f string) bool { return ecosystem.Inside(p.Dir, f) })
}

// SameRun says whether two commands run the tests of one folder by one runner, however they call it.
func SameRun(a, b ecosystem.Command) bool {
	if a.Eco != b.Eco || a.Unit != b.Unit {
		return false
	}
	if a.Results == nil || b.Results == nil {
		return a.Results == nil && b.Results == nil && a.CalledAs(b)
	}
	return a.Results.Name == b.Results.Name
}

// SameCall says whether two commands run the same tests by the same call, whatever interpreter starts them.
func SameCall(a, b ecosystem.Command) bool { return SameRun(a, b) && a.CalledAs(b) }

// AsPrepared is a command in a folder as what the setup of a side brings starts it there: dependencies are those of the
// side, also for tests of the other one.
func (r *Reader) AsPrepared(side results.Side, c ecosystem.Command) ecosystem.Command {
	at := slices.IndexFunc(r.Plans[side].Test, func(t ecosystem.Command) bool { return t.Unit == c.Unit && t.By != nil })
	if at < 0 {
		return c
	}
	return c.StartedAs(r.Plans[side].Test[at])
}

// CalledOtherwise says whether the head has a command of the base by another call alone.
func (r *Reader) CalledOtherwise(c ecosystem.Command) bool {
	c.Unit = r.MovedTo(c.Unit)
	some := false
	for _, h := range r.Plans[results.Head].Test {
		if SameRun(h, c) {
			if SameCall(h, c) {
				return false
			}
			some = true
		}
	}
	return some
}
