package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// An event is a line of "go test -json"; see "go doc test2json" and "go help buildjson".
type event struct {
	Action      string
	Package     string
	Test        string
	Elapsed     float64
	Output      string
	ImportPath  string // of build events
	FailedBuild string // in the last event of a package that did not build
}

// A summary counts and keeps what events say.
type summary struct {
	w                       io.Writer
	passed, failed, skipped int
	left                    int // of those that are skipped, what runs as a variant
	packages                map[string]*tests
	builds                  map[string]string // output of the compiler by import path
	reasons                 map[string][]string
}

// leftOut is what a test says that "make variants" runs; see internal/testing/variants.
const leftOut = "left to make variants"

// tests are what is known of a package while it runs.
type tests struct {
	passed, failed, skipped int
	left                    int
	cached                  bool
	output                  map[string]string // by test; "" is the package itself
	running                 []string          // began and did not end
}

func newSummary(w io.Writer) *summary {
	return &summary{w: w, packages: map[string]*tests{}, builds: map[string]string{}, reasons: map[string][]string{}}
}

// read takes in events until r ends. Lines that are no events go through as they are.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil || e.Action == "":
			fmt.Fprintln(s.w, strings.TrimSuffix(line, "\n"))
		default:
			s.add(e)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (s *summary) add(e event) {
	if e.Action == "build-output" {
		s.builds[e.ImportPath] += e.Output
		return
	}
	if e.Package == "" {
		return
	}
	p := s.packages[e.Package]
	if p == nil {
		p = &tests{output: map[string]string{}}
		s.packages[e.Package] = p
	}
	switch e.Action {
	case "run":
		p.running = append(p.running, e.Test)
	case "output":
		p.output[e.Test] += e.Output
		if e.Test == "" && strings.HasSuffix(e.Output, "(cached)\n") {
			p.cached = true
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(p, e)
			return
		}
		s.endTest(p, e)
	}
}

func (s *summary) endTest(p *tests, e event) {
	switch e.Action {
	case "pass":
		p.passed++
	case "fail":
		p.failed++
		fmt.Fprintf(s.w, "\n=== FAIL %s %s\n%s\n", e.Package, e.Test, strings.TrimRight(p.output[e.Test], "\n"))
	case "skip":
		p.skipped++
		reason := skipReason(p.output[e.Test])
		if reason == leftOut {
			p.skipped, p.left = p.skipped-1, p.left+1
			break
		}
		s.reasons[reason] = append(s.reasons[reason], e.Test)
	}
	delete(p.output, e.Test)
	p.running = slices.DeleteFunc(p.running, func(t string) bool { return t == e.Test })
}

func (s *summary) endPackage(p *tests, e event) {
	delete(s.packages, e.Package)
	word, note := "ok", ""
	switch {
	case e.Action == "fail":
		word = "FAIL"
		note = s.failedPackage(p, e)
	case e.Action == "skip":
		word, note = "-", ", no tests"
	case p.cached:
		note = ", cached"
	}
	s.passed, s.failed, s.skipped = s.passed+p.passed, s.failed+p.failed, s.skipped+p.skipped
	s.left += p.left
	fmt.Fprintf(s.w, "%-4s %s (%s, %.1fs%s)\n", word, e.Package, counts(p.passed, p.failed, p.skipped), e.Elapsed, note)
}

// failedPackage shows what no failing test has shown: the compiler's words, a
// panic, an exit, tests that never ended. It returns a note for the package's line.
func (s *summary) failedPackage(p *tests, e event) string {
	if e.FailedBuild != "" {
		p.failed++
		fmt.Fprintf(s.w, "\n=== FAIL %s does not build\n%s\n", e.Package, strings.TrimRight(s.builds[e.FailedBuild], "\n"))
		return ", does not build"
	}
	var rest strings.Builder
	for _, test := range append([]string{""}, p.running...) {
		rest.WriteString(p.output[test])
	}
	if p.failed > 0 && len(p.running) == 0 {
		return "" // the failing tests have said it
	}
	if p.failed == 0 {
		p.failed++
	}
	fmt.Fprintf(s.w, "\n=== FAIL %s\n%s\n", e.Package, strings.TrimRight(rest.String(), "\n"))
	if len(p.running) > 0 {
		return ", did not end: " + strings.Join(p.running, " ")
	}
	return ""
}

// finish writes what ends the summary: the reasons of skips and the counts. A
// package that never came to an end failed.
func (s *summary) finish() {
	for name, p := range s.packages {
		s.endPackage(p, event{Action: "fail", Package: name})
	}
	fmt.Fprintln(s.w)
	var lines []string
	for reason, tests := range s.reasons {
		lines = append(lines, fmt.Sprintf("skipped %d: %s (%s)", len(tests), reason, some(tests)))
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(s.w, line)
	}
	if s.left > 0 {
		fmt.Fprintf(s.w, "%d variants left out: make variants\n", s.left)
	}
	fmt.Fprintln(s.w, counts(s.passed, s.failed, s.skipped))
}

func counts(passed, failed, skipped int) string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", passed, failed, skipped)
}

// some names a few tests.
func some(tests []string) string {
	const few = 5
	slices.Sort(tests)
	if len(tests) <= few {
		return strings.Join(tests, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(tests[:few], " "), len(tests)-few)
}

// said is a line that a test logged: "    file_test.go:12: text".
var said = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.+)$`)

// skipReason returns what a skipped test said last, in its first line.
func skipReason(output string) string {
	all := said.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return "no reason given"
	}
	return strings.TrimSpace(all[len(all)-1][1])
}
