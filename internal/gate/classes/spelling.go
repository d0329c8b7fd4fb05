package classes

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// spellings are the names that a source can have for a test, first the one by which its runner
// reports it: some put namespaces, or words of their own, before what the source says.
func (t TestText) spellings(test string) []string {
	sep, of, words := "", "", []string(nil)
	switch t.ext {
	case ".php": // App\Tests\CalcTest::testDouble, and of Pest Tests\CalcTest::it doubles
		sep, of, words = "::", `\`, []string{"it "}
	case ".rb": // Shop::CalcTest#test_double, CalcTest#test_it_doubles of test "it doubles"
		sep, of, words = "#", "::", []string{"test_", "test: "}
	case ".ex", ".exs": // test doubles, and Shop.CalcTest > test doubles
		sep, of, words = results.NameSep, ".", []string{"test ", "property "}
	default:
		return []string{test}
	}
	class, name := "", test
	if i := strings.LastIndex(test, sep); i >= 0 {
		class, name = test[:i], test[i+len(sep):]
		if i := strings.LastIndex(class, of); i >= 0 {
			class = class[i+len(of):]
		}
		class += results.NameSep
	}
	out := []string{test, class + name}
	for _, w := range words {
		if rest, ok := strings.CutPrefix(name, w); ok {
			out = append(out, class+rest)
		}
	}
	return slices.Compact(out)
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
