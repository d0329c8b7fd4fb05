package run

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A tape is a sandbox that answers commands with what is recorded of them, so
// that what is driven by it goes the recorded way. Where it is told to, it
// executes the command besides and shows what came of it.
type tape struct {
	past    *past
	moved   *strings.Replacer
	execute func(evidence.Record) bool                                          // nil: nothing is executed
	seen    func(context.Context, evidence.Record, sandbox.Result, error) error // of what was executed
	real    sandbox.Sandbox

	mu      sync.Mutex
	used    map[string]bool
	unknown []string // commands that are not recorded
}

// Status is that of the recorded run, whose conclusions are drawn anew.
func (t *tape) Status() sandbox.Status {
	if t.execute != nil {
		return t.real.Status()
	}
	return t.past.around.Sandbox
}

// Run implements [sandbox.Sandbox].
func (t *tape) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	if ctx.Err() != nil {
		return sandbox.Result{Exit: -1}, context.Cause(ctx)
	}
	rec, ok := t.next(c)
	if !ok {
		return sandbox.Result{Exit: -1}, fmt.Errorf("%q is not recorded", spoken(c))
	}
	if t.execute != nil && t.execute(rec) {
		live := c
		live.Stdout = nil
		res, err := t.real.Run(ctx, live)
		if err := t.seen(ctx, rec, res, err); err != nil {
			return sandbox.Result{Exit: -1}, err
		}
	}
	stdout, stderr, err := t.past.output(rec)
	if err != nil {
		return sandbox.Result{Exit: -1}, err
	}
	stdout, stderr = []byte(t.moved.Replace(string(stdout))), []byte(t.moved.Replace(string(stderr)))
	if c.Stdout != nil {
		if _, err := c.Stdout.Write(stdout); err != nil {
			return sandbox.Result{Exit: -1}, err
		}
	}
	return sandbox.Result{
		Exit: rec.Exit, Signal: rec.Signal, TimedOut: rec.TimedOut, Started: rec.Started,
		Duration: time.Duration(rec.DurationMS) * time.Millisecond,
		Stdout:   sandbox.Output{Bytes: stdout, Total: int64(len(stdout))},
		Stderr:   sandbox.Output{Bytes: stderr, Total: int64(len(stderr))},
	}, nil
}

// next finds the first record of a command that was not used yet.
func (t *tape) next(c sandbox.Command) (evidence.Record, bool) {
	said := spoken(c)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.past.read {
		recorded := t.moved.Replace(r.Command)
		if !r.Executed || t.used[r.ID] || !sameText(recorded, said) && !wraps(said, recorded) || !ends(c.Dir, r.Cwd) {
			continue
		}
		t.used[r.ID] = true
		return r, true
	}
	t.unknown = append(t.unknown, said)
	return evidence.Record{}, false
}

// spoken is a command as its record has it: the text that a shell is given, or
// else the words.
func spoken(c sandbox.Command) string {
	if len(c.Argv) > 2 && c.Argv[0] == "bash" && c.Argv[len(c.Argv)-2] == "-c" {
		return c.Argv[len(c.Argv)-1]
	}
	return strings.Join(c.Argv, " ")
}

// sameText compares a recorded command with one that is given; settings stand
// before the words of a recorded one.
func sameText(recorded, given string) bool {
	recorded, given = typed(recorded), typed(given)
	if recorded == given {
		return true
	}
	settings, ok := strings.CutSuffix(recorded, " "+given)
	return ok && !slices.ContainsFunc(strings.Fields(settings), func(w string) bool { return !strings.Contains(w, "=") })
}

// wraps says whether a script has the text of a recorded command on lines of its
// own, between what asks the runner for its results and what prints them.
func wraps(script, recorded string) bool {
	return recorded != "" && (strings.Contains(script, "\n( "+recorded+"\n) >&2\n") || strings.HasSuffix(script, "\n"+recorded))
}

// ends says whether dir is the folder cwd of some tree.
func ends(dir, cwd string) bool {
	return cwd == "." || strings.HasSuffix(filepath.ToSlash(dir), "/"+cwd)
}
