package checks

import (
	"context"
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestRacesOfABaseThatWasCut holds that a race of changed code is the change's where
// the base ran as often without one, and that a run of the base that did not end by
// itself is none of these.
func TestRacesOfABaseThatWasCut(t *testing.T) {
	t.Parallel()
	src := map[Side][]byte{
		Base: []byte("package m\n\nfunc Sum() int { return 1 }\n"),
		Head: []byte("package m\n\nfunc Sum() int { return 2 }\n"),
	}
	test := ID{Unit: ".", Package: "m", Test: "TestSum"}
	head := &results.RaceWatch{Reports: []results.RaceReport{{
		Id: test, Text: "DATA RACE", Frames: []results.RaceFrame{{File: "a.go", Line: 3, Access: true, Top: true}},
	}}}
	for _, tt := range []struct {
		name      string
		cut       []bool // of each run of the base
		races     int
		regressed int
	}{
		{"each run ended", []bool{false, false, false}, 1, 1},
		{"the first was cut", []bool{true}, 0, 0},
		{"the last was cut", []bool{false, false, true}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := &check{in: &Subject{
				Change: change.Change{Files: []change.File{{Path: "a.go", Status: change.Modified}}},
				Suites: map[Side]Suite{Base: {test: {Status: Passed}}, Head: {test: {Status: Passed}}},
				Runs: Runs{ReadFile: func(_ context.Context, side Side, _ string) ([]byte, error) {
					return src[side], nil
				}},
			}}
			runs := 1
			again := func(Side) (*results.RaceWatch, Suite, Step, error) {
				runs++
				return &results.RaceWatch{}, Suite{}, Step{Evidence: "E2", TimedOut: tt.cut[runs-1]}, nil
			}
			p := &Probe{Evidence: []string{"E1"}}
			if _, err := r.judgeRaces(t.Context(), p, head, &results.RaceWatch{}, tt.cut[0], again); err != nil {
				t.Fatal(err)
			}
			if len(p.Races) != tt.races || len(p.Regressed) != tt.regressed || len(p.Regressed)+len(p.Flaky) != 1 || runs != len(tt.cut) {
				t.Errorf("%d races, %d regressed, %d not held against it, %d runs of the base", len(p.Races), len(p.Regressed), len(p.Flaky), runs)
			}
		})
	}
}
