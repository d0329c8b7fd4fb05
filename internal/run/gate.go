package run

import (
	"context"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/workspace"
)

// gate builds, tests and compares both sides.
func (s *session) gate(ctx context.Context) (*gate.Result, error) {
	base, err := s.worktree(ctx, "base", s.src.Change.MergeBase)
	if err != nil {
		return nil, err
	}
	head, err := s.worktree(ctx, "head", s.src.Change.HeadSHA)
	if err != nil {
		return nil, err
	}
	g := &gate.Gate{
		Sandbox: s.Sandbox, Log: s.log, Mirror: s.mirror, Go: s.Go,
		Network: gate.Network(s.Network), CacheDir: filepath.Join(s.project, "cache"), Shared: filepath.Join(s.Home, "cache"), Scratch: filepath.Join(s.trees, "scratch"), Progress: s.gateProgress, Now: s.Now,
	}
	return g.Run(ctx, gate.Input{
		Change: s.src.Change, Base: base, Head: head,
		Commands:     gate.Commands(s.config.Commands),
		Env:          baseEnv(s.config),
		RequireRepro: s.config.RequireFailToPass,
	})
}

// worktree lays a commit out in a folder of the run, which goes with it.
func (s *session) worktree(ctx context.Context, name, commit string) (*workspace.Tree, error) {
	t, err := s.mirror.Worktree(ctx, filepath.Join(s.trees, name), commit)
	if err != nil {
		return nil, err
	}
	s.laid = append(s.laid, t)
	return t, nil
}
