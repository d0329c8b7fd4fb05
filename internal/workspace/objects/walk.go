package objects

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Bounds of a commit's files that are listed in the process: git is faster with more.
const (
	mostFiles = 2000
	deepest   = 64 // folders in folders
)

// tree reads a tree object. A path of its entries is one name. What git would not
// write is left to git.
func (o *Store) tree(name string, work *int64) ([]Entry, error) {
	t, err := o.read(name, work)
	if err != nil {
		return nil, err
	}
	if t.kind != plumbing.TreeObject {
		return nil, fmt.Errorf("%w: %s is a %s", ErrAskGit, name, t.kind)
	}
	var entries []Entry
	for rest, before := t.data, ""; len(rest) > 0; {
		mode, after, ok := bytes.Cut(rest, []byte(" "))
		file, after, ok2 := bytes.Cut(after, []byte{0})
		if !ok || !ok2 || len(after) < len(oid{}) {
			return nil, fmt.Errorf("%w: tree %s is cut off", ErrAskGit, name)
		}
		e := Entry{Path: string(file), Mode: string(mode), OID: hex.EncodeToString(after[:len(oid{})])}
		rest = after[len(oid{}):]
		key := e.Path
		switch e.Mode {
		case ModeTree:
			key += "/" // folders are sorted as if their names ended so
		case ModeFile, ModeExec, ModeLink, ModeGitlink:
		default:
			return nil, fmt.Errorf("%w: tree %s: mode %.20q", ErrAskGit, name, e.Mode)
		}
		if !ValidPath(e.Path) || strings.Contains(e.Path, "/") || key <= before {
			return nil, fmt.Errorf("%w: tree %s: entry %.80q", ErrAskGit, name, e.Path)
		}
		before = key
		entries = append(entries, e)
	}
	return entries, nil
}

// File returns the content of a commit's file.
func (o *Store) File(commit, path string) ([]byte, error) {
	c, err := o.Commit(commit)
	if err != nil {
		return nil, err
	}
	work, at := int64(maxWork), c.Tree
	names := strings.Split(path, "/")
	for i, name := range names {
		entries, err := o.tree(at, &work)
		if err != nil {
			return nil, err
		}
		var folder, file *Entry
		for i, e := range entries {
			if e.Path == name && e.Mode == ModeTree {
				folder = &entries[i]
			} else if e.Path == name {
				file = &entries[i]
			}
		}
		switch last := i == len(names)-1; {
		case !last && folder != nil:
			at = folder.OID
		case last && file != nil && file.Mode == ModeGitlink:
			return nil, ErrSubmodule
		case last && file != nil:
			return o.content(file.OID, &work)
		case last && folder != nil:
			return nil, ErrFolder
		default:
			return nil, fs.ErrNotExist
		}
	}
	return nil, fs.ErrNotExist
}

// Blob returns the content of a blob.
func (o *Store) Blob(id string) ([]byte, error) {
	work := int64(maxWork)
	return o.content(id, &work)
}

func (o *Store) content(name string, work *int64) ([]byte, error) {
	b, err := o.read(name, work)
	if err == nil && b.kind != plumbing.BlobObject {
		err = fmt.Errorf("%w: %s is a %s", ErrAskGit, name, b.kind)
	}
	return b.data, err
}

// Files lists what a commit holds, in git's order.
func (o *Store) Files(commit string) ([]Entry, error) {
	c, err := o.Commit(commit)
	if err != nil {
		return nil, err
	}
	w := walk{Store: o, work: maxWork}
	err = w.folder(c.Tree, "", 0)
	return w.out, err
}

// A walk lists the files of a tree.
type walk struct {
	*Store
	work int64 // bytes that it may still read
	seen int   // entries
	out  []Entry
}

func (w *walk) folder(name, path string, depth int) error {
	entries, err := w.tree(name, &w.work)
	if err != nil {
		return err
	}
	if w.seen += len(entries); w.seen > mostFiles || depth > deepest {
		return fmt.Errorf("%w: more than %d files or %d folders in each other", ErrAskGit, mostFiles, deepest)
	}
	for _, e := range entries {
		file := e.Path
		e.Path = path + e.Path
		switch e.Mode {
		case ModeTree:
			if err := w.folder(e.OID, path+file+"/", depth+1); err != nil {
				return err
			}
			continue
		case ModeGitlink:
		default:
			if e.Size, err = w.size(e.OID); err != nil {
				return err
			}
		}
		w.out = append(w.out, e)
	}
	return nil
}
