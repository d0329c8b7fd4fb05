package tester

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/testing/suites"
)

// TestSample holds that above twenty disagreeing tests twenty decide for all, and
// which those are.
func TestSample(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("m Test%02d", i))
	}
	tests, said := tester()
	c := runs.Comparison{Regressed: suites.Cases(names...)}
	asked := tests.sample(c)
	if len(asked) != maxSample || !maps.Equal(asked, tests.sample(c)) || len(*said) == 0 {
		t.Fatalf("%d tests: %v", len(asked), *said)
	}
	if tests.sample(runs.Comparison{Regressed: suites.Cases(names[:maxSample]...)}) != nil {
		t.Error("twenty tests are not all run again")
	}
	settle := func(heads string) runs.Comparison {
		d := &runs.Dispute{Cases: c, Rule: compare.Usual, Asked: asked, Runs: runs.History{}}
		for i := range heads {
			base, head := results.Suite{}, results.Suite{}
			for _, n := range names {
				if i > 0 && !asked[suites.ID(n)] {
					continue
				}
				base[suites.ID(n)] = results.Test{Status: results.Passed}
				head[suites.ID(n)] = results.Test{Status: map[byte]results.Status{'f': results.Failed, 'p': results.Passed}[heads[i]]}
			}
			d.Runs[results.Base], d.Runs[results.Head] = append(d.Runs[results.Base], base), append(d.Runs[results.Head], head)
		}
		return d.Settle(func(results.ID) bool { return false })
	}
	if got := settle("fffff"); len(got.Regressed) != 30 {
		t.Errorf("all of the sample fail each time: %s", suites.Show(t, got))
	}
	if got := settle("fp"); len(got.Flaky) != maxSample || len(got.Unsettled) != 10 || len(got.Regressed) != 0 {
		t.Errorf("all of the sample are flaky: %s", suites.Show(t, got))
	}
}

// TestSampleOfFixed holds that tests that only the base fails are all fixed however many they are, and
// take no place of those that the head fails.
func TestSampleOfFixed(t *testing.T) {
	t.Parallel()
	var fixed []string
	for i := range 30 {
		fixed = append(fixed, fmt.Sprintf("m TestFixed%02d", i))
	}
	tests, _ := tester()
	c := runs.Comparison{Regressed: suites.Cases("m TestA", "m TestB"), Fixed: suites.Cases(fixed...)}
	asked := tests.sample(c)
	if len(asked) != maxSample+2 || !asked[suites.ID("m TestA")] || !asked[suites.ID("m TestB")] {
		t.Fatalf("run again: %v", asked)
	}
	for _, regressed := range []results.Status{results.Failed, results.Passed} { // as TestA ends when it runs again
		d := &runs.Dispute{Cases: c, Rule: compare.Usual, Asked: asked, Runs: runs.History{}}
		for i := range 5 {
			base, head := results.Suite{}, results.Suite{}
			for _, k := range runs.Disagreeing(c) {
				b, h := results.Failed, results.Passed
				switch {
				case i > 0 && !asked[k]:
					continue
				case k == suites.ID("m TestA") && i > 0:
					b, h = results.Passed, regressed
				case k == suites.ID("m TestA"), k == suites.ID("m TestB"):
					b, h = results.Passed, results.Failed
				}
				base[k], head[k] = results.Test{Status: b}, results.Test{Status: h}
			}
			d.Runs[results.Base], d.Runs[results.Head] = append(d.Runs[results.Base], base), append(d.Runs[results.Head], head)
		}
		got := d.Settle(func(results.ID) bool { return false })
		if len(got.Fixed) != 30 || len(got.Unsettled) != 0 || len(got.Regressed)+len(got.NewFlakiness)+len(got.Flaky) != 2 || !slices.ContainsFunc(got.Regressed, func(k results.Case) bool { return k.ID == suites.ID("m TestB") }) {
			t.Errorf("%d fixed: %s", len(got.Fixed), suites.Show(t, got))
		}
	}
}

// TestOnly holds that exactly the named tests are selected.
func TestOnly(t *testing.T) {
	t.Parallel()
	re := regexp.MustCompile(results.Only(map[string]bool{"TestA": true, "Test.B": true}))
	for name, want := range map[string]bool{"TestA": true, "Test.B": true, "TestXB": false, "TestAB": false, "XTestA": false} {
		if re.MatchString(name) != want {
			t.Errorf("%s matches %s: %v", re, name, !want)
		}
	}
}

