package report

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// An AgentFinding is something that an agent's reply wants a person to see, beside its
// checks. It is a claim until the log carries it.
type AgentFinding struct {
	Severity Severity
	Title    string
	Path     string // empty: none was given, or none that can be a file of the repository
	Line     int    // 1-based; 0: none was given
	Text     string // what the reply says of it
	Patch    string // how it could be repaired, as a hint
	// Claim is the command that shows it, as a check that fails; nil: none was given.
	Claim *AgentCheck
}

// Bounds of the findings that are taken from one reply.
const (
	findingsMost = 20
	findingRunes = 4000 // of its text, and of its patch
	titleRunes   = 200
)

var (
	findingHead   = pattern.New(`(?i)^\s*#{1,6}\s+[*_]{0,2}\s*finding\b\s*#?\d*[*_]*\s*[:.–—-]\s*(.*)$`)
	findingRated  = pattern.New(`(?i)^\s*(?:[-+*]\s+|\d+[.)]\s+|#{1,6}\s+)?[*_]{0,2}\[\s*(critical|high|medium|low|error|warning|info)\s*\]\s*(.*)$`)
	findingBullet = pattern.New(`(?i)^\s*[-+*]\s+(?:[*_]{0,2}(error|warning|info)|[*_]{2}(critical|high|medium|low))[*_]{0,2}\s*:[*_]{0,2}\s+(.*)$`)
	findingLabel  = pattern.New(`(?i)^\s*(?:[-+*]\s+)?[*_]{0,2}(severity|where|place|location|patch(?: hint)?|fix)[*_]{0,2}\s*:[*_]{0,2}\s*(.*)$`)
	findingTail   = pattern.New("^(.*?)[*_:\\s]*(?:\\(([^()]+)\\)|`([^`]+)`)[.\\s]*$")
	findingPlace  = pattern.New("`?([^\\s`()\"':,;]+)(?::(\\d+))?")
)

// severities are the words for how bad something is.
var severities = map[string]Severity{
	"critical": SeverityError, "high": SeverityError, "error": SeverityError,
	"medium": SeverityWarning, "warning": SeverityWarning, "low": SeverityInfo, "info": SeverityInfo,
}

// ParseAgentFindings reads the findings of an agent's reply: blocks under
// "### Finding: title", entries that begin with "[high] title" and list entries such as
// "- error: title (path:line)" or "- **High**: title". It never fails.
func ParseAgentFindings(text string) []AgentFinding {
	var p findingReader
	p.lines, _ = ownLines(text)
	for p.at < len(p.lines) && len(p.out) < findingsMost {
		p.next()
	}
	p.close()
	return p.out[:min(len(p.out), findingsMost)]
}

// A findingReader is one pass over the lines of a reply.
type findingReader struct {
	lines []string
	at    int
	out   []AgentFinding

	cur   *AgentFinding
	body  []string // lines of cur that are no field of findings
	patch bool     // what is fenced next is the patch
}

func (p *findingReader) next() {
	line := p.lines[p.at]
	p.at++
	if m := fenceLine.FindStringSubmatch(line); m != nil {
		p.fence(m[1])
		return
	}
	if m := findingHead.FindStringSubmatch(line); m != nil {
		p.open(SeverityWarning, m[1])
		return
	}
	if m := findingRated.FindStringSubmatch(line); m != nil {
		p.open(severities[strings.ToLower(m[1])], m[2])
		return
	}
	if m := findingBullet.FindStringSubmatch(line); m != nil {
		p.open(severities[strings.ToLower(m[1]+m[2])], m[3])
		return
	}
	switch {
	case p.cur == nil:
	case checkLine.MatchString(line), headingLine.MatchString(line), isVerdictLine(line):
		p.close()
	default:
		p.field(line)
	}
}

// fence takes a fenced text whole, so that nothing in it is read as a finding.
func (p *findingReader) fence(mark string) {
	from := p.at - 1
	g := grammar{lines: p.lines}
	end := g.fenceEnd(from, mark)
	if end == 0 {
		end = len(p.lines) - 1
	}
	p.at = end + 1
	if p.cur == nil {
		return
	}
	if p.patch {
		p.patch = false
		p.cur.Patch = strings.Trim(strings.Join(p.lines[min(from+1, end):end], "\n"), "\n")
		return
	}
	p.body = append(p.body, p.lines[from:end+1]...)
}

// field reads a line of a finding.
func (p *findingReader) field(line string) {
	m := findingLabel.FindStringSubmatch(line)
	if m == nil {
		p.body = append(p.body, line)
		return
	}
	value := strings.Trim(m[2], " *_")
	switch name := strings.ToLower(m[1]); {
	case name == "severity":
		if s, ok := severities[strings.ToLower(strings.Trim(value, "` ."))]; ok {
			p.cur.Severity = s
		}
	case name == "where", name == "place", name == "location":
		p.place(value)
	case value != "":
		p.cur.Patch = value
	default:
		p.patch = true
	}
}

// place reads path:line.
func (p *findingReader) place(text string) {
	m := findingPlace.FindStringSubmatch(text)
	if m == nil || p.cur.Path != "" {
		return
	}
	name := strings.TrimRight(strings.TrimPrefix(m[1], "./"), ".")
	if !fs.ValidPath(name) || name == "." || path.Clean(name) != name || !strings.ContainsAny(name, "./") {
		return
	}
	p.cur.Path = name
	p.cur.Line, _ = strconv.Atoi(m[2]) // too large a number is none
}

func (p *findingReader) open(s Severity, title string) {
	p.close()
	p.cur = &AgentFinding{Severity: s}
	if m := findingTail.FindStringSubmatch(title); m != nil { // "title (path:line)", "title**: `path:line`"
		if p.place(m[2] + m[3]); p.cur.Path != "" {
			title = m[1]
		}
	}
	title = strings.Trim(strings.TrimRight(strings.ReplaceAll(title, "**", ""), " :(`"), " *_")
	p.cur.Title = cutFinding(strings.Join(strings.Fields(title), " "), titleRunes)
	p.body, p.patch = nil, false
}

func (p *findingReader) close() {
	f := p.cur
	p.cur = nil
	if f == nil || f.Title == "" {
		return
	}
	body := strings.Join(p.body, "\n")
	claims := ParseAgentReport("### Check: " + f.Title + "\n" + body + "\n**Result: FAIL**\n").Checks
	if len(claims) == 1 && (len(claims[0].Commands) > 0 || len(claims[0].EvidenceIDs) > 0) {
		f.Claim = &claims[0]
	}
	f.Text, f.Patch = cutFinding(strings.TrimSpace(body), findingRunes), cutFinding(f.Patch, findingRunes)
	p.out = append(p.out, *f)
}

func cutFinding(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + " …"
}
