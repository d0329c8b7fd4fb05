package gate

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/kept"
)

// givenUp are the expectations that do not hold, by class.
func givenUp(x *kept.Expectations) []Changed {
	var out []Changed
	for _, c := range x.Changed {
		i := slices.IndexFunc(out, func(o Changed) bool {
			return o.Class == c.Class && o.SubjectStands == c.SubjectStands && o.Beside == c.Beside && o.Skipped == c.Skipped && o.Own == c.Own
		})
		if i < 0 {
			i, out = len(out), append(out, Changed{Class: c.Class, SubjectStands: c.SubjectStands, Beside: c.Beside, Skipped: c.Skipped, Own: c.Own})
		}
		out[i].Count++
	}
	return out
}
