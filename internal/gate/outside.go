package gate

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/compare"
)

// FromOutside is the verdict of the same facts for a head that no maintainer answers for
// ([compare.Floor]), and what makes it worse than theirs: classes of given-up expectations, "marks"
// where the change adds lines to sources that can detect a test run or decide its results, "unreached" where no test of the base
// reaches what changed, "other" for what is none of these.
func (f Facts) FromOutside() (verdict Verdict, causes []string) {
	_, own := Decide(f)
	outside := f
	outside.Policy, outside.Untrusted = compare.Floor(f.Policy, true, false), true
	verdict, _ = Decide(outside)
	more := func(of Facts) int {
		_, reasons := Decide(of)
		return len(slices.DeleteFunc(reasons, func(r string) bool { return slices.Contains(own, r) }))
	}
	all, named := more(outside), 0
	without := func(cause string, change func(*Facts)) {
		less := outside
		change(&less)
		if n := all - more(less); n > 0 {
			named += n
			if !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
	}
	for i, c := range f.Changed {
		without(string(c.Class), func(less *Facts) {
			less.Changed = slices.Delete(slices.Clone(less.Changed), i, i+1)
		})
	}
	without("marks", func(less *Facts) { less.Marks = 0 })
	without("unreached", func(less *Facts) { less.KeptRan = max(less.KeptRan, 1) })
	if named < all {
		causes = append(causes, "other")
	}
	return verdict, causes
}
