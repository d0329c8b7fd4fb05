package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// configFile is where a repository keeps its configuration.
const configFile = ".github/ycbot.yml"

// nothing is what a person reads as the name of an empty base.
const nothing = "nothing"

// checkout resolves base and head, brings them into the mirror, and finds out
// what differs.
func (r *Runner) checkout(ctx context.Context, b *begun, m *workspace.Mirror) (rundir.Source, error) {
	leftOut := r.leftOut(ctx, b)
	defer leftOut()
	src, err := r.resolve(ctx, b, m)
	if err != nil {
		return rundir.Source{}, err
	}
	c := &src.Change
	if err := meet(ctx, m, &src); err != nil {
		return rundir.Source{}, err
	}
	patch, err := difference(ctx, m, &src)
	if err != nil {
		return rundir.Source{}, err
	}
	if note := leftOut(); note != "" {
		src.Notes = append(src.Notes, note)
	}
	if len(src.Commits) > 0 && c.Title == "" {
		c.Title = src.Commits[0].Subject
	}
	if c.Dirty {
		c.Title = "uncommitted changes"
	}
	if c.HeadSHA == c.MergeBase {
		src.Notes = append(src.Notes, "head and base are the same commit: there is no change to verify")
	}
	src.Notes = append(src.Notes, announced(c.Paths(), b.job.Config != nil)...)
	if slices.Contains(c.Paths(), configFile) && b.job.Config == nil {
		wrong, err := brokenConfig(ctx, m, c.HeadSHA)
		if err != nil {
			return rundir.Source{}, err
		}
		src.Notes = append(src.Notes, wrong...)
	}
	src.Notes = append(src.Notes, b.job.Notes...)
	var notes []string
	src.Hidden, notes = hiddenText(src, patch)
	src.Notes = append(src.Notes, notes...)
	return src, nil
}

// meet finds the commit that the head is compared with. Where the histories have
// none in common that is the base itself, and the report says so.
func meet(ctx context.Context, m *workspace.Mirror, src *rundir.Source) error {
	c := &src.Change
	if src.Lacks == "" {
		oid, err := m.MergeBase(ctx, c.BaseSHA, c.HeadSHA)
		if err == nil {
			c.MergeBase = oid
			return nil
		}
		if !errors.Is(err, workspace.ErrNoCommonHistory) {
			return &rundir.UsageError{Err: err}
		}
		src.Lacks = rundir.NoMergeBase
	}
	c.MergeBase = c.BaseSHA
	src.Notes = append(src.Notes, src.Lacks+": "+src.Lacking())
	return nil
}

// difference asks git what the change consists of, side by side: its files and
// commits, and its text as far as it is searched.
func difference(ctx context.Context, m *workspace.Mirror, src *rundir.Source) (patchText, error) {
	c, p := &src.Change, patchText{}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { c.Files, err = m.Diff(ctx, c.MergeBase, c.HeadSHA); return err })
	group.Go(func() (err error) {
		src.Commits, err = m.Log(ctx, c.MergeBase, c.HeadSHA, maxCommits)
		return err
	})
	group.Go(func() (err error) {
		p.text, err = m.Patch(ctx, c.MergeBase, c.HeadSHA, hiddenPatch)
		if p.cut = errors.Is(err, git.ErrTooLarge); p.cut {
			return nil
		}
		return err
	})
	err := group.Wait()
	return p, err
}

// maxCommits bounds how many commit messages of a change are read.
const maxCommits = 25

