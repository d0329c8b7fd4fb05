package report

import (
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/columns"
)

// TextOptions says how the terminal is.
type TextOptions struct {
	Width int  // columns; 0: not known, 100 are used
	Color bool // ANSI colours
}

// The most that the terminal rendering shows of a list.
const (
	textOpen   = 5  // failing checks with their output
	textChecks = 20 // other checks
	textList   = 10 // names, findings, denials
	textScreen = 40 // lines that a terminal shows at once
)

// Text renders r for a terminal. The last line is "VERDICT: …", uncoloured, and no
// other line that is not the renderer's own begins in the first column.
func (r *Report) Text(o TextOptions) string {
	p := &page{width: o.Width, color: o.Color}
	if p.width <= 0 {
		p.width = 100
	}
	p.width = max(p.width, 40)
	p.top(r)
	p.failed(r)
	p.checks(r)
	p.previous(r)
	p.expectations(r)
	p.tests(r)
	p.findings(r)
	p.section("Not covered", r.NotCovered)
	p.section("Denied", mapped(r.Denied, Denial.line))
	p.section("Notes", r.Notes)
	p.agents(r)
	p.facts(r)
	p.again(r)
	fmt.Fprintf(&p.b, "\nVERDICT: %s\n", r.Verdict.word())
	return p.b.String()
}

// word is v, ERROR where it is none of the four: the last line has no fifth.
func (v Verdict) word() string {
	if v.Validate() != nil {
		return string(Error)
	}
	return string(v)
}

// A page collects lines of at most width columns.
type page struct {
	b     strings.Builder
	width int
	color bool
}

// A style is the parameter of an ANSI SGR sequence.
type style string

const (
	none   style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

func (p *page) paint(st style, s string) string {
	if !p.color || st == none || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

func (p *page) blank() { p.b.WriteString("\n") }

// line writes s as it is, however long.
func (p *page) line(indent int, st style, s string) {
	row := strings.Repeat(" ", indent) + p.paint(st, s)
	p.b.WriteString(strings.TrimRight(row, " ") + "\n")
}

// words splits s where a line may end: at spaces, but not between a number and
// what it counts, nor before a dot that parts two things.
func words(s string) []string {
	var out []string
	digits := false
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ' ' }) {
		if n := len(out) - 1; n >= 0 && (digits || w == "·" && !strings.HasSuffix(out[n], "·")) {
			out[n] += " " + w
			digits = false
			continue
		}
		out = append(out, w)
		digits = strings.Trim(w, "0123456789") == ""
	}
	return out
}

// wrap writes s between indent and the width, broken between words only; a word
// that is too long stands out. Lines after the first are indented by two more.
func (p *page) wrap(indent int, st style, s string) {
	p.wrapWords(indent, st, words(s))
}

// wrapCounts is wrap for numbers with what they count, which stay together where a line has the width.
func (p *page) wrapCounts(indent int, st style, s string) {
	var all []string
	for _, part := range strings.SplitAfter(s, " ·") {
		part = strings.TrimSpace(part)
		if columns.Of(part) > p.width-indent-2 {
			all = append(all, words(part)...)
		} else {
			all = append(all, part)
		}
	}
	p.wrapWords(indent, st, all)
}

// wrapWords is wrap for what is broken already.
func (p *page) wrapWords(indent int, st style, all []string) {
	at, cur, used := indent, "", indent
	for _, w := range all {
		n := columns.Of(w)
		switch {
		case cur == "":
			cur, used = w, at+n
		case used+1+n <= p.width:
			cur, used = cur+" "+w, used+1+n
		default:
			p.line(at, st, cur)
			at, cur, used = indent+2, w, indent+2+n
		}
	}
	p.line(at, st, cur)
}

// command writes a command, never cut or broken. Lines after the first are
// indented like all that is not ours; report.md has them as they are.
func (p *page) command(indent int, s string) {
	for i, l := range commandLines(s) {
		if i == 0 {
			l = "$ " + l
		} else {
			l = "  " + l
		}
		p.line(indent, bold, l)
	}
}

// output writes what a command wrote. Long lines are folded, so that a terminal
// never does it: every row begins with the bar.
func (p *page) output(indent int, ls []string) {
	for _, l := range ls {
		for _, row := range fold(l, p.width-indent-2) {
			p.line(indent, none, p.paint(dim, "│")+" "+row)
		}
	}
}

// fold breaks s into rows of at most width columns, between characters.
func fold(s string, width int) []string {
	var rows []string
	var row strings.Builder
	used := 0
	for s != "" {
		first, w := columns.First(s)
		if used+w > width && used > 0 {
			rows = append(rows, row.String())
			row.Reset()
			used = 0
		}
		row.WriteString(first)
		s, used = s[len(first):], used+w
	}
	return append(rows, row.String())
}

// more writes how many of a list are left out, where some are.
func (p *page) more(indent, left int) {
	if left > 0 {
		p.line(indent, dim, fmt.Sprintf("… and %d more (report.json)", left))
	}
}

// heading writes the name of a section.
func (p *page) heading(s string) {
	p.blank()
	p.line(0, bold, s)
}

// section writes a list of sentences, nothing where there are none.
func (p *page) section(name string, items []string) {
	if len(items) == 0 {
		return
	}
	p.heading(fmt.Sprintf("%s (%d)", name, len(items)))
	for _, s := range items[:min(len(items), textList)] {
		p.wrap(2, none, "- "+clip(plain(s), 1000))
	}
	p.more(2, len(items)-textList)
}
