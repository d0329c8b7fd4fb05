package evidence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
)

// An Auditor matches what an agent's reply claims with what the log has.
//
// It is lenient in form and strict in substance: how a command is spelt and how
// an output is cut make no difference; another command, another exit or words
// that were never printed do.
type Auditor struct {
	Log []Record // everything that ran or was refused, in order
	// Agent and Task narrow the records that a command can be matched with; a
	// cited id may name any. Empty: all.
	Agent, Task string
	// Host is the agent of records that were made afterwards, to run claims again. No claim
	// that does not cite one means it.
	Host string
	// Tree is the oid of the tree that the claims speak of. Records of another
	// tree only count when they are cited. Empty: all.
	Tree string
	// Trees are the paths by which commands can name the worktree. Empty: any absolute path
	// may be one.
	Trees []string
	// Elsewhere are spellings of folders that are not the head, such as the path
	// of the prepared base and "$YCBOT_BASE". A command that names one is never
	// taken for the same command without it.
	Elsewhere []string
	// Output returns what a record's command wrote.
	Output func(Record) (stdout, stderr []byte, err error)
}

// An Audited is what the log says to one check.
type Audited struct {
	Support report.Support
	Records []string // ids of the records that were found for it
	Reason  string   // why Support is not better; empty for Supported
	Masked  bool     // the exit code of a record does not show how its command ended
	Exit    int      // of the last record, as far as it is known
	Own     bool     // one of the records is of the agent itself
	Printed string   // the end of what was printed, where the check describes it in words that were not
}

// Audit answers one Audited a check, in order. An error means that an output
// could not be read, which is no fault of the claim.
//
// A PASS on a command that ended with another exit than 0 is supported only
// where the check names that very exit and says that it is meant to be so.
// A PASS needs the last run of its command: an earlier lucky one does not do.
func (a Auditor) Audit(checks []report.AgentCheck) ([]Audited, error) {
	out := make([]Audited, 0, len(checks))
	for _, c := range checks {
		got, err := a.check(c)
		if err != nil {
			return nil, fmt.Errorf("audit of check %q: %w", c.Title, err)
		}
		out = append(out, got)
	}
	return out, nil
}

// A match is a record that was found for a command of a claim.
type match struct {
	record Record
	how    likeness
	exact  bool   // it ran in the folder that the claim names
	fault  string // what else is wrong with it; empty for nothing
}

func (a Auditor) check(c report.AgentCheck) (Audited, error) {
	matches, reason := a.find(c)
	if len(matches) == 0 {
		return Audited{Support: report.Absent, Reason: reason}, nil
	}
	got := Audited{Support: report.Supported}
	for _, m := range matches {
		if !slices.Contains(got.Records, m.record.ID) {
			got.Records = append(got.Records, m.record.ID)
		}
		got.Exit = m.record.Exit
		got.Own = got.Own || a.ran(m.record)
	}
	printed, err := a.read(matches)
	if err != nil {
		return Audited{}, err
	}
	if reason != "" { // another command of the same check was not found
		got.Support, got.Reason = report.Absent, reason
		return got, nil
	}
	support, why := quoteSupport(c, printed)
	if support == report.Supported && described(c, printed) {
		got.Printed = printed.end()
	}
	if support != report.Supported {
		got.Support, got.Reason = support, why
		if support == report.Absent {
			return got, nil
		}
	}
	for _, m := range matches {
		why, masked := a.doubt(c, m, printed)
		got.Masked = got.Masked || masked
		if why != "" && got.Support == report.Supported {
			got.Support, got.Reason = report.Related, why
		}
	}
	return got, nil
}

// read joins the outputs of the matched records.
func (a Auditor) read(matches []match) (printed, error) {
	var p printed
	seen := map[string]bool{}
	for _, m := range matches {
		if seen[m.record.ID] {
			continue
		}
		seen[m.record.ID] = true
		stdout, stderr, err := a.Output(m.record)
		if err != nil {
			return printed{}, fmt.Errorf("output of %s: %w", m.record.ID, err)
		}
		p.stdout += string(stdout) + "\n"
		p.stderr += string(stderr) + "\n"
		p.exits = append(p.exits, m.record.Exit)
		p.failed = m.record.Status() != 0
	}
	p.stdout, p.stderr = fold(p.stdout), fold(p.stderr)
	return p, nil
}

