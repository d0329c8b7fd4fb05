package results

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	// https://onsi.github.io/ginkgo/, by its releases 1 and 2
	ginkgoSummary = pattern.New(`(?m)^Summarizing \d+ Failures?:`)
	ginkgoFailed  = pattern.New(`(?m)^\s*\[(?:FAIL(?:ED)?|Fail|PANICKED!?|Panic!|TIMEDOUT|Timeout\.\.\.)\] (.+)$`)
	ginkgoNone    = pattern.New(`(?m)^Ran 0 of [1-9]\d* Specs`)
	// https://labix.org/gocheck
	gocheckFailed = pattern.New(`(?m)^(?:FAIL|PANIC): \S+:\d+: (\S+)$`)
)

// FailedSpecs are the specs that failed inside of one test of Go that runs a suite of them, by what it
// prints: to the go command all are that test.
func FailedSpecs(output string) []string {
	output = plainText(output)
	var out []string
	if at := ginkgoSummary.FindAllStringSubmatchIndex(output, -1); at != nil {
		for _, m := range ginkgoFailed.FindAllStringSubmatch(output[at[len(at)-1][0]:], -1) {
			out = append(out, strings.TrimSpace(m[1]))
		}
	}
	for _, m := range gocheckFailed.FindAllStringSubmatch(output, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// RanNoSpec says whether such a test ran none of its specs.
func RanNoSpec(output string) bool { return ginkgoNone.MatchString(plainText(output)) }
