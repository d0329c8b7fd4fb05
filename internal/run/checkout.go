package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// configFile is where a repository keeps its configuration.
const configFile = ".github/ycbot.yml"

// A source is what the checkout stage found: the change, and what is said about it.
type source struct {
	Change  change.Change      `json:"change"`
	BaseRef string             `json:"base_ref"` // as a person names it
	HeadRef string             `json:"head_ref"`
	Commits []workspace.Commit `json:"commits"` // from merge base to head, newest first
	Notes   []string           `json:"notes"`
	Hidden  []report.Finding   `json:"hidden"`          // characters that a reviewer does not see
	Lacks   string             `json:"lacks,omitempty"` // why there is no merge base: noMergeBase, emptyRepo; "": there is one
}

// Why a change is compared with something else than a merge base. They are flags of
// the brief, and stored.
const (
	noMergeBase = "no_merge_base" // base and head have no commit in common: with the base as it is
	emptyRepo   = "empty_repo"    // the head is the first commit: with nothing
)

// nothing is what a person reads as the name of an empty base.
const nothing = "nothing"

// checkout resolves base and head, brings them into the mirror, and finds out
// what differs.
func (s *session) checkout(ctx context.Context) (source, error) {
	leftOut := s.leftOut(ctx)
	defer leftOut()
	src, err := s.resolve(ctx)
	if err != nil {
		return source{}, err
	}
	c := &src.Change
	if err := s.meet(ctx, &src); err != nil {
		return source{}, err
	}
	patch, err := s.difference(ctx, &src)
	if err != nil {
		return source{}, err
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
	if slices.Contains(c.Paths(), configFile) && s.job.Config == nil {
		src.Notes = append(src.Notes, "the change alters "+configFile+", which has no effect on its own verification: the base's is used")
	}
	for _, name := range projectRules {
		if slices.Contains(c.Paths(), name) {
			src.Notes = append(src.Notes, "the change alters "+name+", which has no effect on its own verification: the base's is used")
		}
	}
	for _, dir := range agentsChanged(c.Paths()) {
		src.Notes = append(src.Notes, "the change alters agents in "+dir+", which has no effect on its own verification: the base's are used")
	}
	src.Notes = append(src.Notes, s.job.Notes...)
	var notes []string
	src.Hidden, notes = hiddenText(src, patch)
	src.Notes = append(src.Notes, notes...)
	return src, nil
}

// meet finds the commit that the head is compared with. Where the histories have
// none in common that is the base itself, and everybody is told.
func (s *session) meet(ctx context.Context, src *source) error {
	c := &src.Change
	if src.Lacks == "" {
		oid, err := s.mirror.MergeBase(ctx, c.BaseSHA, c.HeadSHA)
		if err == nil {
			c.MergeBase = oid
			return nil
		}
		if !errors.Is(err, workspace.ErrNoCommonHistory) {
			return &UsageError{err}
		}
		src.Lacks = noMergeBase
	}
	c.MergeBase = c.BaseSHA
	src.Notes = append(src.Notes, src.Lacks+": "+src.lacking())
	return nil
}

// lacking says in words what the change is compared with instead of a merge base.
func (src source) lacking() string {
	if src.Lacks == emptyRepo {
		return "there is no commit to compare with: all of the head counts as new"
	}
	return "base and head have no commit in common: the head is compared with the base as it is, and what only the base has counts as taken away"
}

// difference asks git what the change consists of, side by side: its files and
// commits, and its text as far as it is searched.
func (s *session) difference(ctx context.Context, src *source) (patchText, error) {
	c, p := &src.Change, patchText{}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { c.Files, err = s.mirror.Diff(ctx, c.MergeBase, c.HeadSHA); return err })
	group.Go(func() (err error) {
		src.Commits, err = s.mirror.Log(ctx, c.MergeBase, c.HeadSHA, maxCommits)
		return err
	})
	group.Go(func() (err error) {
		p.text, err = s.mirror.Patch(ctx, c.MergeBase, c.HeadSHA, hiddenPatch)
		if p.cut = errors.Is(err, workspace.ErrTooLarge); p.cut {
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
func (s *session) resolve(ctx context.Context) (source, error) {
	if s.job.Pull != nil {
		return s.fetch(ctx)
	}
	base, head := s.between.base, s.between.head
	if s.between.err != nil {
		return source{}, &UsageError{s.between.err}
	}
	if err := s.openMirror(ctx); err != nil {
		return source{}, err
	}
	src := source{BaseRef: base.Name, HeadRef: head.Name}
	wanted := []string{head.OID}
	if base.OID == "" {
		var err error
		if base.OID, err = s.mirror.Nothing(ctx); err != nil {
			return source{}, err
		}
		src.Lacks = emptyRepo
	} else {
		wanted = append(wanted, base.OID)
	}
	if err := s.mirror.Import(ctx, s.repo, wanted...); err != nil {
		return source{}, err
	}
	src.Change = change.Change{Repo: s.repo.Name, BaseSHA: base.OID, HeadSHA: head.OID, Task: s.job.Task}
	if s.job.Dirty {
		snap, err := s.mirror.Snapshot(ctx, s.repo, "uncommitted changes")
		if err != nil {
			return source{}, err
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
func (s *session) leftOut(ctx context.Context) func() string {
	if s.job.Pull != nil || s.job.Dirty || s.job.Head != "" && s.job.Head != "HEAD" {
		return func() string { return "" }
	}
	var group errgroup.Group
	n := 0
	group.Go(func() (err error) { n, err = s.repo.Uncommitted(ctx); return err })
	return func() string {
		err := group.Wait()
		switch {
		case err != nil: // what is verified does not depend on it
			s.Log.DebugContext(ctx, "uncommitted changes cannot be told", "error", err)
			return ""
		case n == 0:
			return ""
		case n == 1:
			return "1 file has uncommitted changes, which are not verified: --dirty takes them along"
		}
		return fmt.Sprintf("%d files have uncommitted changes, which are not verified: --dirty takes them along", n)
	}
}

// refs is the rule for what is compared with what. A base without an id is nothing:
// the head is the first commit. With --dirty and no base
// named, uncommitted work is compared like committed work is.
func (s *session) refs(ctx context.Context) (base, head workspace.Ref, err error) {
	named := func(name string) (workspace.Ref, error) {
		oid, err := s.repo.Resolve(ctx, name)
		return workspace.Ref{Name: name, OID: oid}, err
	}
	if s.job.Dirty && s.job.Head != "" {
		return base, head, errors.New("--dirty takes the working tree as the head: leave --head out")
	}
	switch {
	case s.job.Base == "" && s.job.Head == "" && !s.job.Dirty:
		base, head, err = s.repo.DefaultRange(ctx)
		if errors.Is(err, workspace.ErrFirstCommit) {
			return workspace.Ref{Name: nothing}, head, nil
		}
		return base, head, err
	case s.job.Base == "" && s.job.Dirty:
		return s.dirtyRange(ctx)
	}
	if head, err = named(cmp.Or(s.job.Head, "HEAD")); err != nil {
		return base, head, err
	}
	switch s.job.Base {
	case "":
		if s.job.Head == "HEAD" {
			base, _, err = s.repo.DefaultRange(ctx)
		} else {
			base, err = s.repo.DefaultBase(ctx, head)
		}
		return base, head, err
	case workspace.NothingID(s.repo.Format):
		return workspace.Ref{Name: nothing}, head, nil
	default:
		base, err = named(s.job.Base)
		return base, head, err
	}
}

// dirtyRange compares the working tree with where its branch left the default
// branch; on the default branch itself, with its last commit.
func (s *session) dirtyRange(ctx context.Context) (base, head workspace.Ref, err error) {
	oid, err := s.repo.Resolve(ctx, "HEAD")
	if err != nil {
		return base, head, err
	}
	head = workspace.Ref{Name: "HEAD", OID: oid}
	base, _, err = s.repo.DefaultRange(ctx)
	if err != nil || base.Name == "HEAD~1" {
		return head, head, nil //nolint:nilerr // without a default branch there is still the last commit
	}
	return base, head, nil
}

// ready opens what the stages after checkout need, also in a run that is continued.
func (s *session) ready(ctx context.Context, src source) error {
	s.src = src
	if s.mirror == nil {
		if err := s.openMirror(ctx); err != nil {
			return err
		}
		if s.job.Pull != nil { // a run that is continued on another machine finds an empty mirror there
			if err := s.fetchCommits(ctx); err != nil {
				return err
			}
		}
	}
	if s.job.Pull != nil {
		if err := s.backfill(ctx, src.Change); err != nil {
			return err
		}
	}
	if err := s.unmoved(ctx); err != nil {
		return err
	}
	if err := s.newTrees(ctx); err != nil {
		return err
	}
	if err := s.loadConfig(ctx, src.Change.BaseSHA); err != nil {
		return err
	}
	if s.job.Cast != nil {
		var err error
		if s.may, err = s.permissions(ctx); err != nil {
			return err
		}
		if s.crew, err = journal.Once(s.journal, "run", "agents", func() (crew, error) { return s.muster(ctx) }); err != nil {
			return err
		}
		if s.pull, err = journal.Once(s.journal, "run", "pull", func() (*tool.Pull, error) { return s.seen(), nil }); err != nil {
			return err
		}
	}
	return s.brief(ctx)
}

// seen is the pull request as agents may read it; nil: there is none.
func (s *session) seen() *tool.Pull {
	if p := s.job.Cast.pull; p != nil {
		return p
	}
	if s.job.Pull == nil {
		return nil
	}
	return s.job.Pull.Seen
}

// unmoved makes sure that a working tree is still the one that a run which is
// continued began with.
func (s *session) unmoved(ctx context.Context) error {
	if !s.job.Dirty || s.fresh {
		return nil
	}
	snap, err := s.mirror.Snapshot(ctx, s.repo, "uncommitted changes")
	if err != nil {
		return err
	}
	if snap.Commit != s.src.Change.HeadSHA {
		return &UsageError{fmt.Errorf("the working tree is not the one that the run in %s began with: remove that folder or name another with --out", s.dir)}
	}
	return nil
}

// loadConfig reads the configuration: that of the base commit over the user's,
// or the file that was named instead of the repository's.
func (s *session) loadConfig(ctx context.Context, baseSHA string) error {
	c, err := s.userConfig()
	if err != nil {
		return err
	}
	name, data := configFile+" at "+change.Short(baseSHA), []byte(nil)
	if s.job.Config != nil {
		name, data = s.job.Config.Name, s.job.Config.Data
	} else {
		data, err = s.mirror.ReadFile(ctx, baseSHA, configFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if c, err = c.With(name, data); err != nil {
		return &UsageError{err}
	}
	s.config, s.configSum = c, digest(string(data))
	return s.findServices(ctx)
}

// findServices resolves what the configuration lets commands reach; commands of
// an untrusted head reach nothing.
func (s *session) findServices(ctx context.Context) (err error) {
	if s.job.Trust == untrusted {
		return nil
	}
	if s.services, err = sandbox.FindServices(ctx, &net.Resolver{}, s.config.Network.Allow); err != nil {
		return &UsageError{fmt.Errorf("network.allow: %w", err)}
	}
	return nil
}

// userConfig reads the user's own file, over which the repository's is laid.
func (s *session) userConfig() (*config.Config, error) {
	name := filepath.Join(s.Home, "config.yml")
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return config.Default(), nil
	}
	if err != nil {
		return nil, err
	}
	c, err := config.Parse(name, data)
	if err != nil {
		return nil, &UsageError{err}
	}
	return c, nil
}

// env is the configuration's environment in the form of os.Environ; commands of
// an untrusted head have none of it.
func (s *session) env() []string {
	if s.job.Trust == untrusted {
		return nil
	}
	var out []string
	for k, v := range s.config.Env {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}
