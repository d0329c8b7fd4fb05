package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// allocate makes what p points to. Its type may belong to a version of a library
// that only another library needs.
func allocate[T any](p **T) *T {
	*p = new(T)
	return *p
}

// Token returns the token that calls are made with, for git. That of an
// installation is good for some minutes at least, and for an hour at most.
func (c *Client) Token(ctx context.Context) (string, error) {
	token, err := c.token(ctx)
	if err != nil {
		return "", c.fail(err, "token")
	}
	return token, nil
}

// Revoke gives the installation's token back, if one was made. The Client is of no use
// afterwards.
func (c *Client) Revoke(ctx context.Context) error {
	if !c.made.Load() {
		return nil
	}
	_, err := c.api.Apps.RevokeInstallationToken(ctx)
	if err = convert(err); IsUnauthorized(err) { // it is none any more
		return nil
	}
	return c.fail(err, "give the token back")
}

// InstallationOf returns by which installation the App sees a repository; 0 where it does
// not, also because it is suspended.
func (c *Client) InstallationOf(ctx context.Context, repo Repo) (int64, error) {
	what := "installation of " + repo.String()
	if c.app == nil {
		return 0, c.fail(errNoApp, "%s", what)
	}
	in, _, err := c.app.Apps.FindRepositoryInstallation(ctx, repo.Owner, repo.Name)
	switch {
	case IsNotFound(convert(err)):
		return 0, nil
	case err != nil:
		return 0, c.fail(err, "%s", what)
	case in.SuspendedAt != nil:
		return 0, nil
	}
	return in.GetID(), nil
}

// A HookDelivery is one attempt of GitHub's to deliver an event to the App.
type HookDelivery struct {
	ID     int64
	GUID   string // of the event: the same for all attempts
	At     time.Time
	Status int // that was answered; 0: none
}

var errNoApp = errors.New("only an App can ask that")

// HookDeliveries lists attempts since a time, the newest first.
func (c *Client) HookDeliveries(ctx context.Context, since time.Time) ([]HookDelivery, error) {
	const what = "deliveries of the App"
	if c.app == nil {
		return nil, c.fail(errNoApp, what)
	}
	var out []HookDelivery
	opts := &gh.ListCursorOptions{PerPage: perPage}
	for range maxPages {
		page, resp, err := c.app.Apps.ListHookDeliveries(ctx, opts)
		if err != nil {
			return nil, c.fail(err, what)
		}
		for _, d := range page {
			if d.GetDeliveredAt().Before(since) {
				return out, nil
			}
			out = append(out, HookDelivery{ID: d.GetID(), GUID: d.GetGUID(), At: d.GetDeliveredAt().Time, Status: d.GetStatusCode()})
		}
		if resp.Cursor == "" {
			return out, nil
		}
		opts.Cursor = resp.Cursor
	}
	return out, fmt.Errorf("%s: after %d: %w", what, len(out), ErrCut)
}

// Redeliver asks GitHub to deliver the event of an attempt once more.
func (c *Client) Redeliver(ctx context.Context, id int64) error {
	what := fmt.Sprintf("redeliver %d", id)
	if c.app == nil {
		return c.fail(errNoApp, what)
	}
	_, _, err := c.app.Apps.RedeliverHookDelivery(ctx, id)
	var accepted *gh.AcceptedError
	if err == nil || errors.As(err, &accepted) {
		return nil
	}
	return c.fail(err, what)
}
