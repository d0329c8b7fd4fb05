package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// Import brings commits with their whole history, as far as r has it, and the
// tags of it. Of a partial clone the histories' old file contents are left
// where they are; what the commits themselves hold, and what later calls on
// this Mirror need of others, comes from r or else from r's own remote.
func (m *Mirror) Import(ctx context.Context, r *repository.Repository, commits ...string) (err error) {
	if err := objects.CheckIDs(commits...); err != nil {
		return err
	}
	commits = slices.Compact(slices.Sorted(slices.Values(commits)))
	if r.Format != m.Format {
		return fmt.Errorf("import from %s: its objects are %s, those of the mirror %s", r.Root, r.Format, m.Format)
	}
	done, err := m.alter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	err = m.importFrom(ctx, r, v, commits)
	if errors.Is(err, errDamaged) {
		m.git.Log.WarnContext(ctx, "mirror is made again", "dir", m.Dir, "error", err)
		if err = m.create(ctx); err == nil {
			err = m.importFrom(ctx, r, v, commits)
		}
	}
	if err != nil {
		return fmt.Errorf("import from %s: %w", r.Root, err)
	}
	m.setSource(func(ctx context.Context, _, missing []string) error {
		v, err := r.View(ctx)
		if err != nil {
			return err
		}
		defer v.Close()
		return m.supply(ctx, r, v, missing)
	})
	return nil
}

func (m *Mirror) importFrom(ctx context.Context, r *repository.Repository, v *repository.View, commits []string) error {
	wants, haves, err := m.negotiate(ctx, r, v, commits)
	if err != nil {
		return err
	}
	if r.Partial {
		if err := os.WriteFile(m.path(partialFile), nil, 0o600); err != nil {
			return err
		}
	}
	if len(wants) > 0 {
		if err := m.transfer(ctx, v, wants, haves); err != nil {
			return err
		}
		if err := m.updateShallow(ctx, v); err != nil {
			return err
		}
	}
	supply := func(ctx context.Context, _, missing []string) error { return m.supply(ctx, r, v, missing) }
	if err := m.fill(ctx, supply, commits); err != nil {
		return err
	}
	if err := m.pin(ctx, commits); err != nil {
		return err
	}
	if err := m.syncTags(ctx, v); err != nil {
		m.git.Log.WarnContext(ctx, "tags are not mirrored", "dir", m.Dir, "error", err)
	}
	if len(wants) > 0 {
		m.tidy(ctx)
	}
	return ctx.Err()
}

// negotiate says which commits must be brought, and which ones need not be
// because the mirror has them with all that they build on.
func (m *Mirror) negotiate(ctx context.Context, r *repository.Repository, v *repository.View, commits []string) (wants, haves []string, err error) {
	pins := m.pins()
	deeper, err := m.canDeepen(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range commits {
		if deeper || !slices.Contains(pins, c) {
			wants = append(wants, c)
		}
	}
	types, err := m.git.ObjectTypes(ctx, v.Dir, wants)
	if err != nil {
		return nil, nil, err
	}
	for i, typ := range slices.Backward(types) {
		switch {
		case typ == "commit":
		case slices.Contains(pins, wants[i]): // a snapshot, which the mirror alone has
			wants = slices.Delete(wants, i, i+1)
		default:
			return nil, nil, fmt.Errorf("no commit %s: %s", change.Short(wants[i]), r.MissingHint(v, wants[i]))
		}
	}
	if deeper || len(wants) == 0 {
		return wants, nil, nil
	}
	types, err = m.git.ObjectTypes(ctx, v.Dir, pins)
	for i, typ := range types {
		if typ == "commit" {
			haves = append(haves, pins[i])
		}
	}
	return wants, haves, err
}

// transfer copies history from a view. It is what fetching does, without a
// server process in the user's repository.
func (m *Mirror) transfer(ctx context.Context, v *repository.View, wants, haves []string) error {
	in := strings.Join(wants, "\n") + "\n"
	for _, have := range haves {
		in += "^" + have + "\n"
	}
	pack := git.Call{GitDir: v.Dir, Stdin: strings.NewReader(in), Args: []string{"pack-objects", "--revs", "--thin", "--stdout", "-q", "--delta-base-offset"}}
	store := git.Call{GitDir: m.Dir, Args: []string{"index-pack", "--stdin", "--fix-thin"}}
	if !m.partial() {
		return m.git.Pump(ctx, pack, store)
	}
	// pack-objects by itself does not get over missing folders.
	list := git.Call{GitDir: v.Dir, Stdin: pack.Stdin, Args: []string{"rev-list", "--objects", "--missing=allow-any", "--stdin"}}
	pack.Args = []string{"pack-objects", "--stdout", "-q", "--delta-base-offset"}
	return m.git.Pump(ctx, list, pack, store)
}

// copyObjects copies single objects from a view.
func (m *Mirror) copyObjects(ctx context.Context, v *repository.View, oids []string) error {
	if len(oids) == 0 {
		return nil
	}
	from := git.Call{
		GitDir: v.Dir,
		Stdin:  strings.NewReader(strings.Join(oids, "\n") + "\n"),
		Args:   []string{"pack-objects", "--stdout", "-q", "--delta-base-offset", "--window=0"},
	}
	return m.git.Pump(ctx, from, git.Call{GitDir: m.Dir, Args: []string{"index-pack", "--stdin"}})
}

// supply brings objects out of a repository or, where that is a partial clone and
// lacks them too, from its remote.
func (m *Mirror) supply(ctx context.Context, r *repository.Repository, v *repository.View, missing []string) error {
	types, err := m.git.ObjectTypes(ctx, v.Dir, missing)
	if err != nil {
		return err
	}
	var here, there []string
	for i, oid := range missing {
		if types[i] != "" {
			here = append(here, oid)
		} else {
			there = append(there, oid)
		}
	}
	if err := m.copyObjects(ctx, v, here); err != nil {
		return err
	}
	if err := m.fetchObjects(ctx, r.Remote, there); err != nil {
		return fmt.Errorf("%s is a partial clone and lacks %d objects: %w", r.Root, len(there), err)
	}
	return nil
}
