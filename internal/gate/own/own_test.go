package own

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestBeyond holds which of a project's own commands are tried where its runner's tests all pass,
// and that those are named which take too long.
func TestBeyond(t *testing.T) {
	t.Parallel()
	command := func(text string) ecosystem.Command { return ecosystem.Command{Text: text, Unit: "."} }
	given := []ecosystem.Given{
		{Command: command("SLOW=1 pytest"), Variables: []string{"SLOW"}, From: "ci.yml", InTests: true},
		{Command: command("RATE=2 pytest"), Variables: []string{"RATE"}, From: "ci.yml"},
	}
	plain := ecosystem.Project{What: "Python project", Dir: ".", Target: "make test", OwnTests: []ecosystem.Command{command("make test"), command("npm test")}, Given: given}
	differs, script := plain, plain
	differs.Differs, script.Scripts = "TZ=UTC pytest", []string{"golden.sh"}
	for name, tt := range map[string]struct {
		p       ecosystem.Project
		besides bool
		took    time.Duration
		want    string
		named   int
	}{
		"nothing more":               {plain, false, time.Second, "SLOW=1 pytest", 0},
		"in another way":             {differs, false, time.Second, "make test; SLOW=1 pytest", 0},
		"a script":                   {script, false, time.Second, "make test; SLOW=1 pytest", 0},
		"other tests":                {plain, true, time.Second, "make test; SLOW=1 pytest", 0},
		"in another way, for long":   {differs, false, 2 * time.Minute, "", 2},
		"other tests, whatever long": {plain, true, 2 * time.Minute, "make test", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said []string
			o := &Commands{
				On:         arms.Maker{Executor: &execution.Executor{Steps: ecosystem.Steps{{Stage: results.StageTest, Side: results.Base, Duration: tt.took}}}},
				NotCovered: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
			}
			own, given := o.beyond(tt.p, tt.besides)
			var got []string
			for _, c := range own {
				got = append(got, c.Text)
			}
			for _, g := range given {
				got = append(got, g.Text)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(said) != tt.named {
				t.Errorf("named: %q", said)
			}
		})
	}
}
