package backtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
)

// JSON is the summary for programs.
func (s *Summary) JSON() ([]byte, error) {
	whole := *s // a list without elements is [], which readers of null would trip over
	whole.Ycbot, whole.Arms, whole.Operators = append([]string{}, s.Ycbot...), append([]ArmSummary{}, s.Arms...), append([]ArmSummary{}, s.Operators...)
	whole.Wrong, whole.Behaviour = append([]WrongCase{}, s.Wrong...), append([]ArmBehaviour{}, s.Behaviour...)
	whole.Given, whole.Excluded = append([]ClassCount{}, s.Given...), append([]CauseCount{}, s.Excluded...)
	out, err := json.MarshalIndent(whole, "", "  ")
	return append(out, '\n'), err
}

var armHeads = []string{"arm", "cases", "PASS", "of these named", "FAIL", "PARTIAL", "ERROR", "wrong", "95 % interval", "excluded after", "wrong with these"}

func armCells(a ArmSummary) []string {
	return []string{
		a.Name, fmt.Sprint(a.Cases), fmt.Sprint(a.Pass), fmt.Sprint(a.Named), fmt.Sprint(a.Fail), fmt.Sprint(a.Partial), fmt.Sprint(a.Error),
		fmt.Sprintf("%d (%s)", a.Wrong, percent(a.Rate)), percent(a.Low) + " to " + percent(a.High),
		fmt.Sprint(a.ExcludedAfter), fmt.Sprintf("%s (%s to %s)", percent(a.WithExcluded.Rate), percent(a.WithExcluded.Low), percent(a.WithExcluded.High)),
	}
}

func percent(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) }

// sections are the tables of a summary: a heading, column heads and rows.
func (s *Summary) sections() []section {
	arms, ops := section{heads: armHeads}, section{title: "Operators", heads: armHeads}
	for _, a := range s.Arms {
		arms.rows = append(arms.rows, armCells(a))
	}
	for _, a := range s.Operators {
		ops.rows = append(ops.rows, armCells(a))
	}
	wrong := section{title: "Wrong or undecided", heads: []string{"case", "operator", "verdict", "cause"}}
	for _, w := range s.Wrong {
		verdict := w.Verdict
		if w.After {
			verdict += ", excluded after"
		}
		wrong.rows = append(wrong.rows, []string{w.Case, w.By, verdict, w.Cause})
	}
	given := section{title: "Given up by good changes", heads: []string{"class", "changes", "share", "95 % interval"}}
	for _, g := range s.Given {
		given.rows = append(given.rows, []string{"`" + g.Class + "`", fmt.Sprint(g.Cases), percent(g.Rate), percent(g.Low) + " to " + percent(g.High)})
	}
	outside := section{title: "Good changes, had they been untrusted", heads: []string{"verdict", "cause", "changes", "share", "95 % interval"}}
	if o := s.Outside; o != nil {
		row := func(verdict, cause string, n int) {
			r := rateOf(n, o.Cases)
			outside.rows = append(outside.rows, []string{verdict, cause, fmt.Sprintf("%d of %d", n, o.Cases), percent(r.Rate), percent(r.Low) + " to " + percent(r.High)})
		}
		row("PASS", "", o.Pass)
		for _, c := range o.Worse {
			row("worse than a maintainer's", "`"+c.Class+"`", c.Cases)
		}
		row("not PASS for a maintainer, either", "", o.Others)
	}
	behaviour := section{title: "Behaviour", heads: []string{"arm", "whole runs", "with a difference that no test expects", "share", "95 % interval", "median", "most", "only expected ones"}}
	for _, a := range s.Behaviour {
		behaviour.rows = append(behaviour.rows, []string{
			a.Name, fmt.Sprint(a.Cases), fmt.Sprint(a.Shows), percent(a.Rate), percent(a.Low) + " to " + percent(a.High), fmt.Sprintf("%g", a.Median), fmt.Sprint(a.Most), fmt.Sprint(a.Folded),
		})
	}
	ex := section{title: "No case", heads: []string{"arm", "cause", "changes"}}
	for _, c := range s.Excluded {
		ex.rows = append(ex.rows, []string{string(c.Arm), c.Cause, fmt.Sprint(c.Cases)})
	}
	un := section{title: "Not selected", heads: []string{"cause", "commits"}}
	for _, why := range sortedKeys(s.Unselected) {
		un.rows = append(un.rows, []string{why, fmt.Sprint(s.Unselected[why])})
	}
	return []section{arms, ops, wrong, behaviour, given, outside, ex, un}
}

type section struct {
	title string
	heads []string
	rows  [][]string
}

// intro is what stands above the tables.
func (s *Summary) intro() string {
	c := s.Cost
	text := fmt.Sprintf("%s of %s, seed %d, ycbot %s. Wrong is FAIL of a good or honest change and PASS of a bad one; PASS of a tampered one is right where it names each expectation that was given up.",
		count(total(s.Arms), "case"), count(s.Repos, "repository"), s.Seed, cmp.Or(strings.Join(s.Ycbot, ", "), "–"))
	if s.First > 0 {
		text += fmt.Sprintf("\nOf %d the verdict is the first one: no probe was asked for.", s.First)
	}
	if c.Seconds > 0 {
		text += fmt.Sprintf("\nA run takes %.1f s (median; at most %.1f s), the plain suite %.1f s: %.1f times as long", c.Seconds, c.Slowest, c.Plain, c.WallTimes)
		if c.CPUTimes > 0 {
			text += fmt.Sprintf(", %.1f times the processor time", c.CPUTimes)
		}
		text += fmt.Sprintf(".\nThe plain suite takes over a minute for %s of the good changes, over five minutes for %d.", percent(c.PlainOver1), c.PlainOver5)
	}
	if s.Waiting > 0 {
		text += fmt.Sprintf("\nAt most %s not run yet.", count(s.Waiting, "case"))
	}
	return text
}

func total(arms []ArmSummary) int {
	n := 0
	for _, a := range arms {
		n += a.Cases
	}
	return n
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if base, ok := strings.CutSuffix(what, "y"); ok {
		return fmt.Sprintf("%d %sies", n, base)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Text is the summary for a terminal.
func (s *Summary) Text() string {
	var b bytes.Buffer
	b.WriteString(s.intro() + "\n")
	for _, sec := range s.sections() {
		if len(sec.rows) == 0 {
			continue
		}
		b.WriteString("\n")
		if sec.title != "" {
			b.WriteString(sec.title + "\n")
		}
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, strings.Join(sec.heads, "\t"))
		for _, r := range sec.rows {
			fmt.Fprintln(w, strings.Join(r, "\t"))
		}
		_ = w.Flush() // into memory
	}
	return b.String()
}

// Markdown is the summary for a page.
func (s *Summary) Markdown() string {
	var b strings.Builder
	b.WriteString(s.intro() + "\n")
	for _, sec := range s.sections() {
		if len(sec.rows) == 0 {
			continue
		}
		b.WriteString("\n")
		if sec.title != "" {
			b.WriteString("### " + sec.title + "\n\n")
		}
		b.WriteString("| " + strings.Join(sec.heads, " | ") + " |\n|" + strings.Repeat("---|", len(sec.heads)) + "\n")
		for _, r := range sec.rows {
			for i := range r {
				r[i] = strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "`", "'").Replace(r[i])
			}
			b.WriteString("| " + strings.Join(r, " | ") + " |\n")
		}
	}
	return b.String()
}
