package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// An AgentReport is an agent's final reply, read leniently in everything but
// the one line that counts: a PASS that is not written exactly is no PASS.
type AgentReport struct {
	Checks   []AgentCheck
	Verdict  Verdict     // empty where Form is FormNone or FormEcho
	Form     VerdictForm // how the verdict was written
	Problems []string    // what the reply does wrong, one sentence each, for the corrective turn
}

// An AgentCheck is one "### Check:" block. It is a claim until the log carries it.
type AgentCheck struct {
	Title       string
	Adversarial bool
	Commands    []string // verbatim; a block of several lines without prompts is one element
	Output      string   // what is quoted as output
	Quoted      bool     // Output stood in a fence or code span, so it claims to be verbatim
	Remark      string   // prose beside a quoted output, such as "exit=1, as it should"
	Expected    string   // the text of "Expected vs Actual"
	Result      Result   // SKIP where the block gives none, or PASS without command and evidence
	EvidenceIDs []string
	Line        int // 1-based line of the heading
}

// A VerdictForm says how a verdict line was written.
type VerdictForm string

// The forms of a verdict line.
const (
	FormStrict    VerdictForm = "strict"    // exactly "VERDICT: X" as the last line that is not empty
	FormDecorated VerdictForm = "decorated" // bold, lower case, a full stop and the like; FAIL and PARTIAL only
	FormNone      VerdictForm = "none"
	FormEcho      VerdictForm = "echo" // the alternatives repeated instead of one chosen
)

// ParseAgentReport reads an agent's final reply. It never fails: what cannot be
// read is a problem in the result. A PASS beside a failing check is read as
// FAIL, because a contradiction is resolved downwards.
func ParseAgentReport(text string) AgentReport {
	var p grammar
	p.lines, p.within = ownLines(text)
	p.run()
	r := AgentReport{Checks: p.checks, Problems: p.problems}
	r.Verdict, r.Form = p.verdict()
	switch r.Form {
	case FormNone:
		r.Problems = append(r.Problems, "the last line is not one of VERDICT: PASS, VERDICT: FAIL, VERDICT: PARTIAL")
		if p.within {
			r.Problems = append(r.Problems, "the whole report stands in a code fence or a quote")
		}
	case FormEcho:
		r.Problems = append(r.Problems, "the last line repeats the alternatives instead of choosing one")
	case FormStrict, FormDecorated:
	}
	failing := slices.ContainsFunc(r.Checks, func(c AgentCheck) bool { return c.Result == ResultFail })
	if r.Verdict == Pass && failing {
		r.Verdict = Fail
		r.Problems = append(r.Problems, "VERDICT: PASS contradicts a check with Result: FAIL")
	}
	return r
}

