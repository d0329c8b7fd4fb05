package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A Merged is a merge of two commits.
type Merged struct {
	Commit    string   // empty where there are conflicts
	Conflicts []string // paths, sorted
}

// Merge merges head into base, in the mirror alone. The same commits give the
// same commit. Merge drivers are not run. It needs git 2.38.
func (m *Mirror) Merge(ctx context.Context, base, head string) (Merged, error) {
	out, err := m.merge(ctx, base, head)
	if err != nil {
		return out, fmt.Errorf("merge %s into %s: %w", change.Short(head), change.Short(base), err)
	}
	return out, nil
}

func (m *Mirror) merge(ctx context.Context, base, head string) (Merged, error) {
	for _, oid := range []string{base, head} {
		if err := m.need(ctx, oid); err != nil {
			return Merged{}, err
		}
	}
	var stdout bytes.Buffer
	err := m.git.Stream(ctx, git.Call{GitDir: m.Dir, Args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", base, head}}, &stdout)
	parts := strings.Split(strings.TrimRight(stdout.String(), "\x00"), "\x00")
	var failed *git.Error
	if errors.As(err, &failed) && failed.Exit == 1 && objects.IsID(parts[0]) {
		conflicts := slices.Clone(parts[1:])
		slices.Sort(conflicts)
		return Merged{Conflicts: slices.Compact(conflicts)}, nil
	}
	if err != nil {
		return Merged{}, err
	}
	commit, err := m.commit(ctx, parts[0], base, "merge of "+head, "-p", head)
	if err != nil {
		return Merged{}, err
	}
	return Merged{Commit: commit}, m.keep(ctx, commit)
}
