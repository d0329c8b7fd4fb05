package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/folder"
)

// Copy makes a tree in dir, which must not exist, with everything that lies in
// t: build output too, with modes and times. Files share their blocks where the
// file system can do that and are otherwise their own; a file with several names in
// t is one in the copy, and never one with anything outside of it. Sockets, pipes and
// devices are left out. The copy is as independent of t as a worktree of its
// own. What was changed in t is changed in the copy.
func (t *Tree) Copy(ctx context.Context, dir string) (*Tree, error) {
	c, err := t.CopyLater(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := c.Lay(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Reset makes t what from is, a tree of the same commit, in the same folder, so that
// build output that names it stays right. Only what was touched since t was last
// known to be like from is copied; nothing that commands left in t stays.
func (t *Tree) Reset(ctx context.Context, from *Tree) error {
	if t == from || t.Commit != from.Commit {
		return fmt.Errorf("reset worktree of %s to one of %s: %w", change.Short(t.Commit), change.Short(from.Commit), os.ErrInvalid)
	}
	if err := t.reset(ctx, from); err != nil {
		return fmt.Errorf("reset worktree of %s: %w", change.Short(t.Commit), err)
	}
	return nil
}

func (t *Tree) reset(ctx context.Context, from *Tree) error {
	if err := layBoth(ctx, t, from); err != nil {
		return err
	}
	if err := t.adjoin(from).Reset(ctx); err != nil {
		return err
	}
	if err := t.point(ctx); err != nil {
		return err
	}
	if err := t.tidyRegistry(); err != nil {
		return err
	}
	from.mu.Lock()
	wants := slices.Clone(from.wants)
	from.mu.Unlock()
	t.mu.Lock()
	seen := make(map[string]want, len(t.wants))
	for _, w := range t.wants {
		seen[w.Path] = w
	}
	for i, w := range wants {
		// What was right and was not touched is right; all else is read when it is asked for.
		wants[i].stamp = stamp{}
		if was := seen[w.Path]; was.Entry == w.Entry && was.from == w.from && was.sum == w.sum {
			wants[i].stamp = was.stamp
		}
	}
	t.wants = wants
	t.mu.Unlock()
	return t.takeIndex(ctx, from)
}

// gitFile leads from a worktree to the mirror. No copy takes it along.
const gitFile = ".git"

// point writes the file that leads to the mirror again.
func (t *Tree) point(ctx context.Context) error {
	name := filepath.Join(t.Dir, gitFile)
	if err := folder.RemoveAll(ctx, name); err != nil {
		return err
	}
	return os.WriteFile(name, t.pointer, 0o644)
}

// adjoin is what is known of t beside from.
func (t *Tree) adjoin(from *Tree) *folder.Replica {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.twin == nil || t.twin.From != from.Dir {
		t.twin = &folder.Replica{From: from.Dir, To: t.Dir, Skip: gitFile}
	}
	return t.twin
}

// tidyRegistry removes from the worktree's own folder in the mirror whatever git
// did not put there: settings, hooks, an index that was begun.
func (t *Tree) tidyRegistry() error {
	entries, err := os.ReadDir(t.registry)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case "HEAD", "commondir", "gitdir", "index":
		default:
			if err := os.RemoveAll(filepath.Join(t.registry, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(t.registry, "HEAD"), []byte(t.Commit+"\n"), 0o600)
}

// takeIndex gives t the index of from, which holds for a copy: see configText.
func (t *Tree) takeIndex(ctx context.Context, from *Tree) error {
	from.mu.Lock()
	holds := from.indexHolds(ctx)
	from.mu.Unlock()
	if !holds {
		return t.freshIndex(ctx)
	}
	if err := folder.CopyIfThere(from.indexPath(), t.indexPath()); err != nil {
		return err
	}
	t.noteIndex()
	return nil
}

func (t *Tree) copyFrom(ctx context.Context, from *Tree) error {
	if err := t.takeIndex(ctx, from); err != nil {
		return err
	}
	r := t.adjoin(from)
	if err := errors.Join(r.Copy(ctx), t.point(ctx)); err != nil {
		return err
	}
	from.mu.Lock()
	if from.twin == nil { // so that it can be brought back to what its copy is
		from.twin = r.Flip()
	}
	from.mu.Unlock()
	right := make([]bool, len(t.wants))
	err := visit(ctx, from.Dir, t.wants, func(i, at int, name string, err error) {
		var st unix.Stat_t
		if err == nil && unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			right[i] = t.wants[i].stamp != (stamp{}) && t.wants[i].stamp == stampOf(&st)
		}
	})
	if err != nil {
		return err
	}
	now, err := t.clock()
	if err != nil {
		return err
	}
	return visit(ctx, t.Dir, t.wants, func(i, at int, name string, err error) {
		w := &t.wants[i]
		w.stamp = stamp{}
		var st unix.Stat_t
		if err == nil && right[i] && unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			w.trust(&st, now)
		}
	})
}
