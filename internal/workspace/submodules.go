package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A Submodule is a commit of another repository that stands at a path of a tree.
type Submodule struct{ Path, OID string }

// Submodules are those of the tree's commit that are empty folders.
func (t *Tree) Submodules() []Submodule {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Submodule
	for _, w := range t.wants {
		if w.Mode == objects.ModeGitlink && slices.Contains(t.empty, w.Path) {
			out = append(out, Submodule{Path: w.Path, OID: w.OID})
		}
	}
	return out
}

// LaySubmodule puts the files of a submodule, which from has, into its empty folder. They
// are no tracked files of the tree: commands may change them. It returns the submodules
// inside of it, which stay empty.
func (t *Tree) LaySubmodule(ctx context.Context, from *Mirror, s Submodule) ([]Submodule, error) {
	fail := func(err error) ([]Submodule, error) { return nil, fmt.Errorf("submodule %s: %w", s.Path, err) }
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	info, err := root.Lstat(filepath.FromSlash(s.Path)) // not through a link of the tree
	if err == nil && !info.IsDir() {
		err = errors.New("its place is not a folder")
	}
	if err != nil {
		return fail(err)
	}
	own, err := from.Worktree(ctx, t.Dir+"-submodule-"+s.OID[:min(12, len(s.OID))], s.OID)
	if err != nil {
		return fail(err)
	}
	err = os.Remove(filepath.Join(own.Dir, ".git"))
	if err == nil {
		err = folder.Copy(ctx, own.Dir, filepath.Join(t.Dir, filepath.FromSlash(s.Path)))
	}
	inner := own.Submodules()
	if err = errors.Join(err, own.Close()); err != nil {
		return fail(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.empty = slices.DeleteFunc(t.empty, func(path string) bool { return path == s.Path })
	for i := range inner {
		inner[i].Path = s.Path + "/" + inner[i].Path
		t.empty = append(t.empty, inner[i].Path)
	}
	t.said()
	return inner, nil
}

// Unlaid says why submodules are empty folders.
func (t *Tree) Unlaid(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.why = why
	t.said()
}

// The notes about submodules and about files under Git LFS begin so.
const (
	emptyModules = "submodules are empty folders"
	pointersStay = "files under Git LFS are pointers without their content"
)

// said renews the notes about what the folder does not hold.
func (t *Tree) said() {
	for _, n := range []struct {
		head, why string
		paths     []string
	}{{emptyModules, t.why, t.empty}, {pointersStay, t.pointersWhy, t.pointers}} {
		if len(n.paths)+len(t.Notes) == 0 {
			continue // a tree that is laid out later has none, and others may read that meanwhile
		}
		t.Notes = slices.DeleteFunc(t.Notes, func(note string) bool { return strings.HasPrefix(note, n.head) })
		if len(n.paths) == 0 {
			continue
		}
		note := n.head + ": " + some(n.paths)
		if n.why != "" {
			note += " (" + n.why + ")"
		}
		t.Notes = append(t.Notes, note)
	}
}
