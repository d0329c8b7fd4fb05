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
// not, also because it is suspended. It is looked for by its number, unless that is 0, and then by its name, which
// another repository may have by now: GitHub describes only this way, though its redirects lead to the first.
func (c *Client) InstallationOf(ctx context.Context, repo Repo, number int64) (int64, error) {
	what := "installation of " + repo.String()
	if c.app == nil {
		return 0, c.fail(errNoApp, "%s", what)
	}
	in, err := (*gh.Installation)(nil), error(nil)
	if number != 0 {
		in, _, err = c.app.Apps.FindRepositoryInstallationByID(ctx, number)
	}
	if number == 0 || IsNotFound(convert(err)) {
		in, _, err = c.app.Apps.FindRepositoryInstallation(ctx, repo.Owner, repo.Name)
	}
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

// Installations lists the installations of the App that are not suspended.
func (c *Client) Installations(ctx context.Context) ([]int64, error) {
	const what = "installations of the App"
	if c.app == nil {
		return nil, c.fail(errNoApp, what)
	}
	list, err := all(func(o gh.ListOptions) ([]*gh.Installation, *gh.Response, error) {
		return c.app.Apps.ListInstallations(ctx, &o)
	})
	if err != nil && !errors.Is(err, ErrCut) { // of too many the first are better than none
		return nil, c.fail(err, what)
	}
	var out []int64
	for _, in := range list {
		if in.SuspendedAt == nil {
			out = append(out, in.GetID())
		}
	}
	return out, nil
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
