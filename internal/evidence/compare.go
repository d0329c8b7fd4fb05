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
	`"Micros":\d+`, // of a call of a changed function, as the gate's own tests write it
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

// normal is what is left of a command when what differs from run to run is taken out.
func normal(text string) string { return volatile.ReplaceAllString(text, "_") }

const (
	amount   = `\d[\d,]*(?:\.\d+)?`
	ofTime   = ` ?(?:ns|µs|μs|us|ms|s)\b` // of time, which many write after a blank
	ofMemory = ` ?[kKMG]i?B\b`
	// What runners say before "in" and the time that something took.
	tookTime = `(?:built|bundled|compiled|completed|done|executed|failed|finished|generated|passed|ran|ready|succeeded|successful)`
)

// measured is what differs from run to run and is known by the words beside it alone,
// which are its groups: without them a number may be a result.
var measured = pattern.New(strings.Join([]string{
	`([(\[])(?:< ?)?` + amount + ofTime + `([)\]])`, // "(553 ms)" of Jest, "[66 ms]" of .NET
	`(\b(?i:time|duration|elapsed|took|taken|spent|estimated)\b(?i: elapsed| taken| spent| total)?[ \t=:~<≈-]{1,12})` + amount + ofTime,
	`(\b(?i:` + tookTime + `)\b[^\n\d]{0,40}\b(?i:in)[ \t]+)` + amount + ofTime,
	`(\b(?i:elapsed)\b(?i: time)?[ \t=:]{1,4})` + amount + `\b`,
	`(\b(?i:time)[=:][ \t]*)\d\d:\d\d\.\d+\b`, // PHPUnit
	// Seconds since 1970 have ten digits, as results may; more of them are no one's result.
	`(\b(?i:at|time|timestamp|epoch|unix|date|now|since|until|start|started|end|ended|created|updated|expires|iat|exp|ts)\b[^\n\w]{1,4})1[78]\d{8}(?:\.\d+)?\b`,
	`\b1[78]\d{11}(?:\d{3}){0,2}\b`,
	`(\b(?i:memory|heap|rss)\b[^\n\d]{0,12})` + amount + ofMemory,
	amount + ofMemory + `( (?i:heap|memory|of memory|rss)\b)`,
	amount + ` ?(?:[kKMG]i?B|ops?|iterations?|reqs?|requests?)(/(?:s|sec|second)\b)`,
	`±` + amount + `%`, `\(\d+( runs? sampled\))`, // benchmark.js
	`(?m)^(Benchmark\S*)[ \t]+\d+[ \t]+` + amount + `[ \t]+(ns/op\b)`,
	`(\b(?i:seed)\b[ =:]{1,3}|--seed[ =])\d+`,
	`((?:\b[A-Z][\w$]*|\[[BCDFIJSZ]|\[L[\w.$]+;)@)[0-9a-f]{5,8}\b`, // Object@1a2b3c of Java
}, "|"))

// unnamed is the name that mktemp gives. One of lower-case letters alone is a word.
var unnamed = pattern.New(`\btmp\.(?:[a-z]{0,9}[A-Z0-9][A-Za-z0-9]{0,9})\b`)

// said is what is left of an output when what differs from run to run is taken out.
func said(text string) string {
	text = measured.ReplaceAllString(text, "${1}${2}${3}${4}${5}${6}${7}${8}${9}${10}${11}${12}${13}${14}${15}_")
	text = unnamed.ReplaceAllStringFunc(text, func(name string) string {
		if len(name) == len("tmp.XXXXXXXXXX") {
			return "tmp._"
		}
		return name
	})
	return normal(text)
}

// testLines match the output of programs that run tests, in an order that has no meaning.
var testLines = pattern.New(`(?m)^\s*(?:--- (?:PASS|FAIL|SKIP): |(?:ok|not ok) \d+\b|(?:ok|FAIL|\?)\s*\t|✓|✔|✗|✘|✖|PASS(?:ED)?\b|FAIL(?:ED)?\b|test \S+ \.\.\. )`)

// Comparable is an output in the form in which it is compared with another output
// of the same command: without times, addresses, folders, ports, process ids and what is
// measured, and with the lines of tests in one order.
func Comparable(text string) string {
	if events, ok := goTestEvents(text); ok {
		return said(events)
	}
	text = said(text)
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
	spoken := map[string]*bytes.Buffer{}
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
		if spoken[key] == nil {
			spoken[key] = &bytes.Buffer{}
		}
		switch e.Action {
		case "output", "build-output":
			spoken[key].WriteString(e.Output)
		case "pass", "fail", "skip", "build-fail":
			fmt.Fprintf(spoken[key], "%s: %s\n", strings.TrimSpace(key), e.Action)
		}
	}
	if events == 0 {
		return "", false
	}
	keys := make([]string, 0, len(spoken))
	for key := range spoken {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		other.Write(spoken[key].Bytes())
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
