package run

import (
	"context"
	"fmt"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A backfill brings what the first fetch of a large repository has left out of the
// mirror, while the run goes on. Commands that look at history must not see some of it
// missing, nor one side less of it than the other: none but the gate's setup begins
// before it has ended.
type backfill struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error // of the whole of it, when done is closed
}

// fetchCommits brings the commits of a pull request, and the tags that point into their history.
func (r *Runner) fetchCommits(ctx context.Context, p *Pull, m *workspace.Mirror) error {
	from := p.From
	if r.exposed() {
		from.Size = 0 // all of it now
	}
	if err := m.FetchTagged(ctx, from, p.Base, p.Head); err != nil {
		return fmt.Errorf("fetch %s and %s of %s: %w", change.Short(p.Base), change.Short(p.Head), p.Repo, err)
	}
	return nil
}

// exposed says whether commands can look into git's environment, where the credential
// for fetching is: then git must have ended before one begins.
func (r *Runner) exposed() bool { return r.Sandbox.Status().Tier == sandbox.TierNone }

// bringHistory brings the files of both sides of a pull request, and begins to bring
// what else is missing. A run that is continued on another machine finds an empty
// mirror there, and fetches the commits again.
func (p *prepared) bringHistory(ctx context.Context) error {
	pull, c := p.begun.job.Pull, p.source.Change
	if pull == nil {
		return nil
	}
	if p.begun.dir.Resumed {
		if err := p.runner.fetchCommits(ctx, pull, p.mirror); err != nil {
			return err
		}
	}
	if err := p.mirror.Trees(ctx, c.BaseSHA, c.MergeBase, c.HeadSHA); err != nil {
		return err
	}
	if p.runner.exposed() { // in a mirror that a run with a sandbox has begun
		return p.mirror.Whole(ctx)
	}
	p.history = beginBackfill(ctx, p.mirror)
	return nil
}

func beginBackfill(ctx context.Context, m *workspace.Mirror) *backfill {
	b := &backfill{done: make(chan struct{})}
	ctx, b.cancel = context.WithCancel(ctx)
	go func() {
		defer close(b.done)
		b.err = m.Whole(ctx)
	}()
	return b
}

// wait waits for it to end, well or not, as long as ctx does not. nil has ended.
func (b *backfill) wait(ctx context.Context) {
	if b == nil {
		return
	}
	select {
	case <-b.done:
	case <-ctx.Done():
	}
}

// stop breaks it off. The next run takes it up again.
func (b *backfill) stop() {
	if b != nil {
		b.cancel()
		<-b.done
	}
}

// failure is why the backfill came to nothing; nil where it did not, or where ctx ended
// before that was known.
func (b *backfill) failure(ctx context.Context) error {
	if b == nil {
		return nil
	}
	b.wait(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return b.err
}
