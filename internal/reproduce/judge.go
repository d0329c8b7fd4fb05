package reproduce

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Names under which commands that are run again stand in the log, and what for. They
// are stored: do not change them.
const (
	Host   = "host"        // the agent of such records
	OnHead = "rerun/head"  // task of a failing check on the head
	OnBase = "rerun/base"  // the same on the base
	Sample = "sample/head" // task of a passing check on the head
	Beside = "rerun/held"  // task of a process that is held while one of these runs
)

// Round is the task, or the name, of a command that is run again for a time more, from 2 on.
func Round(task string, n int) string { return task + "-" + strconv.Itoa(n) }

// A Pair is a command that was run again on both sides.
type Pair struct{ Head, Base evidence.Record }

// How often a command is run on each side before its failure is called introduced, by how
// long the first time took on both. One that takes longer still is believed at once.
const (
	roundsOfShort = 3
	roundsOfLong  = 2
	short         = 30 * time.Second
	long          = 3 * time.Minute
)

// rounds is how often that is, the first time included.
func rounds(p Pair) int {
	switch took := time.Duration(p.Head.DurationMS+p.Base.DurationMS) * time.Millisecond; {
	case took <= short:
		return roundsOfShort
	case took <= long:
		return roundsOfLong
	}
	return 1
}

// again classifies a failure that the first pair calls introduced by running the command
// more often: what passes once on the head, or fails once on the base, was chance. more runs
// it for the n-th time; it reports false where no time was left for that.
func again(p Pair, more func(n int) (Pair, bool, error), fails, passes func(evidence.Record) bool) (report.Reproduction, error) {
	for n := 2; n <= rounds(p); n++ {
		now, ok, err := more(n)
		switch {
		case err != nil:
			return report.NotRun, err
		case !ok:
			return report.Introduced, nil
		case !fails(now.Head):
			return report.NotReproduced, nil
		case !passes(now.Base):
			return report.Unclear, nil
		}
	}
	return report.Introduced, nil
}

// A Judge classifies what running the command of a check again showed, from the
// records and from what was recorded of the trees alone.
type Judge struct {
	Dir    string        // run directory with the outputs of the records
	Source rundir.Source // the change
}

// A Trial is a failing check whose command was run again.
type Trial struct {
	Claim  report.AgentCheck
	First  evidence.Record                 // as the agent ran it
	Head   evidence.Record                 // as it was run again on the head
	OnBase func() (evidence.Record, error) // and on the base, where it failed on the head again
	// More runs it on both sides for the n-th time; false: no time was left for that.
	More func(n int) (Pair, bool, error)
	// Grounds are what the trees say of it, given the record on the base.
	Grounds func(base evidence.Record) (Grounds, error)
}

// A Finding is what a failing check was found to be.
type Finding struct {
	Reproduction report.Reproduction
	Oracle       string // of a head-only one: why it counts; empty: it does not
}

// Classify says what a failing check is. A failure is the change's where the same
// command passes on the base. Where it fails there as well, the two must be the same
// for the failure to be old; what the base cannot do because it lacks it is a failure
// of its own kind, for which the probe may be as wrong as the code. What does not run on
// the base does not pass there, whatever the exit code.
func (j Judge) Classify(t Trial) (Finding, error) {
	if !j.alike(t.First, t.Head) || j.lacks(t.Head, t.First, nil) {
		return Finding{Reproduction: report.NotReproduced}, nil
	}
	base, err := t.OnBase()
	if err != nil {
		return Finding{Reproduction: report.NotRun}, err
	}
	g, err := t.Grounds(base)
	if err != nil {
		return Finding{Reproduction: report.NotRun}, err
	}
	sameWay := j.sameWay(t.Head, base)
	idle := func(base evidence.Record) bool { // it does not run there, or not what it is about
		return len(g.LeftOut) > 0 || j.idle(base, t.Head, t.Claim.Expected) || j.missesWord(base, g)
	}
	passes := func(base evidence.Record) bool { return !idle(base) && j.passes(t, base) }
	names := added(j.Source.Change.Files)
	lacks := j.lacks(base, t.Head, names)
	if len(g.LeftOut) > 0 { // that no program is there was our doing
		lacks = lacking(wrote(j.Dir, base), wrote(j.Dir, t.Head), names)
	}
	switch {
	case len(g.HeadOnly) > 0, len(g.Words) > 0 && (base.Stopped() || base.Status() != 0 || idle(base)), !sameWay && lacks:
		// Whatever it says there: the base does not have what the check is about.
		return Finding{Reproduction: report.HeadOnly, Oracle: j.oracle(t, base, g)}, nil
	case !sameWay && passes(base):
		found, err := again(Pair{t.Head, base}, t.More, func(head evidence.Record) bool { return j.alike(t.First, head) }, passes)
		return Finding{Reproduction: found}, err
	case j.promised(t.Claim) && !brokenProbe(wrote(j.Dir, t.Head), t.Head):
		return Finding{Reproduction: report.Unfulfilled}, nil
	case sameWay && len(g.LeftOut) == 0:
		return Finding{Reproduction: report.PreExisting}, nil
	default:
		return Finding{Reproduction: report.Unclear}, nil
	}
}

