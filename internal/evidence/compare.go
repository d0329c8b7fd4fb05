package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// volatile is what differs from run to run and has no meaning: times, addresses,
// folders, ports, processes.
var volatile = pattern.New(strings.Join([]string{
	`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*`,                          // dates
	`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [^\n]{6,12} \d\d:\d\d:\d\d[^\n"]*`, // dates in words
	`\d\d:\d\d:\d\d(?:\.\d+)?`,
	`\b(?:\d+(?:\.\d+)?(?:ns|µs|us|ms|h|m|s))+\b`, // durations
	`\b\d+(?:\.\d+)? ?(?:milliseconds?|seconds?|secs?|minutes?)\b`,
	// What runners write for machines: JSON of Node, Jest, Vitest, Mocha and RSpec, JUnit and TRX, TAP.
	`"(?:m?s|duration(?:_?[mM]s)?|elapsed|time|run_?[tT]ime|runtime|start(?:ed|Time)?|end(?:ed|Time)?|load\w+(?:Start|End)|seed)": ?"?-?\d[\d.eE+-]*"?`,
	`\b(?:time|duration|elapsed|timestamp|startTime|endTime)="[^"\n]*"`,
	`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
	`\bduration_ms:? \d+(?:\.\d+)?`,
	`\b0[xX][0-9a-fA-F]+`,
	`/\S*/(?:worktrees|scratch|tmp)/[^\s"')\]:,;]*`,
	`(?:/private)?(?:/var/folders|/var/tmp|/tmp)/[^\s"')\]:,;]*`,
	`\b(?:127\.0\.0\.1|0\.0\.0\.0|localhost):\d+`, `\[::1?\]:\d+`,
	`\b[pP][iI][dD]\b[ =:]*\d+`, `\b[gG]oroutine \d+`, `\b[pP]ort[ =:]+\d+`,
}, "|"))

// normal is what is left of an output when what differs from run to run is
// taken out.
func normal(text string) string { return volatile.ReplaceAllString(text, "_") }

// testLines match the output of programs that run tests, in an order that has no meaning.
var testLines = pattern.New(`(?m)^\s*(?:--- (?:PASS|FAIL|SKIP): |(?:ok|not ok) \d+\b|(?:ok|FAIL|\?)\s*\t|✓|✔|✗|✘|✖|PASS(?:ED)?\b|FAIL(?:ED)?\b|test \S+ \.\.\. )`)

// Comparable is an output in the form in which it is compared with another output
// of the same command: without times, addresses, folders, ports and process ids,
// and with the lines of tests in one order.
func Comparable(text string) string {
	if events, ok := goTestEvents(text); ok {
		return normal(events)
	}
	text = normal(text)
	if testLines.MatchString(text) {
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

// timeoutFlag is what the gate adds to a command of "go test" to notice a hang.
var timeoutFlag = pattern.New(` -timeout=\S+`)

// Untimed is a text without the time limits that the gate gives to its commands,
// which follow from how long the base took.
func Untimed(text string) string { return timeoutFlag.ReplaceAllString(text, "") }

// SameCommand says whether two commands differ in nothing but time limits and in
// what differs from run to run, such as folders.
func SameCommand(a, b string) bool { return normal(Untimed(a)) == normal(Untimed(b)) }

// SameWords says whether a recorded command is the given one, before which the
// record may have settings of the environment.
func SameWords(recorded, given string) bool {
	recorded, given = normal(Untimed(recorded)), normal(Untimed(given))
	if recorded == given {
		return true
	}
	settings, ok := strings.CutSuffix(recorded, " "+given)
	return ok && !slices.ContainsFunc(strings.Fields(settings), func(w string) bool { return !strings.Contains(w, "=") })
}