// find returns the records of the check's commands. The reason is set where a
// command was not found; matches then hold what there is for the others.
func (a Auditor) find(c report.AgentCheck) ([]match, string) {
	cited, reason := a.cited(c.EvidenceIDs)
	if len(c.Commands) == 0 {
		return cited, reason
	}
	var out []match
	for _, command := range c.Commands {
		m, why := a.command(c, command, cited)
		if why != "" {
			return out, why
		}
		out = append(out, m...)
	}
	return out, ""
}

// cited returns the executed records that a check names.
func (a Auditor) cited(ids []string) ([]match, string) {
	var out []match
	reason := "names no command"
	for _, id := range ids {
		i := slices.IndexFunc(a.Log, func(r Record) bool { return r.ID == id })
		switch {
		case i < 0:
			reason = id + " is not in the log"
		case !a.Log[i].Executed:
			reason = id + " was refused, not run"
		default:
			m := match{record: a.Log[i], how: same}
			if a.Tree != "" && m.record.Tree != "" && m.record.Tree != a.Tree {
				m.fault = id + " ran on another tree"
			}
			out = append(out, m)
		}
	}
	if len(out) > 0 {
		reason = ""
	}
	return out, reason
}

// command finds one claimed command, as a whole or, where the claim is a list
// of commands that ran one by one, each of its parts.
func (a Auditor) command(c report.AgentCheck, command string, cited []match) ([]match, string) {
	whole, why := a.one(c, command, cited)
	if whole != nil && whole.how == same {
		return []match{*whole}, ""
	}
	if parts := statements(command); len(parts) > 1 {
		var each []match
		for _, p := range parts {
			m, _ := a.one(c, p, cited)
			if m == nil || m.how != same {
				each = nil
				break
			}
			each = append(each, *m)
		}
		if each != nil {
			return each, ""
		}
	}
	if whole == nil {
		return nil, why
	}
	return []match{*whole}, ""
}

// one finds the record for a command: among the cited ones first, then in the
// whole log, the closest likeness first and the latest of equals.
func (a Auditor) one(c report.AgentCheck, command string, cited []match) (*match, string) {
	claim := readCommand(command)
	var best *match
	for _, m := range cited {
		if m.how = a.like(claim, readRecord(m.record), true); m.how > different && (best == nil || m.how > best.how) {
			best = &m
		}
	}
	if best != nil && best.how == same {
		return best, ""
	}
	refused, others := false, ""
	for _, r := range a.Log {
		if !a.onTree(r) || !a.ran(r) && (others != "" || !r.Executed || r.Agent == a.Host) {
			continue
		}
		ran := readRecord(r)
		if !a.ran(r) {
			if a.like(claim, ran, false) == same {
				others = r.ID
			}
			continue
		}
		how := a.like(claim, ran, false)
		if !r.Executed {
			refused = refused || how == same
			continue
		}
		exact := a.folder(ran) == a.folder(claim)
		isCited := func(m match) bool { return m.record.ID == best.record.ID }
		if how > different && (best == nil || how > best.how || how == best.how && (exact || !best.exact) && !slices.ContainsFunc(cited, isCited)) {
			best = &match{record: r, how: how, exact: exact}
		}
	}
	switch {
	case best != nil:
		return best, ""
	case refused:
		return nil, fmt.Sprintf("%s was refused, not run", short(command))
	case len(cited) > 0:
		return nil, fmt.Sprintf("%s ran another command than %s", cited[0].record.ID, short(command))
	}
	if others != "" {
		return nil, fmt.Sprintf("%s was not run by this agent: %s is another's, and is not cited", short(command), others)
	}
	return nil, short(command) + " is not in the log"
}

// ran says whether a record is of the agent.
func (a Auditor) ran(r Record) bool {
	return (a.Agent == "" || r.Agent == a.Agent) && (a.Task == "" || r.Task == a.Task)
}

// onTree says whether a record is of the tree that the claims speak of.
func (a Auditor) onTree(r Record) bool { return a.Tree == "" || r.Tree == "" || r.Tree == a.Tree }

func (a Auditor) mine(r Record) bool { return a.ran(r) && a.onTree(r) }

// short names a command in a reason.
func short(command string) string {
	line := strings.Join(strings.Fields(command), " ")
	if r := []rune(line); len(r) > 60 {
		line = string(r[:59]) + "…"
	}
	return strconv.Quote(line)
}

