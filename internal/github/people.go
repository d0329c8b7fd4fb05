package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v66/github"
)

// A Visible is a repository that someone may read.
type Visible struct {
	ID     int64
	Repo   Repo
	Public bool // everybody may read it
	Write  bool // and the person may write to it
}

// Readable lists the repositories that the person whose token the client has may read,
// of those that the App is installed in. The token is one that the App's login gave.
func (c *Client) Readable(ctx context.Context) ([]Visible, error) {
	const what = "repositories of a person"
	installations, err := all(func(o gh.ListOptions) ([]*gh.Installation, *gh.Response, error) {
		return c.api.Apps.ListUserInstallations(ctx, &o)
	})
	if err != nil {
		return nil, c.fail(err, what)
	}
	var out []Visible
	for _, in := range installations {
		repos, err := all(func(o gh.ListOptions) ([]*gh.Repository, *gh.Response, error) {
			page, resp, err := c.api.Apps.ListUserRepos(ctx, in.GetID(), &o)
			if err != nil {
				return nil, resp, err
			}
			return page.Repositories, resp, nil
		})
		if IsNotFound(convert(err)) || IsForbidden(convert(err)) {
			continue // it ended in between, or is suspended
		}
		if err != nil && !errors.Is(err, ErrCut) { // of too many the first are better than none
			return nil, c.fail(err, what)
		}
		for _, r := range repos {
			out = append(out, visible(r))
		}
	}
	return out, nil
}

// Installed lists the repositories of the installation that the client acts as.
func (c *Client) Installed(ctx context.Context) ([]Visible, error) {
	repos, err := all(func(o gh.ListOptions) ([]*gh.Repository, *gh.Response, error) {
		page, resp, err := c.api.Apps.ListRepos(ctx, &o)
		if err != nil {
			return nil, resp, err
		}
		return page.Repositories, resp, nil
	})
	return listed(c, repos, err, visible, "repositories of an installation")
}

func visible(r *gh.Repository) Visible {
	may := r.GetPermissions()
	return Visible{
		ID: r.GetID(), Repo: Repo{Owner: r.GetOwner().GetLogin(), Name: r.GetName()},
		// A server of an enterprise has repositories that are internal, which are not private in older ones.
		Public: !r.GetPrivate() && (r.GetVisibility() == "" || r.GetVisibility() == "public"),
		Write:  may["push"] || may["maintain"] || may["admin"],
	}
}

// An OAuth names the App to GitHub's login.
type OAuth struct{ ClientID, ClientSecret string }

// Revoke ends a token that the App's login gave. The options' own token is not used.
func (o OAuth) Revoke(ctx context.Context, opts Options, token string) error {
	base, err := baseURL(opts.BaseURL)
	if err != nil {
		return err
	}
	opts = withDefaults(opts)
	basic := &gh.BasicAuthTransport{Username: o.ClientID, Password: o.ClientSecret, Transport: opts.Transport}
	resp, err := apiClient(base, basic).Authorizations.Revoke(ctx, o.ClientID, token)
	if err != nil && (resp == nil || resp.StatusCode != http.StatusNotFound) { // it has ended before
		return fmt.Errorf("revoke token: %w", convert(err))
	}
	return nil
}

// A NewApp is an App that GitHub made of a manifest.
type NewApp struct {
	ID                     int64
	Name, Slug, Page       string // Page is where people see it
	ClientID, ClientSecret string
	WebhookSecret          string
	Key                    string // private key, PEM
}

// Convert asks for the App that was made of a manifest. GitHub answers once, and within
// an hour. The options' token is not used.
func Convert(ctx context.Context, opts Options, code string) (NewApp, error) {
	if !codePattern.MatchString(code) {
		return NewApp{}, fmt.Errorf("%q is not the code of a manifest", cut(code, 80))
	}
	base, err := baseURL(opts.BaseURL)
	if err != nil {
		return NewApp{}, err
	}
	c, _, err := apiClient(base, withDefaults(opts).Transport).Apps.CompleteAppManifest(ctx, code)
	if err != nil {
		return NewApp{}, fmt.Errorf("App of the manifest: %w", convert(err))
	}
	return NewApp{
		ID: c.GetID(), Name: c.GetName(), Slug: c.GetSlug(), Page: c.GetHTMLURL(), ClientID: c.GetClientID(), ClientSecret: c.GetClientSecret(),
		WebhookSecret: c.GetWebhookSecret(), Key: c.GetPEM(),
	}, nil
}
