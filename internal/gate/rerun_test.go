package gate

import (
	"fmt"
	"maps"
	"regexp"
	"testing"

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
	r := newRunner(&Gate{}, Input{Head: worktreeOf("t1")}, task{})
	c := runs.Comparison{Regressed: suites.Cases(names...)}
	asked := r.sample(c)
	if len(asked) != maxSample || !maps.Equal(asked, r.sample(c)) || len(r.res.Notes) == 0 {
		t.Fatalf("%d tests: %v", len(asked), r.res.Notes)
	}
	if r.sample(runs.Comparison{Regressed: suites.Cases(names[:maxSample]...)}) != nil {
		t.Error("twenty tests are not all run again")
	}
	settle := func(heads string) runs.Comparison {
		d := &runs.Dispute{Cases: c, Rule: compare.Usual, Asked: asked, Runs: runs.History{}}
		for i := range heads {
			base, head := Suite{}, Suite{}
			for _, n := range names {
				if i > 0 && !asked[suites.ID(n)] {
					continue
				}
				base[suites.ID(n)] = Test{Status: Passed}
				head[suites.ID(n)] = Test{Status: map[byte]Status{'f': Failed, 'p': Passed}[heads[i]]}
			}
			d.Runs[Base], d.Runs[Head] = append(d.Runs[Base], base), append(d.Runs[Head], head)
		}
		return d.Settle(func(ID) bool { return false })
	}
	if got := settle("fffff"); len(got.Regressed) != 30 {
		t.Errorf("all of the sample fail each time: %s", suites.Show(t, got))
	}
	if got := settle("fp"); len(got.Flaky) != maxSample || len(got.Unsettled) != 10 || len(got.Regressed) != 0 {
		t.Errorf("all of the sample are flaky: %s", suites.Show(t, got))
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
	r := newRunner(&Gate{}, Input{Base: worktreeOf("t1"), Head: worktreeOf("t2")}, task{
		plan: map[Side]*sides.Plan{Base: {}, Head: {Test: []ecosystem.Command{languages.ShellCommand(StageTest, "go test -short ./..."), languages.ShellCommand(StageTest, "go test -tags=x ./..."), languages.ShellCommand(StageTest, "make check")}}},
	})
	r.suites[Head], r.suites[Base] = suite, suites.Of("pass m")
	ids := []ID{suites.ID("m TestA"), suites.ID("m TestC"), suites.ID("n TestB"), suites.ID("o TestX"), suites.ID("make check:")}
	texts := func(cs []ecosystem.Command) (out []string) {
		for _, c := range cs {
			out = append(out, string(c.Stage)+": "+c.Text)
		}
		return out
	}
	for _, tt := range []struct {
		side  Side
		whole bool
		want  []string
	}{
		{Head, false, []string{"rerun: make check", "rerun: go test -json -short -count=1 m n", "rerun: go test -json -tags=x -count=1 m n"}},
		{Head, true, []string{"rerun: make check", "rerun: go test -json -short ./...", "rerun: go test -json -tags=x ./..."}},
		{Base, false, nil},
	} {
		sameStrings(t, string(tt.side), texts(r.againCommands(tt.side, ids, tt.whole)), tt.want)
	}
}
