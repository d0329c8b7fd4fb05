package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// A shown is the repository that commands in the trees of one run see in place of the
// mirror, which holds other runs' commits, snapshots of working trees and what nothing
// leads to any more. It has objects of its own, so that nothing else can be read in its
// packs either, and the folders by which git knows the trees.
type shown struct {
	mirror  *Mirror
	dir     string
	commits []string // whose history it shows from the beginning; the first one's is cached

	stop  context.CancelFunc
	ready chan struct{} // closed when it was filled, or could not be

	mu      sync.Mutex
	err     error
	has     []string // commits whose history is in it
	partial bool     // it was filled from a partial mirror
}

// Show makes the repository at dir, which must not exist, that commands in all trees see
// that m makes from now on: the history that commits reach, as far as the mirror has it,
// and the tags that point into that. It is filled while the caller goes on; see
// [Mirror.Shown]. Of the first commit, the base, the history is kept for later runs. The
// caller calls stop before it removes dir.
func (m *Mirror) Show(ctx context.Context, dir string, commits ...string) (stop func(), err error) {
	if err := objects.CheckIDs(commits...); err != nil {
		return nil, err
	}
	for _, d := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags", "worktrees"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, fmt.Errorf("show history: %w", err)
		}
	}
	for name, text := range map[string]string{"config": git.Config(m.Format, true), "HEAD": "ref: refs/heads/none\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("show history: %w", err)
		}
	}
	if err := os.Remove(dir + recordName); err != nil && !errors.Is(err, os.ErrNotExist) { // of a run that was broken off
		return nil, fmt.Errorf("show history: %w", err)
	}
	s := &shown{mirror: m, dir: dir, commits: slices.Compact(slices.Clone(commits)), ready: make(chan struct{})}
	ctx, s.stop = context.WithCancel(ctx)
	m.mu.Lock()
	m.shown = s
	m.mu.Unlock()
	go func() {
		defer close(s.ready)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = s.fill(ctx)
	}()
	return func() { s.stop(); <-s.ready }, nil
}

// Shown returns the folder of the repository that commands may see, once it is filled:
// that of [Mirror.Show], or the mirror itself where nothing else was asked for. When the
// rest of a partial history has come meanwhile, the folder has that too.
func (m *Mirror) Shown(ctx context.Context) (string, error) {
	s := m.showing()
	if s == nil {
		return m.Dir, nil
	}
	if err := s.wait(ctx); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.partial && !m.partial() {
		if err := s.fill(ctx); err != nil {
			return "", err
		}
	}
	return s.dir, nil
}

func (m *Mirror) showing() *shown {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shown
}

// home is the git directory that trees of the mirror belong to.
func (m *Mirror) home() string {
	if s := m.showing(); s != nil {
		return s.dir
	}
	return m.Dir
}

func (s *shown) wait(ctx context.Context) error {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return fmt.Errorf("show history: %w", context.Cause(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// add makes sure that the history of a commit that a tree is made of can be seen, such
// as that of a merge.
func (s *shown) add(ctx context.Context, commit string) error {
	if slices.Contains(s.commits, commit) {
		return nil
	}
	if err := s.wait(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.has, commit) {
		return nil
	}
	if err := s.mirror.pack(ctx, filepath.Join(s.dir, "objects"), packing{want: []string{commit}, have: s.has}); err != nil {
		return fmt.Errorf("show history of %s: %w", commit, err)
	}
	s.has = append(s.has, commit)
	return nil
}

// fill brings objects and tags. What is there already stays: a command may be reading it.
func (s *shown) fill(ctx context.Context) error {
	m := s.mirror
	objects := filepath.Join(s.dir, "objects")
	partial := m.partial()
	tags, besides, err := m.tagsOf(ctx, s.commits)
	if err != nil {
		return fmt.Errorf("show history: %w", err)
	}
	want := slices.Concat(s.commits, s.has)
	var packed strings.Builder
	for _, t := range tags {
		fmt.Fprintf(&packed, "%s %s\n", t.OID, t.Name)
	}
	var have []string
	cuts := git.Shallow(m.Dir)
	if !partial && len(cuts) == 0 && len(s.commits) > 0 { // else what is kept would be less than all
		if err := m.linkHistory(ctx, s.commits[0], filepath.Join(objects, "pack")); err != nil {
			return fmt.Errorf("show history of %s: %w", s.commits[0], err)
		}
		have = s.commits[:1]
	}
	if err := m.pack(ctx, objects, packing{want: want, have: have, besides: besides}); err != nil {
		return fmt.Errorf("show history: %w", err)
	}
	if err := s.cutOff(ctx, cuts); err != nil {
		return fmt.Errorf("show history: %w", err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, packedRefs), []byte(packed.String()), 0o600); err != nil {
		return err
	}
	refs, err := readRefs(s.dir)
	if err != nil {
		return err
	}
	for _, c := range s.commits {
		if !slices.Contains(s.has, c) {
			s.has = append(s.has, c)
		}
	}
	s.partial = partial
	return writeRecord(s.dir, refs)
}

// restoreRefs is [restoreRefs] of what is shown.
func (s *shown) restoreRefs(ctx context.Context) ([]string, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock() // refs are brought with it held
	defer s.mu.Unlock()
	return restoreRefs(ctx, s.dir)
}

// cutOff writes down where the history ends because the mirror has no more of it.
func (s *shown) cutOff(ctx context.Context, cuts []string) error {
	types, err := s.mirror.git.ObjectTypes(ctx, s.dir, cuts)
	if err != nil {
		return err
	}
	var text strings.Builder
	for i, c := range cuts {
		if types[i] == "commit" {
			text.WriteString(c + "\n")
		}
	}
	if text.Len() == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(s.dir, "shallow"), []byte(text.String()), 0o600)
}

// tagsOf returns the tags that point into the history of commits, and the objects of
// annotated ones.
func (m *Mirror) tagsOf(ctx context.Context, commits []string) (tags []repository.Ref, objects []string, err error) {
	args := []string{"for-each-ref", "--format=%(objectname) %(refname) %(objecttype) %(object) %(type)"}
	for _, c := range commits {
		args = append(args, "--merged="+c)
	}
	out, err := m.run(ctx, append(args, "refs/tags/")...)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			return nil, nil, fmt.Errorf("git for-each-ref: unexpected line %q", line)
		}
		tags = append(tags, repository.Ref{Name: f[1], OID: f[0]})
		if f[2] != "tag" {
			continue
		}
		objects = append(objects, f[0])
		for len(f) == 5 && f[4] == "tag" { // of another tag
			to := f[3]
			objects = append(objects, to)
			text, err := m.run(ctx, "cat-file", "tag", to)
			if err != nil {
				return nil, nil, err
			}
			f = strings.Fields(string(text)) // "object", its id, "type", its type
			f = append(f[:0:0], "", "", "", f[1], f[3])
		}
	}
	return tags, objects, nil
}

