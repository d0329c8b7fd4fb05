package run

import (
	"slices"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/orchestrator"
)

// TestTimeLimit holds how a limit reads that ended a run.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		40 * time.Second: "40s", 30 * time.Minute: "30m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m", 10 * time.Hour: "10h", 2500 * time.Millisecond: "2.5s",
	} {
		if got := (&timeLimit{d}).Error(); got != "the time limit of "+want+" was reached" {
			t.Errorf("%s: %s", d, got)
		}
	}
}

// TestLowerLimit: of what was asked for and the configuration's limit the lower holds, and
// where that is not what was asked for, a note says so.
func TestLowerLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		asked, own, want time.Duration
		notes            []string
	}{
		{0, 0, 20 * time.Minute, nil},
		{2 * time.Hour, 0, 2 * time.Hour, nil},
		{0, 10 * time.Minute, 10 * time.Minute, nil},
		{time.Minute, 10 * time.Minute, time.Minute, nil},
		{2 * time.Hour, 10 * time.Minute, 10 * time.Minute, []string{"limits.timeout of the configuration is 10m, which holds: 2h was asked for"}},
	} {
		c := configuration{values: &config.Config{Limits: config.Limits{Timeout: tt.own}}}
		began := time.Now()
		ctx, cancel := withLimit(t.Context(), tt.asked, c)
		end, _ := ctx.Deadline()
		cancel()
		if got := end.Sub(began).Round(time.Minute); got != tt.want {
			t.Errorf("%v and %v: %v", tt.asked, tt.own, got)
		}
		if got := heldLimits(c.values.Limits, Job{Timeout: tt.asked}); !slices.Equal(got, tt.notes) {
			t.Errorf("%v and %v: notes %q", tt.asked, tt.own, got)
		}
	}
	models := &orchestrator.ModelConfig{MaxTokens: 20, MaxCostUSD: 10}
	want := []string{
		"limits.tokens of the configuration is 9, which holds: 20 was asked for",
		"limits.cost_usd of the configuration is 0.5, which holds: 10 was asked for",
	}
	if got := heldLimits(config.Limits{Tokens: 9, CostUSD: 0.5}, Job{Models: models}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := heldLimits(config.Limits{CostUSD: 30}, Job{Models: models}); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
