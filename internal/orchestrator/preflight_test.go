package orchestrator

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
)

// Trouble that may pass is a note, and what was used counts; any other is the end of the
// agents' part before it begins. Both are said at once.
func TestTroubleBeforeTheRun(t *testing.T) {
	t.Parallel()
	for _, fatal := range []bool{false, true} {
		var said []string
		a := &Agents{
			dir: testDir(t), emit: func(e agent.Event) error { said = append(said, e.Text); return nil },
			models: &ModelConfig{Wanted: "m", Preflight: func(context.Context, Recorder) (model.Usage, *Trouble) {
				return model.Usage{Input: 7}, &Trouble{Text: "503: busy", Fatal: fatal}
			}},
		}
		t.Cleanup(func() { _ = a.Close() })
		p, err := a.Preflight(t.Context())
		var none *NoModelError
		if errors.As(err, &none) != fatal || err != nil && !fatal || p.Usage.Input != 7 {
			t.Errorf("fatal %v: %+v, %v", fatal, p, err)
		}
		if len(said) != 1 || !strings.Contains(said[0], "503: busy") || len(p.Notes) == 0 != fatal {
			t.Errorf("fatal %v: said %q, notes %q", fatal, said, p.Notes)
		}
	}
}
