package sides

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A wrapping is a way in which a test takes what a function returns in another form, and
// expects the same of it.
type wrapping struct {
	is *pattern.Pattern
	by string // what stands in its place

	layout bool // it is none, and may come and go
	node   bool // it is JavaScript's form of a list
}

// inBrackets is what stands in the brackets of a call, with calls in it and in these.
const inBrackets = `((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*)`

var (
	awaits = wrapping{is: pattern.New(`\b(?:async|await)[ \t]+`)}
	inNode = []wrapping{
		awaits,
		{is: pattern.New(`\(([\w.]+\(` + inBrackets + `\))\)\.`), by: "$1.", layout: true}, // what was awaited
		{is: pattern.New(`\bassert\.rejects\(`), by: "assert.throws("},
		{is: pattern.New(`\bassert\.throws\(\(\) => `), by: "assert.throws(", layout: true}, // a promise needs no function around it
		{is: pattern.New(`\bPromise\.all\(` + inBrackets + `\)`), by: "$1", node: true},
		{is: pattern.New(`\[\.\.\.([\w.]+(?:\(` + inBrackets + `\))?)\]`), by: "$1", node: true},
		{is: pattern.New(`\bArray\.from\(` + inBrackets + `\)`), by: "$1", node: true},
	}
	inPython = []wrapping{
		awaits,
		{is: pattern.New(`(?m)^[ \t]*(?:(?:import|from)[ \t]+(?:pytest|pytest_asyncio|asyncio|anyio)\b.*|@pytest\.mark\.(?:asyncio|anyio)[ \t]*)$`)},
		{is: pattern.New(`\b(?:list|tuple)\(` + inBrackets + `\)`), by: "$1"},
		{is: pattern.New(`\basyncio\.run\(` + inBrackets + `\)`), by: "$1"},
	}
	inGo = []wrapping{
		{is: pattern.New(`(?m)^import[ \t]+\($|^\)$|^import[ \t]+`), layout: true},
		{is: pattern.New(`(?m)^[ \t]*"errors"$`), layout: true},
		{is: pattern.New(`!errors\.Is\(([^,\n]+), ([\w.]+)\)`), by: "$1 != $2"},
		{is: pattern.New(`\berrors\.Is\(([^,\n]+), ([\w.]+)\)`), by: "$1 == $2"},
	}
	inRust = []wrapping{awaits, {is: pattern.New(`\.await\b`)}}
)

// wrappings are those in the language of a file; none where they are not known.
func wrappings(name string) []wrapping {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return inNode
	case ".py":
		return inPython
	case ".go":
		return inGo
	case ".rs":
		return inRust
	}
	return nil
}

// unwrapped is a text of tests without such wrappings, and without its layout.
func unwrapped(name, text string) string {
	for _, w := range wrappings(name) {
		text = w.is.ReplaceAllString(text, w.by)
	}
	return strings.Join(strings.Fields(text), " ")
}

// OnlyWraps says whether the change edits a test in nothing but the form in which it takes what
// it tests, such as "await" before a call, or a list of what is generated: it passes with the
// old form too, and gives nothing up. What else the file has, such as imports and helpers, has
// to be as it was, but for other tests, and so has what other files of tests that the change
// touches have to do with it.
func (r *Reader) OnlyWraps(id results.ID, eco string) bool {
	file, src := r.TestFileOf(id)
	if src == nil || wrappings(file) == nil {
		return false
	}
	heads := r.headTests(file)
	head, ok := heads[r.MovedTo(file)]
	if !ok {
		head, ok = heads[file]
	}
	if !ok || string(head) == string(src) || !sameButWrapped(file, id, string(src), string(head)) || path.Ext(file) == ".go" && r.addsIs() {
		return false
	}
	return !slices.ContainsFunc(r.Touched, func(t Touch) bool {
		if t.Path == file || t.Path == r.MovedTo(file) || t.Class != compare.Test && t.Class != compare.Support {
			return false
		}
		_, concerns := r.Concerns(t, id, eco)
		return concerns && changesOthers(t.Path, r.Texts[t.Path])
	})
}

// declares is what a file has that other files can make use of, or that runs with them.
var declares = pattern.New(`(?m)\b(?:func|def|class|fn|function|var|let|const|static|macro_rules)\b|^[ \t]*\w+[ \t]*=[^=]`)

// changesOthers says whether a file of tests has something else than its tests that the change
// makes otherwise, by which tests of other files can expect less.
func changesOthers(name string, v classes.Versions) bool {
	base, head := without(string(v.Base), classes.TestBodies(name, v.Base)), without(string(v.Head), classes.TestBodies(name, v.Head))
	if v.Base == nil {
		return declares.MatchString(head)
	}
	return unwraps(name, base, head) || unwrapped(name, base) != unwrapped(name, head)
}

// ownIs is a method by which a type of Go says what it is by errors.Is, or wraps.
var ownIs = pattern.New(`(?m)^func[ \t]*\([^)\n]*\)[ \t]*(?:Is|Unwrap)\(`)

// addsIs says whether the change adds a method that errors.Is asks.
func (r *Reader) addsIs() bool {
	for name, v := range r.Texts {
		if path.Ext(name) == ".go" && len(ownIs.FindAll(v.Head, -1)) > len(ownIs.FindAll(v.Base, -1)) {
			return true
		}
	}
	return false
}

