package run

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// gate builds, tests and compares both sides.
func (s *session) gate(ctx context.Context) (*gate.Result, error) {
	if why := s.around.refused(); why != "" {
		return refusal(why), nil
	}
	in, err := s.gateInput(ctx)
	if err != nil {
		return nil, err
	}
	result, err := s.gateOf(s.log).Run(ctx, in)
	if result != nil {
		if why := s.lackingHistory(ctx); why != "" {
			result.Notes = append(result.Notes, why)
		}
	}
	return result, err
}

// untrusted is the trust of a head whose author, or whose repository, has no
// write permission.
const untrusted = "untrusted"

// gateOf makes the gate of this run, which records in log.
func (s *session) gateOf(log *evidence.Log) *gate.Gate {
	return &gate.Gate{
		Sandbox: s.Sandbox, Log: log, Mirror: s.mirror, Tools: s.Tools, Network: s.gateNetwork(), Services: s.services,
		CacheDir: filepath.Join(s.project, "cache"), Shared: filepath.Join(s.Home, "cache"),
		Scratch: filepath.Join(s.trees, "scratch"), Progress: s.gateProgress, Now: s.Now,
		First:   s.first,
		Results: s.baseResults(), Flakes: s.flakes(), Whole: s.history.wait,
	}
}

// gateNetwork is what the gate's commands get: setup of a head that is not trusted
// reaches registries alone, unless the operator gives all commands the network.
func (s *session) gateNetwork() gate.Network {
	if s.job.Trust == untrusted && cmp.Or(s.Network, NetworkSetup) == NetworkSetup {
		return gate.NetworkRegistries
	}
	return gate.Network(s.Network)
}

// gateInput lays both sides out. Where agents follow, the prepared snapshot of
// each is kept.
func (s *session) gateInput(ctx context.Context) (gate.Input, error) {
	var base, head *workspace.Tree
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { base, err = s.worktree(groupCtx, "base", s.src.Change.MergeBase); return err })
	group.Go(func() (err error) { head, err = s.worktree(groupCtx, "head", s.src.Change.HeadSHA); return err })
	if err := group.Wait(); err != nil {
		return gate.Input{}, err
	}
	in := gate.Input{
		Change: s.src.Change, Base: base, Head: head,
		Commands:     gate.Commands(s.config.Commands),
		Env:          s.env(),
		RequireRepro: s.config.RequireFailToPass,
		Expectations: compare.Floor(compare.Policy(s.config.Expectations), s.job.Trust == untrusted || s.job.Machine, promisesNoChange(s.src.Change.Title)),
		UntilFirst:   s.job.UntilFirst,
		Untrusted:    s.job.Trust == untrusted,
	}
	if s.job.Cast != nil || s.job.Previous != "" {
		in.Prepared = s.snapshot
	}
	return in, nil
}

// noChange is a title that promises that nothing behaves otherwise: a type of
// Conventional Commits (https://www.conventionalcommits.org) that stands for that, or
// the words for it.
var noChange = pattern.New(`(?i)^\s*(?:refactor|style|docs?|chore|test|tests|ci|build|perf)(?:\([^)]*\))?:|` +
	`\b(?:refactor(?:s|ed|ing)?|clean\s?-?up|no functional changes?|nfc|no behaviou?r(?:al)? changes?|rename[sd]?|renaming|reformat(?:s|ted|ting)?|typo)\b`)

// promisesNoChange says whether a title promises that nothing behaves otherwise.
// Conventional Commits mark a breaking change with "!" before the colon.
func promisesNoChange(title string) bool {
	kind, _, _ := strings.Cut(title, ":")
	return !strings.HasSuffix(kind, "!") && noChange.MatchString(title)
}

// snapshot keeps a prepared tree, for agents and for what is run again.
func (s *session) snapshot(_ context.Context, side gate.Side, t *workspace.Tree) error {
	s.laid = append(s.laid, t)
	s.snapshots[side] = t
	return nil
}

// worktree lays a commit out in a folder of the run, which goes with it.
func (s *session) worktree(ctx context.Context, name, commit string) (*workspace.Tree, error) {
	t, err := s.mirror.Worktree(ctx, filepath.Join(s.trees, name), commit)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.laid = append(s.laid, t)
	return t, nil
}
