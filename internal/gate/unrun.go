package gate

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// noteUnrun names files with tests that the change brings or edits, of which no command here
// reported one, where what runs the tests of their project says of each which file it is in.
func (r *runner) noteUnrun() {
	if r.facts.AffectedPassed == 0 {
		return // it is a reason of the verdict
	}
	var unrun []string
	for _, f := range r.in.Change.Files {
		if f.Status == change.Deleted || f.Binary || !languages.IsTestFile(f.Path) || !classes.HoldsTests(f.Path, r.sides.Texts[f.Path].Head) {
			continue
		}
		e := languages.Of(f.Path)
		if e == nil || e.Packages != nil || !r.reportsFiles(e, f.Path) {
			continue
		}
		reported := func(s Suite) bool {
			for id := range s {
				if id.Package == f.Path || path.Base(id.Package) == path.Base(f.Path) && r.sameOnHead(id.Package, f.Path) {
					return true
				}
			}
			return false
		}
		if !reported(r.sides.Suites[Head]) {
			unrun = append(unrun, f.Path)
		}
	}
	if len(unrun) > 0 {
		r.notCovered("the tests in %s: no command here runs them; \"commands: {test: …}\" in .github/ycbot.yml at the base can", results.Listed(unrun, 5))
	}
}

// sameOnHead says whether two paths lead to one file of the head, such as by a link.
func (r *runner) sameOnHead(one, other string) bool {
	a, err := os.Stat(filepath.Join(r.in.Head.Dir, filepath.FromSlash(one)))
	b, otherErr := os.Stat(filepath.Join(r.in.Head.Dir, filepath.FromSlash(other)))
	return err == nil && otherErr == nil && os.SameFile(a, b)
}

// reportsFiles says whether the commands that run the tests of a file's project report each
// test by its file, as far as they have run.
func (r *runner) reportsFiles(e *ecosystem.Ecosystem, name string) bool {
	in := func(unit string) bool { return ecosystem.Inside(unit, name) }
	if !slices.ContainsFunc(r.sides.Plans[Head].Test, func(c ecosystem.Command) bool { return c.Eco == e.Name && c.Results != nil && in(c.Unit) }) {
		return false
	}
	for id, t := range r.sides.Suites[Head] {
		if t.Eco == e.Name && in(id.Unit) && (id.Command != "" && t.Status != results.NotRun || id.Test != "" && !e.IsSource(id.Package)) {
			return false // it counts as one test, failed as a whole, or calls them otherwise
		}
	}
	return true
}
