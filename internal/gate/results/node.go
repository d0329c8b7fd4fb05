package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// ParseJest reads the JSON of jest, which vitest writes as well.
func ParseJest(data []byte) ([]Outcome, error) {
	var doc struct {
		NumFailedTests int
		TestResults    []struct {
			Name, Status, Message string
			AssertionResults      []struct {
				AncestorTitles  []string
				Title, Status   string
				Duration        float64
				FailureMessages []string
				Invocations     int
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("JSON of jest: %w", err)
	}
	var out []Outcome
	failed := 0
	for _, f := range doc.TestResults {
		if len(f.AssertionResults) == 0 && f.Status == "failed" {
			out = append(out, Outcome{pkg: f.Name, status: Failed, output: Short(plainText(f.Message))})
		}
		before := failed
		for _, a := range f.AssertionResults {
			o := Outcome{pkg: f.Name, name: strings.Join(append(a.AncestorTitles, a.Title), NameSep), elapsed: millis(a.Duration), retried: a.Invocations > 1}
			// vitest leaves the failures of the runs before with a test that passed in the end.
			o.retried = o.retried || a.Status == "passed" && len(a.FailureMessages) > 0
			switch a.Status {
			case "passed":
				o.status = Passed
			case "failed":
				o.status, o.output = Failed, Short(plainText(strings.Join(a.FailureMessages, "\n")))
				failed++
			default:
				o.status = Skipped
			}
			out = append(out, o)
		}
		if f.Status == "failed" && failed == before && len(f.AssertionResults) > 0 { // what runs after its tests
			out = append(out, Outcome{pkg: f.Name, status: Failed, output: Short(plainText(f.Message))})
		}
	}
	return out, disagree(doc.NumFailedTests, failed)
}

// ParseMocha reads the JSON of mocha, with the titles of groups where its reporter has them.
func ParseMocha(data []byte) ([]Outcome, error) {
	type test struct {
		Title, FullTitle, File string
		Titles                 []string // of the groups around it, and its own
		State                  string   // "passed", "failed" or "pending"; of mocha's own reporter none
		Duration               float64
		CurrentRetry           int
		Err                    struct{ Message, Stack string }
	}
	var doc struct {
		Stats                    struct{ Failures int }
		Tests, Pending, Failures []test
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("JSON of mocha: %w", err)
	}
	name := func(t test) string { return cmp.Or(strings.Join(t.Titles, NameSep), t.FullTitle) }
	id := func(t test) string { return t.File + "\x00" + name(t) }
	pending, failures := map[string]bool{}, map[string][]Outcome{}
	for _, t := range doc.Pending {
		pending[id(t)] = true
	}
	for _, t := range doc.Failures {
		failures[id(t)] = append(failures[id(t)], Outcome{pkg: t.File, name: name(t), status: Failed, output: Short(JoinOutput(t.Err.Message, t.Err.Stack)), elapsed: millis(t.Duration)})
	}
	var out []Outcome
	taken := map[string]int{}
	for _, t := range doc.Tests {
		o := Outcome{pkg: t.File, name: name(t), status: Passed, elapsed: millis(t.Duration), retried: t.CurrentRetry > 0}
		switch known := failures[id(t)]; {
		case t.State == "failed" || t.State == "" && len(known) > 0:
			if taken[id(t)] == len(known) {
				continue // it is there already
			}
			o = known[taken[id(t)]]
			taken[id(t)]++
		case t.State == "pending" || t.State == "" && pending[id(t)]:
			o.status = Skipped
		}
		out = append(out, o)
	}
	for _, t := range doc.Failures { // hooks that failed are there alone
		if n := taken[id(t)]; n < len(failures[id(t)]) {
			out = append(out, failures[id(t)][n])
			taken[id(t)]++
		}
	}
	return out, disagree(doc.Stats.Failures, len(doc.Failures))
}

// ParseNodeTest reads the lines of nodeReporter. Groups come after what is in them.
func ParseNodeTest(data []byte) ([]Outcome, error) {
	type event struct {
		OK                      bool
		Name, File, Kind, Error string
		Said                    string
		Nesting                 int
		Suite, Skip, Todo, End  bool
		MS                      float64
	}
	var out []Outcome
	open := map[string][]int{} // by file: those of out that groups may still come around, by depth
	levels := map[int]int{}    // of those
	failing := map[string]bool{}
	ended, names := false, 0 // bytes of the names of groups, which those of their tests hold
	for line := range bytes.Lines(data) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return out, fmt.Errorf("events of node --test: %w", err)
		}
		if ended = e.End; ended {
			continue
		}
		if e.Name == e.File && e.Nesting == 0 { // the file itself
			if !e.OK && !failing[e.File] {
				out = append(out, Outcome{pkg: e.File, status: Failed, output: Short(JoinOutput(e.Said, e.Error))})
				failing[e.File] = true
			}
			continue
		}
		if e.Nesting > maxDepth {
			return out, fmt.Errorf("events of node --test: %w", errDeep)
		}
		group, inside := false, open[e.File]
		for i := len(inside) - 1; i >= 0 && levels[inside[i]] > e.Nesting; i-- {
			at := inside[i]
			if names += len(e.Name) + len(out[at].name); names > maxNames {
				return out, fmt.Errorf("events of node --test: %w", errNames)
			}
			out[at].name, levels[at], group = e.Name+NameSep+out[at].name, e.Nesting, true
		}
		if group && (e.OK || e.Kind == "subtestsFailed") || e.Suite && e.OK {
			continue
		}
		o := Outcome{pkg: e.File, name: e.Name, status: Passed, elapsed: millis(e.MS)}
		switch {
		case e.Skip || e.Todo:
			o.status = Skipped
		case !e.OK:
			o.status, o.output = Failed, Short(e.Error)
		}
		failing[e.File] = failing[e.File] || o.status == Failed
		open[e.File], levels[len(out)] = append(open[e.File], len(out)), e.Nesting
		out = append(out, o)
	}
	if !ended {
		return out, errEnded
	}
	return out, nil
}
