package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// passing differs from run to run and says nothing: times, addresses, folders,
// ports, processes.
var passing = pattern.New(strings.Join([]string{
	`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*`,                          // dates
	`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [^\n]{6,12} \d\d:\d\d:\d\d[^\n"]*`, // dates in words
	`\d\d:\d\d:\d\d(?:\.\d+)?`,
	`\b(?:\d+(?:\.\d+)?(?:ns|µs|us|ms|h|m|s))+\b`, // durations
	`\b\d+(?:\.\d+)? ?(?:milliseconds?|seconds?|secs?|minutes?)\b`,
	`\b0[xX][0-9a-fA-F]+`,
	`/\S*/(?:worktrees|scratch|tmp)/[^\s"')\]:,;]*`,
	`(?:/private)?(?:/var/folders|/var/tmp|/tmp)/[^\s"')\]:,;]*`,
	`\b(?:127\.0\.0\.1|0\.0\.0\.0|localhost):\d+`, `\[::1?\]:\d+`,
	`\b[pP][iI][dD]\b[ =:]*\d+`, `\b[gG]oroutine \d+`, `\b[pP]ort[ =:]+\d+`,
}, "|"))

// normal is what is left of an output when what differs from run to run is
// taken out.
func normal(text string) string { return passing.ReplaceAllString(text, "_") }

// tested tells the output of programs that run tests, whose order is nobody's promise.
var tested = pattern.New(`(?m)^\s*(?:--- (?:PASS|FAIL|SKIP): |(?:ok|not ok) \d+\b|(?:ok|FAIL|\?)\s*\t|✓|✔|✗|✘|✖|PASS(?:ED)?\b|FAIL(?:ED)?\b|test \S+ \.\.\. )`)

// comparable is an output as it is held against another one of the same
// command: without what passes, tests in one order.
func comparable(text string) string {
	if events, ok := goTestEvents(text); ok {
		return normal(events)
	}
	text = normal(text)
	if tested.MatchString(text) {
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		slices.Sort(lines)
		text = strings.Join(lines, "\n") + "\n"
	}
	return text
}

// goTestEvents puts the output of "go test -json" together test by test. Lines
// that are no events come first, in their order.
func goTestEvents(text string) (string, bool) {
	type event struct{ Action, Package, ImportPath, Test, Output string }
	said := map[string]*bytes.Buffer{}
	var other strings.Builder
	events := 0
	for line := range strings.Lines(text) {
		var e event
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
			other.WriteString(line)
			continue
		}
		events++
		key := e.Package + e.ImportPath + " " + e.Test
		if said[key] == nil {
			said[key] = &bytes.Buffer{}
		}
		switch e.Action {
		case "output", "build-output":
			said[key].WriteString(e.Output)
		case "pass", "fail", "skip", "build-fail":
			fmt.Fprintf(said[key], "%s: %s\n", strings.TrimSpace(key), e.Action)
		}
	}
	if events == 0 {
		return "", false
	}
	keys := make([]string, 0, len(said))
	for key := range said {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		other.Write(said[key].Bytes())
	}
	return other.String(), true
}

// typed is a command without what the gate derives from how long things took.
func typed(command string) string { return normal(timeoutFlag.ReplaceAllString(command, "")) }