var (
	headingLine = pattern.New(`^\s*(#{1,6})\s+\S`)
	checkLine   = pattern.New(`(?i)^\s*(?:(?:[-+*]|\d+[.)])\s+)?(#{1,6}\s+[*_]{0,3}|[*_]{2,3})\s*(?:\d+[.)]\s*)?((?:[\[(]?adversarial[\])]?\s+)?(?:check|probe)|adversarial(?:\s+(?:test|case|attack|input))?)\b\s*#?\d*\s*([\[(]\s*adversarial\s*[\])])?[*_]*\s*[:.–—-]+\s*(.*)$`)
	plainLine   = pattern.New(`(?i)^ {0,3}(?:(?:[-+*]|\d+[.)])\s+)?((?:[\[(]?adversarial[\])]?\s+)?(?:check|probe))\s*#?\d*\s*([\[(]\s*adversarial\s*[\])])?\s*:\s*(\S.*)$`)
	resultTail  = pattern.New(`^(.*\S?)(?:\s[-–—>=→]+|\s*:)\s*[*_]*[\[(]?\W?\s?(PASS(?:ED)?|FAIL(?:ED)?|SKIP(?:PED)?)[\])]?[\s*_.]*$|^(.*\S)\s*[\[(](PASS(?:ED)?|FAIL(?:ED)?|SKIP(?:PED)?)[\])][\s*_]*$`)
	titleLine   = pattern.New(`^\s*(?:(?:[-+*]|\d+[.)])\s+)?(?:#{1,6}\s+(.*)|[*_]{2}([^*_].*?)[*_]{2}:?\s*)$`)
	titleNumber = pattern.New(`^[*_]*(?:#?\d+[.):]|\(\d+\))\s*`)
	bareLabel   = pattern.New(`(?i)^[\s>]*(?:[-+*]\s+|\d+[.)]\s+)?(?:#{2,6}\s+[*_]{0,3}|[*_]{2,3})(commands?(?: run)?|outputs?(?: observed)?|expected(?: vs\.?| versus)? actual|result|evidence)[*_]{0,3}\s*$`)
	kindLine    = pattern.New(`(?i)^[\s>]*(?:[-+*]\s+)?[*_]{0,3}(?:type|kind|category)[*_]{0,3}\s*:[\s*_` + "`" + `]*adversarial\b|^[\s>]*(?:[-+*]\s+)?[*_]{0,3}adversarial[*_]{0,3}\s*:[\s*_` + "`" + `]*(?:(?:yes|true)\b|(no|false)\b[\s*_` + "`" + `]*(?:$|[.,;(–—-]))`)
	labelLine   = pattern.New(`(?i)^[\s>]*(?:[-+*]\s+|\d+[.)]\s+)?(?:#{2,6}\s+)?([*_]{0,3})(commands?(?: run)?|ran|outputs?(?: observed)?|observed(?: output)?|expected(?: vs\.?| versus)? actual|expected|actual|result|evidence)(?:\s*\([^)]*\))?[*_]{0,3}\s*:(.*)$`)
	fenceLine   = pattern.New("^[\\s>]*(?:[-+*]\\s+)?(`{3,}|~{3,})([^`]*)$")
	resultWord  = pattern.New(`(?i)^(?:[\s*_` + "`" + `\[(✅❌✓✔✗✘:]|</?\w+>)*(not[ -]pass(?:ed)?|not[ -]ok|pass(?:ed|es)?|fail(?:ed|s|ing|ure)?|skip(?:ped)?|partial|error|unmet|broken|regression)\b`)
	echoed      = pattern.New("^[\\s*_`\\])]*(?:(?:[|/]|(?i:or\\b))[\\s*_`\\[(]*(?i:pass|fail|skip|partial)|,\\s*(?:PASS|FAIL|SKIP|PARTIAL)\\b)") // a form's alternatives in place of one
	strike      = pattern.New(`~~.*?~~`)
	resultMark  = pattern.New(`^(?:[\s*_` + "`" + `\[(]|</?\w+>)*([✅✓✔❌✗✘])`)
	resultDash  = pattern.New(`(?i)^[\s>]*(?:[-+*]\s+|\d+[.)]\s+)?(?:#{2,6}\s+|<\w+>)?[*_]{0,3}result[*_]{0,3}(?:</\w+>)?\s*(?:[-–—=→:(\[]|=>|->)+\s*(.*)$`)
	resultOther = pattern.New(`(?i)^[\s>]*(?:[-+*]\s+|\d+[.)]\s+)?[*_]{2,3}(?:status|outcome|conclusion|verdict)(?:[*_]{2,3}\s*:|:[*_]{2,3})\s*(.*)$`)
	adversarial = pattern.New(`(?i)\s*[\[(]\s*adversarial(?:\s+\w+)?\s*[\])]\s*|^[*_]*adversarial(?:\s+(?:check|prob(?:e|ing)|test(?:ing)?|case|attack|input)s?)?[*_]*\s*[:–—-]+\s*|(?:\s[-–—|]+\s*|[–—:,]\s*)[*_]*adversarial(?:\s+(?:check|probe|test|case|attack|input))?[\s*_.]*$`)
	hostilePart = pattern.New(`(?i)^\s*(#{1,6})\s+[*_]*(?:\d+[.)]\s*)?adversarial\b`)
	citedID     = pattern.New(`\bE[1-9][0-9]*\b`)
	headerID    = pattern.New(`(?m)^\s*\[(E[1-9][0-9]*)\] exit=`)
)

