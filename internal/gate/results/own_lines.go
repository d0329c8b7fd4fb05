package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// ownLines reads what reporters of our own write for a runner: a line of JSON for each test, and
// one at the end.
func ownLines(runner string, data []byte) ([]Outcome, error) {
	var out []Outcome
	ended := false
	for line := range bytes.Lines(data) {
		var t struct {
			File, Name, Status, Text string
			S                        float64
			Line                     int
			End                      bool
		}
		if err := json.Unmarshal(line, &t); err != nil {
			return out, fmt.Errorf("results of %s: %w", runner, err)
		}
		if ended = t.End; ended {
			continue
		}
		status, err := known(t.Status)
		if err != nil {
			return out, fmt.Errorf("results of %s: %w", runner, err)
		}
		out = append(out, Outcome{pkg: t.File, name: t.Name, status: status, output: Short(t.Text), line: t.Line, elapsed: time.Duration(t.S * float64(time.Second))})
	}
	if !ended {
		return out, errEnded
	}
	return out, nil
}
