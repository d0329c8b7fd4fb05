package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// Contains reports whether a commit is in the history of a branch, its tip included.
func (c *Client) Contains(ctx context.Context, repo Repo, branch, sha string) (bool, error) {
	if err := errors.Join(repo.check(), checkOID(sha)); err != nil {
		return false, err
	}
	var found struct{ Status string }
	path := fmt.Sprintf("repos/%s/compare/%s...%s?per_page=1", repo, sha, url.PathEscape(branch))
	if err := c.get(ctx, path, &found); IsNotFound(err) {
		return false, nil // no such commit, or no history in common
	} else if err != nil {
		return false, c.fail(err, "compare %.12s and branch %q of %s", sha, branch, repo)
	}
	return found.Status == "ahead" || found.Status == "identical", nil
}

// A Past is what a pull request was over time.
type Past struct {
	Number  int
	Base    string // branch that it goes into now
	Created time.Time
	Closed  time.Time   // zero: open
	Moved   []time.Time // when it was led to another base
}

// PastPulls lists the pull requests, open and closed, whose head is a branch of the
// repository itself.
//
// Sources: "List pull requests" and "List issue events" of GitHub's REST API.
func (c *Client) PastPulls(ctx context.Context, repo Repo, branch string) ([]Past, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	pulls, err := all(func(o gh.ListOptions) ([]*gh.PullRequest, *gh.Response, error) {
		return c.api.PullRequests.List(ctx, repo.Owner, repo.Name, &gh.PullRequestListOptions{State: "all", Head: repo.Owner + ":" + branch, ListOptions: o})
	})
	if err != nil {
		return nil, c.fail(err, "pull requests of branch %q of %s", branch, repo)
	}
	var out []Past
	for _, p := range pulls {
		if p.GetHead().GetRef() != branch {
			continue
		}
		past := Past{Number: p.GetNumber(), Base: p.GetBase().GetRef(), Created: p.GetCreatedAt().Time, Closed: p.GetClosedAt().Time}
		events, err := all(func(o gh.ListOptions) ([]*gh.IssueEvent, *gh.Response, error) {
			return c.api.Issues.ListIssueEvents(ctx, repo.Owner, repo.Name, past.Number, &o)
		})
		if err != nil {
			return nil, c.fail(err, "events of pull request %s#%d", repo, past.Number)
		}
		for _, e := range events {
			if e.GetEvent() == "base_ref_changed" || e.GetEvent() == "automatic_base_change_succeeded" {
				past.Moved = append(past.Moved, e.GetCreatedAt().Time)
			}
		}
		out = append(out, past)
	}
	return out, nil
}

// OpenPulls lists the open pull requests from a branch of owner's, who may be a stranger.
func (c *Client) OpenPulls(ctx context.Context, repo Repo, owner, branch string) ([]*Pull, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	pulls, err := all(func(o gh.ListOptions) ([]*gh.PullRequest, *gh.Response, error) {
		return c.api.PullRequests.List(ctx, repo.Owner, repo.Name, &gh.PullRequestListOptions{State: "open", Head: owner + ":" + branch, ListOptions: o})
	})
	return listed(c, pulls, err, pull, "open pull requests of branch %q of %s", branch, owner)
}

// RequiresCheck reports whether a branch takes no merge without the check of a name,
// by a rule that is in force or by the branch's protection. An App that a rule
// names beside the check makes no difference.
//
// Sources: "Get rules for a branch" and "Get a branch" of GitHub's REST API; both
// can be read with the permissions metadata and contents.
func (c *Client) RequiresCheck(ctx context.Context, repo Repo, branch, check string) (bool, error) {
	if err := repo.check(); err != nil {
		return false, err
	}
	required, err := c.ruled(ctx, repo, branch, check)
	if err != nil || required {
		return required, c.fail(err, "rules for branch %q of %s", branch, repo)
	}
	var b struct {
		Protection struct {
			Required struct {
				Contexts []string `json:"contexts"`
				Checks   []struct {
					Context string `json:"context"`
				} `json:"checks"`
			} `json:"required_status_checks"`
		} `json:"protection"`
	}
	if err := c.get(ctx, "repos/"+repo.String()+"/branches/"+url.PathEscape(branch), &b); err != nil {
		return false, c.fail(err, "protection of branch %q of %s", branch, repo)
	}
	for _, named := range b.Protection.Required.Checks {
		required = required || named.Context == check
	}
	return required || slices.Contains(b.Protection.Required.Contexts, check), nil
}

// ruled reports whether a rule for the branch requires the check.
func (c *Client) ruled(ctx context.Context, repo Repo, branch, check string) (bool, error) {
	for page := 1; page <= maxPages; page++ {
		var rules []struct {
			Type       string `json:"type"`
			Parameters struct {
				Required []struct {
					Context string `json:"context"`
				} `json:"required_status_checks"`
			} `json:"parameters"`
		}
		path := fmt.Sprintf("repos/%s/rules/branches/%s?per_page=%d&page=%d", repo, url.PathEscape(branch), perPage, page)
		if err := c.get(ctx, path, &rules); err != nil {
			return false, err
		}
		for _, r := range rules {
			for _, named := range r.Parameters.Required {
				if r.Type == "required_status_checks" && named.Context == check {
					return true, nil
				}
			}
		}
		if len(rules) < perPage {
			return false, nil
		}
	}
	return false, ErrCut
}