// A grammar is one pass over the lines of a reply.
type grammar struct {
	lines    []string
	checks   []AgentCheck
	problems []string
	open     bool // a fence is never closed
	within   bool // the last line stood in what wrapped the reply

	cur    *AgentCheck
	level  int // heading level of cur
	part   int // level of the heading under which all checks are adversarial; 0: there is none
	field  string
	blocks map[string]*fieldText // what was collected for cur, by field
}

// A fieldText is the content of one field: what was fenced and what was not.
type fieldText struct {
	fenced []string // one element a fence
	plain  []string
}

func (p *grammar) run() {
	for i := 0; i < len(p.lines); i++ {
		line := p.lines[i]
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			if end := p.fenceEnd(i, m[1]); end > 0 {
				p.fenced(p.lines[i+1 : end])
				i = end
				continue
			}
			p.open = true
			continue
		}
		p.line(i, line)
	}
	p.closeCheck()
	if p.open {
		p.problems = append(p.problems, "a code fence is never closed")
	}
}

// fenceEnd returns the line that closes the fence opened at line i, 0 for none.
func (p *grammar) fenceEnd(i int, mark string) int {
	for j := i + 1; j < len(p.lines); j++ {
		m := fenceLine.FindStringSubmatch(p.lines[j])
		if m != nil && strings.HasPrefix(m[1], mark) && strings.TrimSpace(m[2]) == "" {
			return j
		}
	}
	return 0
}

func (p *grammar) fenced(content []string) {
	if p.cur == nil || p.field == "" {
		return
	}
	b := p.block(p.field)
	b.fenced = append(b.fenced, strings.Join(content, "\n"))
}

func (p *grammar) line(i int, line string) {
	if m := kindLine.FindStringSubmatch(line); m != nil && p.cur != nil {
		p.cur.Adversarial = m[1] == ""
		return
	}
	if title, hostile, ok := p.title(i); ok {
		p.openCheck(i+1, line, title)
		p.cur.Adversarial = p.cur.Adversarial || hostile || p.part > 0 && p.level > p.part
		return
	}
	p.section(line)
	if p.cur == nil {
		return
	}
	if m := labelLine.FindStringSubmatch(line); m != nil && p.label(strings.ToLower(m[2]), m[1] != "", m[3]) {
		return
	}
	if m := bareLabel.FindStringSubmatch(line); m != nil {
		if p.field = strings.ToLower(m[1]); p.field != "result" {
			p.label(p.field, true, "")
		}
		return
	}
	if m := headingLine.FindStringSubmatch(line); m != nil {
		p.field = ""
		if len(m[1]) <= p.level {
			p.closeCheck()
		}
		return
	}
	if p.field == "result" {
		if strings.TrimSpace(line) != "" {
			p.result(line)
			p.field = ""
		}
		return
	}
	if m := resultDash.FindStringSubmatch(line); m != nil && isResult(m[1]) {
		p.result(m[1])
		p.field = ""
		return
	}
	if m := resultOther.FindStringSubmatch(line); m != nil && p.cur.Result == "" && isResult(m[1]) {
		p.result(m[1])
		p.field = ""
		return
	}
	if p.field != "" && !isVerdictLine(line) {
		p.block(p.field).plain = append(p.block(p.field).plain, line)
	}
}

// section notes a heading that is no check: all checks below one may be adversarial.
func (p *grammar) section(line string) {
	m := headingLine.FindStringSubmatch(line)
	if m == nil || isLabel(line) {
		return
	}
	if h := hostilePart.FindStringSubmatch(line); h != nil {
		p.part = len(h[1])
	} else if len(m[1]) <= p.part {
		p.part = 0
	}
}

