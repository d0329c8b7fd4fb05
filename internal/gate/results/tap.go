package results

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A line of TAP (https://testanything.org/tap-version-14-specification.html): a
// result, with its description and its directive.
var tapLine = pattern.New(`^(not )?ok\b\s*\d*\s*(?:- )?(.*?)(?:\s+#\s*((?i:skip|todo)\S*)\b.*)?$`)

// tapTime is what node-tap writes behind a description: how long it took, and that the
// results of the subtest follow.
var tapTime = pattern.New(`(?:\s+#\s*time=\S+)?(?:\s+\{)?\s*$`)

// avaSep stands between a test of AVA and its file, where there are several.
const avaSep = " › "

// tapPlan says how many results there are.
var tapPlan = pattern.New(`^1\.\.(\d+)\b`)

// tapName is a line above results that names what they are of, as tape writes.
var tapName = pattern.New(`^# (.+)$`)

// tapSubtest names the subtest whose results come next, indented by four spaces.
var tapSubtest = pattern.New(`^# Subtest: (.+)$`)

// tapCount are the lines at the end that count results.
var tapCount = pattern.New(`^# (?:(?:tests|suites|pass|fail|cancelled|skipped|todo|ok|duration_ms)\b|time=|Subtest:)`)

// TapPackage groups the tests of TAP, which names no files.
const TapPackage = "TAP"

// ParseTAP reads the results of the outermost level and those of named subtests, each
// with the lines that follow it; other results inside of subtests are assertions, which
// count as what they are in. Results of which several have one name are one test.
func ParseTAP(data []byte) ([]Outcome, error) {
	p := tapParser{said: saying{at: -1}, plan: -1, yaml: -1}
	for line := range strings.Lines(string(data)) {
		p.line(strings.TrimRight(line, "\r\n"))
	}
	p.said.begin(p.out, -1)
	switch {
	case p.names > MaxDocument:
		return p.out, fmt.Errorf("TAP: the names of the tests have more than %d MiB", MaxDocument>>20)
	case p.plan < 0 && len(p.out) == 0:
		return nil, errors.New("it is no TAP")
	case p.plan < 0:
		return p.out, errEnded
	case p.plan != p.results:
		return p.out, fmt.Errorf("TAP: %d results are planned and %d are there", p.plan, p.results)
	}
	return p.out, nil
}

// A tapParser is what a document of TAP said so far.
type tapParser struct {
	out     []Outcome
	said    saying
	group   string     // what the results of the outermost level are of
	open    []*subtest // those that the next line can be in, outermost first
	failing *subtest   // in which the assertion before failed; may be nil
	plan    int        // of the outermost level; -1: none yet
	results int        // of the outermost level
	names   int        // bytes of all names, which hold those of what the tests are in
	yaml    int        // how far the block of details is indented; -1: there is none
}

// A subtest is a test whose results are indented.
type subtest struct {
	name   string
	broken tail // the assertions that failed in it
	ended  bool // its own result came first
}

// line reads one line.
func (p *tapParser) line(line string) {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	if p.yaml >= 0 && (text == "" || indent >= p.yaml) {
		if text == "..." && indent == p.yaml {
			p.yaml = -1
		} else {
			p.keep(text)
		}
		return
	}
	p.yaml = -1
	level, m := indent/4, tapLine.FindStringSubmatch(text)
	named := tapSubtest.FindStringSubmatch(text)
	switch {
	case text == "---" && indent > 0:
		p.yaml = indent
	case named != nil && level <= len(p.open)+1: // above its results, or the first of them
		p.open = append(p.open[:min(level, len(p.open))], &subtest{name: strings.TrimSpace(named[1])})
	case indent%4 != 0 || level > len(p.open):
		p.keep(text)
	case m != nil:
		p.result(level, Outcome{pkg: TapPackage, name: strings.ReplaceAll(tapTime.ReplaceAllString(m[2], ""), avaSep, NameSep), status: tapStatus(m[1], m[3])}, text)
	case level > 0:
		p.keep(text)
	case tapPlan.MatchString(text) && p.plan < 0:
		p.plan, _ = strconv.Atoi(tapPlan.FindStringSubmatch(text)[1]) // too long a number is no plan that holds
	case tapName.MatchString(text) && !tapCount.MatchString(text):
		p.group = tapName.FindStringSubmatch(text)[1]
	case strings.HasPrefix(text, "Bail out!"):
		p.out = append(p.out, Outcome{pkg: TapPackage, status: Failed, output: Short(text)})
	}
}

func tapStatus(not, directive string) Status {
	switch {
	case directive != "":
		return Skipped
	case not != "":
		return Failed
	}
	return Passed
}

// keep files a line that says more of the failure before it.
func (p *tapParser) keep(text string) {
	switch {
	case text == "":
	case p.failing != nil:
		p.failing.broken.add(text + "\n")
	default:
		p.said.line(text)
	}
}

// result files what a line says: of the subtest that ends with it, of a test without
// results of its own, or of an assertion.
func (p *tapParser) result(level int, o Outcome, text string) {
	var sub *subtest
	if len(p.open) > level && !p.open[level].ended {
		sub = p.open[level]
	}
	p.open, p.failing = p.open[:level], nil
	if level == 0 {
		p.results++
	}
	if sub == nil && level > 0 && !strings.HasSuffix(text, "{") {
		if o.status == Failed {
			p.failing = p.open[level-1]
			p.keep(text)
		}
		return
	}
	own := o.name
	if sub != nil && own == "" {
		own = sub.name
	}
	var path []string
	for _, in := range p.open {
		path = append(path, in.name)
	}
	if sub == nil && level == 0 && p.group != "" {
		path = append(path, p.group)
	}
	if own != "" || len(path) == 0 {
		path = append(path, own)
	}
	for _, name := range path {
		p.names += len(name) + len(NameSep)
	}
	if p.names > MaxDocument {
		return
	}
	o.name = strings.Join(path, NameSep)
	if sub != nil {
		o.output = Short(sub.broken.text())
	}
	p.said.begin(p.out, -1)
	p.out = append(p.out, o)
	if o.status == Failed && o.output == "" {
		p.said.begin(p.out, len(p.out)-1)
	}
	if strings.HasSuffix(text, "{") {
		p.open = append(p.open, &subtest{name: own, ended: true})
	}
}

// ansi are the colours that runners write.
var ansi = pattern.New("\x1b\\[[0-9;]*[A-Za-z]")

func plainText(s string) string { return ansi.ReplaceAllString(s, "") }
