package reproduce

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/workspace"
)

// scratchVar names the folder with copies of both sides in which commands may change what
// they like. They are made when a command names them: most never do.
const scratchVar = "YCBOT_SCRATCH"

// scratch is that folder, beside the home of the commands: in a folder that commands can
// write into, one could have put a link in the place of what is made here.
func scratch(at evidence.Roots) string { return at.Home + "-scratch" }

// LayScratch makes the copies that the command of x names and that are not there, head and
// base in $YCBOT_SCRATCH, and lets x write into those that are.
func (s *Sides) LayScratch(ctx context.Context, at evidence.Roots, x *evidence.Execution) error {
	if err := s.layNamed(ctx, at, x.Command+x.Script); err != nil {
		return err
	}
	for _, side := range []string{"head", "base"} {
		if dir := filepath.Join(scratch(at), side); isFolder(dir) {
			x.Run.Writable = append(slices.Clone(x.Run.Writable), dir)
		}
	}
	return nil
}

func isFolder(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}

func (s *Sides) layNamed(ctx context.Context, at evidence.Roots, command string) error {
	if !strings.Contains(command, scratchVar) && !strings.Contains(command, scratch(at)) {
		return nil
	}
	sides := map[string]*workspace.Tree{"head": s.Head, "base": s.Base}
	named := func(side string) bool {
		for _, folder := range []string{"$" + scratchVar, "${" + scratchVar + "}", scratch(at)} {
			for _, quote := range []string{"", "\"", "'"} {
				if strings.Contains(command, folder+quote+"/"+side) {
					return true
				}
			}
		}
		return false
	}
	if some := named("head") || named("base"); some {
		for side := range sides {
			if !named(side) {
				delete(sides, side)
			}
		}
	}
	for side, tree := range sides {
		dir := filepath.Join(scratch(at), side)
		if isFolder(dir) {
			continue
		}
		if err := tree.CopyFiles(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}
