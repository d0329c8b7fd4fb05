package gate

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// Where nothing builds without the change as well, the target for tests that may set what is
// missing is named with the setting by which it runs.
func TestTargetsAreNamed(t *testing.T) {
	t.Parallel()
	files := map[string]string{"api/Cargo.toml": "[package]\nname = \"a\"\n", "api/Makefile": "test:\n\tDB=1 cargo test\n"}
	survey := trees.Survey(t, files, new(strings.Builder), "cargo", "make")
	for name, tt := range map[string]struct {
		facts    Facts
		commands Commands
		want     string
	}{
		"nothing builds":        {Facts{BrokenBoth: 1}, Commands{}, `commands: {build: [], test: cd api && make test}`},
		"most tests fail":       {Facts{FailBoth: 3, Ran: 4}, Commands{}, `commands: {test: cd api && make test}`},
		"few tests fail":        {Facts{FailBoth: 1, Ran: 4}, Commands{}, ""},
		"tests are named":       {Facts{BrokenBoth: 1}, Commands{Test: []string{"cargo test"}}, ""},
		"nothing is the matter": {Facts{Ran: 4}, Commands{}, ""},
	} {
		r := newRunner(&Gate{}, Input{Commands: tt.commands}, task{plan: map[Side]*sides.Plan{Base: newPlan(languages.FindProjects(survey), Commands{})}})
		r.sides.Plans[Base].Survey = survey
		r.facts, r.res.Verdict = tt.facts, Partial
		r.noteTargets()
		if got := strings.Join(r.res.NotCovered, "; "); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
