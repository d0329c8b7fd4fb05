package evidence

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
)

// A printed is what the records of one check wrote, folded.
type printed struct {
	stdout, stderr string
	exits          []int
	failed         bool // the last of them ended with another code than 0
}

// has reports whether every piece of a quote was printed, in order. Both orders
// of the two streams are tried, since a reader may quote either first.
func (p printed) has(q quote) bool {
	return q.within(p.stdout+"\n"+p.stderr) || q.within(p.stderr+"\n"+p.stdout)
}

// empty reports whether nothing was printed.
func (p printed) empty() bool { return p.stdout == "" && p.stderr == "" }

var (
	ansiCodes = pattern.New("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
	// headerLines are the tool answer's own words around an output.
	headerLines = pattern.New(`^\s*(?:\[E\d+\]\s*)?(?:exit(?: ?code| ?status)?\s*[=:]?\s*-?\d+\b[^a-zA-Z]*(?:(?:duration|signal|timed_out|limit=)\S*\s*)*|-{3} ?(?:stdout|stderr) ?-{3})\s*$`)
	headerWords = pattern.New(`^\s*(?:\[E\d+\] exit=\S+.*|note: this command changed tracked files.*)$`)
	silence     = pattern.New(`(?i)^\W*(?:\(?(?:no|empty|without) (?:output|stdout)(?: on stdout)?\)?|empty|no stdout,? no stderr|\(?(?:nothing|silent|none)\)?|stdout:? empty)\W*$`)
	// cutMarks stand where a quote leaves something out.
	cutMarks = pattern.New(`(?i)\[…[^\]\n]*\]|\[\.\.\.[^\]\n]*\]|[\[(<]\s*(?:…|\.\.\.)?\s*(?:\d+ (?:more )?(?:lines?|bytes?) )?(?:output |lines? )?(?:omitted|snip(?:ped)?|truncated|trimmed|elided|cut)[^\])>\n]*[\])>]|\.{3,}(?:\s*\([^)\n]*(?:omitted|truncated|more)[^)\n]*\))?|…`)
	// frames are what people draw before a quoted line.
	frames = pattern.New(`^\s*(?:[>|│]\s+)`)
)

// fold makes spelling differences of one text vanish: colours, blanks, carriage
// returns. Lines stay lines.
func fold(s string) string {
	s = Visible(s)
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u00a0", " ", "’", "'", "‘", "'", "“", `"`, "”", `"`).Replace(s)
	lines := strings.Split(s, "\n")
	out := lines[:0]
	for _, l := range lines {
		if f := strings.Join(strings.Fields(l), " "); f != "" {
			out = append(out, f)
		}
	}
	return strings.Join(out, "\n")
}

// A quote is what a check claims was printed, line by line.
type quote struct {
	lines []string
	quiet bool // it says that nothing was printed
}

// readQuote takes the quote out of a check: the tool answer's header lines and
// the echo of the command are not part of it.
func readQuote(c report.AgentCheck) quote {
	var q quote
	commands := map[string]bool{}
	for _, cmd := range c.Commands {
		commands[readCommand(cmd).key] = true
	}
	for line := range strings.SplitSeq(fold(c.Output), "\n") {
		switch rest, prompted := strings.CutPrefix(line, "$ "); {
		case line == "", headerLines.MatchString(line), headerWords.MatchString(line):
		case prompted && commands[readCommand(rest).key]:
		case silence.MatchString(line):
			q.quiet = true
		default:
			q.lines = append(q.lines, line)
		}
	}
	return q
}

// within looks for the lines of a quote, in order. A line that is not there as
// it stands may be framed, or cut where a mark says so.
func (q quote) within(text string) bool {
	at := 0
	for _, line := range q.lines {
		next := find(text, at, line, false, false)
		if next < 0 {
			next = findCut(text, at, line)
		}
		if bare := frames.ReplaceAllString(line, ""); next < 0 && bare != line && bare != "" {
			next = find(text, at, bare, false, false)
		}
		if next < 0 {
			return false
		}
		at = next
	}
	return true
}

// findCut looks for the pieces of a line between its cut marks. A mark may cut
// a word in two.
func findCut(text string, at int, line string) int {
	pieces := cutMarks.Split(line, -1)
	if len(pieces) < 2 {
		return -1
	}
	for i, p := range pieces {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		if at = find(text, at, p, i > 0, i+1 < len(pieces)); at < 0 {
			return -1
		}
	}
	return at
}

// find returns the position behind the first whole occurrence of piece in text
// from at on, -1 for none. Whole means that no word and no number goes on at
// either end, unless that end was cut, and that no negation stands before it:
// "ok 1" is not in "not ok 1", and "1 failed" not in "11 failed".
func find(text string, at int, piece string, cutLeft, cutRight bool) int {
	for from := at; from <= len(text); {
		i := strings.Index(text[from:], piece)
		if i < 0 {
			return -1
		}
		start, end := from+i, from+i+len(piece)
		if (cutLeft || startsWhole(text, start)) && (cutRight || endsWhole(text, end)) {
			return end
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + max(size, 1)
	}
	return -1
}

var negation = pattern.New(`(?i)(?:^|[\s(\[:,;"'])(?:not|no|never|non|without|cannot|\w+n't)[ -]$`)

func startsWhole(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	first, _ := utf8.DecodeRuneInString(text[i:])
	if i == 0 || before == '\n' {
		return true
	}
	if wordish(before) && wordish(first) {
		return false
	}
	if unicode.IsDigit(first) && (before == '.' || before == ',' || before == '-') {
		return false
	}
	near := text[max(0, i-24):i] // a negation is near, and lines may be long
	return !negation.MatchString(near[strings.LastIndexByte(near, '\n')+1:])
}

func endsWhole(text string, i int) bool {
	if i == len(text) {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(text[:i])
	after, size := utf8.DecodeRuneInString(text[i:])
	if wordish(last) && wordish(after) {
		return false
	}
	if unicode.IsDigit(last) && (after == '.' || after == ',') {
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		return !unicode.IsDigit(next)
	}
	return true
}

func wordish(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// quoteSupport holds what a check quotes against what was printed. A failure that its exit code
// shows needs no quote: running it again decides.
func quoteSupport(c report.AgentCheck, p printed) (report.Support, string) {
	q, failed := readQuote(c), c.Result == report.ResultFail && p.failed
	switch {
	case len(q.lines) > 0 && p.has(q):
		return report.Supported, ""
	case len(q.lines) > 0 && c.Quoted:
		return report.Absent, "the quoted output is not what the log has: " + strconv.Quote(clipLine(q.missing(p)))
	case len(q.lines) > 0 && (len(c.EvidenceIDs) > 0 || failed):
		return report.Supported, "" // a description; the recorded bytes speak for themselves
	case len(q.lines) > 0:
		return report.Related, "the output is described, not quoted"
	case q.quiet && !p.empty():
		if p.stdout == "" {
			return report.Related, "it printed to stderr, which the check leaves out"
		}
		return report.Absent, "the check says that nothing was printed, and something was"
	case q.quiet, p.empty(), failed, len(c.EvidenceIDs) > 0, len(exitClaims(c, p)) > 0:
		return report.Supported, ""
	}
	return report.Related, "no output is quoted and no evidence is cited"
}

// described reports whether a check says in words of its own what was printed. Those words are
// the agent's: what a report shows is the record.
func described(c report.AgentCheck, p printed) bool {
	q := readQuote(c)
	return len(q.lines) > 0 && !c.Quoted && !p.has(q)
}

// endMost bounds what end returns, in runes.
const endMost = 2000

// end is the end of what was printed.
func (p printed) end() string {
	text := strings.Trim(p.stdout+"\n"+p.stderr, "\n")
	if text == "" {
		return "(no output)"
	}
	if r := []rune(text); len(r) > endMost {
		text = "… " + string(r[len(r)-endMost:])
	}
	return text
}

// missing returns the first line of a quote that was not printed, for the reason.
func (q quote) missing(p printed) string {
	text := p.stdout + "\n" + p.stderr
	for _, l := range q.lines {
		if !(quote{lines: []string{l}}).within(text) {
			return l
		}
	}
	return "its lines stand in another order"
}

func clipLine(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

var exitWords = pattern.New(`(?i)\bexit(?:s|ed)?(?:[ _-]?(?:code|status))?(?: (?:was|is|of|with))?(?: (?:code|status))?\s*[=:]?\s*(-?\d{1,3})\b`)

// exitClaims returns the exit codes that a check says its command ended with.
// What the command printed itself, such as "exit status 1", is no claim.
func exitClaims(c report.AgentCheck, p printed) []int {
	out := exitsIn(c.Remark)
	for line := range strings.SplitSeq(fold(c.Output), "\n") {
		answer := headerWords.MatchString(line)
		said := (headerLines.MatchString(line) || !c.Quoted) && !p.has(quote{lines: []string{line}})
		if answer || said {
			out = append(out, exitsIn(line)...)
		}
	}
	return out
}

func exitsIn(text string) []int {
	var out []int
	for _, m := range exitWords.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, n)
		}
	}
	return out
}
