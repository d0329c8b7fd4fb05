package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
)

// What one listing holds at most.
const (
	dirEntries       = 100
	structureLines   = 400
	structureDepth   = 3
	structureDeepest = 8
)

type listDirArgs struct {
	Path string `json:"path,omitempty" jsonschema:"Folder; default the root."`
	Side string `json:"side,omitempty" jsonschema:"head (default) or base."`
}

// ListDir makes the tool list_dir.
func ListDir(t Trees) Tool {
	return define("list_dir", Read, true, func(_ context.Context, in listDirArgs) (Result, error) {
		at, err := t.place(in.Path, in.Side)
		if err != nil {
			return Result{}, err
		}
		entries, err := readDir(at.root, at.name)
		if err != nil {
			return Result{}, err
		}
		var b strings.Builder
		for i, e := range entries {
			if i == dirEntries {
				fmt.Fprintf(&b, "[… %d more …]\n", len(entries)-i)
				break
			}
			b.WriteString(entryLine(at.root, path.Join(at.name, e.Name()), e) + "\n")
		}
		if len(entries) == 0 {
			b.WriteString("[the folder is empty]\n")
		}
		return Result{Text: b.String()}, nil
	})
}

// readDir lists a folder by name, without git's own.
func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.IsDir() {
		return nil, Badf("%s is no folder; read_file reads it", show(name))
	}
	entries, err := f.ReadDir(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fileError(name, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" })
	sorted.By(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// entryLine says what an entry is: folders end in a slash, links show where
// they point, files have their size.
func entryLine(root *os.Root, name string, e fs.DirEntry) string {
	shown := inline(e.Name())
	switch {
	case e.IsDir():
		return shown + "/"
	case e.Type()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		if err != nil {
			return shown + " -> ?"
		}
		return shown + " -> " + inline(target)
	case !e.Type().IsRegular():
		return shown + " (" + kind(e.Type()) + ")"
	}
	info, err := e.Info()
	if err != nil {
		return shown
	}
	return fmt.Sprintf("%s (%d bytes)", shown, info.Size())
}
