package ecosystem

import (
	"fmt"
	"slices"
	"strings"
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

// A Project is a folder that the tools of an ecosystem work in.
type Project struct {
	Eco     *Ecosystem
	Dir     string   // in the repository, "." for its top
	What    string   // for people: "Go module example.com/m"
	Why     []string // the files that it was found by, in the repository
	Uses    []string // folders of other projects that it is built with
	Within  string   // folder of the workspace that sets it up; empty: none
	Made    bool     // those who use it need what its build command makes, and theirs does not make it
	Always  bool     // whatever the change touches
	Missing string   // what this machine lacks to run its commands, for people; it has none then
	Notes   []string // what cannot be known of its tests, and why
	Target  string   // the call of its folder's target for tests, which is not run; empty: there is none
	Scripts []string // that this runs beside the project's tests
	Differs string   // what it does in another way than Test, or beside it; empty: nothing
	Own     any      // what its ecosystem keeps of it

	Setup, Warm, Build, Lint, Test []Command

	// OwnTests are the project's own commands for its tests, where Test calls the runner by
	// itself: its script, or the target of its folder.
	OwnTests []Command

	// Given are calls of the runner of its tests in workflows and by tox, which give them
	// variables that its sources name. Ungiven are such calls that cannot be made here.
	Given   []Given
	Ungiven []string
}

// InPlace names the project with the folder in which it lies.
func (p Project) InPlace() string {
	if strings.HasSuffix(p.What, " in "+p.Dir) {
		return p.What
	}
	return p.What + " in " + p.Dir
}

// Given is a command for tests with the variables that a workflow, or an environment of tox, gives it.
type Given struct {
	Command
	Variables []string // names
	From      string   // the file that says so
	InTests   bool     // files of tests name one
}

// Choose splits projects into those that the changed paths can affect, with those that have
// to be built for them, and those that they cannot. One at the top, and what says so of
// itself, always counts. Each comes after those that it is built with.
func Choose(projects []Project, changed []string) (chosen, left []Project) {
	take, affected := map[string]bool{}, map[string]bool{} // by folder
	for _, p := range projects {
		take[p.Dir] = take[p.Dir] || p.Dir == "." || p.Always
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
			if !affected[p.Dir] && (affected[p.Within] || slices.ContainsFunc(p.Uses, func(u string) bool { return affected[u] })) {
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
				needs := o.Dir == p.Within || len(o.Build) > 0 && o.Made && (slices.Contains(p.Uses, o.Dir) || o.Within == p.Dir && len(p.Test) > 0 && len(p.Build) == 0)
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
			if slices.Contains(projects[i].Uses, o.Dir) {
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

// Needs says whether a project is built with what is in another folder.
func (p Project) Needs(dir string) bool { return p.Within == dir || slices.Contains(p.Uses, dir) }

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
	for _, list := range []*[]Command{&p.Setup, &p.Warm, &p.Build, &p.Lint, &p.Test, &p.OwnTests} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Unit = dir
		}
	}
	p.Given = slices.Clone(p.Given)
	for i := range p.Given {
		p.Given[i].Unit = dir
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
