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

// Lost are, for people, the checks of a test that the change takes out of it and puts nothing in place of, beside
// what it rewrites there: lines of the base's version, or sources that the test no longer asks. ran says
// that the base's version fails over the head as it runs, and not for want of what the change removes.
func (r *Reader) Lost(id results.ID, eco string, ran bool) []string {
	gone, usable := r.RemovedNames(id), r.usables()
	was, is := r.checksOfTests()
	var out []string
	for file, v := range r.versionsOf(id, eco) {
		lines := lostIn(v, gone, was, is)
		if ran {
			lines = append(lines, r.askedNoMore(v, gone, usable, is)...)
			out = append(out, r.leftBehind(file)...)
		}
		for _, line := range lines {
			out = append(out, "`"+line+"`")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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
	left := slices.Clone(all)
	return slices.DeleteFunc(slices.Clone(some), func(s string) bool {
		i := slices.Index(left, s)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	})
}

// checksOfTests are the checks in all files that the change touches, on the base and on the head.
func (r *Reader) checksOfTests() (was, is []string) {
	for _, name := range slices.Sorted(maps.Keys(r.Texts)) {
		was, is = append(was, checksIn(string(r.Texts[name].Base))...), append(is, checksIn(string(r.Texts[name].Head))...)
	}
	return was, is
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

// lostIn are the checks of a text for which the other version has none, and no other test, of which was
// and is are those of both sides. What is new here stands for what it has all words of, or else for
// the one that it is most like.
func lostIn(v classes.Versions, gone map[string]bool, was, is []string) []string {
	before, after := checksIn(string(v.Base)), checksIn(string(v.Head))
	taken, added := beyond(before, after), beyond(after, before)
	elsewhere := beyond(beyond(is, was), added)
	carries := map[string]bool{} // those of added
	var lost []string
	for _, line := range beyond(taken, beyond(taken, beyond(was, is))) { // the others stand in another test
		words := wordsOf(line, gone)
		has := func(other string) bool {
			theirs := wordsOf(other, nil)
			for w := range words {
				if !theirs[w] {
					return false
				}
			}
			return true
		}
		if i := slices.IndexFunc(added, has); i >= 0 {
			carries[added[i]] = true
		} else if !slices.ContainsFunc(elsewhere, has) {
			lost = append(lost, line)
		}
	}
	added = slices.DeleteFunc(added, func(line string) bool { return carries[line] })
	for _, line := range added {
		if len(lost) == 0 {
			break
		}
		words := wordsOf(line, nil)
		like := func(other string) (n int) {
			for w := range wordsOf(other, gone) {
				if words[w] {
					n++
				}
			}
			return n
		}
		most := 0
		for i := range lost {
			if like(lost[i]) > like(lost[most]) {
				most = i
			}
		}
		lost = slices.Delete(lost, most, most+1)
	}
	return lost
}

// askedNoMore are the checks that call what the sources declare on both sides, and that neither the test
// nor another one, of which is are the checks, calls any more.
func (r *Reader) askedNoMore(v classes.Versions, gone, usable map[string]bool, is []string) []string {
	calls := func(text string) map[string]bool {
		out := map[string]bool{}
		for _, m := range calledName.FindAllStringSubmatch(text, -1) {
			out[m[1]] = true
		}
		return out
	}
	still := calls(string(v.Head) + "\n" + strings.Join(is, "\n"))
	stands := func(name string) bool {
		declared := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
		return usable[name] && !gone[name] && slices.ContainsFunc(slices.Collect(maps.Keys(r.Texts)), func(f string) bool {
			return r.sourceText(f) && declared.Match(r.Texts[f].Head)
		})
	}
	var out []string
	for _, line := range beyond(checksIn(string(v.Base)), checksIn(string(v.Head))) {
		for name := range calls(line) {
			if !still[name] && !checkVerb.MatchString(name) && stands(name) {
				out = append(out, line)
				break
			}
		}
	}
	return out
}

// leftBehind are the sources of the change that a file of tests of the base asks, that stand where they
// were and that it no longer asks where it is now.
func (r *Reader) leftBehind(file string) []string {
	to := r.MovedTo(file)
	src, head := r.readBase(file), r.readHead(to)
	if src == nil || head == nil {
		return nil
	}
	asks := func(test string, text []byte, name string) bool {
		return path.Ext(name) == ".go" && path.Dir(name) == path.Dir(test) || classes.Imports(string(text), path.Dir(test), name)
	}
	var out []string
	for _, f := range r.Change.Files {
		if f.Status == change.Modified && r.sourceText(f.Path) && asks(file, src, f.Path) && !asks(to, head, f.Path) {
			out = append(out, "what "+f.Path+" does")
		}
	}
	return out
}
