package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A span is when a command of a run ran; task is such as "head/test".
type span struct {
	task     string
	from, to time.Time
}

// spans are the commands of a run.
func (r ran) spans() ([]span, error) {
	file, err := os.Open(filepath.Join(r.dir, "evidence.jsonl"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []span
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var rec struct {
			Task       string    `json:"task"`
			Started    time.Time `json:"started"`
			DurationMS int64     `json:"duration_ms"`
			Executed   bool
		}
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return nil, err
		}
		if rec.Executed {
			out = append(out, span{rec.Task, rec.Started, rec.Started.Add(time.Duration(rec.DurationMS) * time.Millisecond)})
		}
	}
	return out, lines.Err()
}

// sum is how long spans are, side by side ones counted once.
func sum(spans []span) time.Duration {
	spans = slices.SortedFunc(slices.Values(spans), func(a, b span) int { return a.from.Compare(b.from) })
	var sum time.Duration
	var end time.Time
	for _, s := range spans {
		if s.from.Before(end) {
			s.from = end
		}
		if s.to.After(s.from) {
			sum += s.to.Sub(s.from)
			end = s.to
		}
	}
	return sum
}

// commands is how long commands of the change ran in a run.
func (r ran) commands() (time.Duration, error) {
	all, err := r.spans()
	return sum(all), err
}

// shares says for what the time of a gate went.
func (r ran) shares() (string, error) {
	all, err := r.spans()
	if err != nil {
		return "", err
	}
	parts := map[string][]span{}
	for _, s := range all {
		_, stage, _ := strings.Cut(s.task, "/")
		switch stage {
		case "fail_to_pass", "probe", "mutation":
		default:
			stage, _, _ = strings.Cut(s.task, "/")
		}
		parts[stage] = append(parts[stage], s)
	}
	var out []string
	for _, p := range []struct{ key, name string }{
		{"base", "set-up of the base"},
		{"head", "set-up and tests of the head"},
		{"probe", "touched tests again, twice, shuffled and with the race detector"},
		{"fail_to_pass", "tests of the change on the base"},
		{"mutation", "mutants"},
	} {
		out = append(out, fmt.Sprintf("%s %.1f s", p.name, sum(parts[p.key]).Seconds()))
	}
	return strings.Join(append(out, fmt.Sprintf("all else %.1f s", (r.wall-sum(all)).Seconds())), ", "), nil
}
