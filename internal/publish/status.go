package publish

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
)

// firstStatus is the commit status of a first verdict: pending, but for a FAIL, which
// nothing can better.
func (p *Publisher) firstStatus(end ending, url string) github.Status {
	if end.rep.Verdict == report.Fail {
		end.title = p.Redact.String(end.title)
		return finalStatus(end, url, p.DetailsURL)
	}
	end.title = p.Redact.String(soFar + end.title)
	s := finalStatus(end, url, p.DetailsURL)
	s.State = "pending"
	return s
}

// setStatus sets the commit status, unless the newest of ours says it already:
// GitHub keeps each that is set.
func (p *Publisher) setStatus(ctx context.Context, t Target, s github.Status) error {
	me, err := p.me(ctx)
	if err != nil {
		return err
	}
	all, err := p.GitHub.Statuses(ctx, t.Repo, t.HeadSHA)
	if err != nil {
		return err
	}
	// Newest first.
	i := slices.IndexFunc(all, func(o github.Status) bool { return o.Context == s.Context })
	if i >= 0 && all[i].Creator.ID == me.ID && all[i].State == s.State && all[i].Description == s.Description && all[i].TargetURL == s.TargetURL {
		return nil
	}
	_, err = p.GitHub.CreateStatus(ctx, t.Repo, t.HeadSHA, s)
	return err
}
