package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A source brings objects that a mirror lacks, all of them in one go. Where they are
// part of the trees of some commits, those are named.
type source func(ctx context.Context, commits, missing []string) error

func (m *Mirror) setSource(s source) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.source = s
}

// lacks says which of some commits are not known to be here whole, and where what
// they lack comes from; nil: no one can say.
func (m *Mirror) lacks(commits []string) ([]string, source) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var todo []string
	for _, c := range commits {
		if !m.complete[c] && !slices.Contains(todo, c) {
			todo = append(todo, c)
		}
	}
	return todo, m.source
}

// partial says whether some history is here without file contents.
func (m *Mirror) partial() bool {
	_, err := os.Stat(m.path(partialFile))
	return err == nil
}

// unmark says that nothing is missing. The mirror's lock is held.
func (m *Mirror) unmark() error {
	// To git these say that what a pack lacks is to be had from a remote.
	promises, _ := filepath.Glob(filepath.Join(globQuote(m.Dir), "objects", "pack", "*.promisor"))
	var errs []error
	for _, p := range append(promises, m.path(partialFile)) {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Trees makes sure that all files of some commits are here. Whatever needs them sees
// to that by itself; this brings those of several commits at once.
func (m *Mirror) Trees(ctx context.Context, commits ...string) error {
	if err := m.need(ctx, commits...); err != nil {
		return fmt.Errorf("bring the files of %s: %w", change.Short(commits[0]), err)
	}
	return nil
}

// need makes sure, in a partial mirror, that the whole tree of each commit is
// here. It does nothing in any other.
func (m *Mirror) need(ctx context.Context, commits ...string) error {
	if err := objects.CheckIDs(commits...); err != nil {
		return err
	}
	if !m.partial() {
		return nil
	}
	todo, from := m.lacks(commits)
	if from == nil || len(todo) == 0 {
		return nil
	}
	lock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := m.fill(ctx, from, todo); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range todo {
		m.complete[c] = true
	}
	return nil
}

// needBetween makes sure, in a partial mirror, that the files that differ between two
// commits are here.
func (m *Mirror) needBetween(ctx context.Context, a, b string) error {
	if err := objects.CheckIDs(a, b); err != nil {
		return err
	}
	if !m.partial() {
		return nil
	}
	if todo, from := m.lacks([]string{a, b}); from == nil || len(todo) == 0 {
		return nil
	}
	missing, err := m.missingBetween(ctx, a, b)
	if err != nil { // folders are missing as well, or one of the commits
		return m.need(ctx, a, b)
	}
	if len(missing) == 0 {
		return nil
	}
	lock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	if missing, err = m.missingBetween(ctx, a, b); err != nil || len(missing) == 0 { // someone else needed the same
		return err
	}
	_, from := m.lacks(nil)
	return from(ctx, nil, missing)
}

// missingBetween returns the objects that the mirror lacks of what differs.
func (m *Mirror) missingBetween(ctx context.Context, a, b string) ([]string, error) {
	out, err := m.run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", a, b)
	if err != nil {
		return nil, err
	}
	records, err := git.ParseRaw(out)
	if err != nil {
		return nil, err
	}
	var oids []string
	for _, r := range records {
		for _, side := range [][2]string{{r.OldMode, r.OldOID}, {r.NewMode, r.NewOID}} {
			if side[0] != objects.ModeGitlink && strings.Trim(side[1], "0") != "" {
				oids = append(oids, side[1])
			}
		}
	}
	slices.Sort(oids)
	oids = slices.Compact(oids)
	types, err := m.git.ObjectTypes(ctx, m.Dir, oids)
	var missing []string
	for i, typ := range types {
		if typ == "" {
			missing = append(missing, oids[i])
		}
	}
	return missing, err
}

// fill makes sure that the trees of commits are here whole.
func (m *Mirror) fill(ctx context.Context, from source, commits []string) error {
	if !slices.ContainsFunc(commits, func(c string) bool { _, err := m.list(c); return err != nil }) {
		return nil
	}
	for before := []string(nil); ; {
		missing, err := m.missing(ctx, commits, "--no-walk=unsorted")
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		if len(missing) == 0 {
			return nil
		}
		if !m.partial() {
			return fmt.Errorf("%w: %d objects are missing, such as %s", errDamaged, len(missing), missing[0])
		}
		if slices.Equal(missing, before) {
			return cannotBeHad(missing)
		}
		before = missing
		if err := from(ctx, commits, missing); err != nil {
			return err
		}
	}
}

func cannotBeHad(missing []string) error {
	return fmt.Errorf("%d objects of a partial history cannot be fetched, such as %s", len(missing), missing[0])
}

// missing returns the objects that commits lead to, that the mirror lacks and that
// nothing else missing leads to.
func (m *Mirror) missing(ctx context.Context, commits []string, options ...string) ([]string, error) {
	out, err := m.git.Run(ctx, git.Call{
		GitDir: m.Dir,
		Stdin:  strings.NewReader(strings.Join(commits, "\n") + "\n"),
		Args:   slices.Concat([]string{"rev-list", "--objects", "--quiet", "--missing=print"}, options, []string{"--stdin"}),
	})
	if err != nil {
		return nil, err
	}
	var oids []string
	for l := range strings.SplitSeq(string(out), "\n") {
		if oid, ok := strings.CutPrefix(l, "?"); ok {
			oids = append(oids, oid)
		}
	}
	return oids, nil
}

// wholeLock is what the name of a mirror is followed by in the name of the file that
// is locked while [Mirror.Whole] is at work. The mirror's own lock would keep others
// waiting for as long.
const wholeLock = ".whole.lock"

// wholeBatch is how many objects are fetched at a time: what has come stays.
const wholeBatch = 50_000

// Whole brings what the history of a partial mirror still lacks, so that git finds
// all that it looks for. It does nothing in any other. It may run beside everything
// else, also in several processes, of which one works and the others wait. What it
// has brought when it ends early need not be brought again.
func (m *Mirror) Whole(ctx context.Context) error {
	if !m.partial() {
		return nil
	}
	lock, err := acquire(ctx, m.Dir+wholeLock, syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Release()
	for before := []string(nil); m.partial(); {
		pins := m.pins()
		missing, err := m.missing(ctx, pins)
		if err != nil {
			return fmt.Errorf("bring all history: %w", err)
		}
		if len(missing) == 0 {
			if err := m.settle(ctx, pins); err != nil {
				return fmt.Errorf("bring all history: %w", err)
			}
			continue
		}
		_, from := m.lacks(nil)
		if from == nil {
			return errors.New("bring all history: it is not known from where")
		}
		if slices.Equal(missing, before) {
			return fmt.Errorf("bring all history: %w", cannotBeHad(missing))
		}
		before = missing
		for batch := range slices.Chunk(missing, wholeBatch) {
			if err := from(ctx, nil, batch); err != nil {
				return fmt.Errorf("bring all history: %w", err)
			}
		}
	}
	return nil
}

// settle ends that the mirror is partial, when there are no more commits than those
// that were found to be whole.
func (m *Mirror) settle(ctx context.Context, whole []string) error {
	lock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	for _, pin := range m.pins() {
		if !slices.Contains(whole, pin) {
			return nil
		}
	}
	if err := m.unmark(); err != nil {
		return err
	}
	m.tidy(ctx)
	return nil
}