// isLabel says whether a line opens a field of a check.
func isLabel(line string) bool { return labelLine.MatchString(line) || bareLabel.MatchString(line) }

// title says whether a line opens a check, and whether it says that it is adversarial.
// A heading that calls it a check does. A line that is no heading, or one with words of its
// own, does where a command and a result follow, since models number and name their checks
// as they like.
func (p *grammar) title(i int) (title string, hostile, ok bool) {
	line := p.lines[i]
	if m := checkLine.FindStringSubmatch(line); m != nil {
		hostile = strings.Contains(strings.ToLower(m[2]+m[3]), "adversarial")
		plain := !hostile && strings.EqualFold(m[2], "check") && strings.HasPrefix(strings.TrimSpace(line), m[1])
		if plain || strings.HasPrefix(m[1], "#") || p.follows(i) {
			return m[4], hostile, true
		}
	}
	if p.cur != nil && p.cur.Result == "" || isLabel(line) {
		return "", false, false
	}
	if m := plainLine.FindStringSubmatch(line); m != nil && p.follows(i) {
		return m[3], strings.Contains(strings.ToLower(m[1]+m[2]), "adversarial"), true
	}
	m := titleLine.FindStringSubmatch(line)
	if m == nil || !p.follows(i) {
		return "", false, false
	}
	return titleNumber.ReplaceAllString(strings.Trim(m[1]+m[2], " *_"), ""), false, true
}

// follows says whether a command and a result stand below line i, before another
// heading; the result of a heading may be its end.
func (p *grammar) follows(i int) bool {
	head, plain := p.lines[i], plainLine.MatchString(p.lines[i])
	command, result := false, headingLine.MatchString(head) && resultTail.MatchString(head)
	for j := i + 1; j < len(p.lines) && (!command || !result); j++ {
		line := p.lines[j]
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			j = max(j, p.fenceEnd(j, m[1]))
			continue
		}
		name := ""
		if m := labelLine.FindStringSubmatch(line); m != nil {
			name = strings.ToLower(m[2])
		} else if m := bareLabel.FindStringSubmatch(line); m != nil {
			name = strings.ToLower(m[1])
		} else if checkLine.MatchString(line) || titleLine.MatchString(line) || plain && plainLine.MatchString(line) {
			break
		}
		command = command || strings.HasPrefix(name, "command") || name == "ran"
		result = result || name == "result"
	}
	return command && result
}

func (p *grammar) openCheck(line int, raw, title string) {
	p.closeCheck()
	p.level = len(strings.TrimLeft(raw, " \t")) - len(strings.TrimLeft(raw, " \t#"))
	if p.level == 0 || p.level > 6 {
		p.level = 6
	}
	if h := headingLine.FindStringSubmatch(raw); h != nil {
		p.level = len(h[1])
	}
	title, word := resultOf(strings.Trim(title, " \t*_"))
	p.cur = &AgentCheck{Line: line, Adversarial: adversarial.MatchString(title)}
	title = strings.Trim(adversarial.ReplaceAllString(title, " "), " \t*_")
	if word == "" {
		title, word = resultOf(title)
	}
	p.cur.Title = strings.Join(strings.Fields(title), " ")
	p.blocks = map[string]*fieldText{}
	if word != "" {
		p.result(word)
	}
}

// resultOf takes the result off the end of a title, such as "zero — FAIL".
func resultOf(title string) (bare, word string) {
	m := resultTail.FindStringSubmatch(title)
	if m == nil || m[1]+m[3] == "" {
		return title, ""
	}
	return strings.Trim(m[1]+m[3], " \t*_"), m[2] + m[4]
}

