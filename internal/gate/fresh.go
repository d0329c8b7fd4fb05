package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/workspace"
)

// A snapshot is a prepared side before any test ran: its tree, and the HOME that
// setup and build have filled.
type snapshot struct {
	tree *workspace.Tree
	home string
	kept bool // the caller closes the tree
}

// home is the HOME of a side's own commands.
func (r *runner) home(side Side) string { return filepath.Join(r.Scratch, string(side), "home") }

// snapshot copies a side as it is once it is prepared.
func (r *runner) snapshot(ctx context.Context, side Side) error {
	own := r.tree(side)
	tree, err := own.Copy(ctx, filepath.Join(filepath.Dir(own.Dir), "prepared-"+string(side)))
	if err != nil {
		return err
	}
	snap := &snapshot{tree: tree, home: filepath.Join(r.Scratch, string(side), "prepared-home")}
	r.prepared[side] = snap
	if err := r.copyHome(ctx, r.home(side), snap.home); err != nil {
		return err
	}
	if r.in.Prepared == nil {
		return nil
	}
	snap.kept = true
	return r.in.Prepared(ctx, side, tree)
}

// copyHome copies a HOME. It is in the hands of those whose commands used it:
// what cannot be copied is left out, and said.
func (r *runner) copyHome(ctx context.Context, from, to string) error {
	if err := mkdirs(from, to); err != nil {
		return err
	}
	if err := workspace.CopyFolder(ctx, from, to); err != nil && ctx.Err() == nil {
		r.note("what commands left in HOME could not be copied whole for later ones: %v", err)
	}
	return ctx.Err()
}

// reset makes a side's tree and HOME what they were when it was prepared, in the
// same folder: build output and environments of many tools name it.
func (r *runner) reset(ctx context.Context, side Side) error {
	snap := r.prepared[side]
	if snap == nil {
		return fmt.Errorf("%s was not prepared", side)
	}
	if err := r.tree(side).Reset(ctx, snap.tree); err != nil {
		return err
	}
	if err := workspace.RemoveAll(ctx, r.home(side)); err != nil {
		return err
	}
	return r.copyHome(ctx, snap.home, r.home(side))
}

// runFresh runs a test command in the prepared side as it was before the first
// test, so that what an earlier run left in the tree or in HOME decides nothing.
func (r *runner) runFresh(ctx context.Context, side Side, c command) (Suite, Step, error) {
	if err := r.reset(ctx, side); err != nil {
		return Suite{}, Step{}, err
	}
	return r.runTests(ctx, side, c)
}

// close removes what the run made beside the trees that it was given.
func (r *runner) close() {
	for _, snap := range r.prepared {
		if snap.kept {
			continue
		}
		if err := snap.tree.Close(); err != nil && !errors.Is(err, os.ErrNotExist) {
			r.note("%s could not be removed: %v", snap.tree.Dir, err)
		}
	}
}
