package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A Tree is a folder with the files of a commit, in which commands may run.
// Its methods are safe for concurrent use, but what they find holds only while
// no command runs in it.
type Tree struct {
	Dir    string
	Commit string
	OID    string   // of the commit's tree object
	Notes  []string // what the folder does not hold although the commit names it

	mirror   *Mirror
	registry string // the worktree's own folder in the mirror, or in what is shown of it
	pointer  []byte // what the file .git must hold
	index    stamp  // of an index that has what the commit has
	lock     *Lock
	later    *later // nil: it was laid out when it was made

	mu          sync.Mutex
	wants       []want          // what tracked files must be, by path
	empty       []string        // submodules that are empty folders, by path
	why         string          // they are, for people
	pointers    []string        // files under Git LFS without their content, by path
	pointersWhy string          // for people
	twin        *folder.Replica // beside the tree that it was copied from or to; nil: none
}

// closeTime bounds how long a tree may take to be removed.
const closeTime = 2 * time.Minute

// Worktree lays a commit out in dir, which must not exist. Conversions of line
// endings and encodings are done as the commit's attributes say; filters are
// not run: files under Git LFS have the contents that the mirror keeps, see
// [Mirror.UseContents], or stay pointers. Submodules stay empty folders.
func (m *Mirror) Worktree(ctx context.Context, dir, commit string) (*Tree, error) {
	if err := m.need(ctx, commit); err != nil {
		return nil, fmt.Errorf("worktree of %s: %w", change.Short(commit), err)
	}
	t, err := m.register(ctx, dir, commit)
	if err != nil {
		return nil, fmt.Errorf("worktree of %s: %w", change.Short(commit), err)
	}
	if err := t.checkout(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("worktree of %s: %w", change.Short(commit), err), t.Close())
	}
	return t, nil
}

