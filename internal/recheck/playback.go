package recheck

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A playback is a sandbox that answers commands with what is recorded of them, so
// that what uses it goes the recorded way. Commands that execute names are executed
// besides, and seen is given what came of it.
type playback struct {
	past    *past
	moved   *strings.Replacer
	execute func(evidence.Record) bool                                          // nil: nothing is executed
	seen    func(context.Context, evidence.Record, sandbox.Result, error) error // of what was executed
	real    sandbox.Sandbox

	mu      sync.Mutex
	used    map[string]bool
	unknown []string // commands that are not recorded
}

// Status is that of the recorded run, which is concluded once more.
func (b *playback) Status() sandbox.Status {
	if b.execute != nil {
		return b.real.Status()
	}
	return b.past.run.Begun.Settings.Sandbox
}

// Run implements [sandbox.Sandbox].
func (b *playback) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	if ctx.Err() != nil {
		return sandbox.Result{Exit: -1}, context.Cause(ctx)
	}
	rec, ok := b.next(c)
	if !ok {
		return sandbox.Result{Exit: -1}, fmt.Errorf("%q is not recorded", commandOf(c))
	}
	if b.execute != nil && b.execute(rec) {
		live := c
		live.Stdout = nil
		res, err := b.real.Run(ctx, live)
		if err := b.seen(ctx, rec, res, err); err != nil {
			return sandbox.Result{Exit: -1}, err
		}
	}
	stdout, stderr, err := b.past.run.Output(rec)
	if err != nil {
		return sandbox.Result{Exit: -1}, err
	}
	stdout, stderr = []byte(b.moved.Replace(string(stdout))), []byte(b.moved.Replace(string(stderr)))
	if c.Stdout != nil {
		if _, err := c.Stdout.Write(stdout); err != nil {
			return sandbox.Result{Exit: -1}, err
		}
	}
	var ended error
	if rec.Held && !b.comesNext(rec) { // it went on, and ended when it was stopped
		<-ctx.Done()
		ended = context.Cause(ctx)
	}
	return sandbox.Result{
		Exit: rec.Exit, Signal: rec.Signal, TimedOut: rec.TimedOut, Limit: rec.Limit, Started: rec.Started,
		Duration: time.Duration(rec.DurationMS) * time.Millisecond,
		Stdout:   sandbox.Output{Bytes: stdout, Total: int64(len(stdout))},
		Stderr:   sandbox.Output{Bytes: stderr, Total: int64(len(stderr))},
	}, ended
}

// OpenLoopback is an interface on which whatever is waited for listens: the record has what
// came of it.
func (b *playback) OpenLoopback(ctx context.Context) (*sandbox.Loopback, error) {
	if b.execute != nil {
		return sandbox.OpenLoopback(ctx, b.real, sandbox.NetworkNone)
	}
	return sandbox.RecordedLoopback(), nil
}

// comesNext reports whether all that was executed and recorded before a record was played.
func (b *playback) comesNext(rec evidence.Record) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.past.run.Records {
		if r.ID == rec.ID {
			return true
		}
		if r.Executed && !b.used[r.ID] {
			return false
		}
	}
	return true
}

// next finds the first record of a command that was not used yet.
func (b *playback) next(c sandbox.Command) (evidence.Record, bool) {
	given := commandOf(c)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.past.run.Records {
		recorded := b.moved.Replace(r.Command)
		if !r.Executed || b.used[r.ID] || !evidence.SameWords(recorded, given) || !ends(c.Dir, r.Cwd) {
			continue
		}
		b.used[r.ID] = true
		return r, true
	}
	b.unknown = append(b.unknown, given)
	return evidence.Record{}, false
}

// commandOf is a command as its record has it: the text that stands for it, or else the
// words.
func commandOf(c sandbox.Command) string { return cmp.Or(c.Recorded, strings.Join(c.Argv, " ")) }

// ends says whether dir is the folder cwd of some tree.
func ends(dir, cwd string) bool {
	return cwd == "." || strings.HasSuffix(filepath.ToSlash(dir), "/"+cwd)
}