// passes says whether a check that fails on the head passes on the base. One that
// fails by its exit code does where the base ends with 0. One that fails by what it
// prints, or as it ends well, does where the base prints what the check expects, and the head
// does not, or ends in the way that the check expects.
func (j Judge) passes(t Trial, base evidence.Record) bool {
	if base.Stopped() {
		return false
	}
	if t.Head.Stopped() || t.Head.Status() != 0 {
		return base.Status() == 0
	}
	if base.Status() != 0 {
		return expectsStatus(t.Claim.Expected, base.Status()) || expectsMessage(t.Claim.Expected, wrote(j.Dir, base), wrote(j.Dir, t.Head))
	}
	onHead, onBase := said(wrote(j.Dir, t.Head)), said(wrote(j.Dir, base))
	return slices.ContainsFunc(said(t.Claim.Expected), func(word string) bool {
		return slices.Contains(onBase, word) && !slices.Contains(onHead, word)
	})
}

// expectsStatus says whether a text expects a command to end with a status that is not 0: with
// its number, or as a failure.
func expectsStatus(text string, status int) bool {
	text, _, _ = strings.Cut(text, "Actual:")
	for _, m := range statusNumber.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && n != 0 {
			return n == status
		}
	}
	return statusAny.MatchString(text)
}

// expectsMessage says whether a text is a message of several words, or quotes one, that the base
// prints and the head does not.
func expectsMessage(text, base, head string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(text, "Expected:")), "\n")
	phrases := []string{first}
	for _, m := range quotedPhrase.FindAllStringSubmatch(text, -1) {
		phrases = append(phrases, m[1]+m[2])
	}
	return slices.ContainsFunc(phrases, func(p string) bool {
		p = strings.TrimRight(strings.TrimSpace(p), ".:!?")
		return strings.Contains(p, " ") && strings.Contains(base, p) && !strings.Contains(head, p)
	})
}

var (
	quotedPhrase = pattern.New("\"([^\"\n]+)\"|`([^`\n]+)`")
	statusNumber = pattern.New(`(?i)\b(?:exits?|exit(?:ed)?(?: with)?(?: a)?(?: code| status)?|status|code)[ =:]+([0-9]{1,3})\b`)
	statusAny    = pattern.New(`(?i)\bnon-?zero\b|\b(?:is|are|be|must be|gets?) (?:refused|rejected|denied)\b|\b(?:refuses|rejects|fails|errors?) (?:with|on|for)\b|\bexits? with an error\b`)
)

