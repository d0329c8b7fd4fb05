package gate

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// What can only lower a verdict is broken off before the run's time is up, and named: the verdict
// is that of what was done by then, and agents that follow have half of the time. One who cancels the run waits for nothing.
func TestLoweringEndsInTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit, cancelled, want time.Duration
		follow, failed         bool
	}{
		"a short run":     {100 * time.Second, time.Hour, 95 * time.Second, false, false},
		"a long run":      {20 * time.Minute, time.Hour, 20*time.Minute - reserve, false, false},
		"before agents":   {20 * time.Minute, time.Hour, 10 * time.Minute, true, false},
		"it is cancelled": {100 * time.Second, time.Minute, time.Minute, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.limit)
				defer cancel()
				time.AfterFunc(test.cancelled, cancel)
				began := time.Now()
				r := newRunner(&Gate{Machine: Machine{Now: time.Now}}, Input{AgentsFollow: test.follow}, task{})
				err := r.lower(ctx, []step{
					{"slow", func(_ *runner, ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }},
					{"next", func(*runner, context.Context) error { return errors.New("it is begun") }},
				})
				if took := time.Since(began); (err != nil) != test.failed || took != test.want {
					t.Errorf("%v after %s", err, took)
				}
				if named := slices.Equal(r.res.NotCovered, []string{"slow, next: no time was left"}); named == test.failed || r.facts.Incomplete != "" {
					t.Errorf("not covered: %q; %s", r.res.NotCovered, r.facts.Incomplete)
				}
			})
		})
	}
}
