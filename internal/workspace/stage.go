package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// A stage is a copy of the user's index that is brought up to the files; objects that it
// makes go into the mirror.
type stage struct {
	m     *Mirror
	r     *repository.Repository
	v     *repository.View
	index *repository.Index
	head  string
	notes []string
}

// bringStaged copies what was added to the index but never committed.
func (w *stage) bringStaged(ctx context.Context) error {
	out, err := w.m.git.Run(ctx, w.index.Call("diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", w.head))
	if err != nil {
		return err
	}
	records, err := git.ParseRaw(out)
	if err != nil {
		return err
	}
	var oids []string
	for _, rec := range records {
		if rec.NewMode != objects.ModeGitlink && strings.Trim(rec.NewOID, "0") != "" {
			oids = append(oids, rec.NewOID)
		}
	}
	types, err := w.m.git.ObjectTypes(ctx, w.m.Dir, oids)
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for i, oid := range oids {
		if types[i] == "" {
			missing[oid] = true
		}
	}
	list := make([]string, 0, len(missing))
	for oid := range missing {
		list = append(list, oid)
	}
	sort.Strings(list)
	lock, err := w.m.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	return w.m.copyObjects(ctx, w.v, list)
}

// update brings the staged index up to the files.
func (w *stage) update(ctx context.Context) error {
	out, err := w.m.git.Run(ctx, w.index.Call("diff-files", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=dirty"))
	if err != nil {
		return err
	}
	records, err := git.ParseRaw(out)
	if err != nil {
		return err
	}
	tracked := map[string]bool{}
	var gone, changed []string
	for _, rec := range records {
		if tracked[rec.Path] {
			continue // an unmerged path is listed twice
		}
		tracked[rec.Path] = true
		if kind := w.kind(rec.Path); kind == fileOther || kind == fileDir && rec.OldMode != objects.ModeGitlink {
			gone = append(gone, rec.Path)
		} else {
			changed = append(changed, rec.Path)
		}
	}
	added, err := w.untracked(ctx)
	if err != nil {
		return err
	}
	changed, err = w.filtered(ctx, append(changed, added...), tracked)
	if err != nil {
		return err
	}
	remove := w.index.Call("update-index", "--force-remove", "-z", "--stdin")
	remove.Stdin = nulList(gone)
	if _, err := w.m.git.Run(ctx, remove); err != nil {
		return err
	}
	add := w.index.Call("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	add.Stdin = nulList(changed)
	_, err = w.m.git.Run(ctx, add)
	return err
}

func nulList(paths []string) io.Reader {
	var b strings.Builder
	for _, p := range paths {
		b.WriteString(p + "\x00")
	}
	return strings.NewReader(b.String())
}

type fileKind int

const (
	fileOther fileKind = iota + 1 // missing or neither of the others
	fileRegular
	fileLink
	fileDir
)

func (w *stage) kind(path string) fileKind {
	info, err := os.Lstat(filepath.Join(w.r.Root, path))
	switch {
	case err != nil:
		return fileOther
	case info.Mode().IsRegular():
		return fileRegular
	case info.Mode()&fs.ModeSymlink != 0:
		return fileLink
	case info.IsDir():
		return fileDir
	}
	return fileOther
}

// untracked lists new files. Repositories inside this one are left out.
func (w *stage) untracked(ctx context.Context) ([]string, error) {
	list, err := w.index.Excluding(ctx, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	out, err := w.m.git.Run(ctx, list)
	if err != nil {
		return nil, err
	}
	home, _ := filepath.Rel(w.r.Root, filepath.Dir(w.m.Dir))
	var paths []string
	for p := range strings.SplitSeq(string(out), "\x00") {
		switch {
		case p == "" || strings.HasPrefix(p, home+"/"): // our own files are no part of a change
		case strings.HasSuffix(p, "/"):
			w.note("%q is a repository of its own and was left out", p)
		case w.kind(p) == fileRegular || w.kind(p) == fileLink:
			paths = append(paths, p)
		}
	}
	return paths, nil
}

func (w *stage) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// filtered deals with files that a filter of the user's would convert, and
// returns the others.
func (w *stage) filtered(ctx context.Context, paths []string, tracked map[string]bool) ([]string, error) {
	for _, p := range paths {
		if info, err := os.Lstat(filepath.Join(w.r.Root, p)); err == nil && info.Mode().IsRegular() && info.Size() > maxSnapshotFile {
			return nil, fmt.Errorf("%q: %w for a snapshot (%d MB): commit it, or name it in .gitignore or .git/info/exclude", p, git.ErrTooLarge, info.Size()>>20)
		}
	}
	ask := w.index.Call("check-attr", "-z", "--stdin", "filter")
	ask.Stdin = nulList(paths)
	out, err := w.m.git.Run(ctx, ask)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 3*len(paths)+1 {
		return nil, fmt.Errorf("git check-attr: %d answers to %d questions", len(fields)/3, len(paths))
	}
	var rest []string
	for i, p := range paths {
		switch filter := fields[3*i+2]; {
		case filter == "unspecified" || filter == "unset" || filter == "set" || filter == "" || w.kind(p) != fileRegular:
			rest = append(rest, p)
		case filter == "lfs":
			done, err := w.stagePointer(ctx, p)
			if err != nil {
				return nil, err
			}
			if !done {
				rest = append(rest, p)
			}
		case strings.Contains(filter, "crypt"):
			if tracked[p] {
				w.note("%q is stored through the filter %q, which is not run: its last staged content was taken", p, filter)
			} else {
				w.note("%q would be stored through the filter %q, which is not run: it was left out", p, filter)
			}
		default:
			w.note("%q was taken without running the filter %q", p, filter)
			rest = append(rest, p)
		}
	}
	return rest, nil
}

// stagePointer stages the pointer that Git LFS would store for a file. It
// leaves a file alone that is a pointer already.
func (w *stage) stagePointer(ctx context.Context, path string) (bool, error) {
	f, err := os.OpenInRoot(w.r.Root, path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(pointerHead))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, err
	}
	if n == 0 || bytes.Equal(head, []byte(pointerHead)) {
		return false, nil // LFS stores an empty file as it is
	}
	h := sha256.New()
	h.Write(head[:n])
	rest, err := io.Copy(h, f)
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	write := w.index.Call("hash-object", "-w", "--stdin", "--no-filters")
	write.Stdin = strings.NewReader(fmt.Sprintf("%soid sha256:%s\nsize %d\n", pointerHead, hex.EncodeToString(h.Sum(nil)), int64(n)+rest))
	oid, err := w.m.git.Line(ctx, write)
	if err != nil {
		return false, err
	}
	mode := objects.ModeFile
	if info.Mode()&0o100 != 0 {
		mode = objects.ModeExec
	}
	put := w.index.Call("update-index", "--add", "--replace", "-z", "--index-info")
	put.Stdin = strings.NewReader(mode + " " + oid + "\t" + path + "\x00")
	_, err = w.m.git.Run(ctx, put)
	return true, err
}
