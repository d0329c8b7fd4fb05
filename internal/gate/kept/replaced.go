package kept

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/pattern"
)

// replaced finds, of tests that the head has no more, those in whose place it has another one: a new test of the
// same file that passes, fails without the change, and is called alike. A name is often made of what is expected,
// as in the row [999-50-500]; a test under its old name would be a rewritten one. Each stands for one at most.
func (k *keeper) replaced(over map[sides.Site]results.ID) map[results.ID]bool {
	out, taken := map[results.ID]bool{}, map[results.ID]bool{}
	var fresh []results.ID
	for id, t := range k.on.Sides.Suites[results.Head] {
		if t.Status != results.Passed || !t.Leaf || k.on.Sides.Suites[results.Base][id].Status != "" {
			continue
		}
		if at, ok := over[k.on.Sides.PlaceOf(results.Head, id, t.Eco)]; ok && statusOf(k.out.Over[at]) == compare.Failed {
			fresh = append(fresh, id)
		}
	}
	slices.SortFunc(fresh, func(a, b results.ID) int { return strings.Compare(a.String(), b.String()) })
	for _, e := range k.tests {
		if e.kept != compare.Failed || e.head != compare.Absent || e.id.Test == "" {
			continue
		}
		at := slices.IndexFunc(fresh, func(id results.ID) bool {
			return !taken[id] && id.Unit == e.id.Unit && (id.Package == e.id.Package || id.Package == k.on.Sides.MovedTo(e.id.Package)) && calledAlike(e.id.Test, id.Test)
		})
		if at >= 0 {
			out[e.id], taken[fresh[at]] = true, true
		}
	}
	return out
}

var (
	nameWord = pattern.New(`[\pL\pN_.]+`)
	aValue   = pattern.New(`\d|^(?i:true|false|none|null|nil|undefined)$`)
)

// calledAlike says whether two names of tests are the same but for the class or group, or for one value.
func calledAlike(a, b string) bool {
	if last := results.LastName(a); last == results.LastName(b) && last != "" && !strings.Contains(a+b, "[") {
		return true
	}
	was, is := nameWord.FindAllString(a, -1), nameWord.FindAllString(b, -1)
	if len(was) != len(is) || len(was) < 2 {
		return false
	}
	other := 0
	for i := range was {
		if was[i] == is[i] {
			continue
		}
		if other++; !aValue.MatchString(was[i]) || !aValue.MatchString(is[i]) {
			return false
		}
	}
	return other == 1
}