// TestAgain holds which commands run tests again: whole packages, with each set of
// flags that the configuration has, and only what the side has.
func TestAgain(t *testing.T) {
	t.Parallel()
	suite := suites.Of("pass m", "pass n", "fail m TestA", "fail n TestB")
	suite.SetEcosystem("Go")
	tests, _ := tester()
	tests.Sides.Plans = map[results.Side]*sides.Plan{results.Base: {}, results.Head: {Test: []ecosystem.Command{languages.ShellCommand(results.StageTest, "go test -short ./..."), languages.ShellCommand(results.StageTest, "go test -tags=x ./..."), languages.ShellCommand(results.StageTest, "make check")}}}
	tests.Sides.Suites = map[results.Side]results.Suite{results.Head: suite, results.Base: suites.Of("pass m")}
	ids := []results.ID{suites.ID("m TestA"), suites.ID("m TestC"), suites.ID("n TestB"), suites.ID("o TestX"), suites.ID("make check:")}
	texts := func(cs []ecosystem.Command) (out []string) {
		for _, c := range cs {
			out = append(out, string(c.Stage)+": "+c.Text)
		}
		return out
	}
	for _, tt := range []struct {
		side  results.Side
		whole bool
		want  []string
	}{
		{results.Head, false, []string{"rerun: make check", "rerun: go test -json -short -count=1 m n", "rerun: go test -json -tags=x -count=1 m n"}},
		{results.Head, true, []string{"rerun: make check", "rerun: go test -json -short ./...", "rerun: go test -json -tags=x ./..."}},
		{results.Base, false, nil},
	} {
		if diff := cmp.Diff(tt.want, texts(tests.againCommands(tt.side, ids, tt.whole))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.side, diff)
		}
	}
}

// TestFlipped holds whose flips excuse a test later: those of the base, and those of
// tests that the change cannot reach. What only the change makes flaky does not excuse
// it in its next run.
func TestFlipped(t *testing.T) {
	t.Parallel()
	run := func(status results.Status) results.Suite {
		out := results.Suite{}
		for _, name := range []string{"m TestA", "far TestB"} {
			out[suites.ID(name)] = results.Test{Status: status, Eco: "Go"}
		}
		return out
	}
	tests, _ := tester()
	tests.Sides.Affected = map[string]bool{"m": true}
	tests.Flipped(runs.History{results.Base: {run(results.Passed), run(results.Passed)}, results.Head: {run(results.Failed), run(results.Passed)}})
	if want := map[string]bool{runs.FlakeKey(suites.ID("far TestB")): true}; !maps.Equal(tests.Flakes.Flipped, want) || tests.Doubted {
		t.Errorf("flips of the head: %v", tests.Flakes.Flipped)
	}
	tests.Sides.Suites[results.Base] = run(results.Failed) // known from an earlier run
	tests.Flipped(runs.History{results.Base: {run(results.Passed)}, results.Head: {run(results.Passed)}})
	if len(tests.Flakes.Flipped) != 2 || !tests.Doubted {
		t.Errorf("flips of the base: %v", tests.Flakes.Flipped)
	}
}

// TestTimeForFewer holds that where there is no time for five runs of each side, what three or four
// show in the same way decides, as of slow tests; and fewer do not.
func TestTimeForFewer(t *testing.T) {
	t.Parallel()
	id := suites.ID("m TestA")
	for rounds, want := range map[int]int{2: 0, 3: 1, 4: 1, 9: 1} {
		tests, _ := tester()
		tests.Share, tests.Limit = 100, time.Minute // of which a round takes a thirtieth
		tests.Executor.Steps = ecosystem.Steps{{Duration: time.Minute - time.Duration(2*rounds+1)*time.Second}}
		suite := func(side results.Side) results.Suite {
			return results.Suite{id: {Status: map[results.Side]results.Status{results.Base: results.Passed, results.Head: results.Failed}[side], Output: "want 4"}}
		}
		d := &runs.Dispute{Cases: runs.Comparison{Regressed: suites.Cases("m TestA")}, Rule: compare.Usual, Runs: runs.History{}}
		d.Once = func(_ context.Context, side results.Side, _ []results.ID) (results.Suite, error) {
			tests.Executor.Steps = append(tests.Executor.Steps, ecosystem.Step{Duration: time.Second})
			return suite(side), nil
		}
		if err := tests.Rounds(t.Context(), d, []results.ID{id}); err != nil {
			t.Fatal(err)
		}
		got := d.Settle(func(results.ID) bool { return false })
		if len(got.Regressed) != want || len(got.Unsettled) != 1-want {
			t.Errorf("%d rounds: %s of %v", rounds, suites.Show(t, got), d.Runs)
		}
	}
}

// TestLostAlone holds which tests a run of their file alone has lost, so that all of the suite
// is run: those of which it says nothing, also where it reports no test at all.
func TestLostAlone(t *testing.T) {
	t.Parallel()
	a := suites.ID("a.rb GET /x")
	for what, tt := range map[string]struct {
		again results.Suite
		want  bool
	}{
		"reported":              {results.Suite{a: {Status: results.Passed}}, false},
		"another of its file":   {results.Suite{suites.ID("a.rb b"): {Status: results.Passed}}, false},
		"of another file alone": {results.Suite{suites.ID("b.rb b"): {Status: results.Passed}}, true},
		"its program ended":     {results.Suite{{Unit: a.Unit, Command: "rspec"}: {Status: results.Failed, Cut: true}}, false},
		"no test at all":        {results.Suite{{Unit: a.Unit, Command: "rspec"}: {Status: results.NotRun, Cut: true, NoTests: true}}, true},
	} {
		tests, _ := tester()
		tests.Sides.Suites[results.Head] = results.Suite{a: {Status: results.Failed, Eco: "Ruby"}}
		if got := tests.lostAlone(results.Head, a, tt.again); got != tt.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
