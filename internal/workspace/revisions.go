package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// TreeOf is the tree object of a commit.
func (m *Mirror) TreeOf(ctx context.Context, commit string) (string, error) {
	if n, err := m.objects.Commit(commit); err == nil {
		return n.Tree, nil
	}
	oid, err := m.revParse(ctx, commit+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("the mirror does not have %s: %w", change.Short(commit), fs.ErrNotExist)
	}
	return oid, nil
}

func (m *Mirror) revParse(ctx context.Context, rev string) (string, error) {
	return m.git.Line(ctx, git.Call{GitDir: m.Dir, Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", rev}})
}

var revision = pattern.New(`^([0-9a-f]{4,64})((?:[~^][0-9]{0,4})*)$`)

// Resolve returns the commit that a commit's id, which may be shortened, and a suffix of
// ~N and ^N name (gitrevisions(7)). The error wraps fs.ErrNotExist where there is none.
func (m *Mirror) Resolve(ctx context.Context, rev string) (string, error) {
	parts := revision.FindStringSubmatch(rev)
	if parts == nil {
		return "", fmt.Errorf("revision %q: %w", rev, fs.ErrInvalid)
	}
	if oid, ok := m.follow(parts[1], parts[2]); ok {
		return oid, nil
	}
	oid, err := m.revParse(ctx, rev+"^{commit}")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("revision %q: %w", rev, fs.ErrNotExist)
	}
	return oid, nil
}

// follow goes from a commit to one before it; ok is false where git has to.
func (m *Mirror) follow(oid, suffix string) (_ string, ok bool) {
	if _, err := os.Lstat(m.path("shallow")); suffix != "" && err == nil {
		return "", false // parents may be there that the history does not have
	}
	return m.objects.Follow(oid, suffix)
}
