package publish

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
)

// TestDecline: what is not verified completes the check all the same: skipped where the
// configuration excludes it, as a PARTIAL where a limit refuses it.
func TestDecline(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		excluded, required bool
		want               string
	}{
		"excluded": {true, true, skipped}, "refused": {false, false, neutral}, "refused, required": {false, true, actionRequired},
	} {
		b := newBench(t)
		if tt.required {
			b.RequireByRule(calc, "main", CheckName)
		}
		p := b.publisher(nil)
		p.FailOn = failOnAuto
		for range 2 {
			if err := p.Decline(t.Context(), b.target(1), "Not verified: the pull request is a `draft`. Ask.", tt.excluded); err != nil {
				t.Fatal(err)
			}
		}
		runs := b.checksOf(b.head)
		if len(runs) != 1 || runs[0].Conclusion != tt.want || runs[0].Output.Title != "Not verified: the pull request is a draft" || len(b.ours()) != 0 {
			t.Errorf("%s: %+v", name, runs)
		}
	}
}

// TestDeclineHidesNothing: a FAIL, and a run that is under way, stay the newest check
// run of their commit; a skipped one gives way to the run that follows.
func TestDeclineHidesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	decline := func(job int) {
		t.Helper()
		if err := b.publisher(nil).Decline(t.Context(), b.target(job), "Not verified: a draft.", true); err != nil {
			t.Fatal(err)
		}
	}
	decline(1)
	p := b.publisher(nil)
	b.begin(p, b.target(1))
	decline(2)
	if runs := b.checksOf(b.head); len(runs) != 1 || runs[0].Status != inProgress {
		t.Fatalf("while it runs: %+v", runs)
	}
	b.finish(p, b.target(1), b.failing(0), Ending{})
	decline(1)
	decline(2)
	if runs := b.checksOf(b.head); len(runs) != 1 || runs[0].Conclusion != failure {
		t.Errorf("after a FAIL: %+v", runs)
	}
}

// into is the target of a job while the pull request goes into a branch.
func (b *bench) into(base string, job int) Target {
	b.t.Helper()
	if base != "main" {
		b.SetBranch(calc, base, b.Head(calc, "main"))
	}
	b.SetBase(calc, b.n, base)
	t := b.target(job)
	t.Base = base
	return t
}

// TestAnotherBasesSuccess: a success that a pull request has for another branch than it goes into now is not left the
// newest check run by what comes then and is none: a limit, a claim, and a run with the check run of one before. Nothing
// else is hidden by that.
func TestAnotherBasesSuccess(t *testing.T) {
	t.Parallel()
	declined := func(excluded bool) func(*bench, Target) {
		return func(b *bench, t Target) {
			b.t.Helper()
			if err := b.publisher(nil).Decline(b.t.Context(), Target{Repo: t.Repo, Number: t.Number, HeadSHA: t.HeadSHA, Job: t.Job}, "Not verified: a limit.", excluded); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	ends := func(v report.Verdict, e Ending) func(*bench, Target) {
		return func(b *bench, t Target) { b.t.Helper(); b.finish(b.publisher(nil), t, b.reported(t, v), e) }
	}
	fails := ends(report.Fail, Ending{})
	for name, test := range map[string]struct {
		first func(*bench, Target) // for main; nil: nothing
		won   string               // branch for which there is a success then
		then  func(*bench, Target) // for main, with the job of the first
		want  string
	}{
		"a limit":                       {nil, "lax", declined(false), neutral},
		"a limit again":                 {declined(false), "lax", declined(false), neutral},
		"a limit after a FAIL":          {fails, "lax", declined(false), neutral},
		"a limit, the same base":        {nil, "main", declined(false), success},
		"excluded":                      {nil, "lax", declined(true), success},
		"a claim":                       {nil, "lax", ends(report.Pass, Ending{Claims: true}), neutral},
		"a claim of a FAIL":             {nil, "lax", ends(report.Fail, Ending{Claims: true}), failure},
		"a claim after a FAIL":          {fails, "lax", ends(report.Pass, Ending{Claims: true}), neutral},
		"a claim, the same base":        {nil, "main", ends(report.Fail, Ending{Claims: true}), success},
		"a FAIL as before":              {fails, "lax", fails, failure},
		"a PASS after a FAIL":           {fails, "lax", ends(report.Pass, Ending{}), success},
		"a FAIL that is superseded":     {fails, "main", func(b *bench, t Target) { t.Base = "lax"; fails(b, t) }, success},
		"a FAIL while that was at work": {func(b *bench, t Target) { b.begin(b.publisher(nil), t) }, "lax", fails, failure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if test.first != nil {
				test.first(b, b.into("main", 1))
			}
			ends(report.Pass, Ending{})(b, b.into(test.won, 2))
			test.then(b, b.into("main", 1))
			runs := b.checksOf(b.head)
			if last := runs[len(runs)-1]; last.Conclusion != test.want {
				t.Errorf("%s %q, want %s", last.Conclusion, last.Output.Title, test.want)
			}
			for _, r := range runs {
				if r.Status != completed {
					t.Errorf("check run %d of %s is left %s", r.ID, r.ExternalID, r.Status)
				}
			}
		})
	}
}

// TestNotOnlyAnotherBasesSuccess: a FAIL for another branch stays the newest, as does a success of another pull request
// or of an earlier version, which does not say for which branch it is.
func TestNotOnlyAnotherBasesSuccess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verdict report.Verdict
		of      func(*Target)
		want    string
	}{
		"a FAIL":               {report.Fail, func(*Target) {}, failure},
		"another pull request": {report.Pass, func(t *Target) { t.Number = 0 }, success},
		"not known":            {report.Pass, func(t *Target) { t.Base = "" }, success},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			lax := b.into("lax", 2)
			test.of(&lax)
			b.finish(b.publisher(nil), lax, b.reported(lax, test.verdict), Ending{})
			if err := b.publisher(nil).Decline(t.Context(), b.into("main", 1), "Not verified: a limit.", false); err != nil {
				t.Fatal(err)
			}
			if runs := b.checksOf(b.head); len(runs) != 1 || runs[0].Conclusion != test.want {
				t.Errorf("%+v", runs)
			}
		})
	}
}

