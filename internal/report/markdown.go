package report

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/change"
)

// MarkdownLimit is how many characters [Report.Markdown] has at most: GitHub
// takes 65 536 in a comment, and the publisher adds its own.
const MarkdownLimit = 60_000

// The most that the Markdown rendering shows. What is always shown is bounded so
// that it fits whatever the strings are; the rest is cut to MarkdownLimit.
const (
	mdTitle   = 300  // characters of a title or name that is always shown
	mdLine    = 500  // characters of a sentence that is always shown
	mdLong    = 2000 // characters of a name or command that may be cut
	mdReasons = 10
	mdRows    = 30  // checks in the table
	mdOpen    = 10  // failing checks with their output
	mdFound   = 20  // findings
	mdList    = 100 // names, denials, sentences
)

// The order in which sections are cut: the highest first.
const (
	rankTable      = 1 // by a limit under MarkdownLimit only
	rankReproduce  = 2
	rankFailure    = 3 // and one more for each that follows
	rankRun        = rankFailure + mdOpen
	rankSandbox    = rankRun + 1
	rankNotCovered = rankRun + 2
	rankFindings   = rankRun + 3
	rankTests      = rankRun + 4
	rankDenied     = rankRun + 5
	rankAgents     = rankRun + 6
	rankNotes      = rankRun + 7
	rankKept       = rankRun + 8
	rankBehaviour  = rankFailure + mdOpen - 1
)

// Markdown renders r as report.md and as the comment on the pull request: what
// failed is open, the rest is folded. It has at most [MarkdownLimit] characters;
// whole sections give way to a pointer, so that every section that there is can be
// seen, and no fence or fold is ever left open.
func (r *Report) Markdown() string { return r.MarkdownWithin(MarkdownLimit, 0) }

// MarkdownWithin is [Report.Markdown] for a place that takes less: runes characters
// and, where bytes is not 0, as many bytes in UTF-8. Verdict, reasons and headings
// are always shown: they fit where runes and bytes are 20 000 and 60 000 at least.
func (r *Report) MarkdownWithin(runes, bytes int) string {
	ss := r.mdSections()
	inRunes, inBytes := 0, 0
	for _, s := range ss {
		n, m := s.size()
		inRunes, inBytes = inRunes+n, inBytes+m
	}
	byRank := slices.Clone(ss)
	slices.SortStableFunc(byRank, func(a, b *section) int { return cmp.Compare(b.rank, a.rank) })
	for _, s := range byRank {
		if inRunes <= runes && (bytes == 0 || inBytes <= bytes) {
			break
		}
		n, m := s.size()
		s.cut()
		nowN, nowM := s.size()
		inRunes, inBytes = inRunes-n+nowN, inBytes-m+nowM
	}
	var b strings.Builder
	for i, s := range ss {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.String())
	}
	return b.String()
}

// A section is a part of the Markdown rendering that stands or falls as a whole.
type section struct {
	rank   int    // the higher, the earlier it is cut; 0: never
	head   string // Markdown line above the body, "" for none
	folded string // summary, plain text of our own; "" leaves the section open
	body   string // Markdown, ends in a newline
}

const cutBody = "_Left out here: it is in `report.json` of the full report._\n"

func (s *section) cut() {
	if s.rank > 0 && utf8.RuneCountInString(s.body) > len(cutBody) {
		s.body = cutBody
	}
}

// size is how many characters and bytes s takes.
func (s *section) size() (runes, bytes int) {
	out := s.String()
	return utf8.RuneCountInString(out) + 1, len(out) + 1
}

func (s *section) String() string {
	out := s.body
	if s.folded != "" {
		// GitHub reads Markdown within a fold only between blank lines.
		out = "<details>\n<summary>" + html.EscapeString(s.folded) + "</summary>\n\n" + out + "\n</details>\n"
	}
	if s.head != "" {
		out = s.head + "\n\n" + out
	}
	return out
}

// mdSections returns the sections in the order of reading.
func (r *Report) mdSections() []*section {
	ss := []*section{{body: r.mdTop()}}
	ss = append(ss, r.mdFailures()...)
	for _, s := range []*section{
		r.mdTable(),
		r.mdBehaviour(),
		r.mdPrevious(),
		r.mdExpectations(),
		r.mdFindings(),
		mdSentences(rankNotCovered, "Not covered", r.NotCovered),
		r.mdTests(),
		mdSentences(rankDenied, "Denied", mapped(r.Denied, Denial.line)),
		mdSentences(rankNotes, "Notes", r.Notes),
		r.mdSandbox(),
		r.mdAgents(),
		r.mdRun(),
	} {
		if s != nil {
			ss = append(ss, s)
		}
	}
	if block := mdCommand(r.Reproduce); block != "" && !r.reproduceShown() {
		ss = append(ss, &section{rank: rankReproduce, head: "Reproduce:", body: block})
	}
	return ss
}

