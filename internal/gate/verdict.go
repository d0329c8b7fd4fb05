package gate

import (
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A Verdict is what the gate alone concludes. The strings are those of a report.
type Verdict string

// The gate's verdicts. It has no ERROR: a gate that cannot go on returns an error.
const (
	Pass    Verdict = "PASS"
	Fail    Verdict = "FAIL"
	Partial Verdict = "PARTIAL"
)

// Facts is what a verdict depends on, and nothing else. They are recorded, so that
// an acceptance is concluded from them without running anything.
type Facts struct {
	Changed        []Changed      // kept expectations that do not hold, by class
	Policy         compare.Policy // what given-up expectations come to
	PolicyWhy      string         // why Policy is not [compare.Report], for people; empty: it is not said
	Accepted       bool           // a person accepted what can be accepted
	Nothing        string         // why nothing could be run; empty where something ran
	Incomplete     string         // why the gate stopped before its end, such as its time limit
	Lacks          string         // what could not be run on either side for want of a program; empty: nothing
	Refused        []string       // commands that fail as a whole on both sides, with what they say
	Crashed        []string       // commands that fail as a whole on the head alone, with what they say
	Unprepared     string         // why a side could not be set up for reasons that are not the change's
	BaseTouched    string         // the command of the change that reached the base's files; empty: none
	Unbelieved     []string       // why results of the tests are not believed
	Marks          int            // lines by which the sources that the change adds can recognise a test run
	Asks           []string       // what can be accepted beside expectations: sentences about the change
	Builds         int            // build and test steps that ran on the head
	BrokenHead     int            // packages or commands that only the head breaks
	BrokenBoth     int            // the same on both sides
	NamesHead      []string       // of BrokenHead; none in records of older programs
	NamesBoth      []string       // of BrokenBoth
	Aside          []string       // projects that the change touches, or that are tested and built with it, which the base cannot set up
	SetupBoth      []string       // setup commands that fail on both sides, and what they say; not among BrokenBoth
	Regressed      int            // passed on base each time, fail on head each time
	NewFailing     int            // new on the head, fail there each time
	FlakyNew       int            // new on the head, gave both results
	NewFlakiness   []string       // tests that fail at random on the head and never on base, with their counts
	Unsettled      []string       // tests that failed on the head each time, without a decision by the runs, with their counts
	Unknown        int            // fail on the head, with no base to compare
	Replaced       string         // by what the change tests that cannot be had here
	Untrusted      bool           // no maintainer answers for the head
	KeptRan        int            // of the base's tests that reach what the change affects, those that ran over the head's sources
	Expected       int            // tests of the base that were held against the change, wherever they are and whatever came of it
	Unnamed        int            // of the base's tests, those that another run of the base does not report
	FailBoth       int            // fail on both sides
	Ran            int            // tests that passed or failed on the head
	Passed         int            // of these, passed
	AffectedRan    int            // of Ran, in what the change affects
	AffectedPassed int            // of Passed, in what the change affects
	Runnable       bool           // a line that can run changed
	NoProbes       bool           // none were asked for, or there was no time for any that did not run
	Probes         int            // probes that came to a result
	ProbeRegressed int            // tests that only the head fails under a probe
	ProbeNew       int            // new tests that fail under a probe
	Breaks         []string       // functions and command lines that end well on base for an input of its tree, and do not with the change
	MergeBroken    int            // packages or commands that only the merge breaks
	NamesMerge     []string       // of MergeBroken
	MergeFailing   int            // tests that only the merge fails
	Repro          ReproState
	RequireRepro   bool // require_fail_to_pass
}

// Changed counts the kept expectations of one class.
type Changed struct {
	Class         compare.Class
	SubjectStands bool // of dropped ones: what they tested is still there
	Beside        bool // of silenced ones: they pass by what other files of tests do
	Skipped       bool // of weakened ones: the change skips them
	Lenient       bool `json:",omitempty"` // of weakened ones: they may fail, or are tried again
	Lost          bool `json:",omitempty"` // of weakened ones: the change takes checks out of what it rewrites
	Own           bool `json:",omitempty"` // of a project's own command beside the runner of its tests
	Count         int
}

// Decide is the verdict of the gate and, unless it is PASS, every reason for
// it, the worst ones first.
func Decide(f Facts) (Verdict, []string) {
	var fail, partial []string
	failIf := func(bad bool, format string, args ...any) {
		if bad {
			fail = append(fail, fmt.Sprintf(format, args...))
		}
	}
	partialIf := func(bad bool, format string, args ...any) {
		if bad {
			partial = append(partial, fmt.Sprintf(format, args...))
		}
	}

	failIf(f.BrokenHead > 0, "the change breaks the build%s", unbuilt(f.BrokenHead, f.NamesHead))
	given := f.given()
	failIf(f.Regressed > 0, "%s on base and fail%s with the change", results.Count(f.Regressed, "test passes", "tests pass"), s(f.Regressed))
	fail = append(fail, f.Crashed...)
	failIf(f.NewFailing > 0, "%s with the change", results.Count(f.NewFailing, "new or edited test fails", "new or edited tests fail"))
	fail = append(fail, given[compare.Fail]...)
	failIf(f.ProbeRegressed > 0, "probes: %s with the change and not on base, by a data race or by themselves", results.Count(f.ProbeRegressed, "test fails", "tests fail"))
	for _, what := range f.Breaks {
		failIf(true, "behaviour: %s", what)
	}
	failIf(f.MergeBroken > 0, "merged into the current base, the change breaks the build%s", unbuilt(f.MergeBroken, f.NamesMerge))
	failIf(f.MergeFailing > 0, "%s only when the change is merged into the current base", results.Count(f.MergeFailing, "test fails", "tests fail"))
	failIf(f.RequireRepro && f.Runnable && lacksRepro(f.Repro), "require_fail_to_pass is set, and no test of the change fails without it")

	partialIf(f.Nothing != "", "nothing could be run: %s", f.Nothing)
	partialIf(f.Incomplete != "", "not finished: %s", f.Incomplete)
	partialIf(f.Unprepared != "", "environment: %s", f.Unprepared)
	partialIf(len(f.Aside) > 0, "environment: the base cannot set up what the change touches, or what is built with it: %s", listedFew(f.Aside))
	partialIf(len(f.SetupBoth) > 0, "environment: setup fails with and without the change: %s", listedFew(f.SetupBoth))
	refused := len(f.Refused) > 0 && f.AffectedPassed == 0 && len(fail) == 0
	partialIf(refused, "environment: %s", listedFew(f.Refused))
	partialIf(f.BaseTouched != "", "a command of the change reached the base's files: %s", f.BaseTouched)
	for _, why := range f.Unbelieved {
		partialIf(true, "the results of the tests are not believed: %s", why)
	}
	partialIf(f.Marks > 0 && f.Policy != compare.Report && f.Policy != "" && !f.Accepted, "the change adds %s to its sources by which code can detect a test run or decide its results", results.Count(f.Marks, "line", "lines"))
	for _, what := range f.Asks {
		partialIf(f.Policy != compare.Report && f.Policy != "" && !f.Accepted, "%s", what)
	}
	partialIf(f.BrokenBoth > 0, "the build is broken with and without the change%s", unbuilt(f.BrokenBoth, f.NamesBoth))
	partialIf(f.Ran > 0 && 2*f.FailBoth > f.Ran && !refused, "environment: %d of %d tests fail with and without the change, so the rest is inconclusive", f.FailBoth, f.Ran)
	partialIf(f.Unknown > 0, "%s with the change, which could not be compared with base or seen again", results.Count(f.Unknown, "test fails", "tests fail"))
	partialIf(len(f.NewFlakiness) > 0 && !f.Accepted, "new flakiness: %s", listedFew(f.NewFlakiness))
	partialIf(len(f.Unsettled) > 0 && !f.Accepted, "the runs do not decide: %s", listedFew(f.Unsettled))
	partial = append(partial, given[compare.Partial]...)
	partialIf(f.Replaced != "" && !f.Accepted, "%s (steering)", f.Replaced)
	nameless := f.Unnamed > 0 && f.Expected == 0
	partialIf(f.Untrusted && f.Runnable && f.KeptRan == 0 && !nameless && f.Nothing == "" && f.Unprepared == "" && f.Incomplete == "",
		"%s", f.unreached())
	partialIf(nameless, "no test of the base could be run against the change: %s when it runs again (is a time or a random number part of the name?)",
		results.Count(f.Unnamed, "test is reported by another name", "tests are reported by other names"))
	partialIf(f.FlakyNew > 0, "%s flaky", results.Count(f.FlakyNew, "test that does not run on base is", "tests that do not run on base are"))
	partialIf(f.ProbeNew > 0, "%s at random, or with an input that fuzzing found", results.Count(f.ProbeNew, "test that does not run on base fails", "tests that do not run on base fail"))
	partialIf(f.RequireRepro && f.Runnable && unclearRepro(f.Repro), "require_fail_to_pass is set, and it could not be shown that a test of the change fails without it")
	partialIf(f.Lacks != "" && f.Passed == 0 && len(f.SetupBoth) == 0, "environment: %s", f.Lacks)
	if f.Nothing == "" && len(fail) == 0 && !refused && (f.Lacks == "" || f.Passed > 0) { // what is missing for PASS adds nothing to FAIL
		partialIf(f.Builds == 0, "nothing was built or tested on the head")
		partialIf(f.AffectedRan > 0 && f.AffectedPassed == 0, "no test of what the change affects passes")
		partialIf(f.AffectedRan == 0 && f.Passed == 0 && f.Replaced == "", "no test passes on the head")
		partialIf(f.Runnable && f.Probes == 0 && !f.NoProbes, "no probe of the changed code could be run")
	}

	switch {
	case len(fail) > 0:
		return Fail, append(fail, partial...)
	case len(partial) > 0:
		return Partial, partial
	default:
		return Pass, nil
	}
}

// unreached words why no test of the base could say something of a change from outside.
func (f Facts) unreached() string {
	const outside = "the head is untrusted, and "
	needs, broken := 0, 0
	for _, c := range f.Changed {
		switch c.Class {
		case compare.NeedsOldAPI:
			needs += c.Count
		case compare.CannotApply:
			broken += c.Count
		}
	}
	switch {
	case needs+broken == 0:
		return outside + "no test of the base reaches what it changes"
	case broken == 0:
		return outside + fmt.Sprintf("the base's tests of what it changes cannot be held against it: %s names that it removes or renames", results.Count(needs, "test needs", "tests need"))
	case needs == 0:
		return outside + fmt.Sprintf("the base's tests of what it changes cannot be held against it: %s over its sources", results.Count(broken, "test does not start", "tests do not start"))
	}
	return outside + fmt.Sprintf("the base's tests of what it changes cannot be held against it: %s names that it removes or renames, and %s over its sources",
		results.Count(needs, "test needs", "tests need"), results.Count(broken, "test does not start", "tests do not start"))
}

// given are the reasons of the kept expectations that do not hold, by what they do
// to the verdict.
func (f Facts) given() map[compare.Effect][]string {
	out := map[compare.Effect][]string{}
	for _, c := range f.Changed {
		n := c.Count
		if c.Class == compare.Regressed {
			n -= f.Regressed // these are said already
		}
		effect := compare.EffectOn(c.Class, f.Policy, c.SubjectStands, c.Own)
		if n <= 0 || effect == compare.None || effect == compare.Listed || f.Accepted && compare.Acceptable(c.Class) {
			continue
		}
		reason := fmt.Sprintf("%s %s", results.Count(n, "old expectation", "old expectations"), becameOf(c, n))
		if compare.Acceptable(c.Class) {
			reason += " (" + string(c.Class) + ")"
			if f.PolicyWhy != "" && effect != compare.EffectOn(c.Class, compare.Report, c.SubjectStands, c.Own) {
				reason += "; it counts until a person accepts it, as " + f.PolicyWhy
			}
		}
		out[effect] = append(out[effect], reason)
	}
	return out
}

// becameOf words what became of n expectations of a class.
func becameOf(c Changed, n int) string {
	switch c.Class {
	case compare.Regressed:
		return results.Plural(n, "fails", "fail") + " with the base's tests over the change's sources"
	case compare.Silenced:
		if c.Beside {
			return results.Plural(n, "fails without the files of tests that the change adds or edits, although it is defined in none of them", "fail without the files of tests that the change adds or edits, although they are defined in none of them")
		}
		return results.Plural(n, "fails and was silenced: its test still exists and no longer runs", "fail and were silenced: their tests still exist and no longer run")
	case compare.Silent:
		return results.Plural(n, "was not checked: its test passes on base and did not run with the change", "were not checked: their tests pass on base and did not run with the change")
	case compare.SteeringMade:
		return results.Plural(n, "holds", "hold") + " only by the change to how tests are run"
	case compare.Weakened:
		if c.Skipped {
			return results.Plural(n, "is", "are") + " skipped by the change"
		}
		if c.Lenient {
			return results.Plural(n, "was weakened: as the change has it, it may fail, or is tried again", "were weakened: as the change has them, they may fail, or are tried again")
		}
		if c.Lost {
			return results.Plural(n, "was weakened: the change rewrites it and takes a check out of it", "were weakened: the change rewrites them and takes checks out of them")
		}
		return results.Plural(n, "was", "were") + " weakened: as the change has " + results.Plural(n, "it, it passes", "them, they pass") + " without the change too"
	case compare.SupportMade:
		return results.Plural(n, "holds", "hold") + " only by the change to what tests share"
	case compare.Dropped:
		if c.SubjectStands {
			return results.Plural(n, "was dropped although what it tests", "were dropped although what they test") + " still stands"
		}
		return results.Plural(n, "was", "were") + " dropped with what " + results.Plural(n, "it tests", "they test")
	case compare.CannotApply:
		return results.Plural(n, "cannot", "cannot") + " be checked: the base's test does not start over the change's sources"
	case compare.NeedsOldAPI:
		return results.Plural(n, "needs", "need") + " what the change removed or renamed"
	case compare.Rewritten:
		return results.Plural(n, "was", "were") + " rewritten"
	case compare.DataChanged:
		return results.Plural(n, "has", "have") + " other data"
	}
	return string(c.Class)
}

// lacksRepro says that the change's tests were run without it and none needed
// it, or that there are none.
func lacksRepro(s ReproState) bool {
	return s == ReproPassOnBase || s == ReproNoTests
}

// unclearRepro says that it could not be found out.
func unclearRepro(s ReproState) bool {
	switch s {
	case ReproNeedsAPI, ReproNeedsDeps, ReproEnvironment, ReproUnsupported, ReproNotRun, "":
		return true
	default:
		return false
	}
}

// unbuilt names the packages and commands that do not build, or counts them.
func unbuilt(n int, names []string) string {
	if len(names) == 0 {
		return " (" + results.Count(n, "package or command", "packages or commands") + ")"
	}
	return ": " + listedFew(names)
}

// listedFew joins sentences about tests, the first of them where there are many.
func listedFew(lines []string) string {
	const most = 3
	text := strings.Join(lines[:min(len(lines), most)], "; ")
	if left := len(lines) - most; left > 0 {
		text += fmt.Sprintf("; and %d more", left)
	}
	return text
}

// s is the ending of a verb after n things.
func s(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}
