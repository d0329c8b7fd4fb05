package results

import (
	"bytes"
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/joshdk/go-junit"

	"github.com/ycbot/ycbot/internal/pattern"
)

// byCTest is the style of ctest, whose tests have no groups.
func byCTest(_ []string, t junit.Test) (pkg, name string) { return "ctest", t.Name }

// mesonExpectedLine is one of these comments.
var mesonExpectedLine = pattern.New(`(?m)<!-- expected: (.*) -->$`)

// ParseMeson reads the JUnit XML of meson, and behind it the comments that the command writes, with
// the name of each test that failed as it is expected to: to the document it has passed. Such a test
// shows nothing of what it tests.
func ParseMeson(data []byte) ([]Outcome, error) {
	const last = "</testsuites>"
	end := len(data)
	if at := bytes.LastIndex(data, []byte(last)); at >= 0 {
		end = at + len(last)
	}
	out, err := parseJUnit(byMeson)(data[:end])
	expected := mesonExpectedLine.FindAllSubmatch(data[end:], -1)
	if len(expected)*len(out) > maxCompared {
		return out, errors.New("more tests are expected to fail than can be looked for")
	}
	for _, m := range expected {
		for i, o := range out {
			if o.status == Passed && strings.HasSuffix(o.name, string(m[1])) {
				out[i].status = Skipped
			}
		}
	}
	return out, err
}

// maxCompared bounds how many names are compared with each other.
const maxCompared = 100_000_000

// byMeson is the style of meson: a suite for each suite of its own.
func byMeson(suites []string, t junit.Test) (pkg, name string) {
	return strings.Join(suites, NameSep), t.Name
}

var (
	automakeResult = pattern.New(`^(PASS|FAIL|XPASS|XFAIL|SKIP|ERROR): (.+?)(?:\s+#\s*(?i:skip|todo)\b.*)?$`)
	automakeExit   = pattern.New(`^[A-Z]+ .+ \(exit status: \d+\)$`)
	automakeCount  = pattern.New(`^# (?:FAIL|XPASS|ERROR): +(\d+)$`)
	makeFolder     = pattern.New(`^g?make(?:\[\d+\])?: (Entering|Leaving) directory '(.+)'$`)
)

// ParseAutomake reads what "make -w check" says of each test, in the folder in which it runs,
// and behind it the logs of those that failed, with a bar before each line.
func ParseAutomake(data []byte) ([]Outcome, error) {
	var out []Outcome
	var in []string // the folders that make is in, the first one the project's
	root, counted, failed := "", 0, 0
	without := map[string][]int{} // tests that failed, by name and by name without extension, of which no log was seen
	said := saying{at: -1}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(plainText(line), "\r\n")
		if log, ok := strings.CutPrefix(line, "| "); ok {
			if at := failedAt(out, without, log); at >= 0 {
				said.begin(out, at)
			} else if automakeExit.MatchString(log) {
				said.begin(out, -1)
			} else if strings.Trim(log, "=") != "" {
				said.line(log)
			}
			continue
		}
		if m := makeFolder.FindStringSubmatch(line); m != nil {
			switch {
			case m[1] == "Entering":
				if root == "" {
					root = m[2]
				}
				in = append(in, m[2])
			case len(in) > 0:
				in = in[:len(in)-1]
			}
			continue
		}
		if m := automakeCount.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1]) // too long a number counts nothing that there is
			counted += n
			continue
		}
		m := automakeResult.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		o := Outcome{pkg: ".", name: m[2], status: Failed}
		if len(in) > 0 {
			if rest, ok := strings.CutPrefix(in[len(in)-1], root+"/"); ok {
				o.pkg = rest
			}
		}
		switch m[1] {
		case "PASS":
			o.status = Passed
		case "SKIP", "XFAIL":
			o.status = Skipped
		default:
			failed++
			without[o.name] = append(without[o.name], len(out))
			if bare := strings.TrimSuffix(o.name, path.Ext(o.name)); bare != o.name {
				without[bare] = append(without[bare], len(out))
			}
		}
		out = append(out, o)
	}
	said.begin(out, -1)
	return out, disagree(counted, failed)
}

// failedAt is which of the outcomes the heading of a log is of, in which the name of a test has
// no extension; -1: it is none of a test that failed and has no log yet.
func failedAt(out []Outcome, without map[string][]int, heading string) int {
	m := automakeResult.FindStringSubmatch(heading)
	if m == nil {
		return -1
	}
	for name := m[2]; len(without[name]) > 0; without[name] = without[name][1:] {
		if at := without[name][0]; out[at].output == "" {
			return at
		}
	}
	return -1
}

// ParseCTest reads the JUnit XML of ctest.
func ParseCTest(data []byte) ([]Outcome, error) { return parseJUnit(byCTest)(data) }
