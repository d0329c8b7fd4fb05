package tool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
)

// Statuses of tests, as runners give them.
const (
	testPassed = "pass"
	testFailed = "fail"
)

func (t TestResult) failed() bool { return t.Status != testPassed && t.Status != "skip" }

// line is the test as the answer has it, such as "FAIL pkg TestX (0.02s)".
func (t TestResult) line() string {
	parts := []string{strings.ToUpper(t.Status)}
	for _, p := range []string{t.Place, t.Name} {
		if p != "" {
			parts = append(parts, inline(p))
		}
	}
	if t.Took > 0 {
		parts = append(parts, fmt.Sprintf("(%.2fs)", t.Took.Round(10*time.Millisecond).Seconds()))
	}
	return strings.Join(parts, " ")
}

// chosen are the tests that a call is about.
type chosen struct{ places, names []string }

// has reports whether a test is among them.
func (c chosen) has(t TestResult) bool {
	in := func(list []string, match func(string) bool) bool {
		return len(list) == 0 || slices.ContainsFunc(list, match)
	}
	return in(c.names, func(n string) bool { return strings.Contains(t.Name, n) }) &&
		in(c.places, func(p string) bool { return within(t.Place, p) })
}

// within reports whether a package, file or class belongs to a place: it is that, lies
// below it, or ends with it, as the import path of a Go package ends with its folder.
func within(of, place string) bool {
	switch {
	case place == "." || of == place || strings.HasPrefix(of, place+"/") || strings.HasSuffix(of, "/"+place) || strings.Contains(of, "/"+place+"/"):
		return true
	case strings.HasSuffix(place, ".go"):
		dir, _, _ := cutLast(place, "/")
		return within(of, dir)
	}
	return strings.HasSuffix(of, "."+place)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// text lists the results: how many there are, those that failed with what they wrote, and
// up to most of the others, within so many bytes.
func (r TestResults) text(pick chosen, most, room int) string {
	var failed, others []TestResult
	count := map[string]int{}
	hidden := 0
	for _, t := range r.Tests {
		switch {
		case !pick.has(t):
			hidden++
			continue
		case t.failed():
			failed = append(failed, t)
		default:
			others = append(others, t)
		}
		count[t.Status]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d tests:", len(failed)+len(others))
	statuses := []string{testPassed, testFailed, "skip"}
	for s := range count {
		if !slices.Contains(statuses, s) {
			statuses = append(statuses, s)
		}
	}
	slices.Sort(statuses[3:])
	for _, s := range statuses {
		if count[s] > 0 {
			fmt.Fprintf(&b, " %d %s", count[s], s)
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&b, " (%d more ran that were not asked for)", hidden)
	}
	b.WriteString("\n")
	for _, t := range failed {
		out := evidence.Visible(strings.TrimSpace(t.Output))
		if out != "" && b.Len() < room {
			out = cutMiddle(out, testOutputBytes) + "\n"
		} else {
			out = ""
		}
		if b.Len() > room {
			b.WriteString("[… more failed tests are left out: name some with tests or paths …]\n")
			break
		}
		b.WriteString(t.line() + "\n" + out)
	}
	for i, t := range others {
		if i == most || b.Len() > room {
			fmt.Fprintf(&b, "[… %d more did not fail …]\n", len(others)-i)
			break
		}
		b.WriteString(t.line() + "\n")
	}
	return b.String()
}

// cutMiddle keeps the beginning and the end of a text.
func cutMiddle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	l := limit{most / 2, 1 << 20}
	return beginning(s, l) + "[… cut …]\n" + ending(s, l)
}