// label opens a field. A plain "Result:" that names no result is output of a
// program, not a label.
func (p *grammar) label(name string, bold bool, rest string) bool {
	rest = strings.TrimSpace(strings.TrimLeft(rest, "*_"))
	switch {
	case name == "result":
		switch {
		case isResult(rest):
			p.result(rest)
			p.field = ""
		case !bold:
			return false
		case rest == "": // it stands below
			p.field = "result"
		default:
			p.result(rest)
			p.field = ""
		}
		return true
	case strings.HasPrefix(name, "command"), name == "ran":
		p.field = "command"
	case strings.HasPrefix(name, "output"), strings.HasPrefix(name, "observed"):
		p.field = "output"
	case name == "evidence":
		p.field = "evidence"
	default:
		p.field = "expected"
		if name == "expected" || name == "actual" {
			rest = strings.ToUpper(name[:1]) + name[1:] + ": " + rest
		}
	}
	b := p.block(p.field)
	b.plain = append(b.plain, rest)
	return true
}

// firstOf is the beginning of a line, for people.
func firstOf(line string) string {
	if r := []rune(line); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return line
}

// isResult says whether a text begins with a result.
func isResult(text string) bool {
	text = strike.ReplaceAllString(text, "")
	return resultWord.MatchString(text) || resultMark.MatchString(text)
}

func (p *grammar) result(rest string) {
	got, rest := ResultSkip, strike.ReplaceAllString(rest, "")
	if m := resultWord.FindStringSubmatch(rest); m != nil {
		switch word := strings.ToLower(m[1]); {
		case strings.HasPrefix(word, "pass"):
			got = ResultPass
		case !strings.HasPrefix(word, "skip") && word != "partial":
			got = ResultFail
		}
		if tail := rest[len(m[0]):]; echoed.MatchString(tail) {
			got = ResultSkip
		}
	} else if m := resultMark.FindStringSubmatch(rest); m != nil {
		got = ResultFail
		if strings.Contains("✅✓✔", m[1]) {
			got = ResultPass
		}
	} else {
		p.problem(fmt.Sprintf("has a result that is none of PASS, FAIL and SKIP: %q", firstOf(rest)))
	}
	switch {
	case p.cur.Result == "":
		p.cur.Result = got
	case p.cur.Result != got:
		p.problem("gives more than one result")
		if got == ResultFail || p.cur.Result == ResultPass {
			p.cur.Result = got
		}
	}
}

func (p *grammar) block(field string) *fieldText {
	if p.blocks[field] == nil {
		p.blocks[field] = &fieldText{}
	}
	return p.blocks[field]
}

func (p *grammar) problem(text string) {
	p.problems = append(p.problems, "check \""+p.cur.Title+"\" "+text)
}

// closeCheck finishes the current check.
func (p *grammar) closeCheck() {
	if p.cur == nil {
		return
	}
	c := p.cur
	var transcript string
	c.Commands, transcript = claimCommands(p.block("command"))
	c.Output, c.Quoted, c.Remark = claimOutput(p.block("output"))
	if c.Output == "" && transcript != "" {
		c.Output, c.Quoted = transcript, true
	}
	c.Expected = strings.TrimSpace(strings.Join(slices.Concat(p.block("expected").plain, p.block("expected").fenced), "\n"))
	cited := strings.Join(p.block("evidence").plain, " ") + " " + strings.Join(p.block("evidence").fenced, " ")
	c.EvidenceIDs = citedID.FindAllString(cited, -1)
	for _, m := range headerID.FindAllStringSubmatch(c.Output+"\n"+strings.ReplaceAll(c.Remark, "`", ""), -1) {
		c.EvidenceIDs = append(c.EvidenceIDs, m[1])
	}
	c.EvidenceIDs = distinct(c.EvidenceIDs)
	if c.Result == "" {
		c.Result = ResultSkip
		p.problem("has no result line")
	}
	if len(c.Commands) == 0 && len(c.EvidenceIDs) == 0 && c.Result != ResultSkip {
		p.problem("names no command")
		if c.Result == ResultPass {
			c.Result = ResultSkip
		}
	}
	p.checks = append(p.checks, *c)
	p.cur, p.field, p.blocks = nil, "", nil
}

func distinct(in []string) []string {
	var out []string
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