// doubt says what keeps a match from supporting a check fully.
func (a Auditor) doubt(c report.AgentCheck, m match, p printed) (reason string, masked bool) {
	r := m.record
	end := ending{exit: r.Status()}
	// A failure that another code than 0 shows is not hidden: running it again says what it is.
	if shape := maskOf(r); shape != "" && (c.Result != report.ResultFail || end.exit == 0) {
		if end.exit, end.quoted = statusEchoed(r, c, p); !end.quoted {
			return fmt.Sprintf("%s hides its exit code: %s", r.ID, shape), true
		}
	}
	switch {
	case m.fault != "":
		return m.fault, false
	case c.Result == report.ResultPass && saysOnly(r):
		return r.ID + " runs nothing: it prints what it was given", false
	case m.how == part:
		return fmt.Sprintf("%s is only a part of, or more than, what %s ran", short(strings.Join(c.Commands, "; ")), r.ID), false
	}
	claims := exitClaims(c, p)
	if len(claims) > 0 && !slices.ContainsFunc(claims, func(n int) bool { return n == end.exit || slices.Contains(p.exits, n) }) {
		return fmt.Sprintf("%s ended with exit %d, not %d", r.ID, r.Exit, claims[0]), false
	}
	if c.Result == report.ResultPass {
		end.quoted = end.quoted || slices.Contains(append(claims, exitsIn(c.Title+"\n"+c.Expected)...), end.exit)
		return a.doubtPass(c, r, end), false
	}
	return "", false
}

// An ending is how a command ended, which it may have printed itself.
type ending struct {
	exit   int
	quoted bool // the check says so
}

// doubtPass holds a PASS against how its command ended, then and later.
func (a Auditor) doubtPass(c report.AgentCheck, r Record, end ending) string {
	if r.TimedOut {
		return r.ID + " ran into its time limit"
	}
	if r.Limit != "" {
		return r.ID + " was ended for the limit of " + r.Limit
	}
	if end.exit != 0 && (!end.quoted || !meant(c, r)) {
		return fmt.Sprintf("%s ended with exit %d, and the check does not say that it should", r.ID, end.exit)
	}
	if end.exit == 0 && turnsRound(r) && !meant(c, r) {
		return r.ID + " passes where its tests fail, and the check does not say that they should"
	}
	claim := readRecord(r)
	for i := slices.IndexFunc(a.Log, func(x Record) bool { return x.ID == r.ID }) + 1; i < len(a.Log); i++ {
		later := a.Log[i]
		if later.Executed && a.mine(later) && later.Status() != r.Status() && a.like(claim, readRecord(later), false) == same {
			return fmt.Sprintf("%s ran the same command later and ended with exit %d", later.ID, later.Exit)
		}
	}
	return ""
}

// intent finds words that say that a command is meant to fail.
var intent = pattern.New(`(?i)\b(as |is |was |the )?(expected|intended|intentional(ly)?|by design|as it should)\b|\breject(s|ed|ing)?\b|\brefus(es?|ed|ing|al)\b|\bnon-?zero\b|\b(must|should|has to|is meant to) (fail|exit|error|be refused)|\bfails? (on|without|before|at) (the )?(base|change|fix)\b|\bdenie[sd]\b|\breturns? an error\b|\berrors? out\b|\binvalid\b|\bexits? with\b`)

// intentOfTests are those that say it of tests: "rejects" and "invalid" speak of the program.
var intentOfTests = pattern.New(`(?i)\b(as |is |was |the )?(expected|intended|intentional(ly)?|by design|as it should)\b|\bnon-?zero\b|\b(must|should|has to|is meant to|ha(s|ve) to) (fail|exit|error|be red)|\bfails? (on|without|before|at|with|for|once|when|if)\b|\bmutants?\b|\bmutat(ed|ion)|\b(caught|catch(es)?|detect(s|ed)?|kill(s|ed)?|broken)\b`)

// fieldNames are what a check calls its own fields, which say nothing of it.
var fieldNames = pattern.New(`(?mi)\b(?:expected(?: vs\.?| versus)? actual|expected|actual)\W{0,3}:`)

// unintended are words that say the contrary beside them.
var unintended = pattern.New(`(?i)\b(un|not |n't |never )(expected|intended)`)

// meant reports whether a check says that its command's failure is right.
func meant(c report.AgentCheck, r Record) bool {
	text := fieldNames.ReplaceAllString(c.Title+"\n"+c.Remark+"\n"+c.Expected, "")
	words := intent
	if file, err := parseBash(recordText(r)); err == nil && hasRunner(file) {
		words = intentOfTests
	}
	return words.MatchString(text) && !unintended.MatchString(text)
}
