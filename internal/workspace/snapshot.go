package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// A Snapshot is an uncommitted working tree as a commit of the mirror.
type Snapshot struct {
	Commit string   // HEAD itself when nothing differs from it
	Dirty  bool     // something differs
	Notes  []string // what could not be taken as it is
}

// maxSnapshotFile bounds one file of a snapshot: what is longer was hardly
// meant to be part of a change.
const maxSnapshotFile = 256 << 20

// Snapshot makes a commit of r's working tree: what is tracked, with its
// changes, and what is untracked but not ignored. Its parent is HEAD; the same
// content gives the same commit. Files that a sparse checkout left out are not
// taken for deleted. Line endings are converted as the attributes say, but no
// filter that the user configured is run: content under Git LFS becomes the
// pointer that LFS would store, content under an encrypting filter stays as it
// is in the index, and of others the plain content is taken.
func (m *Mirror) Snapshot(ctx context.Context, r *repository.Repository, message string) (Snapshot, error) {
	s, err := m.snapshot(ctx, r, message)
	if err != nil {
		return s, fmt.Errorf("snapshot of %s: %w", r.Root, err)
	}
	return s, nil
}

func (m *Mirror) snapshot(ctx context.Context, r *repository.Repository, message string) (Snapshot, error) {
	var s Snapshot
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return s, err
	}
	if err := m.Import(ctx, r, head); err != nil {
		return s, err
	}
	v, err := r.View(ctx)
	if err != nil {
		return s, err
	}
	defer v.Close()
	x, err := r.Index(v, m.path("objects"))
	if err != nil {
		return s, err
	}
	w := &stage{m: m, r: r, v: v, index: x, head: head}
	if err := w.bringStaged(ctx); err != nil {
		return s, err
	}
	if err := w.update(ctx); err != nil {
		return s, err
	}
	tree, err := m.git.Line(ctx, x.Call("write-tree"))
	if err != nil {
		return s, err
	}
	s.Notes = w.notes
	was, err := m.git.Line(ctx, git.Call{GitDir: m.Dir, Args: []string{"rev-parse", "--verify", head + "^{tree}"}})
	if err != nil {
		return s, err
	}
	if tree == was {
		s.Commit = head
		return s, nil
	}
	s.Dirty = true
	if s.Commit, err = m.commit(ctx, tree, head, message); err != nil {
		return s, err
	}
	return s, m.keep(ctx, s.Commit)
}

// commit writes a commit object whose id depends on its content alone.
func (m *Mirror) commit(ctx context.Context, tree, parent, message string, more ...string) (string, error) {
	date, err := m.git.Line(ctx, git.Call{GitDir: m.Dir, Args: []string{"log", "-1", "--format=%ct", parent}})
	if err != nil {
		return "", err
	}
	return m.commitTree(ctx, date, message, append([]string{tree, "-p", parent}, more...)...)
}

// NothingID is the id of a commit that holds no file and has nothing before it: a
// first commit is compared with it. Only [Mirror.Nothing] makes it.
func NothingID(format string) string {
	if format == "sha256" {
		return "fe6631ef6d0eb5c45f91acb838c1b4269f17a94d57cb32a8517fc2a56d0b3918"
	}
	return "c83027b0b25f594ebf82569685287e88c1cece9a"
}

// Nothing writes the commit of [NothingID] and returns its id.
func (m *Mirror) Nothing(ctx context.Context) (string, error) {
	tree, err := m.git.Line(ctx, git.Call{GitDir: m.Dir, Stdin: strings.NewReader(""), Args: []string{"mktree"}})
	if err != nil {
		return "", fmt.Errorf("empty tree: %w", err)
	}
	oid, err := m.commitTree(ctx, "0", "nothing", tree)
	if err != nil {
		return "", fmt.Errorf("empty commit: %w", err)
	}
	return oid, m.keep(ctx, oid)
}

// commitTree runs git commit-tree as ycbot itself, at a date in seconds.
func (m *Mirror) commitTree(ctx context.Context, date, message string, args ...string) (string, error) {
	return m.git.Line(ctx, git.Call{
		GitDir: m.Dir,
		Env: []string{
			"GIT_AUTHOR_NAME=ycbot", "GIT_AUTHOR_EMAIL=ycbot@localhost", "GIT_AUTHOR_DATE=@" + date + " +0000",
			"GIT_COMMITTER_NAME=ycbot", "GIT_COMMITTER_EMAIL=ycbot@localhost", "GIT_COMMITTER_DATE=@" + date + " +0000",
		},
		Stdin: strings.NewReader(message),
		Args:  append([]string{"commit-tree", "-F", "-"}, args...),
	})
}
