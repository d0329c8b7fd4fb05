package workspace

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// Bounds of the files that say what git ignores.
const (
	maxIgnoreFiles = 1000
	maxIgnoreSize  = 1 << 20
)

// Ignored are those of some paths that git ignores in a tree of t's commit, by the .gitignore
// files of that commit. They are read out of the mirror: what commands left in the tree is not
// looked at.
func (t *Tree) Ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(paths) == 0 {
		return out, nil
	}
	dir, err := os.MkdirTemp(t.mirror.git.Temp, "ycbot-ignored-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	some, err := t.layIgnoreFiles(ctx, dir)
	if err != nil || !some {
		return out, err
	}
	asked := make([]string, len(paths))
	for i, p := range paths {
		asked[i] = "./" + p // this command takes no literal path specifications: a colon in front would be magic
	}
	found, err := t.mirror.git.Run(ctx, git.Call{
		Dir: dir, GitDir: t.mirror.Dir, Stdin: nulList(asked), Env: []string{"GIT_WORK_TREE=" + dir},
		Args: []string{"--no-literal-pathspecs", "-c", "core.bare=false", "check-ignore", "--no-index", "-z", "--stdin"},
	})
	if err != nil && git.ExitCode(err) != 1 { // 1: none of them
		return nil, fmt.Errorf("what git ignores in %s: %w", change.Short(t.Commit), err)
	}
	for name := range strings.SplitSeq(string(found), "\x00") {
		if name != "" {
			out[strings.TrimPrefix(name, "./")] = true
		}
	}
	return out, nil
}

// layIgnoreFiles writes the .gitignore files of t's commit below dir. It reports whether there
// are any.
func (t *Tree) layIgnoreFiles(ctx context.Context, dir string) (some bool, err error) {
	entries, err := t.mirror.Files(ctx, t.Commit)
	if err != nil {
		return false, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	left := maxIgnoreFiles
	for _, e := range entries {
		if path.Base(e.Path) != ".gitignore" || e.Mode != objects.ModeFile && e.Mode != objects.ModeExec || e.Size > maxIgnoreSize {
			continue
		}
		if left--; left < 0 {
			break
		}
		data, err := t.mirror.ReadFile(ctx, t.Commit, e.Path)
		if err != nil {
			return false, err
		}
		name := filepath.FromSlash(e.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return false, err
		}
		if err := root.WriteFile(name, data, 0o600); err != nil {
			return false, err
		}
		some = true
	}
	return some, nil
}
