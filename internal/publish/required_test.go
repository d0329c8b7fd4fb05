package publish

import (
	"testing"

	"github.com/ycbot/ycbot/internal/report"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// TestRequired: under auto, what is not decided blocks a merge into a branch that
// requires the check, or that does not show whether it does, and no other.
func TestRequired(t *testing.T) {
	t.Parallel()
	partial := func(b *bench) *report.Report {
		r := b.failing(0)
		r.Verdict = report.Partial
		return r
	}
	for name, tt := range map[string]struct {
		failOn string
		setup  func(*bench)
		rep    func(*bench) *report.Report
		end    Ending
		want   string
	}{
		"not required":       {failOn: "auto", want: neutral},
		"not set":            {want: neutral},
		"by a rule":          {failOn: "auto", setup: func(b *bench) { b.RequireByRule(calc, "main", "test", CheckName) }, want: actionRequired},
		"by a rule, not set": {setup: func(b *bench) { b.RequireByRule(calc, "main", "test", CheckName) }, want: actionRequired},
		"by protection":      {failOn: "auto", setup: func(b *bench) { b.RequireByProtection(calc, "main", CheckName) }, want: actionRequired},
		"another check": {failOn: "auto", setup: func(b *bench) {
			b.RequireByRule(calc, "main", "ycbot / job")
			b.RequireByProtection(calc, "main", "YCBOT")
		}, want: neutral},
		"another branch": {failOn: "auto", setup: func(b *bench) { b.RequireByRule(calc, "release", CheckName) }, want: neutral},
		"cannot be read": {failOn: "auto", setup: func(b *bench) {
			b.token = b.Token("", map[string]string{"checks": "write", "issues": "write", "pull_requests": "write", "contents": "none"}, "actions")
		}, want: actionRequired},
		"a claim":                    {failOn: "auto", setup: func(b *bench) { b.RequireByRule(calc, "main", CheckName) }, rep: (*bench).passing, end: Ending{Claims: true}, want: actionRequired},
		"PASS":                       {failOn: "auto", setup: func(b *bench) { b.RequireByRule(calc, "main", CheckName) }, rep: (*bench).passing, want: success},
		"FAIL":                       {failOn: "auto", rep: func(b *bench) *report.Report { return b.failing(0) }, want: failure},
		"fail, required":             {failOn: "fail", setup: func(b *bench) { b.RequireByRule(calc, "main", CheckName) }, want: neutral},
		"partial":                    {failOn: "partial", want: failure},
		"never, required":            {failOn: "never", setup: func(b *bench) { b.RequireByRule(calc, "main", CheckName) }, want: neutral},
		"never, FAIL":                {failOn: "never", rep: func(b *bench) *report.Report { return b.failing(0) }, want: neutral},
		"refused to execute":         {failOn: "never", end: Ending{Kind: Refused}, want: failure},
		"refused to execute, a FAIL": {failOn: "never", end: Ending{Kind: Refused}, rep: func(b *bench) *report.Report { return b.failing(0) }, want: failure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if tt.setup != nil {
				tt.setup(b)
			}
			if tt.rep == nil {
				tt.rep = partial
			}
			p := b.publisher(memory{})
			p.FailOn = tt.failOn
			b.begin(p, b.target(1))
			b.finish(p, b.target(1), tt.rep(b), tt.end)
			if got := b.checksOf(b.head)[0].Conclusion; got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestRequiredWithoutPull: a merge queue's commit has no pull request; its branch is
// the target's, and without one nothing is known.
func TestRequiredWithoutPull(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"main": neutral, "release/1": actionRequired, "": actionRequired} {
		b := newBench(t)
		b.Push(calc, githubtest.Commit{Branch: "release/1", Message: "release", Files: map[string]string{"x": "y\n"}})
		b.RequireByRule(calc, "release/1", CheckName)
		p := b.publisher(memory{})
		p.FailOn = failOnAuto
		tgt := b.target(1)
		tgt.Number, tgt.Base, tgt.CommandComment = 0, base, 0
		rep := b.failing(0)
		rep.Verdict = report.Partial
		b.finish(p, tgt, rep, Ending{})
		if got := b.checksOf(b.head)[0].Conclusion; got != want {
			t.Errorf("%q: %s, want %s", base, got, want)
		}
	}
}