// mdTop is what a reader with ten seconds sees: verdict, why, numbers.
func (r *Report) mdTop() string {
	var b strings.Builder
	sofar := ""
	if r.Interim {
		sofar = "so far "
	}
	fmt.Fprintf(&b, "## %s ycbot: %s%s · %s\n\n", r.icon(), sofar, r.Verdict.word(), mdCode(orUnknown(plain(change.Short(r.HeadSHA))), 40))
	why, rest := r.why()
	fmt.Fprintf(&b, "**%s**\n\n", mdText(why, mdLine))
	for _, s := range rest[:min(len(rest), mdReasons)] {
		fmt.Fprintf(&b, "- %s\n", mdText(s, mdLine))
	}
	if left := len(rest) - mdReasons; left > 0 {
		b.WriteString(mdMore(left))
	}
	if len(rest) > 0 {
		b.WriteString("\n")
	}
	if r.Interim {
		b.WriteString("The run goes on: probes, the rest of the tests and agents follow, and can only lower this.\n\n")
	}
	for _, s := range r.acceptedBy() {
		b.WriteString(mdText(s, mdLine) + "\n\n")
	}
	if s := r.mdDiagnosis(); s != "" {
		b.WriteString(s[1:] + "\n")
	}
	counts := []string{r.tally().String(), plural(r.Usage.Commands, "command")}
	if line := r.expectationLine(); line != "" {
		counts = append(counts, line)
	}
	if n := len(r.Denied); n > 0 {
		counts = append(counts, fmt.Sprintf("%d denied", n))
	}
	counts = append(counts, duration(r.Timings.DurationMS), mdText(r.modelWords(), mdTitle))
	b.WriteString(strings.Join(counts, " · ") + "\n")
	if w := r.warning(); w != "" {
		b.WriteString("\n**Warning:** " + w + "\n")
	}
	return b.String()
}

func (r *Report) icon() string {
	switch {
	case r.Outcome == Cancelled:
		return "🛑"
	case r.Interim:
		return "⏳"
	case r.Verdict == Pass:
		return "✅"
	case r.Verdict == Fail:
		return "❌"
	case r.Verdict == Partial:
		return "🟡"
	}
	return "⛔"
}

// mdTable folds the table of all checks, nil where there are none.
func (r *Report) mdTable() *section {
	cs := slices.Concat(r.failures(), r.others())
	if len(cs) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("| Check | Result | Evidence | Log |\n|---|---|---|---|\n")
	for _, c := range cs[:min(len(cs), mdRows)] {
		result, state := mdText(string(c.Result), 20), c.support()
		switch {
		case c.Informs():
			result, state = "note", c.Actual
		case r.Reserved(c) != "":
			result, state = "note", r.Reserved(c)
		case c.Result == ResultFail:
			state += ", " + string(c.Reproduction)
			if c.Reproduction != PreExisting {
				result = "**" + result + "**"
			}
		case c.Result == ResultSkip:
			state = c.skipReason()
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", mdText(c.Title, mdTitle), result, mdText(state, mdTitle), r.mdIDs(c.Evidence))
	}
	if left := len(cs) - mdRows; left > 0 {
		b.WriteString("\n" + mdMore(left))
	}
	return &section{rank: rankTable, folded: "All " + r.tally().String(), body: b.String()}
}

// mdFailures is a fold with the failing checks, each a section of its own so that the
// last ones give way first.
func (r *Report) mdFailures() []*section {
	fs := r.blamed()
	if len(fs) == 0 {
		return nil
	}
	all := len(fs) + r.unlisted()
	name := fmt.Sprintf("What failed (%d): commands and output", all)
	ss := []*section{{body: "<details>\n<summary>" + name + "</summary>\n"}}
	for i, c := range fs[:min(len(fs), mdOpen)] {
		ss = append(ss, &section{rank: rankFailure + i, head: "### ❌ " + mdText(c.Title, mdTitle), body: r.mdOpen(c)})
	}
	if left := all - min(len(fs), mdOpen); left > 0 {
		ss = append(ss, &section{body: fmt.Sprintf("… and %d more (`report.json`)\n", left)})
	}
	return append(ss, &section{body: "</details>\n"})
}

func (r *Report) mdOpen(c Check) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s · %s\n", mdText(dotted(c.reproduced(), c.support()), mdLong), r.mdIDs(c.Evidence))
	if c.Expected != "" {
		fmt.Fprintf(&b, "\nExpected: %s\n", mdText(c.Expected, mdLong))
	}
	for _, block := range []string{mdCommand(c.Whole()), mdOutput(c.Actual, c.spill(), outputEnds)} {
		if block != "" {
			b.WriteString("\n" + block)
		}
	}
	return b.String()
}
