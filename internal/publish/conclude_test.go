package publish

import (
	"testing"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/report"
)

// TestConclusion: the mapping of the design, row by row.
func TestConclusion(t *testing.T) {
	t.Parallel()
	rep := func(v report.Verdict) *report.Report {
		return &report.Report{Verdict: v, Outcome: report.Completed, Reasons: []string{"because\u202e of <x>\nthat"}}
	}
	outcome := func(v report.Verdict, o report.Outcome) *report.Report {
		r := rep(v)
		r.Outcome = o
		return r
	}
	sha := "abcdef0123456789abcdef0123456789abcdef01"
	for _, c := range []struct {
		name              string
		rep               *report.Report
		end               Ending
		failOn            string
		conclusion, title string
	}{
		{"pass", rep(report.Pass), Ending{}, "fail", "success", "PASS: because<U+202E> of <x> that"},
		{"fail", rep(report.Fail), Ending{}, "fail", "failure", "FAIL: because<U+202E> of <x> that"},
		{"fail, never", rep(report.Fail), Ending{}, "never", "neutral", "FAIL: because<U+202E> of <x> that"},
		{"partial", rep(report.Partial), Ending{}, "fail", "neutral", "PARTIAL: because<U+202E> of <x> that"},
		{"partial fails", rep(report.Partial), Ending{}, "partial", "failure", "PARTIAL: because<U+202E> of <x> that"},
		{"error", rep(report.Error), Ending{}, "fail", "failure", "could not verify"},
		{"no verdict at all", rep("MAYBE"), Ending{}, "fail", "failure", "could not verify"},
		{"no report", nil, Ending{}, "fail", "failure", "could not verify"},
		{"timed out", outcome(report.Partial, report.TimedOut), Ending{}, "fail", "neutral", "PARTIAL: because<U+202E> of <x> that"},
		{"refused", rep(report.Partial), Ending{Kind: Refused}, "fail", "failure", "not executed: because<U+202E> of <x> that"},
		{"refused never passes", rep(report.Pass), Ending{Kind: Refused}, "fail", "failure", "not executed: because<U+202E> of <x> that"},
		{"refused, says the report", outcome(report.Partial, report.Refused), Ending{}, "fail", "failure", "not executed: because<U+202E> of <x> that"},
		{"refused, but failed", rep(report.Fail), Ending{Kind: Refused}, "fail", "failure", "FAIL: because<U+202E> of <x> that"},
		{"superseded", rep(report.Pass), Ending{Kind: Superseded, By: sha}, "fail", "cancelled", "superseded by abcdef0"},
		{"superseded by something odd", rep(report.Fail), Ending{Kind: Superseded, By: "<b>"}, "fail", "cancelled", "superseded"},
		{"stopped", rep(report.Pass), Ending{Kind: Stopped}, "fail", "cancelled", "stopped"},
		{"cancelled, says the report", outcome(report.Partial, report.Cancelled), Ending{}, "partial", "cancelled", "stopped"},
		{"removed", rep(report.Pass), Ending{Kind: Removed}, "fail", "cancelled", "stopped: ycbot lost access to the repository"},
		{"no report, stopped", nil, Ending{Kind: Stopped}, "fail", "cancelled", "stopped"},
		{"claims pass", rep(report.Pass), Ending{Claims: true}, "fail", "neutral", "PASS claimed by a job that is not trusted"},
		{"claims pass, partial fails", rep(report.Pass), Ending{Claims: true}, "partial", "failure", "PASS claimed by a job that is not trusted"},
		{"claims fail", rep(report.Fail), Ending{Claims: true}, "fail", "failure", "FAIL claimed by a job that is not trusted: because<U+202E> of <x> that"},
		{"claims partial", rep(report.Partial), Ending{Claims: true}, "partial", "failure", "PARTIAL claimed by a job that is not trusted: because<U+202E> of <x> that"},
		{"claims superseded", rep(report.Pass), Ending{Kind: Superseded, Claims: true}, "fail", "cancelled", "superseded"},
	} {
		conclusion, title := Conclusion(c.rep, c.end, c.failOn)
		if conclusion != c.conclusion || title != c.title {
			t.Errorf("%s: %s %q, want %s %q", c.name, conclusion, title, c.conclusion, c.title)
		}
	}
}

// TestClaimsAndUnrunAreNeverSuccess: over all that can be combined, success is a PASS
// of a run that came to its own end and is trusted.
func TestClaimsAndUnrunAreNeverSuccess(t *testing.T) {
	t.Parallel()
	for _, v := range []report.Verdict{report.Pass, report.Partial, report.Error, report.Fail, ""} {
		for _, o := range []report.Outcome{report.Completed, report.Cancelled, report.TimedOut, report.Errored, report.Refused} {
			for _, k := range []EndKind{Normal, Superseded, Refused, Stopped, Removed} {
				for _, claims := range []bool{false, true} {
					for _, failOn := range []string{"auto", "fail", "partial", "never", ""} {
						rep := &report.Report{Verdict: v, Outcome: o}
						e := Ending{Kind: k, Claims: claims}
						got, title := Conclusion(rep, e, failOn)
						may := v == report.Pass && k == Normal && !claims && o != report.Cancelled && o != report.Refused
						if (got == "success") != may {
							t.Errorf("%s %s %+v %s: %s", v, o, e, failOn, got)
						}
						s := finalStatus(ending{Ending: e, rep: rep, conclusion: got, title: title}, "", "")
						if (s.State == "success") != may || s.State == "pending" || utf8.RuneCountInString(s.Description) > 140 {
							t.Errorf("%s %s %+v %s: status %+v", v, o, e, failOn, s)
						}
					}
				}
			}
		}
	}
}