// TestBranchNames: a check run says for which branch it is, whatever that is called.
func TestBranchNames(t *testing.T) {
	t.Parallel()
	names := []string{"main", "release/1.0", "a`b", "@octo", "<b>", "__x__", "x.", "é", "-", strings.Repeat("a", 250), strings.Repeat("a", 251)}
	for _, name := range names {
		e := ending{rep: &report.Report{Verdict: report.Pass}}
		s := shownBy(github.CheckRun{Output: &github.Output{Summary: forPull(Target{Number: 7, Base: name}, e) + "\r\n\r\nAs a change of main."}})
		if s.pull != 7 || s.verdict != report.Pass || s.into == "" {
			t.Errorf("%q: %+v", name, s)
		}
		for _, other := range names {
			if got := s.elsewhere(other); got != (other != name) {
				t.Errorf("%q is another branch than %q: %v", name, other, got)
			}
		}
	}
}

// TestRunAgain: the check of work that is done again is in progress meanwhile.
func TestRunAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 2 {
		p := b.publisher(memory{})
		b.begin(p, b.target(1))
		if run := b.checksOf(b.head)[0]; run.Status != inProgress || run.Conclusion != "" || run.Output.Title != "verifying" {
			t.Errorf("%s %s %q", run.Status, run.Conclusion, run.Output.Title)
		}
		b.finish(p, b.target(1), b.passing(), Ending{})
		b.one(b.head)
	}
}

// TestCancelledSaysNothingNew: a workflow that each push cancels leaves no comment and
// does not touch what an earlier run said; what it showed itself so far is ended.
func TestCancelledSaysNothingNew(t *testing.T) {
	t.Parallel()
	stopped := func(b *bench) *report.Report {
		r := b.failing(0)
		r.Verdict, r.Outcome = report.Error, report.Cancelled
		return r
	}
	b := newBench(t)
	p := b.publisher(nil)
	b.begin(p, b.target(1))
	b.finish(p, b.target(1), stopped(b), Ending{})
	if n := len(b.ours()); n != 0 || b.checksOf(b.head)[0].Conclusion != cancelled {
		t.Errorf("%d comments, %+v", n, b.checksOf(b.head))
	}
	hasNot(t, b.checksOf(b.head)[0].Output.Text, "ycbot: ERROR")
	b.finish(b.publisher(nil), b.target(2), b.passing(), Ending{})
	before := b.ours()[0].Body
	b.finish(b.publisher(nil), b.target(3), stopped(b), Ending{})
	if got := b.ours()[0].Body; got != before {
		t.Errorf("edited: %s", got)
	}
	p = b.publisher(nil)
	b.begin(p, b.target(4))
	so := b.passing()
	so.Interim = true
	if err := p.First(t.Context(), b.target(4), so); err != nil {
		t.Fatal(err)
	}
	b.finish(p, b.target(4), stopped(b), Ending{})
	has(t, b.ours()[0].Body, "ycbot: stopped", "**Stopped**")
}
