package results

import "github.com/ycbot/ycbot/internal/sorted"

// HasPackage says whether a suite has a result of a package or of a test in it.
func HasPackage(s Suite, id ID) bool {
	_, ok := s[ID{Unit: id.Unit, Package: id.Package}]
	return ok
}

// NewCase is the case of a test that ended so.
func NewCase(id ID, t Test) Case {
	k := Case{ID: id, Output: t.Output, Broken: t.Broken}
	if t.Evidence != "" { // else known from an earlier run
		k.Evidence = []string{t.Evidence}
	}
	return k
}

// SortCases sorts cases by their names.
func SortCases(cases []Case) {
	sorted.By(cases, func(a, b Case) int { return a.ID.Compare(b.ID) })
}

// Leaves drops tests that fail only because a subtest of theirs, also in the
// list, fails.
func Leaves(cases []Case) []Case {
	parents := map[ID]bool{}
	for _, c := range cases {
		for up, ok := c.ID.Parent(); ok; up, ok = up.Parent() {
			parents[up] = true
		}
	}
	var out []Case
	for _, c := range cases {
		if !parents[c.ID] {
			out = append(out, c)
		}
	}
	return out
}

// Parted splits cases into those that stay and those that go: leaves of which goes says so, and what
// fails only because of them, as none of its other subtests in the list stays.
func Parted(cases []Case, goes func(Case) bool) (stay, gone []Case) {
	stays := map[ID]bool{}
	for _, c := range Leaves(cases) {
		if goes(c) {
			continue
		}
		stays[c.ID] = true
		for up, ok := c.ID.Parent(); ok; up, ok = up.Parent() {
			stays[up] = true
		}
	}
	for _, c := range cases {
		if stays[c.ID] {
			stay = append(stay, c)
		} else {
			gone = append(gone, c)
		}
	}
	return stay, gone
}

// AnyPassed says whether a test passed, so that the others of a run say something.
func AnyPassed(s Suite) bool {
	for id, t := range s {
		if id.Test != "" && t.Status == Passed {
			return true
		}
	}
	return false
}

// AnyRan says whether a test passed or failed.
func AnyRan(s Suite) bool {
	for id, t := range s {
		if id.Test != "" && (t.Status == Passed || t.Status == Failed) {
			return true
		}
	}
	return false
}

// AnyFailed says whether a test, or a command, failed.
func AnyFailed(s Suite) bool {
	for _, t := range s {
		if t.Status == Failed {
			return true
		}
	}
	return false
}
