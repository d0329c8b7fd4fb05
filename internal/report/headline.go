package report

import (
	"fmt"
	"slices"
	"strings"
)

// why says in one sentence how the verdict came about, and returns the reasons
// that it does not say.
func (r *Report) why() (sentence string, rest []string) {
	sentence, rest = r.ending(), r.Reasons
	switch d := r.diagnosis(); {
	case d != "" && len(rest) < 2: // the one reason counts what the sentence names
		sentence, rest = d, nil
	case d != "":
		sentence = d
	case len(rest) > 0 && plain(rest[0]) != "":
		sentence, rest = rest[0], rest[1:]
	}
	if r.Outcome == Cancelled && !strings.HasPrefix(sentence, "cancelled") {
		sentence = "cancelled before it finished: " + sentence
	}
	return sentence + r.unprobed(), rest
}

// ending is the sentence for a report without reasons.
func (r *Report) ending() string {
	if r.Outcome == Cancelled {
		return "cancelled before it finished"
	}
	if r.Outcome == TimedOut {
		return "the run's time limit passed"
	}
	switch r.Verdict {
	case Pass:
		return r.proof()
	case Fail:
		if fs := r.failures(); len(fs) > 0 && plain(fs[0].Title) != "" {
			return fs[0].Title
		}
		return "a check failed"
	case Partial:
		return "a requirement for PASS was not met"
	}
	return "the run did not reach a verdict"
}

// proof is what carries a PASS, in few words. What a reader must know besides comes first.
func (r *Report) proof() string {
	but := r.reservations()
	var parts []string
	if r.Changes == (Changes{}) {
		parts = append(parts, "no file changed")
	}
	if slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Kind == KindBuild && c.Result == ResultPass }) {
		parts = append(parts, "it builds")
	}
	if t := r.Tests; t != nil {
		passed := plural(t.HeadPassed, "test") + verb(t.HeadPassed, " passes", " pass")
		if r.behaves() == "" && !r.Expectations.changed() {
			passed += " and nothing regressed"
		}
		parts = append(parts, passed)
		if n := len(t.FailToPass); n > 0 {
			parts = append(parts, fmt.Sprintf("%s without the change", plural(n, "test")+verb(n, " fails", " fail")))
		}
	}
	if n := r.passed(KindProbe); n > 0 {
		parts = append(parts, plural(n, "probe")+" held")
	}
	if n := r.passed(KindAgent); n > 0 {
		parts = append(parts, plural(n, "check")+" of the agents held")
	}
	switch {
	case len(parts) == 0:
		return "every check passed"
	case len(but) > 0:
		return strings.Join(but, ", ") + "; " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}

// reservations are what a PASS leaves to a person: code that can detect a test run, changed lines that no test runs, functions
// that behave differently, old expectations that were given up.
func (r *Report) reservations() []string {
	var out []string
	if x := r.toLookAt(); x != "" {
		out = append(out, x)
	}
	if x := r.Executed.remark(r.Verdict); x != "" {
		out = append(out, x)
	}
	if x := r.behaves(); x != "" {
		out = append(out, x)
	}
	if e := r.Expectations; e.changed() {
		n, class, _ := strings.Cut(strings.Join(e.remarks(), ", "), " ")
		out = append(out, n+" of "+plural(e.total(), "old expectation")+" "+class)
	}
	return out
}

func (r *Report) passed(k Kind) int {
	n := 0
	for _, c := range r.Checks {
		if c.Kind == k && c.Result == ResultPass {
			n++
		}
	}
	return n
}

// Reserved is what a check that passed found and left to a person; empty: nothing.
func (r *Report) Reserved(c Check) string {
	switch {
	case c.Result != ResultPass:
	case c.Kind == KindKept && r.Expectations.changed():
		return r.Expectations.line()
	case c.Kind == KindBehaviour:
		lines := c.Title == TitleCommandLines
		return behave(slices.DeleteFunc(r.surprising(), func(d Difference) bool { return d.CommandLine != lines }))
	}
	return ""
}
