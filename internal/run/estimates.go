package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate"
)

// estimates are how long the gate's commands took in the last run of a project,
// for the person who waits. Nothing else depends on them.
type estimates struct {
	file  string
	mu    sync.Mutex
	last  map[string]int64 // milliseconds
	now   map[string]int64 // of this run
	began time.Time        // when the gate did
	base  time.Duration    // of the base's tests
	fills time.Duration    // of commands of the base that filled caches, which the next run finds
	said  bool             // a forecast was given, or none is wanted
}

// Keys of the gate as a whole, beside those of its commands.
const (
	firstVerdict = "first verdict"
	wholeGate    = "whole gate"
)

// worthSaying is how long a gate takes at least for which a forecast is shown.
const worthSaying = 30 * time.Second

// begin is where the gate begins. It returns how long the gate took in the last run, in
// a sentence; "" where that is not known, or not long.
func (e *estimates) begin(now time.Time, untilFirst bool) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.began = now
	first, whole := millis(e.last[firstVerdict]), millis(e.last[wholeGate])
	if first == 0 || whole == 0 && !untilFirst {
		return ""
	}
	e.said = true
	switch {
	case max(first, whole) < worthSaying:
		return ""
	case untilFirst || whole <= first:
		return fmt.Sprintf("forecast: the first verdict after about %s, as in the last run of this project", roughly(first))
	default:
		return fmt.Sprintf("forecast: the first verdict after about %s, the gate's end after %s, as in the last run of this project", roughly(first), roughly(whole))
	}
}

// progress makes the forecast of a project that is not known, when the base's tests have
// run: the head's take as long, and so do the tests of each side over the other's sources.
func (e *estimates) progress(p gate.Progress) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.said || p.Side != gate.Head || p.Stage != gate.StageTest {
		return ""
	}
	e.said = true
	if 3*e.base < worthSaying {
		return ""
	}
	return fmt.Sprintf("forecast: the tests of the base took %s, so the first verdict comes in %s to %s", roughly(e.base), roughly(e.base), roughly(3*e.base))
}

// reached keeps how long the gate took to what key names, without what the next run is spared.
func (e *estimates) reached(key string, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now[key] = max(now.Sub(e.began)-e.fills, time.Second).Milliseconds()
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// roughly rounds to what a forecast can know.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return max(d.Round(5*time.Second), 5*time.Second).String()
	case d < 10*time.Minute:
		return minutes(d.Round(30 * time.Second))
	default:
		return minutes(d.Round(time.Minute))
	}
}

// minutes writes a duration without seconds that are none.
func minutes(d time.Duration) string {
	if whole, ok := strings.CutSuffix(d.String(), "m0s"); ok {
		return whole + "m"
	}
	return d.String()
}

// openEstimates reads them; what cannot be read is not known.
func openEstimates(project string) *estimates {
	e := &estimates{file: filepath.Join(project, "cache", "durations.json"), now: map[string]int64{}}
	if data, err := os.ReadFile(e.file); err == nil {
		_ = json.Unmarshal(data, &e.last)
	}
	return e
}

func estimateKey(p gate.Progress) string {
	return string(p.Side) + " " + string(p.Stage) + " " + p.Unit + " " + evidence.Untimed(p.Command)
}

// of is how long a command took last time, in milliseconds; 0: not known.
func (e *estimates) of(p gate.Progress) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last[estimateKey(p)]
}

// took keeps how long it took now.
func (e *estimates) took(p gate.Progress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now[estimateKey(p)] = p.Step.Duration.Milliseconds()
	switch {
	case p.Side == gate.Base && p.Stage == gate.StageTest:
		e.base += p.Step.Duration
	case p.Side == gate.Base && p.Stage.FillsCaches():
		e.fills += p.Step.Duration
	}
}

// save leaves them to the next run.
func (e *estimates) save() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.now) == 0 {
		return nil
	}
	for _, key := range []string{firstVerdict, wholeGate} { // which a run need not reach
		if _, ok := e.now[key]; !ok && e.last[key] > 0 {
			e.now[key] = e.last[key]
		}
	}
	data, err := json.Marshal(e.now)
	if err != nil {
		return err
	}
	return folder.WriteWhole(e.file, data)
}
