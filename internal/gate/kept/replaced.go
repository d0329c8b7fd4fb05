package kept

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/pattern"
)

// replaced finds, of tests that the head has no more, those in whose place it has another one: a new test that
// passes, fails without the change, is made by the same code in the same file, and differs in one value by its
// name. Such a name is often made of what is expected, as in the row [999-50-500]; a test under a name of its own
// would be a rewritten one. Each stands for one at most.
func (k *keeper) replaced(over map[sides.Site]results.ID) map[results.ID]bool {
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
	out := map[results.ID]bool{}
	for _, e := range k.tests {
		if e.kept != compare.Failed || e.head != compare.Absent || e.id.Test == "" {
			continue
		}
		if at := slices.IndexFunc(fresh, func(id results.ID) bool { return k.inPlaceOf(e, id) }); at >= 0 {
			out[e.id] = true
			fresh = slices.Delete(fresh, at, at+1)
		}
	}
	return out
}

// inPlaceOf says whether a new test is made by the code that made a test of the base: it is a row of the same
// function, or neither name is written in the file.
func (k *keeper) inPlaceOf(e *examined, id results.ID) bool {
	moved := k.on.Sides.MovedTo(e.id.Package)
	if id.Unit != e.id.Unit || id.Package != e.id.Package && id.Package != moved || !oneValueApart(e.id.Test, id.Test) {
		return false
	}
	row := strings.Contains(e.id.Test, "[")
	if row || languages.ByPackage(e.eco) {
		family := familyOf(e)
		return family != "" && strings.HasPrefix(id.Test, family)
	}
	_, src := k.on.Sides.TestFileOf(e.id)
	written := func(src []byte, test string) bool { return bytes.Contains(src, []byte(results.LastName(test))) }
	return src != nil && !written(src, e.id.Test) && !written(k.on.Sides.Texts[moved].Head, id.Test)
}

var (
	nameWord = pattern.New(`[\pL\pN_.]+`)
	aValue   = pattern.New(`\d|^(?i:true|false|none|null|nil|undefined)$`)
)

// oneValueApart says whether two names of tests are the same but for one number, or a word for what is true or none.
func oneValueApart(a, b string) bool {
	was, is := nameWord.FindAllString(a, -1), nameWord.FindAllString(b, -1)
	if len(was) != len(is) {
		return false
	}
	apart := 0
	for i := range was {
		if was[i] == is[i] {
			continue
		}
		if apart++; !aValue.MatchString(was[i]) || !aValue.MatchString(is[i]) {
			return false
		}
	}
	return apart == 1
}
