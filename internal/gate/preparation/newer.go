package preparation

import (
	"cmp"
	"fmt"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// WantsNewer keeps as the reason why the head cannot be judged that a command of it failed as the
// change asks for a newer version of a tool than the machine has. It says whether that is so.
func (prep *Preparation) WantsNewer(s ecosystem.Step) bool {
	why := prep.newerThanHere(s)
	if why == "" {
		return false
	}
	for i := range prep.Steps {
		if prep.Steps[i].Evidence == s.Evidence {
			prep.Steps[i].Environment = why
		}
	}
	prep.why = cmp.Or(prep.why, fmt.Sprintf("%s: %s: %s", s.Side, brief(s.Label()), why))
	return true
}

func (prep *Preparation) newerThanHere(s ecosystem.Step) string {
	base, head := prep.Plans[results.Base], prep.Plans[results.Head]
	if s.Side != results.Head || !s.Failed() || base == nil || head == nil {
		return ""
	}
	for _, e := range languages.All() {
		if why := ecosystem.NewerThanHere(e.Asks, prep.Change.Paths(), base.Survey, head.Survey, s.Output); why != "" {
			return why
		}
	}
	return ""
}
