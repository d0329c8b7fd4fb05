package sides

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// renames are tests whose class has another namespace than before, of runners that report tests by it.
type renames struct {
	tests [2]int                    // of the suites that they were found in
	to    map[results.ID]results.ID // tests of the head by those of the base, where a file has one of each
	// fresh are the names without namespaces of those of the head in their files.
	fresh map[Site]bool
}

// renamed finds them, again where more tests have run.
func (r *Reader) renamed() *renames {
	base, head := r.Suites[results.Base], r.Suites[results.Head]
	if n := [2]int{len(base), len(head)}; r.inSpaces == nil || r.inSpaces.tests != n {
		r.inSpaces = &renames{n, map[results.ID]results.ID{}, map[Site]bool{}}
		was, is := bare(base, r.MovedTo), bare(head, func(file string) string { return file })
		for at, ids := range is {
			before, after := lacking(was[at], ids), lacking(ids, was[at])
			r.inSpaces.fresh[at] = len(after) > 0
			if len(before) == 1 && len(after) == 1 {
				r.inSpaces.to[before[0]] = after[0]
			}
		}
	}
	return r.inSpaces
}

// bare are the tests of a suite that are reported with namespaces, by their names without these and
// where their files are on the head.
func bare(s results.Suite, movedTo func(string) string) map[Site][]results.ID {
	out, moved := map[Site][]results.ID{}, map[string]string{}
	for id, t := range s {
		name, ok := classes.Bare(id.Package, id.Test)
		if !ok || id.Test == "" || t.Status == results.NotRun {
			continue
		}
		if _, ok := moved[id.Package]; !ok {
			moved[id.Package] = movedTo(id.Package)
		}
		at := Site{moved[id.Package], name}
		out[at] = append(out[at], id)
	}
	return out
}

// lacking are those tests whose whole names none of others has.
func lacking(tests, others []results.ID) []results.ID {
	return slices.DeleteFunc(slices.Clone(tests), func(id results.ID) bool {
		return slices.ContainsFunc(others, func(o results.ID) bool { return o.Test == id.Test })
	})
}
