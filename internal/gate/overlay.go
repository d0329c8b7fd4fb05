package gate

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// overlayCommands are the test commands of a side that report tests of files one by one and have files of the overlay to run.
func (r *runner) overlayCommands(side Side, files []string) []ecosystem.Command {
	var out []ecosystem.Command
	for _, c := range r.plan[side].test {
		mine := func(f string) bool { return r.runs(side, c, f) }
		if c.Results != nil && !ecosystem.ByPackage(c.Eco) && slices.ContainsFunc(files, mine) {
			out = append(out, c)
		}
	}
	return out
}

// runs says whether a test command of a side has to do with a file: it lies in
// the command's folder and in that of no project further in.
func (r *runner) runs(side Side, c ecosystem.Command, name string) bool {
	var same []ecosystem.Project
	for _, p := range r.plan[side].projects {
		if p.Eco.Name == c.Eco && ecosystem.Inside(c.Unit, p.Dir) {
			same = append(same, p)
		}
	}
	dir, ok := ecosystem.Innermost(same, name)
	return ecosystem.Inside(c.Unit, name) && (!ok || dir == c.Unit || !slices.ContainsFunc(r.plan[side].test, func(d ecosystem.Command) bool { return d.Unit == dir && d.Eco == c.Eco }))
}

// changedFiles are the test files of the change that a command runs by themselves;
// none where it has to run whole, because their data or what they share changed too.
func (r *runner) changedFiles(c ecosystem.Command) []string {
	var out []string
	for _, f := range r.res.FailToPass.Files {
		switch {
		case !r.runs(Base, c, f):
		case ecosystem.IsTestSource(f) && ecosystem.HasPackage(r.suites[Head], ID{Unit: c.Unit, Package: f}):
			out = append(out, f)
		case !r.goneFromHead(f):
			return nil
		}
	}
	return out
}

// goneFromHead says whether the head has no file of a name.
func (r *runner) goneFromHead(name string) bool {
	_, there := slices.BinarySearch(r.plan[Head].files, name)
	return !there
}

// wanting returns what says of a failed test whether it wants what only the
// change has: a dependency, or a name that its sources define.
func (r *runner) wanting() func(Test) (deps, api bool) {
	before, after := map[string]bool{}, map[string]bool{}
	steered := false
	for _, f := range r.in.Change.Files {
		if ecosystem.IsTestFile(f.Path) {
			continue
		}
		steered = steered || ecosystem.Steers(f.Path)
		if b, err := ecosystem.ReadInTree(r.in.Base.Dir, f.Path); err == nil {
			maps.Copy(before, ecosystem.Words(b))
		}
		if a, err := ecosystem.ReadInTree(r.in.Head.Dir, f.Path); err == nil {
			maps.Copy(after, ecosystem.Words(a))
			after[strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))] = true
		}
	}
	return func(t Test) (deps, api bool) {
		e := ecosystem.Named(t.Eco)
		if e == nil || e.Absent == nil {
			return false, false
		}
		name, dep := e.Absent(t.Output)
		if name == "" {
			return false, false
		}
		for w := range ecosystem.Words([]byte(name)) {
			api = api || after[w] && !before[w]
		}
		deps = dep && steered && !api
		return deps, api
	}
}

func wantsAbsent(wants func(Test) (deps, api bool), t Test) bool {
	deps, api := wants(t)
	return deps || api
}

// needsAPI words that the change's tests want what only the change has.
func (r *runner) needsAPI(over Suite) string {
	for _, o := range over {
		if o.Eco != "" && !ecosystem.ByPackage(o.Eco) && o.Status == Failed {
			return "the change's tests cannot be run without the change, whose API they need: no reproduction claimed"
		}
	}
	return "the change's tests do not compile without the change, whose API they need: no reproduction claimed"
}
