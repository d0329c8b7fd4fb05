package gate

import (
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// madeByTests are the files that tests of the base leave behind that count as one.
func (r *runner) madeByTests() []string {
	out := r.executor.LeftBehind()
	if r.known != nil {
		out = append(out, r.known.Left...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// remadeData names the files that tests compare with, and that the build writes as the change
// makes them: what it breaks in them they do not show.
func (r *runner) remadeData() {
	var names []string
	for _, name := range r.executor.Remade() {
		if !languages.IsSource(name) && r.sides.OnlyTestsName(name) && !slices.ContainsFunc(r.in.Change.Files, func(f change.File) bool { return f.Path == name }) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		r.notCoveredOnce("what tests expect by %s: the head's build writes %s otherwise than the change has %s", results.Listed(names, 3), results.Plural(len(names), "it", "them"), results.Plural(len(names), "it", "them"))
	}
}

// bringsMade does not believe results where the change brings files that the base's own tests
// write: what calls them, such as make, may take them for done. Nor does it where it brings those by which
// setup or build of the base let its tests be run.
func (r *runner) bringsMade() {
	left := r.madeByTests()
	var brought []string
	for _, f := range r.in.Change.Files {
		if _, made := slices.BinarySearch(left, f.Path); made && f.Status == change.Added && !languages.IsTestFile(f.Path) {
			brought = append(brought, f.Path)
		}
	}
	if len(brought) > 0 {
		r.facts.Unbelieved = append(r.facts.Unbelieved, "the change brings what the base's tests make: "+results.Listed(brought, 3))
	}
	if why := r.sides.RunnersBrought(r.executor.MadeAgain); why != "" {
		r.facts.Unbelieved = append(r.facts.Unbelieved, why)
	}
}
