package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/compare"
)

// TestDecide is the list of the gate's rules. Each row changes one thing of a
// change that is good in every respect.
func TestDecide(t *testing.T) {
	t.Parallel()
	good := Facts{
		Builds: 2, Ran: 10, Passed: 10, AffectedRan: 4, AffectedPassed: 4,
		Runnable: true, Probes: 1, Repro: ReproProven,
	}
	for _, tt := range []struct {
		rule   string
		change func(*Facts)
		want   Verdict
		reason string // part of the first reason; with $ its end
	}{
		{"builds, passes, regresses nothing, probed", func(*Facts) {}, Pass, ""},

		{"a build that only the head breaks", func(f *Facts) { f.BrokenHead = 1 }, Fail, "breaks the build"},
		{"a regression", func(f *Facts) { f.Regressed = 1 }, Fail, "1 test passes on base and fails with the change"},
		{"two regressions", func(f *Facts) { f.Regressed = 2 }, Fail, "2 tests pass on base and fail with the change"},
		{"a new failing test", func(f *Facts) { f.NewFailing = 1 }, Fail, "1 new or edited test fails with the change"},
		{"a regression that only the probe shows", func(f *Facts) { f.ProbeRegressed = 1 }, Fail, "probes: 1 test fails with the change and not on base"},
		{"a regression beside an environment that fails most tests", func(f *Facts) { f.Regressed, f.FailBoth, f.Passed = 1, 6, 3 }, Fail, "passes on base"},
		{"a regression found before the time was up", func(f *Facts) { f.Regressed, f.Incomplete = 1, "time limit" }, Fail, "passes on base"},

		{"a runner that fails as a whole with the change alone", func(f *Facts) { f.Crashed = []string{`"pytest" fails with the change, and not on base: no plugin`} }, Fail, `"pytest" fails with the change`},
		{"a runner that fails as a whole on both sides", func(f *Facts) {
			f.Refused, f.Ran, f.Passed, f.AffectedRan, f.AffectedPassed, f.Probes = []string{`"pytest" runs no test: no plugin`}, 0, 0, 0, 0, 0
		}, Partial, `environment: "pytest" runs no test: no plugin`},
		{"the same, and other tests of what the change affects pass", func(f *Facts) { f.Refused = []string{"x"} }, Pass, ""},
		{"the same, and other tests pass that the change does not affect", func(f *Facts) { f.Refused, f.AffectedRan, f.AffectedPassed = []string{"x"}, 0, 0 }, Partial, "environment: x"},
		{"no test of the base has the same name twice", func(f *Facts) { f.Unnamed = 2 }, Partial, "2 tests are reported by other names"},
		{"some tests have not, and others were held against the change", func(f *Facts) { f.Unnamed, f.Expected = 2, 1 }, Pass, ""},
		{"the same from outside, and none of those reaches the change", func(f *Facts) { f.Unnamed, f.Expected, f.Untrusted = 2, 1, true }, Partial, "the head is untrusted"},
		{"pre-existing failures, at most half", func(f *Facts) { f.FailBoth, f.Passed = 5, 5 }, Pass, ""},
		{"more than half of the tests fail on both sides", func(f *Facts) { f.FailBoth, f.Passed = 6, 4 }, Partial, "environment: 6 of 10"},
		{"the build is broken on both sides", func(f *Facts) { f.BrokenBoth = 1 }, Partial, "with and without the change"},
		{"nothing that can be run", func(f *Facts) { *f = Facts{Nothing: "no toolchain was recognised", Runnable: true} }, Partial, "nothing could be run: no toolchain"},
		{"out of time", func(f *Facts) { f.Incomplete = "the time limit of 20m" }, Partial, "not finished"},
		{"dependencies that cannot be had", func(f *Facts) { f.Unprepared = "head: no route to the registry" }, Partial, "environment"},
		{"failures without a base to compare", func(f *Facts) { f.Unknown = 1 }, Partial, "1 test fails with the change, which could not be compared"},
		{"tests that are there and did not run", func(f *Facts) { f.Changed = []Changed{{Class: compare.Silent, Count: 2}} }, Partial, "2 old expectations were not checked"},
		{"the same, whatever the title says", func(f *Facts) {
			f.Changed, f.Policy, f.PolicyWhy = []Changed{{Class: compare.Silent, Count: 1}}, compare.Acknowledge, "the title says so"
		}, Partial, "(silent)$"},
		{"a weakened test, and the title promises no change", func(f *Facts) {
			f.Changed, f.Policy, f.PolicyWhy = []Changed{{Class: compare.Weakened, Count: 1}}, compare.Acknowledge, "the title says so"
		}, Partial, "(weakened); it counts until a person accepts it, as the title says so$"},
		{"a test that the change skips", func(f *Facts) {
			f.Changed, f.Policy = []Changed{{Class: compare.Weakened, Skipped: true, Count: 1}}, compare.Acknowledge
		}, Partial, "1 old expectation is skipped by the change (weakened)"},
		{"a build that the head breaks, by name", func(f *Facts) { f.BrokenHead, f.NamesHead = 1, []string{"m/a: a.go:1: x"} }, Fail, "the change breaks the build: m/a: a.go:1: x$"},
		{"a flaky new test", func(f *Facts) { f.FlakyNew = 1 }, Partial, "1 test that does not run on base is flaky"},
		{"a new test that fails under the probe", func(f *Facts) { f.ProbeNew = 1 }, Partial, "1 test that does not run on base fails at random"},
		{"new flakiness", func(f *Facts) { f.NewFlakiness = []string{"m TestA failed 3 of 22 on head, 0 of 22 on base"} }, Partial, "new flakiness: m TestA failed 3 of 22 on head, 0 of 22 on base"},
		{"undecided runs", func(f *Facts) { f.Unsettled = []string{"a", "b", "c", "d", "e"} }, Partial, "the runs do not decide: a; b; c; and 2 more"},

		{"a build and nothing else", func(f *Facts) { f.Ran, f.Passed, f.AffectedRan, f.AffectedPassed = 0, 0, 0, 0 }, Partial, "no test passes on the head"},
		{"what the change affects has tests and none passes", func(f *Facts) { f.AffectedPassed = 0 }, Partial, "no test of what the change affects passes"},
		{"what the change affects has no tests, the suite has", func(f *Facts) { f.AffectedRan, f.AffectedPassed = 0, 0 }, Pass, ""},
		{"a runnable line changed and no probe ran", func(f *Facts) { f.Probes = 0 }, Partial, "no probe"},
		{"no probe ran, for lack of time", func(f *Facts) { f.Probes, f.NoProbes = 0, true }, Pass, ""},
		{"no runnable line changed and no probe ran", func(f *Facts) { f.Runnable, f.Probes, f.Repro = false, 0, ReproNothing }, Pass, ""},

		{"tests that do not need the change", func(f *Facts) { f.Repro = ReproPassOnBase }, Pass, ""},
		{"no tests in the change", func(f *Facts) { f.Repro = ReproNoTests }, Pass, ""},
		{"required, and the tests do not need the change", func(f *Facts) { f.RequireRepro, f.Repro = true, ReproPassOnBase }, Fail, "require_fail_to_pass"},
		{"required, and no tests in the change", func(f *Facts) { f.RequireRepro, f.Repro = true, ReproNoTests }, Fail, "require_fail_to_pass"},
		{"required, and the tests need the change's API", func(f *Facts) { f.RequireRepro, f.Repro = true, ReproNeedsAPI }, Partial, "could not be shown"},
		{"required and proven", func(f *Facts) { f.RequireRepro = true }, Pass, ""},
		{"required, and only comments changed", func(f *Facts) { f.RequireRepro, f.Runnable, f.Repro = true, false, ReproNothing }, Pass, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			f := good
			tt.change(&f)
			got, reasons := Decide(f)
			if got != tt.want {
				t.Fatalf("verdict %s %q, want %s", got, reasons, tt.want)
			}
			if (got == Pass) != (len(reasons) == 0) {
				t.Errorf("%s with the reasons %q", got, reasons)
			}
			if want, whole := strings.CutSuffix(tt.reason, "$"); want != "" && (!strings.Contains(reasons[0], want) || whole && !strings.HasSuffix(reasons[0], want)) {
				t.Errorf("first reason %q, want one with %q", reasons[0], tt.reason)
			}
		})
	}
}

