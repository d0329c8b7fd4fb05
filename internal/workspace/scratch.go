package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A Scratch is a repository of the harness's own in which it makes commits. It has an
// empty work tree, so that a run can be asked for its commits.
type Scratch struct {
	Dir string

	git     *git.Git
	objects *objects.Store
}

// scratchIdentity is who makes the commits of a Scratch, and when: the same files on the
// same parent are the same commit on every machine.
var scratchIdentity = []string{
	"GIT_AUTHOR_NAME=ycbot", "GIT_AUTHOR_EMAIL=ycbot@localhost", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
	"GIT_COMMITTER_NAME=ycbot", "GIT_COMMITTER_EMAIL=ycbot@localhost", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
}

// OpenScratch opens the scratch repository at dir, making it where there is none.
func OpenScratch(ctx context.Context, g *git.Git, dir, objectFormat string) (*Scratch, error) {
	s := &Scratch{Dir: dir, git: g}
	s.objects = objects.New(s.gitDir(), objectFormat)
	if _, err := os.Stat(filepath.Join(dir, ".git", "config")); err == nil {
		return s, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	_, err := g.Run(ctx, git.Call{Args: []string{"init", "-q", "--template=", "--initial-branch=none", "--object-format=" + objectFormat, dir}})
	if err != nil {
		return nil, fmt.Errorf("make scratch repository: %w", err)
	}
	return s, nil
}

// Fetch brings the commit that rev names in the repository at gitDir, with its history,
// under the name ref, and returns its id. That repository is only read.
func (s *Scratch) Fetch(ctx context.Context, gitDir, rev, ref string) (string, error) {
	oid, err := s.git.Line(ctx, git.Call{GitDir: gitDir, Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}"}})
	if err != nil {
		return "", fmt.Errorf("no commit %q in %s: %w", rev, gitDir, err)
	}
	if have, err := s.Git(ctx, nil, nil, "cat-file", "-t", oid); err == nil && strings.TrimSpace(string(have)) == "commit" {
		return oid, nil
	}
	_, err = s.git.Run(ctx, git.Call{
		GitDir: s.gitDir(), Protocol: "file",
		Env:  []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_0=true"},
		Args: []string{"-c", "safe.bareRepository=all", "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--update-shallow", gitDir, "+" + oid + ":" + ref},
	})
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", gitDir, err)
	}
	return oid, nil
}

// Files lists the files of a commit, in git's order.
func (s *Scratch) Files(ctx context.Context, commit string) ([]objects.Entry, error) {
	if entries, err := s.objects.Files(commit); err == nil {
		return entries, nil
	}
	out, err := s.Git(ctx, nil, nil, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("files of %s: %w", change.Short(commit), err)
	}
	return parseEntries(out)
}

// Blob returns the content of a blob.
func (s *Scratch) Blob(ctx context.Context, oid string) ([]byte, error) {
	if data, err := s.objects.Blob(oid); err == nil {
		return data, nil
	}
	return s.Git(ctx, nil, nil, "cat-file", "blob", oid)
}

// Git runs a git command in the scratch repository, with more environment, and returns
// its standard output. As with [Mirror.Git], it is for fixed commands of the harness.
func (s *Scratch) Git(ctx context.Context, stdin io.Reader, env []string, args ...string) ([]byte, error) {
	return s.git.Run(ctx, git.Call{GitDir: s.gitDir(), Stdin: stdin, Env: append(append([]string{}, scratchIdentity...), env...), Args: args})
}

func (s *Scratch) gitDir() string { return filepath.Join(s.Dir, ".git") }