// A packing is what goes into a pack: all that want reaches and have does not, and some
// objects by themselves.
type packing struct{ want, have, besides []string }

// pack writes a pack into an object store that is not the mirror's. Deltas that the mirror
// has are taken over and no others are looked for, which is what makes it fast. Of a
// partial mirror it takes what is there.
func (m *Mirror) pack(ctx context.Context, objects string, p packing) error {
	in := strings.Join(p.want, "\n") + "\n"
	for _, c := range p.have {
		in += "^" + c + "\n"
	}
	list := git.Call{GitDir: m.Dir, Stdin: strings.NewReader(in), Args: []string{"rev-list", "--objects", "--stdin"}}
	if m.partial() {
		list.Args = append(list.Args, "--missing=allow-any")
	}
	out, err := m.git.Run(ctx, list)
	if err != nil {
		return err
	}
	for _, oid := range p.besides {
		out = append(out, oid...)
		out = append(out, '\n')
	}
	_, err = m.git.Run(ctx, git.Call{
		GitDir: m.Dir,
		Env:    []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + git.Quote(m.path("objects"))},
		Stdin:  bytes.NewReader(out),
		Args:   []string{"pack-objects", "-q", "--delta-base-offset", "--window=0", "--non-empty", filepath.Join(objects, "pack", "pack")},
	})
	return err
}

// Names beside the mirror of what is kept of the history of bases.
const (
	historyDir  = "history"
	historyLock = ".history.lock" // follows the mirror's name
)

// Of the history of bases: how many are kept, and of how many packs one may consist.
const (
	maxHistories    = 4
	maxHistoryPacks = 30
)

// linkHistory puts packs with the history of a commit, and nothing else, into a folder.
// They are kept: the next base needs what came since only.
func (m *Mirror) linkHistory(ctx context.Context, commit, to string) error {
	lock, err := acquire(ctx, m.Dir+historyLock, syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Release()
	root := filepath.Join(filepath.Dir(m.Dir), historyDir)
	dir := filepath.Join(root, commit)
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		if err := m.makeHistory(ctx, root, commit); err != nil {
			return err
		}
	}
	if err := errors.Join(touch(dir), linkPacks(dir, to)); err != nil {
		return err
	}
	kept, err := byUse(root)
	if err != nil {
		return err
	}
	for len(kept) > maxHistories {
		err = errors.Join(err, os.RemoveAll(filepath.Join(root, kept[0])))
		kept = kept[1:]
	}
	return err
}

// byUse lists what is kept, the one that was not used for longest first.
func byUse(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	used := map[string]int64{}
	var names []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && objects.IsID(e.Name()) {
			names = append(names, e.Name())
			used[e.Name()] = info.ModTime().UnixNano()
		}
	}
	slices.SortFunc(names, func(a, b string) int { return int(min(max(used[a]-used[b], -1), 1)) })
	return names, nil
}

// makeHistory adds what a commit has over the one before it that is kept.
func (m *Mirror) makeHistory(ctx context.Context, root, commit string) error {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	left, _ := filepath.Glob(filepath.Join(globQuote(root), ".new-*"))
	for _, dir := range left { // by a process that was killed: the lock is held
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	tmp, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	packs := filepath.Join(tmp, "pack")
	if err := os.Mkdir(packs, 0o700); err != nil {
		return err
	}
	kept, err := byUse(root)
	if err != nil {
		return err
	}
	var have []string
	for _, was := range slices.Backward(kept) {
		parts, err := filepath.Glob(filepath.Join(globQuote(root), was, "*.pack"))
		if err != nil || len(parts) >= maxHistoryPacks {
			continue
		}
		if _, err := m.run(ctx, "merge-base", "--is-ancestor", was, commit); err == nil {
			if err := linkPacks(filepath.Join(root, was), packs); err != nil {
				return err
			}
			have = []string{was}
			break
		}
	}
	if err := m.pack(ctx, tmp, packing{want: []string{commit}, have: have}); err != nil {
		return err
	}
	return os.Rename(packs, filepath.Join(root, commit))
}

// linkPacks gives packs another name in a folder of the same file system. Git never
// writes to one, and commands may only read it.
func linkPacks(from, to string) error {
	for _, ext := range []string{"*.pack", "*.idx"} { // git takes a pack to be there by its index
		files, err := filepath.Glob(filepath.Join(globQuote(from), ext))
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := os.Link(f, filepath.Join(to, filepath.Base(f))); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
	}
	return nil
}
