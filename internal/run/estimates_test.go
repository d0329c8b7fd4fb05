package run

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate"
)

// The next run knows how long a command took; a time limit that the gate adds
// makes no difference, the side does.
func TestEstimates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := gate.Progress{Stage: gate.StageTest, Side: gate.Head, Unit: ".", Command: "go test -json -timeout=1m0s ./...", Step: gate.Step{Duration: 1500 * time.Millisecond}}
	e := openEstimates(dir)
	if got := e.of(p); got != 0 {
		t.Errorf("%d ms are known of nothing", got)
	}
	e.took(p)
	if err := e.save(); err != nil {
		t.Fatal(err)
	}
	p.Command = "go test -json -timeout=2m0s ./..."
	if got := openEstimates(dir).of(p); got != 1500 {
		t.Errorf("%d ms, want 1500", got)
	}
	p.Side = gate.Base
	if got := openEstimates(dir).of(p); got != 0 {
		t.Errorf("the base has the head's %d ms", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "cache", "durations.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := openEstimates(dir).of(p); got != 0 {
		t.Errorf("%d ms out of a broken file", got)
	}
}
