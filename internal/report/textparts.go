package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/columns"
)

// top writes what was verified, the verdict and why it is that.
func (p *page) top(r *Report) {
	p.wrap(0, bold, dotted("ycbot", plain(r.subject()), clip(plain(r.Subject), 200)))
	p.wrap(2, dim, dotted(r.compared(), r.size()))
	p.wrap(2, dim, dotted(r.origin(), r.modelWords()))
	why, rest := r.why()
	p.blank()
	p.wrap(0, r.Verdict.style(), r.Verdict.word()+" · "+clip(plain(why), 1000))
	for _, s := range rest[:min(len(rest), textList)] {
		p.wrap(2, none, "- "+clip(plain(s), 1000))
	}
	p.more(2, len(rest)-textList)
	for _, s := range r.acceptedBy() {
		p.wrap(2, none, s)
	}
	p.wrap(2, dim, dotted(r.tally().String(), r.expectationLine()))
}

func (v Verdict) style() style {
	switch v {
	case Pass:
		return bold + ";" + green
	case Partial:
		return bold + ";" + yellow
	}
	return bold + ";" + red
}

// failed writes the failing checks, the first of them with their output.
func (p *page) failed(r *Report) {
	fs := r.blamed()
	if len(fs) == 0 {
		return
	}
	total := len(fs) + r.unlisted()
	name := fmt.Sprintf("Failed (%d)", total)
	if all := len(r.failures()); all > len(fs) {
		name = fmt.Sprintf("Failed (%d, and %s that %s the same)", total, plural(all-len(fs), "check"), verb(all-len(fs), "shows", "show"))
	}
	p.heading(name)
	for i, c := range fs[:min(len(fs), textOpen)] {
		if i > 0 {
			p.blank()
		}
		p.open(c, r.ReportDir)
	}
	closed := fs[min(len(fs), textOpen):]
	if total > min(len(fs), textOpen) {
		p.blank()
	}
	for _, c := range closed[:min(len(closed), textChecks)] {
		p.line(2, none, p.paint(red, "FAIL")+"  "+plain(c.Title)+"  "+p.paint(dim, dotted(plain(string(c.Reproduction)), ids(c.Evidence))))
	}
	p.more(2, len(closed)-min(len(closed), textChecks)+r.unlisted())
}

// open writes one failing check with all that a reader needs to believe it.
func (p *page) open(c Check, dir string) {
	p.line(2, none, p.paint(bold+";"+red, "FAIL")+"  "+p.paint(bold, plain(c.Title)))
	p.wrap(8, dim, dotted(c.reproduced(), c.support(), ids(c.Evidence)))
	if c.Expected != "" {
		p.wrap(8, none, "expected: "+clip(plain(c.Expected), 1000))
	}
	p.command(8, c.Whole())
	from := c.spill()
	if from != "" && dir != "" {
		from = filepath.Join(dir, filepath.FromSlash(from))
	}
	p.output(8, outputEnds.excerpt(outputLines(c.Actual), plain(from)))
}

// checks writes the other checks, one line each, in columns.
func (p *page) checks(r *Report) {
	cs := r.others()
	if len(cs) == 0 {
		return
	}
	p.heading("Checks")
	shown := cs[:min(len(cs), textChecks)]
	column := 0
	for _, c := range shown {
		if w := columns.Of(plain(c.Title)); w <= p.width/2 { // a longer one stands out alone
			column = max(column, w)
		}
	}
	for _, c := range shown {
		title := plain(c.Title)
		pad := strings.Repeat(" ", max(0, column-columns.Of(title)))
		mark, says := p.mark(c), remark(c)
		if s := r.Reserved(c); s != "" {
			mark, says = p.paint(yellow, "NOTE"), dotted(plain(string(c.Kind)), s, ids(c.Evidence))
		}
		p.line(2, none, mark+"  "+title+pad+"  "+p.paint(dim, says))
	}
	p.more(2, len(cs)-textChecks)
}

func (p *page) mark(c Check) string {
	switch {
	case c.Result == ResultPass:
		return p.paint(green, "PASS")
	case c.Result == ResultSkip:
		return p.paint(yellow, "SKIP")
	case c.Informs():
		return p.paint(yellow, "NOTE")
	}
	return p.paint(dim, "FAIL")
}

