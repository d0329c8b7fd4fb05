package report

import (
	"fmt"
	"strings"
)

// MakeTitle says in a few words what the verdict is and what a reader of it must
// know: who accepted what, what was given up, what did not run. The gravest remark
// comes first.
func (r *Report) MakeTitle() string {
	parts := append([]string{string(r.Verdict)}, r.remarks()...)
	return strings.Join(parts, " · ") + r.unprobed()
}

// NotProbed ends the title and the first line of a PASS for which no probe ran: none was asked
// for, or there was no time.
const NotProbed = " (probes not run)"

func (r *Report) unprobed() string {
	if r.Verdict == Pass && (r.Phase == PhaseFirst || r.Unprobed) {
		return NotProbed
	}
	return ""
}

func (r *Report) remarks() []string {
	var out []string
	for _, a := range r.Accepted {
		out = append(out, "accepted by "+plain(a.By))
	}
	if !r.Believed.OK && len(r.Believed.Suites) > 0 {
		out = append(out, fmt.Sprintf("%s not believed", plural(len(r.Believed.Suites), "test suite")))
	}
	if x := r.toLookAt(); x != "" {
		out = append(out, x)
	}
	if x := r.Executed.remark(r.Verdict); x != "" {
		out = append(out, x)
	}
	if x := r.behaves(); x != "" {
		out = append(out, x)
	}
	if e := r.Expectations; e != nil {
		out = append(out, e.remarks()...)
		if e.total() > 0 {
			out = append(out, e.line())
		}
	}
	return out
}

// toLookAt counts the marks of a PASS, which says nothing of them otherwise; empty: there are none.
func (r *Report) toLookAt() string {
	n := 0
	for _, f := range r.Findings {
		if f.Mark {
			n++
		}
	}
	if n == 0 || r.Verdict != Pass {
		return ""
	}
	return plural(n, "finding") + " to look at"
}
