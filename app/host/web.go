package host

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/app/web"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// pages are what people look at. They end with ctx.
func (s *service) pages(ctx context.Context, server *app.Server) (http.Handler, error) {
	o := web.Options{
		DB: s.db, Queue: s.queue, GitHub: webHub{s}, PublicURL: s.o.PublicURL, Server: s.gitServer(), End: ctx.Done(), Now: s.m.Now, Log: s.log,
		Press: func(ctx context.Context, run store.Run, p web.Press) error {
			who := event.User{ID: p.Who.ID, Login: p.Who.Login, Type: "User"}
			return server.Press(ctx, run, app.Press{Verb: event.Verb(p.Button), Who: who, Request: p.Request, Reason: p.Reason})
		},
	}
	if s.o.ClientID != "" {
		o.Login = &web.Login{ClientID: s.o.ClientID, ClientSecret: s.o.ClientSecret, Key: []byte(s.o.SessionKey), Previous: []byte(s.o.SessionKeyBefore), Client: s.m.Client}
	}
	o.Required = s.o.LoginRequired
	site, err := web.New(o)
	if err != nil {
		return nil, err
	}
	return site.Handler(), nil
}

// listenAgain is how long after a connection broke the server listens again.
const listenAgain = 5 * time.Second

// listen hears from PostgreSQL what workers store, until ctx ends.
func (s *service) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.db.Listen(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "pages of runs are brought up to date late", "error", err)
		}
		t := time.NewTimer(listenAgain)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

// webHub is GitHub as [web.GitHub] sees it.
type webHub struct{ *service }

// options are those of calls that need no waiting: people wait for the page.
func (h webHub) options(token string) github.Options {
	return github.Options{
		BaseURL: h.o.GitHubURL, Transport: h.m.Client.Transport, Token: token, Now: h.m.Now, Log: h.log,
		Wait: func(context.Context, time.Duration) error { return errBusy },
	}
}

var errBusy = errors.New("GitHub asked to be called again later")

// Person implements [web.GitHub].
func (h webHub) Person(ctx context.Context, token string) (web.Person, error) {
	c, err := github.New(h.options(token))
	if err != nil {
		return web.Person{}, err
	}
	u, err := c.Self(ctx)
	return web.Person{ID: u.ID, Login: u.Login}, tokenError(err)
}

// Readable implements [web.GitHub].
func (h webHub) Readable(ctx context.Context, token string) ([]web.Repository, error) {
	c, err := github.New(h.options(token))
	if err != nil {
		return nil, err
	}
	repos, err := c.Readable(ctx)
	out := make([]web.Repository, len(repos))
	for i, r := range repos {
		out[i] = web.Repository{ID: r.ID, Write: r.Write}
	}
	return out, tokenError(err)
}

func tokenError(err error) error {
	if github.IsUnauthorized(err) {
		return errors.Join(web.ErrToken, err)
	}
	return err
}

// Public implements [web.GitHub].
func (h webHub) Public(ctx context.Context, installation int64) ([]web.Repository, error) {
	c, err := h.client(job.Job{Installation: installation}, github.Permissions{Contents: "read"}) // the least that can be had
	if err != nil {
		return nil, err
	}
	repos, err := c.Installed(ctx)
	if github.IsUninstalled(err) {
		return nil, web.ErrUninstalled
	}
	go func() { // people wait for the page, not for this
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
		defer cancel()
		_ = c.Revoke(ctx) // it ends by itself within the hour
	}()
	switch {
	case github.IsNotFound(err) || github.IsForbidden(err):
		return nil, nil // the App was removed or suspended there
	case err != nil && !errors.Is(err, github.ErrCut):
		return nil, err
	}
	var out []web.Repository
	for _, r := range repos {
		if r.Public {
			out = append(out, web.Repository{ID: r.ID})
		}
	}
	return out, nil
}

// Installations implements [web.GitHub].
func (h webHub) Installations(ctx context.Context) ([]int64, error) {
	c, err := h.client(job.Job{}, github.Permissions{})
	if err != nil {
		return nil, err
	}
	return c.Installations(ctx)
}

// Revoke implements [web.GitHub].
func (h webHub) Revoke(ctx context.Context, token string) error {
	o := github.OAuth{ClientID: h.o.ClientID, ClientSecret: h.o.ClientSecret}
	return o.Revoke(ctx, h.options(""), token)
}