// TestFromOutside holds what the same facts come to for someone from outside, and why.
func TestFromOutside(t *testing.T) {
	t.Parallel()
	good := Facts{Builds: 2, Ran: 3, Passed: 3, AffectedRan: 3, AffectedPassed: 3, Runnable: true, Probes: 1, KeptRan: 3, Expected: 3, Policy: compare.Report}
	for name, c := range map[string]struct {
		change  func(*Facts)
		verdict Verdict
		causes  []string
	}{
		"nothing":   {func(*Facts) {}, Pass, nil},
		"rewritten": {func(f *Facts) { f.Changed = []Changed{{Class: compare.Rewritten, Count: 2}} }, Pass, nil},
		"weakened, and dropped with its subject": {func(f *Facts) {
			f.Changed = []Changed{{Class: compare.Dropped, Count: 1}, {Class: compare.Weakened, Count: 2}}
		}, Partial, []string{"weakened"}},
		"dropped": {func(f *Facts) {
			f.Changed = []Changed{{Class: compare.Dropped, SubjectStands: true, Count: 1}, {Class: compare.Dropped, Count: 1}}
		}, Partial, []string{"dropped"}},
		"steering of any author": {func(f *Facts) { f.Changed = []Changed{{Class: compare.SteeringMade, Count: 1}} }, Partial, nil},
		"marks":                  {func(f *Facts) { f.Marks = 1 }, Partial, []string{"marks"}},
		"unreached":              {func(f *Facts) { f.KeptRan = 0 }, Partial, []string{"unreached"}},
		"fails anyway":           {func(f *Facts) { f.Regressed, f.Marks = 1, 1 }, Fail, []string{"marks"}},
	} {
		f := good
		c.change(&f)
		verdict, causes := f.FromOutside()
		if verdict != c.verdict || !slices.Equal(causes, c.causes) {
			t.Errorf("%s: %s %q, want %s %q", name, verdict, causes, c.verdict, c.causes)
		}
	}
}
