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

// How long the gate will take is said before it begins, as the last run of the project
// took, or when the tests of the base have run.
func TestSaidBefore(t *testing.T) {
	t.Parallel()
	dir, began := t.TempDir(), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	head := gate.Progress{Side: gate.Head, Stage: gate.StageTest}
	e := openEstimates(dir)
	if got := e.begin(began, false); got != "" {
		t.Errorf("of an unknown project: %q", got)
	}
	base := gate.Progress{Side: gate.Base, Stage: gate.StageTest}
	if got := e.progress(base); got != "" {
		t.Errorf("before the tests of the base have run: %q", got)
	}
	base.Step.Duration = 125 * time.Second
	e.took(base)
	if got, want := e.progress(head), "forecast: the tests of the base took 2m, so the first verdict comes in 2m to 6m30s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := e.progress(head); got != "" {
		t.Errorf("a second time: %q", got)
	}
	e.reached(firstVerdict, began.Add(340*time.Second))
	e.reached(wholeGate, began.Add(16*time.Minute+20*time.Second))
	if err := e.save(); err != nil {
		t.Fatal(err)
	}
	for untilFirst, want := range map[bool]string{
		false: "forecast: the first verdict after about 5m30s, the gate's end after 16m, as in the last run of this project",
		true:  "forecast: the first verdict after about 5m30s, as in the last run of this project",
	} {
		e := openEstimates(dir)
		if got := e.begin(began, untilFirst); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := e.progress(head); got != "" {
			t.Errorf("a second forecast: %q", got)
		}
	}
	// A run that was stopped keeps what the one before it knew.
	e = openEstimates(dir)
	e.begin(began, false)
	e.took(gate.Progress{Side: gate.Head, Stage: gate.StageBuild})
	if err := e.save(); err != nil {
		t.Fatal(err)
	}
	if got := openEstimates(dir).begin(began, false); got == "" {
		t.Error("the forecast is forgotten")
	}
	quick := openEstimates(t.TempDir())
	quick.begin(began, false)
	cold := gate.Progress{Side: gate.Base, Stage: gate.StageWarm} // the next run finds what it compiled
	cold.Step.Duration = 5 * time.Minute
	quick.took(cold)
	quick.reached(firstVerdict, began.Add(5*time.Minute+3*time.Second))
	quick.reached(wholeGate, began.Add(5*time.Minute+9*time.Second))
	if err := quick.save(); err != nil {
		t.Fatal(err)
	}
	quick.last = quick.now
	if got := quick.begin(began, false); got != "" {
		t.Errorf("of a quick gate: %q", got)
	}
}
