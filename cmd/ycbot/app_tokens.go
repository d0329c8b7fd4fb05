package main

import (
	"context"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
)

// What the tokens of a job may. Each is for its repository alone and is given back.
//
// While a change is executed there is none that could write a comment: whoever gets at
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
		BaseURL: s.o.githubURL, Transport: s.metrics.GitHub(s.p.client.Transport, j.Installation), Now: s.p.now, Log: s.log,
		App: &github.App{ID: s.o.id, Key: s.o.key, Installation: j.Installation, Repository: j.Repo.Name, May: may},
	})
}

// A voice is GitHub as a publisher sees it: it reads, and writes check runs, with the
// token that a job has throughout, and comments with one that is made when the first
// comment is written.
type voice struct {
	*github.Client
	mint func() (*github.Client, error)

	mu     sync.Mutex
	writer *github.Client
}

func (v *voice) speak() (*github.Client, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var err error
	if v.writer == nil {
		v.writer, err = v.mint()
	}
	return v.writer, err
}

// hush gives the token for comments back.
func (v *voice) hush(ctx context.Context) error {
	v.mu.Lock()
	writer := v.writer
	v.writer = nil
	v.mu.Unlock()
	if writer == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTime)
	defer cancel()
	return writer.Revoke(ctx)
}

// CreateComment implements [publish.GitHub].
func (v *voice) CreateComment(ctx context.Context, repo github.Repo, n int, body string) (github.Comment, error) {
	w, err := v.speak()
	if err != nil {
		return github.Comment{}, err
	}
	return w.CreateComment(ctx, repo, n, body)
}

// EditComment implements [publish.GitHub].
func (v *voice) EditComment(ctx context.Context, repo github.Repo, id int64, body string) (github.Comment, error) {
	w, err := v.speak()
	if err != nil {
		return github.Comment{}, err
	}
	return w.EditComment(ctx, repo, id, body)
}

// React implements [publish.GitHub].
func (v *voice) React(ctx context.Context, repo github.Repo, commentID int64, content string) error {
	w, err := v.speak()
	if err != nil {
		return err
	}
	return w.React(ctx, repo, commentID, content)
}
