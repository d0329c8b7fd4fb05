package main

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// passing is what is another in each run, and what stands for it: names of runs,
// commits and folders, times, and how long something took.
var passing = []struct {
	what  *regexp.Regexp
	named string
}{
	{regexp.MustCompile(`\d{8}T\d{6}Z-[0-9a-f]{8}`), "RUN"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`(\\n|\b)[0-9a-f]{12,64}\b`), "${1}ID"},
	{regexp.MustCompile(`\b(y|repo|clone|demo)-[0-9a-f]{8}(/[0-9a-f]{8})?\b`), "$1-ID"},
	{regexp.MustCompile(`(\\n|\b)\d{9}\b`), "${1}NANOSECONDS"}, // what "date +%N" prints
	{regexp.MustCompile(`-shuffle=\d+`), "-shuffle=N"},
	{regexp.MustCompile(`/tmp/TestScript\d+/\d+\b`), "TMP"},
	{regexp.MustCompile(`\d+(\.\d+)? GiB`), "N GiB"}, // what is free on a disk
	{regexp.MustCompile(`"([a-z_]*duration_ms)": ?\d+`), `"$1": 0`},
	{regexp.MustCompile(`(\b|_)(\d+(\.\d+)?(h|ms|µs|m|s))+(\b|_)`), "${1}DURATION${5}"}, // in italics in a transcript
}

// plain is a text without that.
func plain(text string) string {
	for _, p := range passing {
		text = p.what.ReplaceAllString(text, p.named)
	}
	return text
}

// long is a line of a console behind which the next may have been wrapped: lines end
// before 100 columns, and the words that stay together are not longer than the rest.
const long = 70

// unwrapped is a console without line ends that depend on how long something took.
func unwrapped(text string) string {
	var out []string
	indent, last := 0, 0 // of the paragraph; the length of its last line
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " ")
		if len(out) > 0 && words != "" && len(line)-len(words) == indent+2 && last > long {
			out[len(out)-1] += " " + words
		} else {
			out = append(out, line)
			indent = len(line) - len(words)
		}
		last = utf8.RuneCountInString(line)
	}
	return strings.Join(out, "\n")
}

// initialised is what Go's runtime reports a program's start where GODEBUG asks.
var initialised = regexp.MustCompile(`^init \S+ @`)

// settled is a console in which lines about the progress of what goes on side by
// side have an order, and those of what only takes its time are left out.
func settled(text string) string {
	lines := strings.Split(text, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return initialised.MatchString(line) || progress(line) && strings.HasSuffix(line, "  …")
	})
	for i := 0; i < len(lines); i++ {
		end := i
		for end < len(lines) && progress(lines[end]) {
			end++
		}
		slices.Sort(lines[i:end])
		i = max(i, end-1)
	}
	return strings.Join(lines, "\n")
}

func progress(line string) bool { return strings.HasPrefix(line, "ycbot: ") }

// owned are the lines of a script's log that are commands, what ycbot wrote, how it
// ended, and what failed. What other programs wrote is no behaviour of ours, and what
// "ycbot run" writes is in its report.
func owned(lines []string) []string {
	var out []string
	ours, report := false, false
	for _, line := range lines {
		end := strings.HasPrefix(line, "[exit status ") || strings.HasPrefix(line, "VERDICT: ")
		switch {
		case strings.HasPrefix(line, "> "), strings.HasPrefix(line, "# "):
			ours = line[0] == '>' && strings.Contains(line, "ycbot ")
			report = ours && strings.Contains(line, "ycbot run ")
			out = append(out, line)
		case strings.HasPrefix(line, "FAIL: "):
			out = append(out, failedAt.ReplaceAllString(line, "FAIL:"))
		case ours && (end || !report):
			out = append(out, line)
		}
	}
	return out
}

var failedAt = regexp.MustCompile(`^FAIL: \S+:\d+:`)
