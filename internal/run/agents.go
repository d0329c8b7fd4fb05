package run

import (
	"context"
	"errors"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/orchestrator"
)

// judge has the change verified by agents, after the gate: where that came to
// no result there is nothing to build on. Until here, nothing was paid for but what
// first says.
func (p *prepared) judge(ctx context.Context, f Found, first orchestrator.Preflight, s *snapshots) (*orchestrator.Judgement, error) {
	if f.Gate == nil {
		return nil, errors.New("the gate came to no result")
	}
	sides, err := p.sides(ctx, s)
	if err != nil {
		return nil, err
	}
	r, b := p.runner, p.begun
	tests, err := p.newGate(b.dir.Evidence).TestCommands(ctx, gate.Input{
		Change: p.source.Change, Base: sides.Base, Head: sides.Head, Commands: gate.Commands(p.config.values.Commands), Untrusted: b.job.Trust == untrusted,
	})
	if err != nil {
		return nil, err
	}
	return p.agents.Run(ctx, orchestrator.Task{
		Layout: b.layout, Mirror: p.mirror, Sides: sides, Gate: f.Gate, Previous: f.Previous, Preflight: first,
		Tests: tests, Fetcher: r.Fetcher, Admit: b.progress.hooks.subagentStart, Inbox: p.inbox, Playback: b.repeats != nil, Now: r.Now, Log: r.Log,
	})
}