// register makes an empty worktree that the mirror knows.
func (m *Mirror) register(ctx context.Context, dir, commit string) (*Tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if filepath.Base(abs) == lockName {
		return nil, fmt.Errorf("%s: %w", abs, fs.ErrInvalid)
	}
	oid, err := m.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	if s := m.showing(); s != nil {
		if err := s.add(ctx, commit); err != nil {
			return nil, err
		}
	}
	lock, err := LockRun(ctx, filepath.Dir(abs))
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(abs); err == nil {
		lock.Release()
		return nil, fmt.Errorf("%s: %w", abs, fs.ErrExist)
	}
	t := &Tree{Dir: abs, Commit: commit, OID: oid, mirror: m, lock: lock}
	if err := t.add(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// add registers the tree with its mirror. It writes what "git worktree add" does
// (gitrepository-layout(5)); that would start two processes for it.
func (t *Tree) add(ctx context.Context) error {
	lock, err := acquire(ctx, t.mirror.Dir+registryLock, syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Release()
	known := filepath.Join(t.mirror.home(), "worktrees")
	if err := os.MkdirAll(known, 0o700); err != nil {
		return err
	}
	own := filepath.Join(known, strings.TrimLeft(notSlug.ReplaceAllString(filepath.Base(t.Dir), "-"), ".")+"-")
	registry := strings.TrimSuffix(own, "-")
	for n := 1; ; n++ {
		if err = os.Mkdir(registry, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
		registry = own + strconv.Itoa(n)
	}
	if err != nil {
		return err
	}
	t.registry = registry
	for name, text := range t.registered() {
		if err := os.WriteFile(filepath.Join(registry, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(t.Dir, 0o755); err != nil {
		return err
	}
	t.pointer = []byte("gitdir: " + registry + "\n")
	return os.WriteFile(filepath.Join(t.Dir, ".git"), t.pointer, 0o644)
}

// registered are the files by which the mirror knows the tree.
func (t *Tree) registered() map[string]string {
	return map[string]string{"HEAD": t.Commit + "\n", "commondir": "../..\n", "gitdir": filepath.Join(t.Dir, ".git") + "\n"}
}

// forget is the opposite of add.
func (t *Tree) forget(ctx context.Context) error {
	if t.registry == "" {
		return nil
	}
	lock, err := acquire(ctx, t.mirror.Dir+registryLock, syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := os.RemoveAll(t.registry); err != nil {
		return err
	}
	t.registry = ""
	return nil
}

// checkout writes the files. It is the only time that git runs in a tree, and
// nothing has run there before.
func (t *Tree) checkout(ctx context.Context) error {
	entries, err := t.mirror.Files(ctx, t.Commit)
	if err != nil {
		return err
	}
	room := folder.NewBudget() // one small object can be a million files
	for _, e := range entries {
		if err := errors.Join(room.Entry(), room.Take(e.Size)); err != nil {
			return err
		}
	}
	_, err = t.mirror.git.Run(ctx, git.Call{
		Dir: t.Dir, GitDir: t.mirror.Dir,
		Env:  []string{"GIT_WORK_TREE=" + t.Dir, "GIT_INDEX_FILE=" + t.indexPath()},
		Args: []string{"-c", "core.bare=false", "read-tree", "--reset", "-u", t.Commit},
	})
	if err != nil {
		return err
	}
	t.wants = make([]want, len(entries))
	for i, e := range entries {
		t.wants[i] = want{Entry: e, from: t.Commit, sum: e.OID}
	}
	if err := t.fill(ctx); err != nil {
		return err
	}
	if err := t.baseline(ctx); err != nil {
		return err
	}
	t.noteIndex()
	return nil
}

// fill puts contents in the place of pointers, and notes what a reader of the folder
// might miss. Git takes what was replaced for unchanged: the filter that would make the
// pointer of it is not there.
func (t *Tree) fill(ctx context.Context) error {
	for _, w := range t.wants {
		if w.Mode == objects.ModeGitlink {
			t.empty = append(t.empty, w.Path)
		}
	}
	var laid []string
	if t.usesLFS() {
		var err error
		if t.pointers, laid, err = t.mirror.layContents(t.Dir, t.wants); err != nil {
			return err
		}
	}
	t.said()
	if len(laid) == 0 {
		return nil
	}
	for i, w := range t.wants {
		if _, ok := slices.BinarySearch(laid, w.Path); ok {
			t.wants[i].sum = "" // read when the files are looked at
		}
	}
	_, err := t.mirror.git.Run(ctx, git.Call{
		Dir: t.Dir, GitDir: t.mirror.Dir, Stdin: strings.NewReader(strings.Join(laid, "\x00") + "\x00"),
		Env:  []string{"GIT_WORK_TREE=" + t.Dir, "GIT_INDEX_FILE=" + t.indexPath()},
		Args: []string{"-c", "core.bare=false", "update-index", "--assume-unchanged", "-z", "--stdin"},
	})
	return err
}

// PointersStay says why files under Git LFS are pointers.
func (t *Tree) PointersStay(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pointersWhy = why
	t.said()
}

func (t *Tree) usesLFS() bool {
	for _, w := range t.wants {
		if filepath.Base(w.Path) != ".gitattributes" || w.Mode == objects.ModeGitlink || w.Size > maxAttributes {
			continue
		}
		if data, err := t.read(w.Path, int(w.Size)); err == nil && bytes.Contains(data, []byte(lfsFilter)) {
			return true
		}
	}
	return false
}

// read returns the first n bytes of a file.
func (t *Tree) read(path string, n int) ([]byte, error) {
	f, err := t.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, n)
	n, err = f.Read(data)
	return data[:n], err
}

// some names a few of many.
func some(list []string) string {
	const few = 5
	var b strings.Builder
	for i, s := range list[:min(few, len(list))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", s)
	}
	if len(list) > few {
		fmt.Fprintf(&b, " and %d more", len(list)-few)
	}
	return b.String()
}

// Open opens a regular file of the tree for reading. Symbolic links are
// followed as long as they stay inside.
func (t *Tree) Open(name string) (*os.File, error) {
	if err := t.Lay(context.Background()); err != nil {
		return nil, err
	}
	return t.open(name)
}

func (t *Tree) open(name string) (*os.File, error) {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Without O_NONBLOCK a named pipe would never be opened.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %q: not a regular file: %w", name, fs.ErrInvalid)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close removes the tree and the mirror's knowledge of it, whatever commands
// have done to its permissions. It is safe to call twice.
func (t *Tree) Close() error {
	if t.later != nil {
		t.later.end()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := errors.Join(folder.RemoveAll(ctx, t.Dir), t.forget(ctx))
	t.lock.Release()
	if err != nil {
		return fmt.Errorf("remove worktree %s: %w", t.Dir, err)
	}
	return nil
}
