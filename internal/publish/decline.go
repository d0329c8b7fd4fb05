package publish

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
)

// Decline completes the check run of a commit that is not verified, so that no required
// check waits for it; text, Markdown of ours, says why. Where the base's configuration
// excluded the change it ends skipped, else as a PARTIAL.
//
// A check run that says more than that nothing was verified stays the newest:
// changing a pull request back to a draft hides no FAIL. A success that the pull request has for another
// branch than it goes into now says nothing of this one, so that it is not left the newest by a PARTIAL.
func (p *Publisher) Decline(ctx context.Context, t Target, text string, excluded bool) error {
	if !p.Check {
		return nil
	}
	return wrap("decline", t, p.dropRefused("check run", p.decline(ctx, t, text, excluded)))
}

func (p *Publisher) decline(ctx context.Context, t Target, text string, excluded bool) error {
	end := ending{rep: &report.Report{Verdict: report.Partial, HeadSHA: t.HeadSHA}}
	if err := p.compareHead(ctx, t, &end); err != nil || end.Kind == Superseded {
		return err
	}
	own, others, err := p.runsOf(ctx, t)
	t.Base = cmp.Or(end.base, t.Base)
	covered := coveredBy(t, t.Base, slices.Concat(own, others)...)
	if !excluded {
		own, others = after(own, covered), after(others, covered)
	}
	says := func(r github.CheckRun) bool {
		return r.Conclusion != skipped && (r.ExternalID != t.Job || r.Status != queued)
	}
	if err != nil || slices.ContainsFunc(slices.Concat(own, others), says) {
		return err
	}
	end.conclusion = skipped
	if !excluded {
		end.conclusion = undecided(p.FailOn)
		if err := p.hold(ctx, t, &end); err != nil {
			return err
		}
	}
	run, err := p.makeCheck(ctx, t, checkKeyAfter(t, covered), 0, p.newCheck(t))
	if err != nil {
		return err
	}
	text = p.Redact.String(text)
	title, _, _ := strings.Cut(strings.ReplaceAll(text, "`", ""), ". ")
	_, err = p.GitHub.UpdateCheckRun(ctx, t.Repo, github.CheckRun{
		ID: run.ID, Name: CheckName, Status: completed, Conclusion: end.conclusion, Completed: p.Now(), DetailsURL: p.DetailsURL,
		Output: &github.Output{Title: fitted(report.Line(title, titleLimit), checkTitleLimit), Summary: strings.TrimSpace(forPull(t, end) + "\n\n" + text)},
	})
	return err
}
