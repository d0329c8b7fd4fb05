package ecosystem

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// Lacking says what the machine lacks to run any of the projects.
func Lacking(projects []Project) string {
	var out []string
	for _, p := range projects {
		if why := fmt.Sprintf("there are %s, and %s", p.Eco.Units, p.Missing); p.Missing != "" && !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	return strings.Join(out, "; ")
}

// FindProjects asks every ecosystem for its projects. Targets of a Makefile and
// its like count only where nothing else has tests in or below its folder.
func FindProjects(s *Survey) []Project {
	var out []Project
	for _, eco := range All() {
		for _, p := range eco.find(s) {
			p.Eco = eco
			if eco.Calls && callsOthers(s, p, out) {
				if at := slices.IndexFunc(out, func(o Project) bool { return o.Dir == p.Dir && len(o.Test) > 0 && !o.Eco.Calls }); at >= 0 {
					out[at].scripted(s)
				}
				continue
			}
			for _, list := range [][]Command{p.Setup, p.Warm, p.Build, p.Lint, p.Test, p.Own} {
				for i := range list {
					list[i].Eco = eco.Name
				}
			}
			out = append(out, p)
		}
	}
	return out
}

// callsOthers says whether the targets of a project call what is run by itself: projects in
// its folder that have tests. They do not where it has sources in C that are of none of these,
// as where files for CMake and Meson stand aside in build/.
func callsOthers(s *Survey, p Project, found []Project) bool {
	inside := func(o Project) bool { return Inside(p.Dir, o.Dir) && (len(o.Test) > 0 || o.Missing != "") }
	return slices.ContainsFunc(found, inside) && !slices.ContainsFunc(s.files, func(f string) bool {
		return Inside(p.Dir, f) && slices.Contains(cExts, path.Ext(f)) && !IgnoredDir(path.Dir(f)) && !isTestFolder(f, cTestFolders) &&
			!slices.ContainsFunc(found, func(o Project) bool { return inside(o) && Inside(o.Dir, f) })
	})
}

// A Project is a folder that the tools of an ecosystem work in.
type Project struct {
	Eco      *Ecosystem
	Dir      string   // in the repository, "." for its top
	What     string   // for people: "Go module example.com/m"
	Why      []string // the files that it was found by, in the repository
	uses     []string // folders of other projects that it is built with
	within   string   // folder of the workspace that sets it up; empty: none
	made     bool     // those who use it need what its build command makes, and theirs does not make it
	always   bool     // whatever the change touches
	Missing  string   // what this machine lacks to run its commands, for people; it has none then
	Notes    []string // what cannot be known of its tests, and why
	Target   string   // the call of its folder's target for tests, which is not run; empty: there is none
	scripts  []string // that this runs beside the project's tests
	goModule goModule // of a project of Go

	Setup, Warm, Build, Lint, Test []Command

	// Own are the project's own commands for its tests, where Test calls the runner by itself:
	// its script, or the target of its folder.
	Own []Command
}

// Results is how a command reports each of its tests.
type Results struct {
	Name string // for people: "go test -json", "JUnit XML of pytest"

	// Collect returns what turns the command's standard output into results, for
	// a command that runs in the folder unit of the repository.
	Collect func(unit string) Collector

	// Refused knows the exit codes by which the runner says that it failed as a whole, so
	// that its results are none; nil: none does.
	Refused func(exit int) bool

	// Narrow returns c for a part of its tests; false where that cannot be said,
	// so that all of them have to be run. Nil is never.
	Narrow func(c Command, p Part) (Command, bool)

	// Plant makes files with a test that must fail, and the command that runs them; nil:
	// it cannot, and no file: none of the tests that pass is of a style that is known.
	Plant func(c Command, p Planting) (Command, []Planted)

	// Apart says that its packages are run in processes of their own, so that a part
	// of them does what it does among the others.
	Apart bool

	// Probe returns c so that it runs its tests again in another way, and how;
	// nil: they can only be repeated.
	Probe func(c Command, p Probing) (Command, string)

	// Hang lets the runner itself end a test that takes longer; nil: it cannot.
	Hang func(c Command, limit time.Duration) Command

	// Covers is what its text calls to measure coverage by other means, as it is written
	// there; empty: nothing.
	Covers string

	// Rebuild says that the build commands have to be run again before changed
	// tests are.
	Rebuild bool
}

// A Part is some of the tests of a command.
type Part struct {
	Packages []string        // as in ID.Package
	Tests    map[string]bool // of these, top-level tests only; nil: all
	Only     string          // one test by itself, where tests belong to files; empty: all
}

// Probing is how tests are run again.
type Probing struct {
	Seed     uint32
	Packages []string // these only, as in ID.Package; nil: all
	Times    int      // how often each, where the ecosystem has [Packages]
	Race     bool     // with the detector of data races, where it has [Race]
}

// A Collector turns what a command writes to its standard output into results,
// while it comes.
type Collector interface {
	io.Writer
	// Suite returns the results once the command has ended. evidence is the id of
	// the record that holds its output; wd is cut out of outputs, so that those of
	// both sides compare.
	Suite(evidence, wd string) Suite
	// Rest returns what was no result, such as errors of the runner.
	Rest() string
	// Gap says why the results are not those of a whole run: there are none, they
	// cannot be read, or they contradict themselves. It is called after suite; much
	// says that there is more output than is kept.
	Gap() (why string, much bool)
	// None says whether the runner reported a whole run that has no test.
	None() bool
}

// Choose splits projects into those that the changed paths can affect, with those that have
// to be built for them, and those that they cannot. One at the top, and what says so of
// itself, always counts. Each comes after those that it is built with.
func Choose(projects []Project, changed []string) (chosen, left []Project) {
	take, affected := map[string]bool{}, map[string]bool{} // by folder
	for _, p := range projects {
		take[p.Dir] = take[p.Dir] || p.Dir == "." || p.always
	}
	for _, c := range changed {
		if dir, ok := Innermost(projects, c); ok {
			take[dir] = true
			affected[dir] = affected[dir] || !IsDoc(c)
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range projects {
			if !affected[p.Dir] && (affected[p.within] || slices.ContainsFunc(p.uses, func(u string) bool { return affected[u] })) {
				affected[p.Dir], take[p.Dir], grown = true, true, true
			}
		}
	}
	needed(projects, take)
	for _, p := range ordered(projects) {
		if take[p.Dir] {
			chosen = append(chosen, p)
		} else {
			left = append(left, p)
		}
	}
	if len(chosen) > 0 && !slices.ContainsFunc(chosen, func(p Project) bool { return len(p.Build)+len(p.Test) > 0 || p.Missing != "" }) {
		return append(chosen, left...), nil // such as a workspace of which a document changed
	}
	return chosen, left
}

// needed adds to the folders of chosen projects those of their workspaces, and of what has
// to be built for them: what they are built with, and for a workspace that has tests and no
// build of its own all of its members.
func needed(projects []Project, take map[string]bool) {
	for grown := true; grown; {
		grown = false
		for _, p := range projects {
			if !take[p.Dir] {
				continue
			}
			for _, o := range projects {
				needs := o.Dir == p.within || len(o.Build) > 0 && o.made && (slices.Contains(p.uses, o.Dir) || o.within == p.Dir && len(p.Test) > 0 && len(p.Build) == 0)
				if needs && !take[o.Dir] {
					take[o.Dir], grown = true, true
				}
			}
		}
	}
}

// ordered has each project behind those that it is built with, and else as they were.
func ordered(projects []Project) []Project {
	var out []Project
	seen := map[int]bool{}
	var visit func(int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		for j, o := range projects {
			if slices.Contains(projects[i].uses, o.Dir) {
				visit(j)
			}
		}
		out = append(out, projects[i])
	}
	for i := range projects {
		visit(i)
	}
	return out
}

// Innermost returns the folder of the innermost project that holds a path.
func Innermost(projects []Project, name string) (string, bool) {
	best, found := "", false
	for _, p := range projects {
		if Inside(p.Dir, name) && (!found || len(p.Dir) > len(best) || best == ".") {
			best, found = p.Dir, true
		}
	}
	return best, found
}

// Inside says whether a path lies in a folder.
func Inside(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// Needs says whether a project is built with what is in another folder.
func (p Project) Needs(dir string) bool { return p.within == dir || slices.Contains(p.uses, dir) }

// Claims says whether a file is one of the project's ecosystem, by its path.
func (p Project) Claims(name string) bool {
	for _, is := range []func(string) bool{p.Eco.IsTest, p.Eco.IsSource, p.Eco.Steers} {
		if is != nil && is(name) {
			return true
		}
	}
	return false
}

// MovedTo is a project in another folder.
func (p Project) MovedTo(dir string) Project {
	if dir == p.Dir {
		return p
	}
	for _, list := range []*[]Command{&p.Setup, &p.Warm, &p.Build, &p.Lint, &p.Test, &p.Own} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Unit = dir
		}
	}
	p.Dir = dir
	return p
}

// ModuleAround is the innermost of projects with packages around a folder, of those whose
// commands can be run.
func ModuleAround(projects []Project, dir string) (Project, bool) {
	var out Project
	found := false
	for _, p := range projects {
		if p.Eco.Packages != nil && p.Missing == "" && Inside(p.Dir, dir) && (!found || len(p.Dir) > len(out.Dir)) {
			out, found = p, true
		}
	}
	return out, found
}
