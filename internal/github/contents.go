package github

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// maxFile is how large a file GitHub puts into its answer.
const maxFile = 1 << 20

// ErrNoCommit says that GitHub does not know a commit, or not yet.
var ErrNoCommit = errors.New("GitHub does not know the commit")

// noCommit is how GitHub says that, with the status that also says that a commit has no such file.
const noCommit = "No commit found for the ref"

// File returns the content of a file at a commit. An error of [IsNotFound]
// means that the commit has no such file; of a commit that
// GitHub does not know it is [ErrNoCommit].
func (c *Client) File(ctx context.Context, repo Repo, sha, path string) ([]byte, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	if err := checkOID(sha); err != nil {
		return nil, err
	}
	var file struct {
		Type, Encoding, Content string
		Size                    int64
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	if err := c.get(ctx, "repos/"+repo.String()+"/contents/"+strings.Join(segments, "/")+"?ref="+sha, &file); err != nil {
		if converted := convert(err); IsNotFound(converted) && strings.Contains(converted.Error(), noCommit) {
			return nil, c.fail(ErrNoCommit, "%s of %s at %s", path, repo, sha)
		}
		return nil, c.fail(err, "%s of %s at %s", path, repo, sha)
	}
	if file.Type != "file" || file.Size > maxFile || file.Encoding != "base64" {
		return nil, fmt.Errorf("github: %s of %s at %s: want a file of at most %d bytes", path, repo, sha, maxFile)
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(file.Content, "\n", ""))
	if err != nil {
		return nil, fmt.Errorf("github: %s of %s at %s: %w", path, repo, sha, err)
	}
	return data, nil
}

// DefaultBranch returns the name of a repository's default branch.
func (c *Client) DefaultBranch(ctx context.Context, repo Repo) (string, error) {
	if err := repo.check(); err != nil {
		return "", err
	}
	var r struct {
		DefaultBranch string `json:"default_branch"`
	}
	if err := c.get(ctx, "repos/"+repo.String(), &r); err != nil {
		return "", c.fail(err, "repository %s", repo)
	}
	return r.DefaultBranch, nil
}

// Commit returns the object id of the commit that a branch or tag points to.
func (c *Client) Commit(ctx context.Context, repo Repo, ref string) (string, error) {
	if err := repo.check(); err != nil {
		return "", err
	}
	var commit struct{ SHA string }
	if err := c.get(ctx, "repos/"+repo.String()+"/commits/"+url.PathEscape(ref), &commit); err != nil {
		return "", c.fail(err, "commit %s of %s", ref, repo)
	}
	return commit.SHA, checkOID(commit.SHA)
}
