package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A snapshot is a prepared side before any test ran: its tree, and the HOME that
// setup and build have filled.
type snapshot struct {
	tree *workspace.Tree
	home *folder.Replica // of it, from which that of the side is brought back
	kept bool            // the caller closes the tree
}

// home is the HOME of a side's own commands.
func (r *runner) home(side Side) string { return filepath.Join(r.Scratch, string(side), "home") }

// snapshot copies a side as it is once it is prepared.
func (r *runner) snapshot(ctx context.Context, side Side) error {
	tree := r.tree(side)
	if !r.idle() {
		var err error
		if tree, err = tree.Copy(ctx, filepath.Join(filepath.Dir(tree.Dir), r.copies+"-"+string(side))); err != nil {
			return err
		}
	}
	home := &folder.Replica{From: r.home(side), To: filepath.Join(r.Scratch, string(side), r.copies+"-home")}
	snap := &snapshot{tree: tree}
	r.prepared[side] = snap
	if err := folder.Make(home.From); err != nil {
		return err
	}
	if err := r.same(ctx, home); err != nil {
		return err
	}
	snap.home = home.Flip()
	if r.in.Prepared == nil {
		return nil
	}
	snap.kept = true
	return r.in.Prepared(ctx, side, tree)
}

// idle says whether the gate has no command for any side and the caller that wants the
// snapshots gets the trees themselves: nothing was written into them, and nothing is.
func (r *runner) idle() bool {
	for _, p := range r.plan {
		if len(p.Setup)+len(p.Warm)+len(p.Build)+len(p.Lint)+len(p.Test) > 0 {
			return false
		}
	}
	return r.facts.Nothing != "" && r.in.Prepared != nil
}

// same makes one HOME what another is. It is in the hands of those whose commands
// used it: what cannot be copied is left out, and said.
func (r *runner) same(ctx context.Context, home *folder.Replica) error {
	if err := home.Reset(ctx); err != nil && ctx.Err() == nil {
		r.note("what commands left in HOME could not be copied whole for later ones: %v", err)
		return folder.Make(home.To)
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
	return r.same(ctx, snap.home)
}

// runFresh runs a test command in the prepared side as it was before the first
// test, so that what an earlier run left in the tree or in HOME decides nothing.
func (r *runner) runFresh(ctx context.Context, side Side, c ecosystem.Command) (Suite, Step, error) {
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
