package machine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// WithoutOwn is m without the folders of PATH that have files which git tracks, in the
// repository of dir or in the workspace of the runner: commands of both sides would run the
// programs of one commit from there, and so would ycbot itself. own are these folders, as the
// top of their repository names them. Environments and packages that were made in a repository
// are no part of it, and stay.
func (m Machine) WithoutOwn(ctx context.Context, dir string) (_ Machine, own []string) {
	roots := []string{topOf(dir), topOf(m.Getenv("GITHUB_WORKSPACE"))}
	if workspace := m.Getenv("GITHUB_WORKSPACE"); filepath.IsAbs(workspace) {
		roots = append(roots, toolchains.Resolve(workspace))
	}
	dirs := filepath.SplitList(m.Getenv("PATH"))
	inside := func(dir string) bool {
		real := toolchains.Resolve(dir)
		return filepath.IsAbs(dir) && slices.ContainsFunc(roots, func(root string) bool { return root != "" && toolchains.Within(root, real) })
	}
	if !slices.ContainsFunc(dirs, inside) {
		return m, nil
	}
	apart := m.withPath(slices.DeleteFunc(slices.Clone(dirs), inside))
	g, err := git.New("git", apart.Env, m.Log)
	if err != nil {
		return apart, nil // whose the folders are is not known
	}
	var left []string
	for _, dir := range dirs {
		if !inside(dir) {
			left = append(left, dir)
			continue
		}
		name, tracked := trackedFolder(ctx, g, toolchains.Resolve(dir))
		switch {
		case !tracked:
			left = append(left, dir)
		case !slices.Contains(own, name):
			own = append(own, name)
		}
	}
	return m.withPath(left), own
}

// withPath is m with these folders as its PATH.
func (m Machine) withPath(dirs []string) Machine {
	m.Env = append(slices.Clone(m.Env), "PATH="+strings.Join(dirs, string(filepath.ListSeparator)))
	return m
}

// topOf is the top of the work tree that dir lies in; "" where it lies in none.
func topOf(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil || dir == "" {
		return ""
	}
	for dir = toolchains.Resolve(abs); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// trackedFolder says whether the commit of a work tree has files in dir, and how the top of
// the work tree names it.
func trackedFolder(ctx context.Context, g *git.Git, dir string) (name string, tracked bool) {
	top := topOf(dir)
	r, err := repository.Discover(ctx, g, dir)
	if top == "" || err != nil {
		return "", false
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return "", false
	}
	name = filepath.ToSlash(rel)
	files, err := r.Files(ctx, "HEAD")
	return name, err == nil && slices.ContainsFunc(files, func(file string) bool {
		return name == "." && !strings.Contains(file, "/") || strings.HasPrefix(file, name+"/")
	})
}
