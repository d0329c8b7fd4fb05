package tester

import (
	"cmp"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// Limits are how long one command may take: Step in any case, and on the head
// ten times as long as the same took on the base, and Grace on top, before it
// counts as hanging. Mutation is the machine time for mutants of the changed
// lines together, Fuzz the time of existing fuzz targets together; negative: none.
// Behaviour is the time for calls of changed functions on both sides; negative: none;
// zero: as long as the tests take, and a minute at least. Random is the time for runs of
// tests that fail at random, and Lines that for finding out which changed lines tests run;
// negative: none. Zero means ten minutes, one, a minute and a half, half a minute, a minute,
// and an eighth of the time that is left.
type Limits struct{ Step, Grace, Mutation, Fuzz, Behaviour, Random, Lines time.Duration }

const (
	hangFactor = 10
	firstBuild = 4 // times Grace on top, for builds
)

// WithDefaults is l without those fields that are zero and stand for a fixed time.
func (l Limits) WithDefaults() Limits {
	l.Step = cmp.Or(l.Step, 10*time.Minute)
	l.Grace = cmp.Or(l.Grace, time.Minute)
	l.Mutation = cmp.Or(l.Mutation, 90*time.Second)
	l.Fuzz = cmp.Or(l.Fuzz, 30*time.Second)
	l.Random = cmp.Or(l.Random, time.Minute)
	return l
}

// hang is how long the head may take for what took the base so long.
func (l Limits) hang(base time.Duration) time.Duration { return hangFactor*base + l.Grace }

// Limited gives c its time limit.
func (t *Tester) Limited(side results.Side, c ecosystem.Command) ecosystem.Command {
	return t.limitedIn(side, c, t.Limits.Step)
}

// limitedIn does so where it may take so long at most.
func (t *Tester) limitedIn(side results.Side, c ecosystem.Command, step time.Duration) ecosystem.Command {
	if c.Timeout != 0 {
		return c
	}
	c.Timeout = step
	if side == results.Base {
		return c
	}
	for _, s := range t.Executor.Steps {
		if s.Side == results.Base && s.Stage == c.Stage && s.Unit == c.Unit && s.Command == c.Text && !s.Stopped() {
			c.Timeout = t.Limits.hang(s.Duration)
			if c.Stage == results.StageBuild { // the change may be the first that needs a large part of what is compiled once
				c.Timeout += firstBuild * t.Limits.Grace
			}
			c.Timeout = min(step, c.Timeout)
		}
	}
	return c
}

// Hanging lets the runner itself end tests that take far longer than the
// slowest ones of the base, so that a change that hangs is a failure of the test
// that hangs. What is run again has the same limit on both sides: else a busy
// machine could end it on the head alone.
func (t *Tester) Hanging(c ecosystem.Command) ecosystem.Command {
	return t.HangingIn(c, t.Limits.Step)
}

// HangingIn does so where the command may take so long at most.
func (t *Tester) HangingIn(c ecosystem.Command, step time.Duration) ecosystem.Command {
	if c.Results == nil || c.Results.Hang == nil {
		return c
	}
	longest := t.Longest
	if c.Stage == results.StageProbe {
		longest *= time.Duration(t.ProbeRuns)
	}
	limit := t.Limits.hang(longest).Round(time.Second)
	switch {
	case longest > 0 && limit < step:
		return c.Results.Hang(c, limit)
	case c.Stage == results.StageProbe: // it is the command that ends, and no test that fails
		return c.Results.Hang(c, 2*(step+t.Limits.Grace))
	default:
		return c
	}
}
