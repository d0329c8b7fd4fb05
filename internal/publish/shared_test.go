package publish

import (
	"testing"

	"github.com/ycbot/ycbot/internal/report"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// twoPulls are the targets of two pull requests that have one commit as their head and
// go into different branches.
func twoPulls(b *bench) (main, release Target) {
	b.t.Helper()
	b.Push(calc, githubtest.Commit{Branch: "release", Files: map[string]string{"old.go": "package calc\n"}})
	main = b.target(1)
	b.n = b.OpenPull(calc, githubtest.Pull{Title: "Backport it", Head: "fix0", Base: "release", Author: "mona"})
	release = b.target(2)
	release.CommandComment = 0
	if main.Number == release.Number || main.HeadSHA != release.HeadSHA {
		b.t.Fatalf("%+v %+v", main, release)
	}
	return main, release
}

func (b *bench) reported(t Target, v report.Verdict) *report.Report {
	r := b.failing(0)
	r.PR, r.HeadSHA, r.Verdict = t.Number, t.HeadSHA, v
	if v == report.Pass {
		r.Reasons = nil
	}
	return r
}

// TestSameHeadTwice: where two pull requests have one head, the run of one never
// touches the check run or the comment of the other, and each says whose it is.
func TestSameHeadTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	main, release := twoPulls(b)
	p := b.publisher(memory{})
	b.begin(p, main)
	b.begin(p, release)
	b.finish(p, release, b.reported(release, report.Partial), Ending{})
	runs := b.checksOf(b.head)
	if len(runs) != 2 || runs[0].ExternalID != main.Job || runs[0].Status != "in_progress" || runs[1].ExternalID != release.Job || runs[1].Status != "completed" {
		t.Fatalf("%+v", runs)
	}
	has(t, runs[0].Output.Summary, "for pull request 1.")
	b.finish(b.publisher(nil), main, b.reported(main, report.Fail), Ending{})
	runs = b.checksOf(b.head)
	if len(runs) != 2 || runs[0].Conclusion != "failure" || runs[1].Conclusion != "neutral" {
		t.Errorf("%+v", runs)
	}
	if s := shownBy(runs[0]); s.pull != main.Number || s.verdict != report.Fail {
		t.Errorf("the first says that it is of %d: %s", s.pull, s.verdict)
	}
	if s := shownBy(runs[1]); s.pull != release.Number || s.verdict != report.Partial {
		t.Errorf("the second says that it is of %d: %s", s.pull, s.verdict)
	}
	for _, tgt := range []Target{main, release} {
		b.n = tgt.Number
		if n := len(b.ours()); n != 1 {
			t.Errorf("%d comments on %d", n, tgt.Number)
		}
	}
}

// TestSharedSuccess: a PASS is no success for as long as an open pull request into
// another branch has the same head and no PASS, because GitHub would show it there; it
// is one when that one has passed, is closed, or has gone on.
func TestSharedSuccess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		other func(b *bench, p *Publisher, main Target)
		want  string
	}{
		"not verified": {func(*bench, *Publisher, Target) {}, failure},
		"under way":    {func(b *bench, p *Publisher, main Target) { b.begin(p, main) }, failure},
		"failed": {func(b *bench, p *Publisher, main Target) {
			b.finish(p, main, b.reported(main, report.Fail), Ending{})
		}, failure},
		"claims to pass": {func(b *bench, p *Publisher, main Target) {
			b.finish(p, main, b.reported(main, report.Pass), Ending{Claims: true})
		}, failure},
		"passed for another base": {func(b *bench, p *Publisher, main Target) {
			main.Base = "lax"
			b.SetBranch(calc, "lax", b.Head(calc, "main"))
			b.SetBase(calc, main.Number, "lax")
			b.finish(p, main, b.reported(main, report.Pass), Ending{})
			b.SetBase(calc, main.Number, "main")
		}, failure},
		"passed, too": {func(b *bench, p *Publisher, main Target) {
			b.finish(p, main, b.reported(main, report.Pass), Ending{})
		}, success},
		"closed after it failed": {func(b *bench, p *Publisher, main Target) {
			b.finish(p, main, b.reported(main, report.Fail), Ending{})
			b.Close(calc, main.Number)
		}, success},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			main, release := twoPulls(b)
			p := b.publisher(memory{})
			test.other(b, p, main)
			b.begin(p, release)
			b.finish(p, release, b.reported(release, report.Pass), Ending{})
			runs := b.checksOf(b.head)
			last := runs[len(runs)-1]
			if last.ExternalID != release.Job || last.Conclusion != test.want {
				t.Errorf("%s: %s, want %s: %+v", last.ExternalID, last.Conclusion, test.want, last.Output)
			}
			if test.want == failure {
				has(t, last.Output.Title, "pull request 1 has the same commit")
				has(t, b.ours()[0].Body, "Not counted", "pull request 1")
			}
		})
	}
}

// TestSharedSuccessInTheEnd: whatever the order, both are successes once both passed.
func TestSharedSuccessInTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	main, release := twoPulls(b)
	p := b.publisher(memory{})
	b.begin(p, main)
	b.begin(p, release)
	b.finish(p, main, b.reported(main, report.Pass), Ending{}) // the other has none yet
	b.finish(p, release, b.reported(release, report.Pass), Ending{})
	again := main
	again.Job, again.RunID = "job3", "run3"
	b.finish(p, again, b.reported(main, report.Pass), Ending{})
	runs := b.checksOf(b.head)
	if len(runs) != 3 || runs[0].Conclusion != failure || runs[1].Conclusion != success || runs[2].Conclusion != success {
		t.Errorf("%+v", runs)
	}
}
