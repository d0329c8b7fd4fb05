package sides

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A testName is what a text that names a test has, all of it; the last is of the test alone.
type testName []*regexp.Regexp

func (n testName) in(src []byte) bool {
	return len(n) > 0 && !slices.ContainsFunc(n, func(e *regexp.Regexp) bool { return !e.Match(src) })
}

func (n testName) at(line string) bool { return len(n) > 0 && n[len(n)-1].MatchString(line) }

var (
	// googleTest is how a test of GoogleTest is reported: TEST(Suite, Name), and TEST_P(Suite, Name) with the
	// name of an instance before it and of a parameter behind (https://google.github.io/googletest/advanced.html).
	googleTest = pattern.New(`^(\w+/)?(\w+)(?:/\w+)?\.(\w+)(/.+)?$`)
	// specWords stand between the literals that a test of ScalaTest is called by.
	specWords = pattern.New(` (?:should|must|can|when|which|that) `)
	// numbered is a row that is called by its number and its values.
	numbered = pattern.New(`^\[\d+\]`)
)

// testNames are the forms in which a source can have the name of a test: the whole before its parts.
func testNames(id results.ID) []testName {
	out := []testName{{regexp.MustCompile(`(?:^|[^\w-])` + regexp.QuoteMeta(plainName(id)) + `(?:[^\w-]|$)`)}}
	if m := googleTest.FindStringSubmatch(id.Test); m != nil {
		out = append(out, testName{regexp.MustCompile(`\b\w+\s*\(\s*(?:DISABLED_)?` + m[2] + `\s*,\s*(?:DISABLED_)?` + m[3] + `\s*\)`)})
	}
	if parts := specWords.Split(id.Test, -1); len(parts) > 1 {
		var all testName
		for _, p := range parts {
			all = append(all, regexp.MustCompile(`"`+regexp.QuoteMeta(p)+`"`))
		}
		out = append(out, all)
	}
	return out
}

// plainName is the name of a test without parameters.
func plainName(id results.ID) string {
	if i := strings.IndexAny(id.Test, "([#{"); i > 0 {
		return strings.TrimSpace(id.Test[:i])
	}
	return id.Test
}

// rowsOf is what all rows of a test begin with of which one is reported so; empty: it is no row.
func rowsOf(test string) string {
	switch m := googleTest.FindStringSubmatch(test); {
	case m != nil && m[1] != "" && m[4] != "":
		return strings.TrimSuffix(test, m[4]) + "/"
	case numbered.MatchString(test):
		return "["
	}
	if plain := plainName(results.ID{Test: test}); plain != test {
		return plain
	}
	return ""
}

// unfiledRowGone says of a row of a test that is reported without a file whether other rows of it ran on the head,
// and the change edits what declares them, or data that this names, and nothing that chooses among tests.
func (r *Reader) unfiledRowGone(id results.ID) bool {
	if !r.rowsRan(id) {
		return false
	}
	files := r.rowsIn(id)
	made := false
	for _, t := range r.Touched {
		v := r.Texts[t.Path]
		switch {
		case r.choosesTests(t):
			return false
		case t.Class == compare.Steering:
			continue
		case t.Class == compare.Support && !slices.ContainsFunc(files, func(f string) bool { return r.refersTo(f, t.Path) }):
			return false
		case t.Class == compare.Data:
			made = made || slices.ContainsFunc(files, func(f string) bool { return r.refersTo(f, t.Path) })
		case slices.Contains(files, t.Path):
			head := r.Texts[r.MovedTo(t.Path)].Head
			if bytes.Contains(head, []byte(id.Test)) {
				return false // it stands there as it is reported
			}
			made = made || !bytes.Equal(v.Base, head)
		}
	}
	return made
}

// rowsRan says whether others of the rows of a test ran on the head, which does not report this one.
func (r *Reader) rowsRan(id results.ID) bool {
	rows := rowsOf(id.Test)
	if rows == "" || id.Command != "" {
		return false
	}
	sites := r.Sites(id, r.EcoOf(id))
	ran := false
	for have, t := range r.Suites[results.Head] {
		at := slices.ContainsFunc(sites, func(s Site) bool { return s.At == have.Package })
		switch {
		case !at || have.Unit != id.Unit || have.Command != "":
		case have.Test == id.Test:
			return false
		case rowsOf(have.Test) == rows:
			ran = ran || t.Status == results.Passed || t.Status == results.Failed
		}
	}
	return ran
}

// rowsIn are the files of the base that declare the rows of a test: of its class, where it has one, also those
// that the change leaves as they are.
func (r *Reader) rowsIn(id results.ID) []string {
	files, class, _ := r.declaredIn(id)
	if class || len(files) > 0 {
		return files
	}
	kind, name := classNamed(id), regexp.MustCompile(`\b`+regexp.QuoteMeta(rowsOf(id.Test))+`\s*\(`)
	for i, f := range r.Plans[results.Base].Files {
		if i > maxRead {
			break
		}
		if !languages.IsTestFile(f) {
			continue
		}
		if src := r.readBase(f); kind.Match(src) && (numbered.MatchString(id.Test) || name.Match(src)) {
			files = append(files, f)
		}
	}
	return files
}

// refersTo says whether a file of the base names another one, or takes it in.
func (r *Reader) refersTo(file, other string) bool {
	src := string(r.readBase(file))
	return classes.Names(src, path.Dir(file), other) || classes.Imports(src, path.Dir(file), other)
}

// packageLine is how a source says what its classes belong to.
var packageLine = pattern.New(`(?m)^\s*(?:package|namespace)\s+([\w.]+)`)

// classMovedTo are the names that the class of a test has on the head, where the change renames the file that is
// called as it.
func (r *Reader) classMovedTo(id results.ID) []string {
	at := strings.LastIndexAny(id.Package, "./") + 1
	class, inner := id.Package[at:], ""
	if i := strings.IndexAny(class, "$+"); i > 0 {
		class, inner = class[:i], class[i:]
	}
	var out []string
	for _, f := range r.Change.Files {
		if f.Status != change.Renamed || stemOf(f.OldPath) != class || !languages.IsTestFile(f.OldPath) {
			continue
		}
		within := id.Package[:at]
		if m := packageLine.FindSubmatch(r.Texts[f.Path].Head); m != nil {
			within = string(m[1]) + "."
		}
		if to := within + stemOf(f.Path) + inner; to != id.Package {
			out = append(out, to)
		}
	}
	return out
}
