package sides

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Lost are, for people, the checks of a test that the change takes out of it and puts nothing in place
// of, beside what it rewrites there: lines of the base's version, or sources that the test no longer
// asks. ran says that the base's version fails over the head as it runs, and not for want of what the
// change removes.
func (r *Reader) Lost(id results.ID, eco string, ran bool) []string {
	all, gone := r.allChecks(), r.RemovedNames(id)
	var out []string
	for file, v := range r.versionsOf(id, eco) {
		lines := all.lostIn(v, gone)
		if ran {
			lines = append(lines, r.askedNoMore(v, gone)...)
			out = append(out, r.leftBehind(file, string(v.Base))...)
		}
		for _, line := range lines {
			out = append(out, "`"+line+"`")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A checkTexts is what all files that the change touches check.
type checkTexts struct {
	taken   map[string]bool     // lines that the base has more often
	brought []string            // those that the head has more often
	words   []map[string]bool   // of brought
	calls   map[string]bool     // what lines of the head call
	usable  map[string]bool     // what the sources declare on the base
	left    map[string][]string // what is left behind by files of tests, as far as they were asked for
}

// maxBrought bounds the lines that are searched for one that another test has lost.
const maxBrought = 5000

// allChecks reads them once.
func (r *Reader) allChecks() *checkTexts {
	if r.checked != nil {
		return r.checked
	}
	var was, is []string
	for _, name := range slices.Sorted(maps.Keys(r.Texts)) {
		was, is = append(was, checksIn(string(r.Texts[name].Base))...), append(is, checksIn(string(r.Texts[name].Head))...)
	}
	c := &checkTexts{taken: map[string]bool{}, brought: beyond(is, was), calls: callsIn(strings.Join(is, "\n")), usable: r.usables(), left: map[string][]string{}}
	for _, line := range beyond(was, is) {
		c.taken[line] = true
	}
	for _, line := range c.brought[:min(len(c.brought), maxBrought)] {
		c.words = append(c.words, wordsOf(line, nil))
	}
	r.checked = c
	return c
}

// versionsOf are both versions of what a test says, by the files of the base that may say it: its own
// text where that is known, else all of a file of tests that concerns it.
func (r *Reader) versionsOf(id results.ID, eco string) map[string]classes.Versions {
	file, src := r.TestFileOf(id)
	if src == nil {
		out := map[string]classes.Versions{}
		for _, t := range r.Touched {
			if _, ok := r.Concerns(t, id, eco); ok && t.Class == compare.Test && !t.Mixed && r.Texts[t.Path].Base != nil && r.Texts[t.Path].Head != nil {
				out[t.Path] = r.Texts[t.Path]
			}
		}
		return out
	}
	heads := r.headTests(file)
	to := r.MovedTo(file)
	head, ok := heads[to]
	if !ok {
		to, head = file, heads[file]
	}
	text := func(side results.Side, name string, src []byte) string {
		if text := r.testsOf(side, name, src).Text(id.Test); text != "" {
			return text
		}
		title := results.LastName(id.Test)
		for _, quote := range []string{"'", `"`, "`", ""} {
			if text := classes.TextAt(string(src), quote+title+quote); text != "" {
				return text
			}
		}
		return ""
	}
	was, is := text(results.Base, file, src), text(results.Head, to, head)
	if was == "" || is == "" {
		return nil
	}
	return map[string]classes.Versions{file: {Base: []byte(was), Head: []byte(is)}}
}

var (
	// checkLine is a line of a test by which it checks something, or a row of what it checks by.
	checkLine = pattern.New(`(?i)\b(?:assert|expect|refute|verify|check|should|ensure)\w*!?(?:\.\w+)*\s*\(|\brequire\.\w+\(|^\s*(?:assert|refute)\b|\.should\b|\bt\.[a-z]\w*\(|\braises\w*\(|\b(?:fail|is|ok|like|eq|equal|deepEqual|throws)\(|^\s*[\[({].*[\])}],$`)
	// plainCheck is one that only says that there is a result, which a call of another form needs no more.
	plainCheck = pattern.New(`(?i)no_?err|if_?error|\(err\)|\berr(?:or)?\b\s*(?:is\b|[!=]=)|is not none|not_?(?:null|nil|none)|defined\(\)|truthy\(\)|\bt\.(?:helper|parallel|run|cleanup|setenv|tempdir|log|plan|end)\w*\(|\bok\(\w+\)`)
	checkWord  = pattern.New(`-?\d[\w.]*|[\pL\pN_]+`)
	checkVerb  = pattern.New(`(?i)^(?:assert|expect|refute|verify|check|should|require|ensure|equal|deepequal|strictequal|to(?:be|equal|strictequal|throw)|eq|is|ok|true|that|self|t|raises|throws)\w*$`)
	calledName = pattern.New(`([\pL_$][\pL\pN_$]*)\s*\(`)
)

// checksIn are the lines of a text by which tests check, without the space around them.
func checksIn(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); checkLine.MatchString(line) && !plainCheck.MatchString(line) {
			out = append(out, line)
		}
	}
	return out
}

// beyond are the lines of some that all does not have as often.
func beyond(some, all []string) []string {
	left := map[string]int{}
	for _, line := range all {
		left[line]++
	}
	var out []string
	for _, line := range some {
		if left[line]--; left[line] < 0 {
			out = append(out, line)
		}
	}
	return out
}

// wordsOf are the words of a check that say what is checked, without those that the change removes.
func wordsOf(line string, gone map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, w := range checkWord.FindAllString(line, -1) {
		if !gone[w] && !checkVerb.MatchString(w) {
			out[w] = true
		}
	}
	return out
}

// lostIn are the checks of a text for which the other version has none, and no other test. What is new
// here stands for what it has all words of, or else for the one that it is most like.
func (c *checkTexts) lostIn(v classes.Versions, gone map[string]bool) []string {
	before, after := checksIn(string(v.Base)), checksIn(string(v.Head))
	added := beyond(after, before)
	theirs := make([]map[string]bool, len(added))
	for i, line := range added {
		theirs[i] = wordsOf(line, nil)
	}
	carries := map[int]bool{} // those of added
	var lost []string
	for _, line := range beyond(before, after) {
		if !c.taken[line] {
			continue // it stands in another test
		}
		words := wordsOf(line, gone)
		has := func(other map[string]bool) bool {
			for w := range words {
				if !other[w] {
					return false
				}
			}
			return true
		}
		if i := slices.IndexFunc(theirs, has); i >= 0 {
			carries[i] = true
		} else if len(c.brought) <= maxBrought && !slices.ContainsFunc(c.words, has) {
			lost = append(lost, line)
		}
	}
	for i := range added {
		if len(lost) == 0 {
			break
		}
		if carries[i] {
			continue
		}
		like := func(other string) (n int) {
			for w := range wordsOf(other, gone) {
				if theirs[i][w] {
					n++
				}
			}
			return n
		}
		most := 0
		for j := range lost {
			if like(lost[j]) > like(lost[most]) {
				most = j
			}
		}
		lost = slices.Delete(lost, most, most+1)
	}
	return lost
}

// callsIn are the names of what a text calls.
func callsIn(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range calledName.FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	return out
}

// askedNoMore are the checks that call what the sources declare on both sides, and that neither the test
// nor a check of another one calls any more.
func (r *Reader) askedNoMore(v classes.Versions, gone map[string]bool) []string {
	all, still := r.allChecks(), callsIn(string(v.Head))
	stands := func(name string) bool {
		if !all.usable[name] || gone[name] || still[name] || all.calls[name] || checkVerb.MatchString(name) {
			return false
		}
		declared := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
		return slices.ContainsFunc(slices.Collect(maps.Keys(r.Texts)), func(f string) bool {
			return r.sourceText(f) && declared.Match(r.Texts[f].Head)
		})
	}
	var out []string
	for _, line := range beyond(checksIn(string(v.Base)), checksIn(string(v.Head))) {
		if slices.ContainsFunc(slices.Collect(maps.Keys(callsIn(line))), stands) {
			out = append(out, line)
		}
	}
	return out
}

// leftBehind are the sources of the change of which a test names something, that its file of the base
// asks, and that stand where they were: neither the file, where it is now, nor another one of tests that
// the change touches asks them any more.
func (r *Reader) leftBehind(file, test string) []string {
	all := r.allChecks()
	left, known := all.left[file]
	if !known {
		left = r.askedBefore(file)
		all.left[file] = left
	}
	words := classes.Words([]byte(test))
	var out []string
	for _, name := range left {
		if slices.ContainsFunc(slices.Collect(maps.Keys(declaredBy(string(r.Texts[name].Base)))), func(w string) bool { return words[w] }) {
			out = append(out, "what "+name+" does")
		}
	}
	return out
}

// askedBefore are the sources that no touched file of tests asks any more as a file of tests did.
func (r *Reader) askedBefore(file string) []string {
	asks := func(test string, text []byte, name string) bool {
		return path.Ext(name) == ".go" && path.Dir(name) == path.Dir(test) || classes.Imports(string(text), path.Dir(test), name)
	}
	src, to := r.readBase(file), r.MovedTo(file)
	head := r.readHead(to)
	if src == nil || head == nil {
		return nil
	}
	var out []string
	for _, f := range r.Change.Files {
		if f.Status == change.Modified && r.sourceText(f.Path) && asks(file, src, f.Path) && !asks(to, head, f.Path) &&
			!slices.ContainsFunc(r.Touched, func(t Touch) bool {
				return t.Class == compare.Test && r.Texts[t.Path].Head != nil && asks(t.Path, r.Texts[t.Path].Head, f.Path)
			}) {
			out = append(out, f.Path)
		}
	}
	return out
}
