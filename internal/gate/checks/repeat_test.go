package checks

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestProbesHaveAShare: tests are repeated where one run more fits into a third of the time
// that is left; else the report says that they are not, and no probe is missed.
func TestProbesHaveAShare(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ctx, cancel := context.WithDeadline(t.Context(), now.Add(6*time.Minute))
	defer cancel()
	whole := ecosystem.Command{Stage: StageTest, Unit: ".", Text: "make test"}
	pytest := languages.ShellCommand(StageTest, "python -m pytest")
	pytest.Unit = "."
	for _, tt := range []struct {
		what  string
		c     ecosystem.Command
		side  Side
		text  string
		took  time.Duration
		cut   bool
		tried bool
	}{
		{"one that counts as one test", whole, Head, whole.Text, time.Minute, false, true},
		{"a slow one", whole, Head, whole.Text, 2 * time.Minute, false, false},
		{"one that ran otherwise", whole, Head, "make test 2>&1", 3 * time.Minute, false, false},
		{"tests of files", pytest, Head, pytest.Text, time.Minute, false, true},
		{"slow tests of files", pytest, Head, pytest.Text, 3 * time.Minute, false, false},
		{"of which a part ran on the head", pytest, Base, pytest.Text, 8 * time.Minute, false, false},
		{"one that is cut", whole, Head, whole.Text, time.Minute, true, true},
		{"one that hangs", whole, Head, whole.Text, time.Second, true, true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			id := ID{Unit: ".", Command: whole.Text}
			test := ID{Unit: ".", Package: "tests/test_a.py", Test: "test_a"}
			suite := Suite{id: {Status: Passed}, test: {Status: Passed, Eco: "Python"}}
			tried, said := false, ""
			s := &Subject{
				Runnable: true, StepLimit: 10 * time.Minute, Head: &workspace.Tree{OID: "1"},
				Suites: map[Side]Suite{Base: suite, Head: suite}, Tests: map[Side][]ecosystem.Command{Base: {tt.c}, Head: {tt.c}},
				Now: func() time.Time { return now },
				Steps: func() []Step {
					return []Step{{Stage: StageTest, Side: tt.side, Unit: ".", Command: tt.text, Duration: tt.took}}
				},
				NotCoveredOnce: func(format string, args ...any) { said += fmt.Sprintf(format, args...) },
			}
			s.RunFresh = func(_ context.Context, _ Side, c ecosystem.Command) (Suite, Step, error) {
				if tried = true; c.Timeout != 2*time.Minute {
					t.Errorf("it may take %s", c.Timeout)
				}
				return suite, Step{TimedOut: tt.cut, Duration: tt.took}, nil
			}
			found, err := Repeat(ctx, s)
			lacks := !tt.tried || tt.cut && tt.took > time.Second
			if err != nil || tried != tt.tried || found.NoTime != lacks || (said != "") != lacks || len(found.Probes) > 0 != tt.tried {
				t.Errorf("%v, tried %v, %+v, %q", err, tried, found, said)
			}
		})
	}
}