// resolve finds the commits that the job names and imports them.
func (r *Runner) resolve(ctx context.Context, b *begun, m *workspace.Mirror) (rundir.Source, error) {
	if p := b.job.Pull; p != nil {
		if err := r.fetchCommits(ctx, p, m); err != nil {
			return rundir.Source{}, err
		}
		return p.source(), nil
	}
	base, head := b.ends.base, b.ends.head
	src := rundir.Source{BaseRef: base.Name, HeadRef: head.Name}
	wanted := []string{head.OID}
	if base.OID == "" {
		var err error
		if base.OID, err = m.Nothing(ctx); err != nil {
			return rundir.Source{}, err
		}
		src.Lacks = rundir.EmptyRepo
	} else {
		wanted = append(wanted, base.OID)
	}
	if err := m.Import(ctx, b.repo, wanted...); err != nil {
		return rundir.Source{}, err
	}
	src.Change = change.Change{Repo: b.repo.Name, BaseSHA: base.OID, HeadSHA: head.OID, Task: b.job.Task}
	if b.job.Dirty {
		snap, err := m.Snapshot(ctx, b.repo, "uncommitted changes")
		if err != nil {
			return rundir.Source{}, err
		}
		src.Change.HeadSHA, src.Change.Dirty, src.HeadRef = snap.Commit, true, "working tree"
		src.Notes = append(src.Notes, snap.Notes...)
		if !snap.Dirty {
			src.Notes = append(src.Notes, "the working tree has no uncommitted changes")
		}
	}
	return src, nil
}

// leftOut begins to look for what a person may take for a part of the head:
// uncommitted changes of the tree that it is checked out in. What it returns waits for
// the note; "" where there is none.
func (r *Runner) leftOut(ctx context.Context, b *begun) func() string {
	if b.job.Pull != nil || b.job.Dirty || b.job.Head != "" && b.job.Head != "HEAD" {
		return func() string { return "" }
	}
	var group errgroup.Group
	n := 0
	group.Go(func() (err error) { n, err = b.repo.Uncommitted(ctx); return err })
	return func() string {
		err := group.Wait()
		switch {
		case err != nil: // what is verified does not depend on it
			r.Log.DebugContext(ctx, "uncommitted changes are not known", "error", err)
			return ""
		case n == 0:
			return ""
		case n == 1:
			return "1 tracked file has uncommitted changes, which are not verified: --dirty takes them along"
		}
		return fmt.Sprintf("%d tracked files have uncommitted changes, which are not verified: --dirty takes them along", n)
	}
}

// refs is the rule for what is compared with what. A base without an id is nothing:
// the head is the first commit. With --dirty and no base
// named, uncommitted work is compared like committed work is.
func refs(ctx context.Context, repo *repository.Repository, job Job) (base, head repository.Ref, err error) {
	named := func(name string) (repository.Ref, error) {
		oid, err := repo.Resolve(ctx, name)
		return repository.Ref{Name: name, OID: oid}, err
	}
	switch {
	case job.Base == "" && job.Head == "" && !job.Dirty:
		base, head, err = repo.DefaultRange(ctx)
		if errors.Is(err, repository.ErrFirstCommit) {
			return repository.Ref{Name: nothing}, head, nil
		}
		return base, head, err
	case job.Base == "" && job.Dirty:
		return dirtyRange(ctx, repo)
	}
	if head, err = named(cmp.Or(job.Head, "HEAD")); err != nil {
		return base, head, err
	}
	switch job.Base {
	case "":
		if job.Head == "HEAD" {
			base, _, err = repo.DefaultRange(ctx)
		} else {
			base, err = repo.DefaultBase(ctx, head)
		}
		return base, head, err
	case workspace.NothingID(repo.Format):
		return repository.Ref{Name: nothing}, head, nil
	default:
		base, err = named(job.Base)
		return base, head, err
	}
}

// dirtyRange compares the working tree with where its branch left the default
// branch; on the default branch itself, with its last commit, whatever was before that.
func dirtyRange(ctx context.Context, repo *repository.Repository) (base, head repository.Ref, err error) {
	oid, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return base, head, err
	}
	head = repository.Ref{Name: "HEAD", OID: oid}
	if base, _, err = repo.DefaultRange(ctx); base.Name == "HEAD~1" {
		return head, head, nil //nolint:nilerr // that there is none, or that it is not here
	}
	return base, head, err
}