// sameButWrapped compares two versions of a file, as far as they concern a test.
func sameButWrapped(file string, id results.ID, base, head string) bool {
	if unwraps(file, base, head) {
		return false
	}
	before, after := classes.TestBodies(file, []byte(base)), classes.TestBodies(file, []byte(head))
	was, is := before.Of(id.Top()).Text, after.Of(id.Top()).Text
	if was == "" || is == "" || !strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, ".py") { // of others a body may have helpers in it
		return unwrapped(file, base) == unwrapped(file, head)
	}
	outside, now := without(base, before), without(head, after)
	if was == is && classes.Flat(outside) == classes.Flat(now) {
		return false // it takes no other form: something else keeps it from failing
	}
	return unwrapped(file, was) == unwrapped(file, is) && unwrapped(file, outside) == unwrapped(file, now)
}

// byType is an expectation of what sort of thing is returned, which another form decides.
var byType = pattern.New(`\bisinstance\(|\btype\(|\binstanceof\b|\bisArray\(|\btypeof\b|\bcallable\(`)

// unwraps says whether a file has fewer such forms than before, so that what is expected may
// no longer be looked at, or what sort of thing it is.
func unwraps(file, base, head string) bool {
	for _, w := range wrappings(file) {
		was, is := len(w.is.FindAllString(base, -1)), len(w.is.FindAllString(head, -1))
		if is < was && !w.layout {
			return true
		}
		if is > was && w.by == "$1" && (byType.MatchString(head) || slices.ContainsFunc(statements(head), w.saysLess)) {
			return true
		}
	}
	return unheard(file, base, head)
}

// saysLess says of a statement with such forms whether it expects less than without them: both
// of two values are made lists, or what is looked at is no value of one that is compared whole.
func (w wrapping) saysLess(statement string) bool {
	found := w.is.FindAllStringSubmatchIndex(statement, -1)
	if len(found) > 1 {
		return true
	}
	for _, at := range found {
		if w.node && (!wholeInNode.MatchString(statement) || strings.HasPrefix(statement[at[1]:], ".") || strings.HasPrefix(statement[at[1]:], "[")) {
			return true
		}
	}
	return false
}

// wholeInNode is a comparison of all that a value holds.
var wholeInNode = pattern.New(`(?i)deep|\btoEqual\b|\btoStrictEqual\b|\beql\b|\bsame\b|\bfor\b|^[^(]*[^=!<>]=[^=]`)

// statements are the statements of a source, as far as brackets hold them together.
func statements(src string) []string {
	var out []string
	depth, from := 0, 0
	for i, c := range src {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '\n', '{', '}', ';':
			if depth <= 0 || c == '\n' && blockOpens(src[from:i]) {
				out, from, depth = append(out, src[from:i]), i+1, 0
			}
		}
	}
	return append(out, src[from:])
}

// blockOpens says whether a line opens the function of a test.
func blockOpens(line string) bool { return strings.HasSuffix(strings.TrimSpace(line), "{") }

// unheard says whether the head has a function that became async and whose failures nothing
// waits for: one that is neither a test of its runner nor awaited in all of its calls, a test
// in a class whose runner knows no such tests, or an expectation of a failure that is not awaited.
func unheard(file, base, head string) bool {
	if len(asyncs.FindAllString(head, -1)) <= len(asyncs.FindAllString(base, -1)) && len(rejects.FindAllString(head, -1)) <= len(rejects.FindAllString(base, -1)) {
		return false
	}
	old, class := strings.Split(base, "\n"), ""
	for line := range strings.SplitSeq(head, "\n") {
		if m := classLine.FindStringSubmatch(line); m != nil {
			class = m[1]
		}
		if slices.Contains(old, line) {
			continue
		}
		if rejects.MatchString(line) && !rejectsAwaited.MatchString(line) {
			return true
		}
		if !asyncs.MatchString(line) {
			continue
		}
		switch named := asyncName.FindStringSubmatch(line); {
		case path.Ext(file) == ".py" && strings.Contains(class, "TestCase") && !strings.Contains(class, "IsolatedAsyncioTestCase") && strings.TrimLeft(line, " \t") != line:
			return true
		case testLine.MatchString(line):
		case named == nil:
			return true
		default:
			name := regexp.QuoteMeta(cmp.Or(named[1], named[2], named[3]))
			calls := regexp.MustCompile(`\b` + name + `\(`)
			heard := regexp.MustCompile(`\b(?:await|return|asyncio\.run\(|block_on\(|async def|async function|async fn)[ \t]*(?:\w+\.)*` + name + `\(|=>[ \t]*` + name + `\(`)
			if len(heard.FindAllString(head, -1)) < len(calls.FindAllString(head, -1)) {
				return true
			}
		}
	}
	return false
}

var (
	asyncs         = pattern.New(`\basync\b`)
	rejects        = pattern.New(`\bassert\.rejects\(`)
	rejectsAwaited = pattern.New(`\b(?:await|return)[ \t]+assert\.rejects\(|=>[ \t]*assert\.rejects\(`)
	classLine      = pattern.New(`^(?:class[ \t]+\w+(\([^)]*\))?:|[A-Za-z@](?:.*))`)
	testLine       = pattern.New(`\b(?:it|test|specify|before|beforeEach|beforeAll|after|afterEach|afterAll|t\.test)(?:\.\w+)*\(.*\basync\b|\basync[ \t]+def[ \t]+(?:test|setup|teardown|asyncSetUp|asyncTearDown)|\basync[ \t]+fn\b`)
	asyncName      = pattern.New(`\basync[ \t]+(?:function|def|fn)[ \t]+(\w+)|\b(?:const|let|var)[ \t]+(\w+)[ \t]*=[ \t]*async\b|^[ \t]+async[ \t]+(\w+)[ \t]*\(`)
)

// without is a source without its tests. What runs around all of them is none.
func without(src string, tests classes.Bodies) string {
	for _, b := range tests {
		if strings.HasPrefix(b.Text, "func TestMain(") {
			continue
		}
		src = strings.Replace(src, b.Text, "", 1)
	}
	return src
}
