package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// expectationLine is the sentence about kept expectations, "" where there were none.
func (r *Report) expectationLine() string {
	if r.Expectations == nil {
		return ""
	}
	return r.Expectations.line()
}

// acceptedBy says who accepted what was given up.
func (r *Report) acceptedBy() []string {
	return mapped(r.Accepted, func(a Acceptance) string {
		s := "accepted by " + plain(a.By)
		if a.Reason != "" {
			s += ": " + clip(plain(a.Reason), 300)
		}
		return s
	})
}

// place is where an expectation was changed.
func (x Expectation) place() string {
	if x.Path == "" || x.Line == 0 {
		return plain(x.Path)
	}
	return plain(x.Path) + ":" + strconv.Itoa(x.Line)
}

// hunk shows what the change takes away and what it brings there.
func (x Expectation) hunk() string {
	var out []string
	for _, side := range []struct{ mark, text string }{{"-", x.Old}, {"+", x.New}} {
		for line := range strings.Lines(side.text) {
			out = append(out, side.mark+strings.TrimRight(line, "\r\n"))
		}
	}
	return strings.Join(out, "\n")
}

// detail is what is shown of an expectation: its finding has, besides the lines that changed,
// what the test says.
func (r *Report) detail(x Expectation) string {
	for _, f := range r.Findings {
		if f.speaksOf(x) {
			return f.Detail
		}
	}
	return x.hunk()
}

// speaksOf says whether a finding is that of an expectation: of its test, place and evidence, and
// with its lines.
func (f Finding) speaksOf(x Expectation) bool {
	return f.Path == x.Path && f.Line == x.Line && slices.Equal(f.Evidence, x.Evidence) && strings.HasPrefix(f.Title, x.Test+" ") &&
		strings.Contains(f.Detail, x.hunk())
}

// otherFindings are the findings but for those that the old expectations show.
func (r *Report) otherFindings() []Finding {
	classes := r.unsaid()
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		return slices.ContainsFunc(classes, func(c expectationClass) bool { return slices.ContainsFunc(c.tests, f.speaksOf) })
	})
}

// changed says whether an expectation does not hold.
func (e *Expectations) changed() bool { return e != nil && e.total() > e.Held }

// await says whether an expectation that does not hold counts until a person accepts it: by
// the policy, or whatever that is.
func (e *Expectations) await() bool {
	return e.changed() && (e.Policy != "report" || len(e.Silent)+len(e.Steering) > 0)
}

// unsaid returns the classes of expectations that do not hold, without those regressed
// that the failing checks name.
func (r *Report) unsaid() []expectationClass {
	if !r.Expectations.changed() {
		return nil
	}
	named := r.named()
	var out []expectationClass
	for _, c := range r.Expectations.classes() {
		if c.name == "regressed" {
			c.tests = slices.DeleteFunc(slices.Clone(c.tests), func(x Expectation) bool { return named[x.Test] })
		}
		if len(c.tests) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func (p *page) expectations(r *Report) {
	e, classes := r.Expectations, r.unsaid()
	if len(classes) == 0 {
		return
	}
	p.heading("Old expectations: " + e.line())
	for _, c := range classes {
		p.wrap(2, bold, fmt.Sprintf("%s (%d)", c.words, len(c.tests)))
		for _, x := range c.tests[:min(len(c.tests), textList)] {
			p.line(4, none, dotted(plain(x.Test), x.place(), ids(x.Evidence)))
			p.output(6, detailEnds.excerpt(outputLines(r.detail(x)), "report.json"))
		}
		p.more(4, len(c.tests)-textList)
	}
}

func (r *Report) mdExpectations() *section {
	e, classes := r.Expectations, r.unsaid()
	if len(classes) == 0 {
		return nil
	}
	var b strings.Builder
	for _, c := range classes {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "**%s** (%d)\n\n", mdText(c.words, mdLine), len(c.tests))
		for _, x := range c.tests[:min(len(c.tests), mdList)] {
			b.WriteString("- " + dotted(mdCode(orUnknown(plain(x.Test)), mdLong), mdText(x.place(), mdLong), r.mdIDs(x.Evidence)) + "\n")
			if block := mdOutput(r.detail(x), "report.json", detailEnds); block != "" {
				b.WriteString("\n" + block)
			}
		}
		if left := len(c.tests) - mdList; left > 0 {
			b.WriteString("\n" + mdMore(left))
		}
	}
	return &section{rank: rankKept, folded: "Old expectations: " + e.line(), body: b.String()}
}
