package run

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
)

// estimates are how long the gate's commands took in the last run of a project,
// for the person who waits. Nothing else depends on them.
type estimates struct {
	file string
	mu   sync.Mutex
	last map[string]int64 // milliseconds
	now  map[string]int64 // of this run
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
}

// save leaves them to the next run.
func (e *estimates) save() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.now) == 0 {
		return nil
	}
	data, err := json.Marshal(e.now)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(e.file), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(e.file), "durations-")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), e.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
