package execution

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// What package managers have fetched is kept for the project, from one run to the
// next: they keep it below HOME, in folders that each ecosystem names.
//
//   - Each side's HOME begins with a copy. Nothing of a change ever writes into
//     what is kept.
//   - What the setup of the base has fetched is added to it when that has ended,
//     before a command of the change has run in this run. What a change brings by
//     itself is fetched again in each of its runs.
//
// Package managers check most of what they take from there against the lockfile.
// It is one project's, whose base anyone who can poison it could change as well.

// Bounds for what is kept.
const (
	maxFetched = 2 << 30 // bytes
	fetchedAge = 30 * 24 * time.Hour
)

func (m *Machine) fetched() string { return filepath.Join(m.CacheDir, "fetched") }

// fetchedFolders are those of the ecosystems whose setup commands a side has,
// below HOME; of commands of the configuration all can be.
func (e *Executor) fetchedFolders(side results.Side) []string {
	var out []string
	for _, eco := range languages.All() {
		if slices.ContainsFunc(e.Plans[side].Setup, func(c ecosystem.Command) bool { return c.Eco == eco.Name || c.Eco == "" }) {
			out = append(out, eco.Fetched...)
		}
	}
	return out
}

// Fill lets a side's HOME begin with what was fetched for the project before.
func (e *Executor) Fill(ctx context.Context, side results.Side) error {
	return e.begin(ctx, side, e.HomeOf(side))
}

// begin does so with a HOME. That of a head that is not trusted begins with what this run's
// base has.
func (e *Executor) begin(ctx context.Context, side results.Side, home string) error {
	if err := folder.Make(home); err != nil {
		return err
	}
	if err := e.furnish(home); err != nil {
		return err
	}
	source := e.fetched()
	if side == results.Head && e.Network == NetworkRegistries {
		source = e.HomeOf(results.Base)
	} else if info, err := os.Stat(source); err != nil || e.Now().Sub(info.ModTime()) > fetchedAge {
		return nil //nolint:nilerr // nothing is kept
	}
	for _, part := range e.fetchedFolders(side) {
		if folder.IsBelow(home, part) {
			continue
		}
		if err := take(ctx, source, home, part); err != nil { // a run beside this one has put another in its place
			if err := folder.Remake(ctx, home, part); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Harvest keeps what the setup of the base has fetched, where that is more than
// was there before. It never fails a run.
func (e *Executor) Harvest(ctx context.Context) {
	folders := e.fetchedFolders(results.Base)
	before, after := census{}, census{}
	for _, f := range folders {
		before.add(filepath.Join(e.fetched(), f))
		after.add(filepath.Join(e.HomeOf(results.Base), f))
	}
	info, err := os.Stat(e.fetched())
	old := err == nil && e.Now().Sub(info.ModTime()) > fetchedAge
	if after.files == 0 || after.bytes > maxFetched || before == after && !old {
		return
	}
	if err := e.keepFetched(ctx, folders, old); err != nil && ctx.Err() == nil {
		e.Note("what setup fetched could not be kept for later runs: %v", err)
	}
}

// keepFetched makes the folder again and puts it in the place of the old one.
func (e *Executor) keepFetched(ctx context.Context, folders []string, old bool) error {
	if err := folder.Make(e.CacheDir); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(e.CacheDir, "fetched.part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	made, was := filepath.Join(temp, "new"), filepath.Join(temp, "old")
	if err := folder.Make(made); err != nil {
		return err
	}
	for _, eco := range languages.All() {
		for _, part := range eco.Fetched {
			from := e.HomeOf(results.Base)
			if !slices.Contains(folders, part) && !old { // of tools that this run did not use
				from = e.fetched()
			}
			if err := take(ctx, from, made, part); err != nil {
				return err
			}
		}
	}
	// The age is that of the first of it.
	if info, err := os.Stat(e.fetched()); err == nil && !old {
		if err := os.Chtimes(made, info.ModTime(), info.ModTime()); err != nil {
			return err
		}
	}
	if err := os.Rename(e.fetched(), was); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(made, e.fetched()); err != nil && !folder.Exists(e.fetched()) {
		return err
	}
	return nil
}

// A census says how much there is in folders.
type census struct {
	files int
	bytes int64
}

func (c *census) add(dir string) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				c.files++
				c.bytes += info.Size()
			}
		}
		return nil
	})
}
