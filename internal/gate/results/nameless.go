package results

import (
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// ordinal is what follows the name of a test that is not the first of it.
var ordinal = pattern.New(`^(.+)\[\d+\]$`)

// NameBy gives tests that failed before they had a name of their own that of the test which stands in
// the same place of their file in another run, where no other test has it: RSpec calls an example
// without a description by the matcher that it comes to, and else by its group alone.
func (s Suite) NameBy(other Suite) {
	type site struct{ unit, pkg, place string }
	at := map[site]ID{}
	for id, t := range s {
		if t.Nameless {
			at[site{id.Unit, id.Package, t.Place}] = id
		}
	}
	if len(at) == 0 {
		return
	}
	for named, o := range other {
		id, ok := at[site{named.Unit, named.Package, o.Place}]
		if _, taken := s[named]; !ok || o.Place == "" || o.Nameless || taken {
			continue
		}
		group := id.Test
		if m := ordinal.FindStringSubmatch(group); m != nil {
			group = m[1]
		}
		if strings.HasPrefix(named.Test, group) {
			t := s[id]
			t.Nameless = false
			delete(s, id)
			s[named] = t
		}
	}
}
