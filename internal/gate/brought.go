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

// bringsMade does not believe results where the change brings files that the base's own tests
// write: what calls them, such as make, may take them for done.
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
}