// said are the words of a text, without what is around them.
func said(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`,;()[]{}<>“”‘’=", r) })
	for i, w := range words {
		words[i] = strings.TrimRight(w, ".:!?")
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// oracle says why a failure of what only the head has counts: a crash that the probe
// did not cause, or a sentence about the project that it contradicts.
func (j Judge) oracle(t Trial, base evidence.Record, g Grounds) string {
	text := wrote(j.Dir, t.Head)
	if what := crashed(crash{record: t.Head, text: text, command: CommandOf(t.Head), grounds: g}); what != "" && !j.sameWay(t.Head, base) {
		return what
	}
	switch {
	case brokenProbe(text, t.Head):
		return ""
	case g.Quote != "":
		return "it contradicts " + g.QuoteAt + ": \"" + g.Quote + "\""
	case j.promised(t.Claim):
		return "it contradicts a sentence of the task"
	}
	return ""
}

// Sampled says what running a passing check again shows. What it prints may differ
// from time to time; how it ends may not.
func (j Judge) Sampled(first, now evidence.Record) report.Reproduction {
	if (now.Status() != first.Status() || !now.EndedLike(first)) && !j.lacks(now, first, nil) {
		return report.NotReproduced
	}
	return report.NotRun
}

// alike says whether two runs of a command came to the same: both failed, or both
// printed the same.
func (j Judge) alike(a, b evidence.Record) bool {
	if a.Stopped() || b.Stopped() {
		return a.EndedLike(b)
	}
	if a.Status() != 0 {
		return b.Status() != 0
	}
	return b.Status() == 0 && printed(j.Dir, a) == printed(j.Dir, b)
}

// sameWay says whether two runs of a command ended in the same way and said the same.
func (j Judge) sameWay(a, b evidence.Record) bool {
	if a.Stopped() || b.Stopped() {
		return a.EndedLike(b)
	}
	return a.Status() == b.Status() && j.fault(a) == j.fault(b)
}

// fault is the error with which a command ended, without what differs from run to run
// and from one version of a file to the next: where it went wrong in a file. Of one
// that said nothing on stderr it is all that it said; of one that ended well, its output.
func (j Judge) fault(r evidence.Record) string {
	out := r.Stderr
	if out.Bytes == 0 || r.Status() == 0 {
		out = r.Stdout
	}
	text, err := evidence.ReadOutput(j.Dir, out)
	if err != nil {
		return out.SHA256
	}
	return place.ReplaceAllString(evidence.Comparable(anyCopy.ReplaceAllString(string(text), "_/")), "_")
}

var (
	anyCopy = pattern.New(`/\S*/E\d+-(?:head|base)(?:-\d)?(?:-home)?/`)
	place   = pattern.New(`:\d+(?::\d+)?\b|\bline \d+\b|\([0-9a-fx, ._?{}]*\)`)
)

func printed(dir string, r evidence.Record) string {
	out, err := evidence.ReadOutput(dir, r.Stdout)
	if err != nil {
		return r.Stdout.SHA256
	}
	return evidence.Comparable(string(out))
}

// wrote is all that a command wrote, as far as it can be read.
func wrote(dir string, r evidence.Record) string {
	var all strings.Builder
	for _, out := range []evidence.Output{r.Stdout, r.Stderr} {
		if text, err := evidence.ReadOutput(dir, out); err == nil {
			all.Write(append(text, '\n'))
		}
	}
	return all.String()
}

// promised says whether a check quotes a sentence of the task, so that what fails on
// both sides is what the change was to repair.
func (j Judge) promised(c report.AgentCheck) bool {
	task := fold(j.Source.Change.Task)
	for _, k := range j.Source.Commits {
		task += " " + fold(k.Subject+" "+k.Body)
	}
	return slices.ContainsFunc(quotes(c), func(q string) bool { return strings.Contains(task, q) })
}

// quotes are the sentences that a check quotes, folded: three words or more, since
// fewer stand anywhere.
func quotes(c report.AgentCheck) []string {
	var out []string
	for _, q := range quotedText.FindAllStringSubmatch(fold(c.Expected+" "+c.Remark+" "+c.Title), -1) {
		quote := strings.TrimRight(strings.TrimSpace(q[1]+q[2]), ".,;:!?…")
		if len(wholeWord.FindAllString(quote, 3)) == 3 {
			out = append(out, quote)
		}
	}
	return out
}

var (
	quotedText = pattern.New("\"([^\"]+)\"|“([^”]+)”")
	wholeWord  = pattern.New(`\p{L}{2,}|\b[ai]\b`)
)

// fold makes a text comparable: one case, single spaces.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// Tried groups the records of failing checks that were run again: one on the head,
// what followed on the base, and the rounds after that.
func Tried(records []evidence.Record) [][]evidence.Record {
	var groups [][]evidence.Record
	for _, r := range records {
		switch {
		case r.Agent != Host || !r.Executed:
		case r.Task == OnHead:
			groups = append(groups, []evidence.Record{r})
		case (strings.HasPrefix(r.Task, OnHead) || strings.HasPrefix(r.Task, OnBase)) && len(groups) > 0:
			groups[len(groups)-1] = append(groups[len(groups)-1], r)
		}
	}
	return groups
}

// PairOf is the n-th pair of the records of one check, as [Tried] groups them, and whether
// it is whole.
func PairOf(tried []evidence.Record, n int) (Pair, bool) {
	at := 2 * (n - 1)
	if at+1 >= len(tried) {
		return Pair{}, false
	}
	return Pair{tried[at], tried[at+1]}, true
}

// SampleOf finds the record of running the command of a passing check again.
func SampleOf(records []evidence.Record, first evidence.Record) (evidence.Record, bool) {
	at := slices.IndexFunc(records, func(r evidence.Record) bool {
		return r.Agent == Host && r.Task == Sample && r.Executed && r.Cwd == first.Cwd && evidence.SameCommand(r.Command, first.Command)
	})
	if at < 0 {
		return evidence.Record{}, false
	}
	return records[at], true
}
