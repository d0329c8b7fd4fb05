package gate

import (
	"cmp"
	"time"

	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// Limits are how long one command may take: Step in any case, and on the head
// ten times as long as the same took on the base, and Grace on top, before it
// counts as hanging. Mutation is the machine time for mutants of the changed
// lines together, Fuzz the time of existing fuzz targets together; negative: none.
// Behaviour is the time for calls of changed functions on both sides; negative: none;
// zero: as long as the tests take, and a minute at least. Random is the time for runs of tests that fail at random, and Lines that for finding
// out which changed lines tests run; negative: none. Zero means ten minutes, one, a
// minute and a half, half a minute, a minute, and an eighth of the time that is left.
type Limits struct{ Step, Grace, Mutation, Fuzz, Behaviour, Random, Lines time.Duration }

const (
	hangFactor = 10
	firstBuild = 4 // times Grace on top, for builds
)

func (l Limits) step() time.Duration { return cmp.Or(l.Step, 10*time.Minute) }

func (l Limits) mutation() time.Duration { return cmp.Or(l.Mutation, 90*time.Second) }

func (l Limits) fuzz() time.Duration { return cmp.Or(l.Fuzz, 30*time.Second) }

// behaviourTime is how long calls of changed functions may take.
func (r *runner) behaviourTime() time.Duration {
	if r.Limits.Behaviour != 0 {
		return r.Limits.Behaviour
	}
	var suite time.Duration
	for _, s := range r.executor.Steps {
		if s.Side == Head && s.Stage == StageTest {
			suite += s.Duration
		}
	}
	return max(suite, time.Minute)
}

func (l Limits) random() time.Duration { return cmp.Or(l.Random, time.Minute) }

func (l Limits) grace() time.Duration { return cmp.Or(l.Grace, time.Minute) }

// hang is how long the head may take for what took the base so long.
func (l Limits) hang(base time.Duration) time.Duration { return hangFactor*base + l.grace() }

// limited gives c its time limit.
func (r *runner) limited(side Side, c ecosystem.Command) ecosystem.Command {
	return r.limitedIn(side, c, r.Limits.step())
}

// limitedIn does so where it may take so long at most.
func (r *runner) limitedIn(side Side, c ecosystem.Command, step time.Duration) ecosystem.Command {
	if c.Timeout != 0 {
		return c
	}
	c.Timeout = step
	if side == Base {
		return c
	}
	for _, s := range r.executor.Steps {
		if s.Side == Base && s.Stage == c.Stage && s.Unit == c.Unit && s.Command == c.Text && !s.TimedOut {
			c.Timeout = r.Limits.hang(s.Duration)
			if c.Stage == StageBuild { // the change may be the first that needs a large part of what is compiled once
				c.Timeout += firstBuild * r.Limits.grace()
			}
			c.Timeout = min(step, c.Timeout)
		}
	}
	return c
}

// hanging lets the runner itself end tests that take far longer than the
// slowest ones of the base, so that a change that hangs is a failure of the test
// that hangs. What is run again has the same limit on both sides: else a busy
// machine could end it on the head alone.
func (r *runner) hanging(c ecosystem.Command) ecosystem.Command {
	return r.hangingIn(c, r.Limits.step())
}

// hangingIn does so where the command may take so long at most.
func (r *runner) hangingIn(c ecosystem.Command, step time.Duration) ecosystem.Command {
	if c.Results == nil || c.Results.Hang == nil {
		return c
	}
	longest := r.longest
	if c.Stage == StageProbe {
		longest *= checks.Repeats * checks.RaceWorst
	}
	limit := r.Limits.hang(longest).Round(time.Second)
	switch {
	case longest > 0 && limit < step:
		return c.Results.Hang(c, limit)
	case c.Stage == StageProbe: // it is the command that ends, and no test that fails
		return c.Results.Hang(c, 2*(step+r.Limits.grace()))
	default:
		return c
	}
}
