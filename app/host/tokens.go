package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
)

// What the tokens of a job may. Each is for its repository alone and is given back.
//
// While a change is executed there is none that could write a comment: a program that gets at
// one can make a check run, which names the App and the commit, and nothing else.
func watching() github.Permissions {
	return github.Permissions{Checks: "write", Contents: "read", Issues: "read", PullRequests: "read"}
}

func fetching() github.Permissions { return github.Permissions{Contents: "read"} }

func commenting() github.Permissions { return github.Permissions{PullRequests: "write"} }

// onIssues is for the answer to a command that does not stand on a pull request.
func onIssues() github.Permissions { return github.Permissions{Issues: "write"} }

// revokeTime is how long it may take to give a token back, which ends within the hour anyhow.
const revokeTime = 10 * time.Second

// client acts as the installation that j is of, for its repository alone.
func (s *service) client(j job.Job, may github.Permissions) (*github.Client, error) {
	return github.New(github.Options{
		BaseURL: s.o.GitHubURL, Transport: hasty{s.metrics.GitHub(s.m.Client.Transport, j.Installation), s.atEnd}, Wait: s.wait, Now: s.m.Now, Log: s.log,
		App: &github.App{ID: s.o.ID, Key: s.o.Key, Installation: j.Installation, Repository: j.Repo.Name, RepositoryID: j.Repo.ID, May: may},
	})
}

// lastWait is how long GitHub may take when the process is asked to end: what it does not
// answer is begun again by the next.
const lastWait = 3 * time.Second

var errEnding = errors.New("the process is about to end, and GitHub does not answer")

// A hasty transport gives requests up that are not answered lastWait after the process was
// asked to end.
type hasty struct {
	next  http.RoundTripper
	atEnd func(func()) (stop func() bool)
}

// RoundTrip implements [http.RoundTripper].
func (h hasty) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	var timer *time.Timer
	var mu sync.Mutex
	done := false
	stop := h.atEnd(func() {
		mu.Lock()
		defer mu.Unlock()
		if !done {
			timer = time.AfterFunc(lastWait, func() { cancel(errEnding) })
		}
	})
	end := func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		done = true
		if timer != nil {
			timer.Stop()
		}
		cancel(nil)
	}
	resp, err := h.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		if errors.Is(context.Cause(ctx), errEnding) {
			err = fmt.Errorf("%w: %w", errEnding, err)
		}
		end()
		return nil, err
	}
	resp.Body = closing{resp.Body, end}
	return resp, nil
}

// closing calls end when a body is closed.
type closing struct {
	io.ReadCloser
	end func()
}

// Close implements [io.Closer].
func (e closing) Close() error {
	defer e.end()
	return e.ReadCloser.Close()
}

// wait waits between tries of GitHub, unless the process is asked to end.
func (s *service) wait(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.atEnd(func() { cancel(errEnding) })()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// A commenter is GitHub as a publisher sees it: it reads, and writes check runs, with the
// token that a job has throughout, and comments with one that is made when the first
// comment is written.
type commenter struct {
	*github.Client
	mint func() (*github.Client, error)
	log  *slog.Logger

	mu     sync.Mutex
	writer *github.Client
	brief  bool // each write has a token of its own, as the change is executed
}

// executing says whether the change is executed from now on: then a token for comments lives no
// longer than it takes to write one.
func (c *commenter) executing(is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.brief = is
}

// write calls fn with a client that may comment.
func (c *commenter) write(ctx context.Context, fn func(*github.Client) error) error {
	c.mu.Lock()
	var err error
	if c.writer == nil {
		c.writer, err = c.mint()
	}
	writer, brief := c.writer, c.brief
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if brief {
		defer c.giveBack(ctx)
	}
	return fn(writer)
}

// giveBack gives the token for comments back, also where ctx has ended, as it has
// when the process is asked to.
func (c *commenter) giveBack(ctx context.Context) {
	c.mu.Lock()
	writer := c.writer
	c.writer = nil
	c.mu.Unlock()
	if writer != nil {
		revoke(ctx, writer, c.log)
	}
}

// revoke gives a token back, also where ctx has ended.
func revoke(ctx context.Context, c *github.Client, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
	defer cancel()
	if err := c.Revoke(ctx); err != nil {
		log.WarnContext(ctx, "cannot revoke a token; it expires within the hour", "error", err)
	}
}

// CreateComment implements [publish.GitHub].
func (c *commenter) CreateComment(ctx context.Context, repo github.Repo, n int, body string) (made github.Comment, err error) {
	err = c.write(ctx, func(w *github.Client) (err error) {
		made, err = w.CreateComment(ctx, repo, n, body)
		return err
	})
	return made, err
}

// EditComment implements [publish.GitHub].
func (c *commenter) EditComment(ctx context.Context, repo github.Repo, id int64, body string) (made github.Comment, err error) {
	err = c.write(ctx, func(w *github.Client) (err error) {
		made, err = w.EditComment(ctx, repo, id, body)
		return err
	})
	return made, err
}

// React implements [publish.GitHub].
func (c *commenter) React(ctx context.Context, repo github.Repo, commentID int64, content string) error {
	return c.write(ctx, func(w *github.Client) error { return w.React(ctx, repo, commentID, content) })
}