// remark is the last column of a check: its sort and what a reader should know.
func remark(c Check) string {
	kind := plain(string(c.Kind))
	if c.Result == ResultSkip {
		return dotted(kind, clip(c.skipReason(), 200))
	}
	state := ""
	if c.Informs() {
		state = plain(clip(c.Actual, 200))
	} else if c.Result == ResultFail {
		state = c.reproduced()
		if ls := outputLines(c.Actual); c.Kind == KindTest && len(ls) > 0 {
			state += ": " + clip(ls[0], 200)
		}
	} else if c.Kind == KindTest && c.Actual != "exit 0" || c.Kind == KindProbe || c.Kind == KindBehaviour {
		state = plain(clip(c.Actual, 200))
	} else if c.Support != Supported {
		state = c.support()
	}
	return dotted(kind, state, ids(c.Evidence))
}

// tests writes the comparison of both sides.
func (p *page) tests(r *Report) {
	if r.Tests == nil {
		return
	}
	p.blank()
	p.wrapCounts(0, bold, "tests: "+r.Tests.line())
	for _, g := range r.unshown() {
		p.line(2, none, g.name+":")
		for _, name := range g.tests[:min(len(g.tests), textList)] {
			p.line(4, none, plain(name))
		}
		p.more(4, len(g.tests)-textList)
	}
}

// findings writes what a maintainer should look at.
func (p *page) findings(r *Report) {
	fs := r.otherFindings()
	if len(fs) == 0 {
		return
	}
	p.heading(fmt.Sprintf("Findings (%d)", len(fs)))
	for _, f := range fs[:min(len(fs), textList)] {
		title := plain(string(f.Severity)) + ": " + clip(plain(f.Title), 500)
		p.wrap(2, f.Severity.style(), dotted(title, f.place(), ids(f.Evidence)))
		p.command(6, f.Repro)
		p.output(6, detailEnds.excerpt(outputLines(f.Detail), "report.json"))
	}
	p.more(2, len(fs)-textList)
}

func (s Severity) style() style {
	switch s {
	case SeverityError:
		return red
	case SeverityWarning:
		return yellow
	}
	return none
}

// agents writes a line for each agent.
func (p *page) agents(r *Report) {
	if len(r.Subagents) == 0 {
		return
	}
	p.heading(fmt.Sprintf("Agents (%d)", len(r.Subagents)))
	for _, s := range r.Subagents[:min(len(r.Subagents), textList)] {
		p.wrap(2, none, plain(s.Agent)+": "+s.line())
	}
	p.more(2, len(r.Subagents)-textList)
}

// facts writes how the run went, where its record is and how to repeat it.
func (p *page) facts(r *Report) {
	p.blank()
	p.wrap(0, none, "sandbox: "+r.contained())
	if w := r.warning(); w != "" {
		p.wrap(2, bold+";"+yellow, "WARNING: "+w)
	}
	missing := r.uncontained()
	for _, m := range missing[:min(len(missing), textList)] {
		p.wrap(2, none, m)
	}
	p.more(2, len(missing)-textList)
	p.wrap(0, none, "used: "+r.used())
	p.wrap(0, none, "time: "+r.took())
	p.wrap(0, none, "with: "+r.provenance())
	if r.ReportDir != "" {
		p.line(0, none, "report: "+plain(r.ReportDir))
	}
	if r.Reproduce != "" {
		p.line(0, none, "reproduce:")
		p.command(2, r.Reproduce)
		if r.Model != "" {
			p.wrap(2, dim, "with the --model and --provider of this run")
		}
	}
}

// again repeats why it is not a PASS, where the top is no longer on the screen.
func (p *page) again(r *Report) {
	if r.Verdict == Pass || strings.Count(p.b.String(), "\n") < textScreen {
		return
	}
	why, rest := r.why()
	p.blank()
	p.wrap(0, r.Verdict.style(), "why: "+clip(plain(why), 1000))
	if n := len(rest); n > 0 {
		p.line(2, dim, "and "+plural(n, "reason")+" more, at the top")
	}
}
