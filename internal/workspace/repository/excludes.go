package repository

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/workspace/git"
)

// maxExcludes bounds the user's own file of ignore patterns.
const maxExcludes = 1 << 20

// excludes is the user's own file of ignore patterns, as git finds it: what core.excludesFile
// names in the settings of the repository, the user or the machine, else the usual place.
func (r *Repository) excludes(ctx context.Context) (string, error) {
	file, err := r.git.Line(ctx, git.Call{GitDir: r.GitDir, Settings: true, Args: []string{"config", "--type=path", "--get", "core.excludesFile"}})
	switch {
	case git.ExitCode(err) == 1: // it is not set
		file = r.git.Excludes
	case err != nil:
		return "", fmt.Errorf("core.excludesFile of %s: %w", r.Root, err)
	}
	if file == "" {
		return os.DevNull, nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.Root, file)
	}
	info, err := os.Stat(file)
	if err != nil {
		return os.DevNull, nil //nolint:nilerr // git takes it for an empty one
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return os.DevNull, nil // which is how people say that there is none
	}
	if !info.Mode().IsRegular() || info.Size() > maxExcludes {
		return "", fmt.Errorf("core.excludesFile of %s is %s: want a file of at most %d bytes", r.Root, file, maxExcludes)
	}
	return file, nil
}

// Excluding is Call for a command that asks which files git ignores.
func (x *Index) Excluding(ctx context.Context, args ...string) (git.Call, error) {
	file, err := x.r.excludes(ctx)
	if err != nil {
		return git.Call{}, err
	}
	return x.Call(append([]string{"-c", "core.excludesFile=" + file}, args...)...), nil
}
