package execution

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A Snapshot is a prepared side before any test ran: its tree, and the HOME that
// setup and build have filled.
type Snapshot struct {
	Tree *workspace.Tree
	home *folder.Replica // of it, from which that of the side is brought back
	kept bool            // another closes the tree
}

// Home is the HOME that setup and build have filled.
func (s *Snapshot) Home() string { return s.home.From }

// Prepared is a side as it was when it was prepared; nil: it was not yet.
func (e *Executor) Prepared(side results.Side) *Snapshot { return e.prepared[side] }

// Keep takes a side as prepared as it is now. Shared says that its own tree is the
// snapshot, because no command will write into it; else it is copied. Where given is not
// nil the tree is given to it, which closes it.
func (e *Executor) Keep(ctx context.Context, side results.Side, shared bool, given func(context.Context, results.Side, *workspace.Tree) error) error {
	tree := e.Tree(side)
	if !shared {
		var err error
		if tree, err = tree.Copy(ctx, filepath.Join(filepath.Dir(tree.Dir), e.Copies+"-"+string(side))); err != nil {
			return err
		}
	}
	home := &folder.Replica{From: e.HomeOf(side), To: filepath.Join(e.Scratch, string(side), e.Copies+"-home")}
	snap := &Snapshot{Tree: tree}
	e.prepared[side] = snap
	if err := folder.Make(home.From); err != nil {
		return err
	}
	if err := e.copyHome(ctx, home); err != nil {
		return err
	}
	snap.home = home.Flip()
	if given == nil {
		return nil
	}
	snap.kept = true
	return given(ctx, side, tree)
}

// copyHome makes one HOME what another is. It is in the hands of those whose commands
// used it: what cannot be copied is left out, and said.
func (e *Executor) copyHome(ctx context.Context, home *folder.Replica) error {
	if err := home.Reset(ctx); err != nil && ctx.Err() == nil {
		e.Note("what commands left in HOME could not be copied whole for later ones: %v", err)
		return folder.Make(home.To)
	}
	return ctx.Err()
}

// HomeAt makes a HOME at a place what that of a prepared side was.
func (e *Executor) HomeAt(ctx context.Context, side results.Side, to string) error {
	return e.copyHome(ctx, &folder.Replica{From: e.prepared[side].home.From, To: to})
}

// Reset makes a side's tree and HOME what they were when it was prepared, in the
// same folder: build output and environments of many tools name it.
func (e *Executor) Reset(ctx context.Context, side results.Side) error {
	snap := e.prepared[side]
	if snap == nil {
		return fmt.Errorf("%s was not prepared", side)
	}
	if err := e.Tree(side).Reset(ctx, snap.Tree); err != nil {
		return err
	}
	return e.copyHome(ctx, snap.home)
}

// Close removes the snapshots that were not given away.
func (e *Executor) Close() {
	for _, snap := range e.prepared {
		if snap.kept {
			continue
		}
		if err := snap.Tree.Close(); err != nil && !errors.Is(err, os.ErrNotExist) {
			e.Note("%s could not be removed: %v", snap.Tree.Dir, err)
		}
	}
}
