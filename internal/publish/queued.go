package publish

import (
	"context"
	"fmt"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
)

// Queued shows that t waits, in the check run that Begin takes over; title and summary,
// text of ours, say for what. Where t has a check run already nothing is changed. It
// reports whether there is one.
func (p *Publisher) Queued(ctx context.Context, t Target, title, summary string) (bool, error) {
	if !p.Check {
		return false, nil
	}
	fresh := p.newCheck(t)
	fresh.Status, fresh.Started = queued, time.Time{}
	fresh.Output = &github.Output{Title: report.Line(title, titleLimit), Summary: summary}
	_, err := p.makeCheck(ctx, t, checkKey(t), 0, fresh)
	return err == nil, wrap("queued", t, err)
}

// Unqueue completes the check run of t as cancelled where it still says that t waits:
// nothing was begun, for the reason that e or why, plain text of ours, has. A check run
// that says more is left as it is.
func (p *Publisher) Unqueue(ctx context.Context, t Target, e Ending, why string) error {
	own, _, err := p.runsOf(ctx, t)
	if err != nil {
		return wrap("unqueue", t, err)
	}
	if len(own) == 0 {
		ref, created, err := p.Ledger.lookup(ctx, happened+checkKey(t))
		if err == nil && created {
			err = fmt.Errorf("check run %s is not listed", ref) // yet
		}
		return wrap("unqueue", t, err)
	}
	title, summary := "not run", why
	if e.Kind != Normal {
		_, title = Conclusion(nil, e, p.FailOn)
		summary = "Nothing was run: the job waited and was " + title + "."
	}
	for _, r := range own {
		if r.Status != queued {
			continue
		}
		end := github.CheckRun{
			ID: r.ID, Name: CheckName, Status: completed, Conclusion: cancelled, Completed: p.Now(), DetailsURL: p.DetailsURL,
			Output: &github.Output{Title: p.Redact.String(title), Summary: p.Redact.String(summary)},
		}
		if p.App {
			end.Actions = []github.Button{{Label: "Verify again", Description: "Verify this commit once more", Identifier: ButtonVerify}}
		}
		if _, err := p.GitHub.UpdateCheckRun(ctx, t.Repo, end); err != nil {
			return wrap("unqueue", t, err)
		}
	}
	return nil
}
