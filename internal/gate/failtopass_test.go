package gate

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/testing/suites"
)

// TestOverlayFiles holds what travels with the tests of a change, and whose tests
// are run.
func TestOverlayFiles(t *testing.T) {
	t.Parallel()
	r := newRunner(&Gate{}, Input{}, task{packages: []ecosystem.Package{
		{Dir: "a", ImportPath: "m/a", TestGoFiles: []string{"a_test.go"}},
		{Dir: "b", ImportPath: "m/b"},
		{Dir: "c", ImportPath: "m/c", XTestGoFiles: []string{"c_test.go"}},
	}})
	for _, f := range []change.File{
		{Path: "a/new_test.go"}, {Path: "a/old_test.go"}, {Path: "go.work"}, {Path: "b/testdata/x"}, {Path: "c/testdata/gone"},
	} {
		class, _ := classes.ClassOf(f.Path, nil, classes.Referred{})
		r.sides.Touched = append(r.sides.Touched, sides.Touch{Class: class, Path: f.Path, File: f})
	}
	files, pkgs := r.overlay()
	sameStrings(t, "files", files, []string{"a/new_test.go", "a/old_test.go", "b/testdata/x", "c/testdata/gone"})
	var got []string
	for _, p := range pkgs {
		got = append(got, p.ImportPath)
	}
	sameStrings(t, "packages", got, []string{"m/a", "m/c"})
}

// TestJudgeOverlay holds what the change's tests over the base's sources say.
func TestJudgeOverlay(t *testing.T) {
	t.Parallel()
	s := func(lines ...string) Suite { return suites.Of(lines...) }
	for _, tt := range []struct {
		what             string
		over, base, head Suite
		flaky            []Case
		dropped          bool
		missing          bool
		want             ReproState
		proven           int
	}{
		{what: "fails there, passes here", over: s("fail m TestA"), base: s("pass m TestB"), head: s("pass m TestA"), want: ReproProven, proven: 1},
		{what: "an old failure that the change repairs", over: s("fail m TestA"), base: s("fail m TestA"), head: s("pass m TestA"), want: ReproProven, proven: 1},
		{what: "proven beside one that needs the API", over: s("fail m TestA"), base: s(), head: s("pass m TestA"), dropped: true, want: ReproProven, proven: 1},
		{what: "passes there as well", over: s("pass m TestA"), base: s(), head: s("pass m TestA"), want: ReproPassOnBase},
		{what: "fails on both", over: s("fail m TestA"), base: s(), head: s("fail m TestA"), want: ReproEnvironment},
		{what: "flaky", over: s("fail m TestA"), base: s(), head: s("pass m TestA"), flaky: suites.Cases("m TestA"), want: ReproEnvironment},
		{what: "skipped on the head", over: s("fail m TestA"), base: s(), head: s("skip m TestA"), want: ReproEnvironment},
		{what: "did not run there: neither failed nor without need of the change", over: s("not_run m TestA", "fail! m"), base: s(), head: s("pass m TestA"), want: ReproEnvironment},
		{what: "does not compile", over: s("fail# m"), base: s(), head: s("pass m", "pass m TestA"), want: ReproNeedsAPI},
		{what: "was dropped, and the rest passes", over: s("pass m TestB"), base: s("pass m TestB"), head: s("pass m TestB", "pass m TestA"), dropped: true, want: ReproNeedsAPI},
		{what: "was dropped for an import", over: s("pass m TestB"), base: s("pass m TestB"), head: s("pass m TestB"), dropped: true, missing: true, want: ReproNeedsDeps},
		{what: "nothing ran", over: s(), base: s(), head: s(), want: ReproPassOnBase},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			r := newRunner(&Gate{}, Input{}, task{})
			r.missing, r.sides.Suites[Base], r.sides.Suites[Head] = tt.missing, tt.base, tt.head
			r.res.Tests.Flaky = tt.flaky
			if tt.dropped {
				r.res.FailToPass.Dropped = []string{"x_test.go"}
			}
			r.judgeOverlay(tt.over)
			rep := r.res.FailToPass
			if rep.State != tt.want || len(rep.Proven) != tt.proven || rep.Note == "" {
				t.Errorf("%s %q, %d proven; want %s, %d", rep.State, rep.Note, len(rep.Proven), tt.want, tt.proven)
			}
		})
	}
	r := newRunner(&Gate{}, Input{}, task{})
	r.judgeOverlay(Suite{suites.ID("m"): {Status: Failed, Broken: true, Output: "x_test.go:1: no required module provides package y"}})
	if r.res.FailToPass.State != ReproNeedsDeps {
		t.Errorf("a missing module: %s", r.res.FailToPass.State)
	}
	r = newRunner(&Gate{}, Input{}, task{})
	r.sides.Packages = []ecosystem.Package{{ImportPath: "m/internal/y"}}
	r.sides.Plans[Base] = &sides.Plan{Files: []string{"go.mod"}}
	r.judgeOverlay(Suite{suites.ID("m"): {Status: Failed, Broken: true, Output: "x_test.go:1: no required module provides package m/internal/y; to add it:"}})
	if r.res.FailToPass.State != ReproNeedsAPI {
		t.Errorf("a package of the change: %s", r.res.FailToPass.State)
	}
	r = newRunner(&Gate{}, Input{}, task{})
	r.sides.Suites[Base], r.sides.Suites[Head] = s("pass m TestA"), s("pass m TestA")
	r.judgeOverlay(s("fail m Error", "pass m TestA"))
	if note := r.res.FailToPass.Note; !strings.Contains(note, "before it comes to them") {
		t.Errorf("an error of the runner: %q", note)
	}
}

// TestAtSamePlace holds that a test is found which another folder's commands run.
func TestAtSamePlace(t *testing.T) {
	t.Parallel()
	s := Suite{{Unit: "packages/a", Package: "packages/a/a.test.js", Test: "adds"}: {Status: Passed}, {Unit: "b", Command: "make test"}: {Status: Failed}}
	for id, want := range map[ID]bool{
		{Unit: ".", Package: "packages/a/a.test.js", Test: "adds"}:          true,
		{Unit: "packages/a", Package: "packages/a/a.test.js", Test: "adds"}: true,
		{Unit: ".", Package: "packages/b/a.test.js", Test: "adds"}:          false,
		{Unit: ".", Command: "make test"}:                                   false,
	} {
		if _, ok := atSamePlace(s, id); ok != want {
			t.Errorf("%+v: found %t", id, ok)
		}
	}
}
