package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"
)

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
