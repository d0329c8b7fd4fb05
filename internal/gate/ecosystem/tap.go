package ecosystem

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A line of TAP (https://testanything.org): a result, with its description and
// its directive.
var tapLine = pattern.New(`^(not )?ok\b\s*\d*\s*(?:- )?(.*?)(?:\s+#\s*((?i:skip|todo)\S*)\b.*)?$`)

// tapPlan says how many results there are.
var tapPlan = pattern.New(`^1\.\.(\d+)\b`)

// tapName is a line above results that names what they are of, as tape writes.
var tapName = pattern.New(`^# (.+)$`)

// tapPackage groups the tests of TAP, which names no files.
const tapPackage = "TAP"

// parseTAP reads the results of the outermost level, each with the lines that
// follow it. Results of which several have one name are one test.
func parseTAP(data []byte) ([]outcome, error) {
	var out []outcome
	group, plan, results := "", -1, 0
	said := saying{at: -1}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		switch m := tapLine.FindStringSubmatch(line); {
		case m != nil:
			o := outcome{pkg: tapPackage, name: m[2], status: Passed}
			if group != "" {
				o.name = group + NameSep + m[2]
			}
			switch {
			case m[3] != "":
				o.status = Skipped
			case m[1] != "":
				o.status = Failed
			}
			if m[2] == "" {
				o.name = strings.TrimSuffix(group, NameSep)
			}
			said.begin(out, -1)
			out = append(out, o)
			if results++; o.status == Failed {
				said.begin(out, len(out)-1)
			}
		case tapPlan.MatchString(line) && plan < 0:
			plan, _ = strconv.Atoi(tapPlan.FindStringSubmatch(line)[1]) // too long a number is no plan that holds
		case tapName.MatchString(line) && !tapCount.MatchString(line):
			group = tapName.FindStringSubmatch(line)[1]
		case strings.HasPrefix(line, "Bail out!"):
			out = append(out, outcome{pkg: tapPackage, status: Failed, output: Short(line)})
		case strings.HasPrefix(line, " ") && strings.TrimSpace(line) != "---" && strings.TrimSpace(line) != "...":
			said.line(strings.TrimSpace(line))
		}
	}
	said.begin(out, -1)
	switch {
	case plan < 0 && len(out) == 0:
		return nil, errors.New("it is no TAP")
	case plan < 0:
		return out, errEnded
	case plan != results:
		return out, fmt.Errorf("TAP: %d results are planned and %d are there", plan, results)
	}
	return out, nil
}

// tapCount are the lines at the end that count results.
var tapCount = pattern.New(`^# (tests|suites|pass|fail|cancelled|skipped|todo|ok|duration_ms|time=|Subtest:)\b`)

// ansi are the colours that runners write.
var ansi = pattern.New("\x1b\\[[0-9;]*[A-Za-z]")

func plainText(s string) string { return ansi.ReplaceAllString(s, "") }
