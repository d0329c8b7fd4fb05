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
			again := func(side Side) (*results.RaceWatch, Suite, Step, error) {
				if side == Head {
					return head, Suite{}, Step{Evidence: "E2"}, nil
				}
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

// TestRareRaces holds that a race which the head shows in one run alone, or in which what changed
// is far from both accesses, does not count against the change.
func TestRareRaces(t *testing.T) {
	t.Parallel()
	src := map[Side][]byte{
		Base: []byte("package m\n\nfunc Sum() int { return 1 }\n"),
		Head: []byte("package m\n\nfunc Sum() int { return 2 }\n"),
	}
	test := ID{Unit: ".", Package: "m", Test: "TestSum"}
	access := results.RaceFrame{File: "a.go", Line: 3, Access: true, Top: true}
	old := results.RaceFrame{File: "old.go", Line: 9, Access: true, Top: true}
	started := results.RaceFrame{File: "a.go", Line: 3, Top: true}
	below := results.RaceFrame{File: "a.go", Line: 3, Access: true}
	outside := results.RaceFrame{Line: 9, Access: true}
	between := results.RaceFrame{File: "old.go", Line: 5, Access: true}
	for _, tt := range []struct {
		name   string
		frames []results.RaceFrame
		again  []bool // runs of the head that show it once more
		races  int
		heads  int
	}{
		{"each time", []results.RaceFrame{access}, []bool{true}, 1, 1},
		{"at times", []results.RaceFrame{access}, []bool{false, true}, 1, 2},
		{"once", []results.RaceFrame{access}, []bool{false, false}, 0, 2},
		{"what starts it", []results.RaceFrame{old, started}, []bool{true}, 1, 1},
		{"what calls it", []results.RaceFrame{old, outside, below}, []bool{true}, 1, 1},
		{"far from it", []results.RaceFrame{old, between, below}, nil, 0, 0},
		{"far from its start", []results.RaceFrame{old, {File: "old.go", Line: 5, Top: true}, {File: "a.go", Line: 3}}, nil, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := &check{in: &Subject{
				Change: change.Change{Files: []change.File{{Path: "a.go", Status: change.Modified}}},
				Suites: map[Side]Suite{Base: {test: {Status: Passed}}, Head: {test: {Status: Passed}}},
				Runs:   Runs{ReadFile: func(_ context.Context, side Side, _ string) ([]byte, error) { return src[side], nil }},
			}}
			head := &results.RaceWatch{Reports: []results.RaceReport{{Id: test, Text: "DATA RACE", Frames: tt.frames}}}
			heads := 0
			again := func(side Side) (*results.RaceWatch, Suite, Step, error) {
				if side == Base {
					return &results.RaceWatch{}, Suite{}, Step{Evidence: "E3"}, nil
				}
				if heads++; heads <= len(tt.again) && tt.again[heads-1] {
					return head, Suite{}, Step{Evidence: "E2"}, nil
				}
				return &results.RaceWatch{}, Suite{}, Step{Evidence: "E2"}, nil
			}
			p := &Probe{Evidence: []string{"E1"}}
			if _, err := r.judgeRaces(t.Context(), p, head, &results.RaceWatch{}, false, again); err != nil {
				t.Fatal(err)
			}
			if len(p.Races) != tt.races || len(p.Regressed)+len(p.Flaky) != 1 || heads != tt.heads {
				t.Errorf("%d races, %d not held against it, %d more runs of the head", len(p.Races), len(p.Flaky), heads)
			}
		})
	}
}
