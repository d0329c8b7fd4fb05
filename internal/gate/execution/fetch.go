package execution

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// fetchHome is the HOME of a side's commands that fetch.
func (e *Executor) fetchHome(side results.Side) string {
	return filepath.Join(e.Scratch, string(side), "fetch", "home")
}

// layData writes the data for c into a new folder, and gives it HOME.
func (e *Executor) layData(ctx context.Context, side results.Side, c *ecosystem.Command) (dir, home string, err error) {
	home = e.fetchHome(side)
	if !folder.Exists(home) {
		if err := e.begin(ctx, side, home); err != nil {
			return "", "", err
		}
	}
	dir = filepath.Join(e.Scratch, string(side), "fetch", "data")
	if err := folder.RemoveAll(ctx, dir); err != nil {
		return "", "", err
	}
	if err := folder.Make(filepath.Join(dir, filepath.FromSlash(c.Unit))); err != nil {
		return "", "", err
	}
	files := c.Data(e.Plans[side].Survey)
	if eco := languages.Named(c.Eco); eco != nil && eco.Pin != nil {
		if c.OwnProgram, err = eco.Pin(c.Unit, files, func(name string) ([]byte, error) { return e.atBase(ctx, name) }); err != nil {
			return "", "", err
		}
	}
	for name, data := range files {
		if err := writeInTree(dir, name, data); err != nil {
			return "", "", err
		}
	}
	return dir, home, nil
}

// atBase reads a file of the base, nil where it has none, or no regular file.
func (e *Executor) atBase(ctx context.Context, name string) ([]byte, error) {
	data, err := e.Mirror.ReadFile(ctx, e.Base.Commit, name)
	if err != nil && ctx.Err() == nil {
		return nil, nil //nolint:nilerr // as said
	}
	return data, err
}

// takeFetched puts what c has fetched into a side's HOME.
func (e *Executor) takeFetched(ctx context.Context, side results.Side, c ecosystem.Command) error {
	eco := languages.Named(c.Eco)
	if eco == nil {
		return nil
	}
	for _, part := range eco.Fetched {
		if err := take(ctx, e.fetchHome(side), e.HomeOf(side), part); err != nil {
			return err
		}
	}
	return nil
}

// take makes a folder below one HOME what it is below another, where it is there. Both are in the
// hands of those whose commands used them.
func take(ctx context.Context, from, to, part string) error {
	if !folder.IsBelow(from, part) {
		return nil
	}
	if err := folder.Remake(ctx, to, part); err != nil {
		return err
	}
	return folder.Copy(ctx, filepath.Join(from, part), filepath.Join(to, part))
}

// writeInTree writes a file that a name of an untrusted tree stands for.
func writeInTree(dir, name string, data []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%s lies outside of the repository", name)
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := folder.Make(filepath.Dir(file)); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}
