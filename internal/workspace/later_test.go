package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// entriesOf lists a folder but for the file that leads to the mirror.
func entriesOf(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.Name() != gitFile {
			out = append(out, e.Name())
		}
	}
	return out
}

// laidLater registers a tree that was not needed yet.
func laidLater(t *testing.T, m *Mirror, name, commit string) *Tree {
	t.Helper()
	tree := must[*Tree](t)(m.WorktreeLater(t.Context(), filepath.Join(runDir(m, "run1"), name), commit))
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	if got := entriesOf(t, tree.Dir); len(got) > 0 {
		t.Fatalf("laid out before anyone needs it: %q", got)
	}
	return tree
}

// A tree that is laid out later is laid out by whatever needs its files, once, and then is
// as one that was laid out at once.
func TestLaterIsLaidWhenNeeded(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	eager := worktree(t, m, "eager", head)
	ctx := t.Context()
	for name, need := range map[string]func(*Tree) error{
		"lay":       func(tree *Tree) error { return tree.Lay(ctx) },
		"changed":   func(tree *Tree) error { _, err := tree.Changed(ctx); return err },
		"restore":   func(tree *Tree) error { _, err := tree.Restore(ctx); return err },
		"moved":     func(tree *Tree) error { _, err := tree.Moved(ctx); return err },
		"overlay":   func(tree *Tree) error { return tree.Overlay(ctx, head, []string{"README"}) },
		"reset":     func(tree *Tree) error { return tree.Reset(ctx, eager) },
		"resetFrom": func(tree *Tree) error { return worktree(t, m, "reset-from", head).Reset(ctx, tree) },
		"files":     func(tree *Tree) error { return tree.CopyFiles(ctx, tree.Dir+"-files") },
		"open": func(tree *Tree) error {
			f, err := tree.Open("README")
			return errors.Join(err, f.Close())
		},
		"copy": func(tree *Tree) error {
			c, err := tree.Copy(ctx, tree.Dir+"-copy")
			if err == nil && read(t, c.Dir, "README") != "two\n" {
				t.Error("the copy is not whole")
			}
			return errors.Join(err, c.Close())
		},
	} {
		tree := laidLater(t, m, name, head)
		if err := need(tree); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, want := entriesOf(t, tree.Dir), entriesOf(t, eager.Dir); !slices.Equal(got, want) || tree.OID != eager.OID {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if changed, err := tree.Changed(ctx); err != nil || len(changed) > 0 {
			t.Errorf("%s: changed %q, %v", name, changed, err)
		}
	}
}

// A copy that is made later has what its original has when it is needed, by one caller or by many.
func TestCopyLater(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	from := laidLater(t, m, "head", head)
	c := must[*Tree](t)(from.CopyLater(t.Context(), filepath.Join(runDir(m, "run1"), "agent")))
	defer c.Close()
	if got := entriesOf(t, c.Dir); len(got) > 0 {
		t.Fatalf("copied before anyone needs it: %q", got)
	}
	c.Ahead(t.Context())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := c.Lay(t.Context()); err != nil || read(t, c.Dir, "src/b.go") != "package a\n" {
				t.Errorf("not there: %v", err)
			}
		})
	}
	all.Wait()
	write(t, c.Dir, map[string]string{"README": "mine\n"})
	if changed, err := c.Changed(t.Context()); err != nil || !slices.Equal(changed, []string{"README"}) {
		t.Errorf("%q, %v", changed, err)
	}
	if read(t, from.Dir, "README") != "two\n" {
		t.Error("the original was changed with its copy")
	}
}

// Who stops waiting does not stop it for others; who removes the tree does, and nothing
// writes to the folder after that.
func TestLaterEnds(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	never := laidLater(t, m, "never", head)
	if err := never.Close(); err != nil {
		t.Fatal(err)
	}
	if err := never.Lay(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("laid out after it was removed: %v", err)
	}
	if _, err := os.Lstat(never.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}

	slow := laidLater(t, m, "slow", head)
	begun, left, checked, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan struct{})
	slow.later.do = func(ctx context.Context) error {
		close(begun)
		<-left
		checked <- ctx.Err()
		<-ctx.Done()
		defer close(ended)
		return context.Cause(ctx)
	}
	impatient, leave := context.WithCancel(t.Context())
	slow.Ahead(impatient)
	<-begun
	leave()
	if err := slow.Lay(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("waited on: %v", err)
	}
	close(left)
	if err := <-checked; err != nil {
		t.Errorf("who left has ended it for others: %v", err)
	}
	if err := slow.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	default:
		t.Error("the tree was removed while it was laid out")
	}
}

// What a folder does not hold is known when the tree is: it is laid out at once.
func TestLaterKnowsItsNotes(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	write(t, dir, map[string]string{".gitattributes": "*.bin filter=lfs\n", "a.bin": pointerHead + "oid sha256:" + strings.Repeat("a", 64) + "\nsize 3\n"})
	commit(t, dir, "lfs")
	_, m, head := imported(t, dir)
	tree := must[*Tree](t)(m.WorktreeLater(t.Context(), filepath.Join(runDir(m, "run1"), "lfs"), head))
	defer tree.Close()
	if len(tree.Notes) != 1 || read(t, tree.Dir, "README") != "two\n" {
		t.Errorf("notes %q, entries %q", tree.Notes, entriesOf(t, tree.Dir))
	}
}
