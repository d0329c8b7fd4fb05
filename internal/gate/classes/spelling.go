package classes

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// spellings are the names that a source can have for a test, first the one by which its runner
// reports it: some put namespaces, or words of their own, before what the source says.
func (t TestText) spellings(test string) []string {
	class, name, ok := withoutNamespace(t.ext, test)
	if !ok {
		return []string{test}
	}
	out := []string{test, class + name}
	for _, w := range addedWords[t.ext] {
		if rest, ok := strings.CutPrefix(name, w); ok {
			out = append(out, class+rest)
		}
	}
	return slices.Compact(out)
}

// addedWords are what runners put before the names that sources give to tests.
var addedWords = map[string][]string{".php": {"it "}, ".rb": {"test_", "test: "}, ".ex": {"test ", "property "}, ".exs": {"test ", "property "}}

// withoutNamespace splits the name of a test into its class, without the namespaces of that, and its
// own: false where its language reports none.
func withoutNamespace(ext, test string) (class, name string, ok bool) {
	sep, of, first := "", "", strings.LastIndex
	switch ext {
	case ".php": // App\Tests\CalcTest::testDouble, and of Pest Tests\CalcTest::it doubles
		sep, of, first = "::", `\`, strings.Index
	case ".rb": // Shop::CalcTest#test_double, CalcTest#test_it_doubles of test "it doubles"
		sep, of = "#", "::"
	case ".ex", ".exs": // test doubles, and Shop.CalcTest > test doubles
		sep, of = results.NameSep, "."
	default:
		return "", test, false
	}
	if i := first(test, sep); i >= 0 {
		class, name = test[:i], test[i+len(sep):]
		if i := strings.LastIndex(class, of); i >= 0 {
			class = class[i+len(of):]
		}
		return class + results.NameSep, name, true
	}
	return "", test, true
}

// Bare is the name of a test of a file without the namespaces of its class, or of the constant that RSpec calls
// its group by: false where runners of its language report none.
func Bare(file, test string) (string, bool) {
	if ext := path.Ext(file); ext != ".rb" {
		class, name, ok := withoutNamespace(ext, test)
		return class + name, ok
	}
	if m := constant.FindStringSubmatch(test); m != nil {
		test = m[1] + test[len(m[0]):]
	}
	return test, true
}

// Has says whether a source has a test by its own name, as its runner or as the source spells it.
func (t TestText) Has(test string) bool { return slices.ContainsFunc(t.spellings(test), t.has) }

// spelled is the name that a source has for a test; that of its runner where it has none.
func (t TestText) spelled(test string) string {
	all := t.spellings(test)
	return all[max(0, slices.IndexFunc(all, t.has))]
}

// constant is a constant of Ruby with its namespaces, by which RSpec calls a group.
var constant = pattern.New(`^(?:[A-Z]\w*::)*([A-Z]\w*)`)

// past is where a name goes on behind the constant at its beginning that the source says, as RSpec
// puts them together: methods follow it without a space. 0: there is none.
func (t TestText) past(name string) int {
	if t.ext != ".rb" {
		return 0
	}
	m := constant.FindStringSubmatch(name)
	if m == nil || !t.defined[m[1]] {
		return 0
	}
	rest := name[len(m[0]):]
	switch {
	case rest == "", strings.ContainsRune(".#:", rune(rest[0])):
		return len(m[0])
	case rest[0] == ' ':
		return len(m[0]) + 1
	}
	return 0
}
