package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
)

// What is kept of the tree that an agent worked in, beside its transcript: how it
// differs in the end from the prepared head. Tracked files were put back after
// each command, so that these are files that the agent made, or that its commands
// built. The tree itself goes with the run.
const (
	keptFiles = 200       // in the status
	keptWalk  = 200_000   // entries that are looked at
	keptFile  = 64 << 10  // of one file in the diff
	keptDiff  = 256 << 10 // of the whole diff
)

// keepTrees writes the status and the diff of each agent's tree. What cannot be
// read there is said in the status: no run fails because of it.
func (w *work) keepTrees(ctx context.Context) error {
	w.mu.Lock()
	trees := map[string]*workspace.Tree{}
	for id, ws := range w.workspaces {
		if ws.Tree != nil {
			trees[id] = ws.Tree
		}
	}
	w.mu.Unlock()
	for _, rec := range w.runner.List() {
		tree, ok := trees[rec.ID]
		if !ok {
			continue
		}
		k := &keeper{old: w.sides.Head.Dir, tracked: tripped(w.dir.Journal, kindChanged, rec.ID), moved: tripped(w.dir.Journal, kindMoved, rec.ID)}
		err := tree.Lay(ctx)
		if err == nil {
			err = k.compare(ctx, tree.Dir)
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(&k.status, "! not all of it could be read: %v\n", err)
		}
		name := strings.TrimSuffix(rundir.TranscriptPath(rec.Agent, rec.ID), ".md")
		if err := errors.Join(w.dir.Write(name+".status", k.head()), w.dir.Write(name+".diff", k.diff.Bytes())); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// A keeper compares a tree with what it was made from.
type keeper struct {
	old          string
	tracked      []string // files that were put back
	moved        []string // HEAD, the index and refs that were
	status, diff bytes.Buffer
	files, seen  int
}

// head is the status with what a reader must know before it.
func (k *keeper) head() []byte {
	var b bytes.Buffer
	b.WriteString("# What differs from the prepared head: A made, M changed, D removed, R tracked and put back after the command that changed it, G the same of git itself\n")
	for _, p := range k.tracked {
		fmt.Fprintf(&b, "R %q\n", p)
	}
	for _, name := range k.moved {
		fmt.Fprintf(&b, "G %q\n", name)
	}
	b.Write(k.status.Bytes())
	if k.files > keptFiles {
		fmt.Fprintf(&b, "… and %d more\n", k.files-keptFiles)
	}
	return b.Bytes()
}

// compare goes through both trees without following a link.
func (k *keeper) compare(ctx context.Context, dir string) error {
	now, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer now.Close()
	was, err := os.OpenRoot(k.old)
	if err != nil {
		return err
	}
	defer was.Close()
	return errors.Join(
		k.walk(ctx, now, func(name string, d fs.DirEntry) { k.one(was, now, name, d) }),
		k.walk(ctx, was, func(name string, _ fs.DirEntry) {
			if _, err := now.Lstat(filepath.FromSlash(name)); errors.Is(err, fs.ErrNotExist) {
				k.note('D', name)
			}
		}),
	)
}

// walk visits the files of a tree.
func (k *keeper) walk(ctx context.Context, root *os.Root, visit func(string, fs.DirEntry)) error {
	k.seen = 0
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if k.seen++; k.seen > keptWalk {
			return fmt.Errorf("there are more than %d files", keptWalk)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir // its owner made it unreadable
		case err != nil, name == ".git", d.IsDir():
			return nil //nolint:nilerr // as above
		}
		visit(name, d)
		return nil
	})
}

// one compares a file. Copies keep the times of what they were made from.
func (k *keeper) one(was, now *os.Root, name string, d fs.DirEntry) {
	local := filepath.FromSlash(name)
	info, err := d.Info()
	if err != nil {
		return
	}
	before, err := was.Lstat(local)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.note('A', name)
	case err != nil, before.Mode() == info.Mode() && before.Size() == info.Size() && before.ModTime().Equal(info.ModTime()):
		return
	case before.Mode().Type() == info.Mode().Type() && before.Mode().Perm() == info.Mode().Perm() && same(was, now, local, info):
		return
	default:
		k.note('M', name)
	}
	if info.Mode().IsRegular() && k.diff.Len() < keptDiff && k.files <= keptFiles {
		k.difference(was, now, name)
	}
}

// same compares two files by what is in them.
func same(a, b *os.Root, name string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		x, errX := a.Readlink(name)
		y, errY := b.Readlink(name)
		return errX == nil && errY == nil && x == y
	}
	if info.Size() > keptFile {
		return false
	}
	x, okX := text(a, name)
	y, okY := text(b, name)
	return okX && okY && bytes.Equal(x, y)
}

func (k *keeper) note(what byte, name string) {
	if k.files++; k.files <= keptFiles {
		fmt.Fprintf(&k.status, "%c %q\n", what, name)
	}
}

// difference writes the diff of a file; of one that is no text, or long, that it
// is there.
func (k *keeper) difference(was, now *os.Root, name string) {
	after, ok := text(now, filepath.FromSlash(name))
	if !ok {
		fmt.Fprintf(&k.diff, "--- %s: not shown: longer than %d KiB, or unreadable\n", path.Clean(name), keptFile>>10)
		return
	}
	before, _ := text(was, filepath.FromSlash(name))
	if bytes.IndexByte(after, 0) >= 0 || bytes.IndexByte(before, 0) >= 0 {
		fmt.Fprintf(&k.diff, "--- %s: not shown: binary\n", path.Clean(name))
		return
	}
	k.diff.Write(diff.Diff("a/"+name, before, "b/"+name, after))
}

// text reads a file that is not too long for a diff. A pipe or device in the place
// of a file is not opened.
func text(root *os.Root, name string) ([]byte, bool) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > keptFile {
		return nil, false
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, keptFile+1))
	return data, err == nil && len(data) <= keptFile
}
