package report

import (
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
)

// A Previous is what became of the checks of the last run on the same change.
type Previous struct {
	RunID   string    `json:"run_id"`
	HeadSHA string    `json:"head_sha"`
	Verdict Verdict   `json:"verdict"`
	Checks  []Revisit `json:"checks"`
}

// A Revisit is one check of the last run, whose command was run again.
type Revisit struct {
	Title        string       `json:"title"` // untrusted
	Command      string       `json:"command"`
	Was          Result       `json:"was"`
	Now          Became       `json:"now"`
	Reproduction Reproduction `json:"reproduction"` // of what fails now
	Evidence     []string     `json:"evidence"`
}

// Became says what became of a check. The strings are stored: do not change them.
type Became string

// What becomes of a check.
const (
	Holds        Became = "holds"         // passed, and does
	Fixed        Became = "fixed"         // failed, and does not
	StillFails   Became = "still-fails"   // failed, and does
	Broke        Became = "broke"         // passed, and fails
	Differs      Became = "differs"       // passed, ends well and prints something else
	CannotRun    Became = "cannot-run"    // what it needs is not there any more
	NotRevisited Became = "not-revisited" // no time was left for it
)

// Words are for people.
func (b Became) Words() string {
	switch b {
	case Holds:
		return "still holds"
	case Fixed:
		return "is fixed"
	case StillFails:
		return "still fails"
	case Broke:
		return "fails now"
	case Differs:
		return "prints something else"
	case CannotRun:
		return "cannot be run any more"
	case NotRevisited:
		return "was not run again: no time was left"
	}
	return "unknown"
}

func (p *Previous) normalised() *Previous {
	n := *p
	n.Checks = list(append([]Revisit(nil), p.Checks...))
	for i := range n.Checks {
		c := &n.Checks[i]
		c.Evidence = list(c.Evidence)
		if c.Reproduction == "" {
			c.Reproduction = NotRun
		}
	}
	return &n
}

// validate reports the first word that is none of its kind.
func (p *Previous) validate() error {
	if err := p.Verdict.Validate(); err != nil {
		return fmt.Errorf("previous: %w", err)
	}
	for i, c := range p.Checks {
		if c.Now.Words() == "unknown" {
			return fmt.Errorf("previous: checks[%d]: now %q: no such word", i, c.Now)
		}
	}
	return nil
}

// line sums the table up.
func (p *Previous) line() string {
	count := map[Became]int{}
	for _, c := range p.Checks {
		count[c.Now]++
	}
	var parts []string
	for _, b := range []Became{Fixed, StillFails, Broke, Holds, Differs, CannotRun, NotRevisited} {
		if n := count[b]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(b), "-", " ")))
		}
	}
	if len(parts) == 0 {
		return "it had no checks of agents"
	}
	return strings.Join(parts, " · ")
}

// mdPrevious is the table of the last run's checks, nil where there was none.
func (r *Report) mdPrevious() *section {
	if r.Previous == nil {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The last run verified %s and said %s.\n", mdCode(change.Short(r.Previous.HeadSHA), mdLine), mdText(string(r.Previous.Verdict), mdLine))
	if len(r.Previous.Checks) > 0 {
		b.WriteString("\n| Check of the last run | Was | Now | Log |\n|---|---|---|---|\n")
	}
	for _, c := range r.Previous.Checks[:min(len(r.Previous.Checks), mdRows)] {
		now := c.Now.Words()
		if c.Reproduction != NotRun && c.Reproduction != "" {
			now += " (" + string(c.Reproduction) + ")"
		}
		for _, cell := range []string{c.Title, string(c.Was), now, ids(c.Evidence)} {
			b.WriteString("| " + mdText(cell, mdLine) + " ")
		}
		b.WriteString("|\n")
	}
	if left := len(r.Previous.Checks) - mdRows; left > 0 {
		b.WriteString("\n" + mdMore(left))
	}
	return &section{rank: rankTests, folded: "Since the last run: " + r.Previous.line(), body: b.String()}
}

// previous writes the same in lines.
func (p *page) previous(r *Report) {
	if r.Previous == nil {
		return
	}
	p.heading("Since the last run")
	p.line(2, dim, dotted(plain(change.Short(r.Previous.HeadSHA)), clip(plain(string(r.Previous.Verdict)), 100)))
	if len(r.Previous.Checks) == 0 {
		p.line(2, dim, r.Previous.line())
	}
	for _, c := range r.Previous.Checks[:min(len(r.Previous.Checks), textChecks)] {
		p.line(2, none, plain(c.Title)+": was "+plain(string(c.Was))+", "+c.Now.Words()+"  "+p.paint(dim, ids(c.Evidence)))
	}
	p.more(2, len(r.Previous.Checks)-textChecks)
}
