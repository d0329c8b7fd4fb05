package releases

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A Repo is a git repository that holds versions of a module.
type Repo struct {
	Dir string
	Env []string // of git; see [GitEnv]
}

// NewRepo makes an empty repository in the existing folder dir.
func NewRepo(ctx context.Context, dir string, env []string) (Repo, error) {
	r := Repo{Dir: dir, Env: env}
	_, err := r.Git(ctx, "init", "-q", "-b", "main")
	return r, err
}

// Git runs git and returns its trimmed output.
func (r Repo) Git(ctx context.Context, args ...string) (string, error) {
	out, err := Command(ctx, r.Dir, r.Env, append([]string{"git", "-c", "core.autocrlf=false"}, args...)...)
	return string(bytes.TrimSpace(out)), err
}

// Commit empties the working tree, has write fill it, commits it and tags it. It
// says whether there was a difference to the commit before.
func (r Repo) Commit(ctx context.Context, tag, message string, write func() error) (bool, error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(r.Dir, e.Name())); err != nil {
			return false, err
		}
	}
	if err := write(); err != nil {
		return false, err
	}
	if _, err := r.Git(ctx, "add", "--all", "--force"); err != nil {
		return false, err
	}
	status, err := r.Git(ctx, "status", "--porcelain")
	if err != nil {
		return false, err
	}
	if _, err := r.Git(ctx, "commit", "-q", "--allow-empty", "-m", message); err != nil {
		return false, err
	}
	_, err = r.Git(ctx, "tag", tag)
	return status != "", err
}

// Fill copies a version into the working tree.
func (r Repo) Fill(f Files) error {
	if err := os.CopyFS(r.Dir, os.DirFS(f.Dir)); err != nil {
		return err
	}
	_, err := os.Stat(filepath.Join(r.Dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return copyFile(f.GoMod, filepath.Join(r.Dir, "go.mod"))
	}
	return err
}

// Undo makes the empty working tree that of to with the sources of from: tests,
// their data, go.mod and documents stay.
func (r Repo) Undo(from, to Files) error {
	if err := r.Fill(to); err != nil {
		return err
	}
	now, err := sources(r.Dir)
	if err != nil {
		return err
	}
	for _, name := range now {
		if err := os.Remove(filepath.Join(r.Dir, name)); err != nil {
			return err
		}
	}
	before, err := sources(from.Dir)
	if err != nil {
		return err
	}
	for _, name := range before {
		if err := copyFile(filepath.Join(from.Dir, name), filepath.Join(r.Dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// PutBack makes the empty working tree that of from, tests and their data
// included, so that no test can notice; go.mod, go.sum and the documents at the
// top stay as in to.
func (r Repo) PutBack(from, to Files) error {
	if err := r.Fill(from); err != nil {
		return err
	}
	entries, err := os.ReadDir(to.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name == "go.sum" || path.Ext(name) == ".md" {
			if err := replace(filepath.Join(to.Dir, name), filepath.Join(r.Dir, name)); err != nil {
				return err
			}
		}
	}
	return replace(to.GoMod, filepath.Join(r.Dir, "go.mod"))
}

// sources lists the files below dir that are compiled and are no tests.
func sources(dir string) ([]string, error) {
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case !d.IsDir() && source(name):
			out = append(out, name)
		}
		return nil
	})
	return out, err
}

func source(name string) bool {
	switch path.Ext(name) {
	case ".go":
		return !strings.HasSuffix(name, "_test.go")
	case ".s", ".h", ".c":
		return true
	}
	return false
}

// replace copies over a file that may be read-only, as those of the module cache are.
func replace(from, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return copyFile(from, to)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
