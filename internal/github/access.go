package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v66/github"
)

// An AppInfo is what GitHub's settings of an App say.
type AppInfo struct {
	Slug        string
	Permissions map[string]string // such as "checks": "write"
	Events      []string          // that are delivered beside those which every App gets
}

// AppInfo asks GitHub about the App that c acts as.
func (c *Client) AppInfo(ctx context.Context) (AppInfo, error) {
	const what = "settings of the App"
	if c.app == nil {
		return AppInfo{}, c.fail(errors.New("only an App has settings"), what)
	}
	app, _, err := c.app.Apps.Get(ctx, "")
	if err != nil {
		return AppInfo{}, c.fail(err, what)
	}
	info := AppInfo{Slug: app.GetSlug(), Events: app.Events}
	data, err := json.Marshal(app.GetPermissions())
	if err == nil {
		err = json.Unmarshal(data, &info.Permissions)
	}
	if err != nil {
		return AppInfo{}, fmt.Errorf("%s: %w", what, err)
	}
	return info, nil
}

// An Access is what a token may do in a repository.
type Access struct {
	Role   string   // as for [Client.Permission]; empty: GitHub does not say, as for tokens of Apps and of jobs
	Scopes []string // of a classic personal token; nil: it is none
}

// Access asks what the token of c may do in a repository.
func (c *Client) Access(ctx context.Context, repo Repo) (Access, error) {
	if err := repo.check(); err != nil {
		return Access{}, err
	}
	r, resp, err := c.api.Repositories.Get(ctx, repo.Owner, repo.Name)
	if err != nil {
		return Access{}, c.fail(err, "repository %s", repo)
	}
	return Access{Role: roleOf(r), Scopes: scopes(resp)}, nil
}

// roleOf is the highest of the permissions that a repository is answered with.
func roleOf(r *gh.Repository) string {
	has := r.GetPermissions()
	for _, level := range []struct{ key, role string }{
		{"admin", "admin"}, {"maintain", "maintain"}, {"push", "write"}, {"triage", "triage"}, {"pull", "read"},
	} {
		if has[level.key] {
			return level.role
		}
	}
	return ""
}

func scopes(resp *gh.Response) []string {
	text := resp.Header.Get("X-OAuth-Scopes")
	if text == "" {
		return nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
