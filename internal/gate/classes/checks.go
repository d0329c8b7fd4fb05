package classes

import (
	"path"

	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/pattern"
)

// ChecksForTests says whether a source that is no test is written with a library of tests, as a
// suite of checks that several tests call is, or is one of assertions itself.
func ChecksForTests(name string, src []byte) bool {
	by := forTests(path.Ext(name))
	return by != nil && !languages.IsTestSource(name) && (by.Match(src) || hasTests(path.Ext(name), src))
}

// hasTests says whether a source has what runners take for tests where another one makes it its
// own, as methods of a class that classes of tests inherit from.
func hasTests(ext string, src []byte) bool {
	switch ext {
	case ".py":
		return 2*len(pyTest.FindAll(src, -1)) >= max(1, len(pyDef.FindAll(src, -1))) && pyAsserts.Match(src)
	case ".rb":
		return rubyTest.Match(src) && rubyAsserts.Match(src)
	case ".php":
		return phpTest.Match(src) && phpAsserts.Match(src)
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		return nodeTest.Match(src)
	}
	return false
}

var (
	pyTest      = pattern.New(`(?m)^[ \t]+(?:async[ \t]+)?def[ \t]+test(?:_|[A-Z])\w*\([ \t]*self\b`)
	pyDef       = pattern.New(`(?m)^[ \t]*(?:async[ \t]+)?def[ \t]`)
	pyAsserts   = pattern.New(`(?m)\bself\.(?:assert\w+|fail)\(|^[ \t]+assert\b`)
	rubyTest    = pattern.New(`(?m)^[ \t]*def[ \t]+test_\w+`)
	rubyAsserts = pattern.New(`(?m)^[ \t]*(?:assert|refute)\w*[ (]|\bmust_\w+`)
	phpTest     = pattern.New(`\bfunction\s+test\w+\(`)
	phpAsserts  = pattern.New(`(?:\$this->|(?:self|static)::)assert\w+\(`)
	nodeTest    = pattern.New("(?m)^[ \\t]+(?:it|test|specify)\\([ \\t]*[\"'`][^\\n]*(?:=>|function)") // of functions that tests call
)

// forTests is what only code for tests has, in sources with an extension; nil: it is not known.
func forTests(ext string) *pattern.Pattern {
	switch ext {
	case ".go":
		return goForTests
	case ".py":
		return pyForTests
	case ".rb":
		return rubyForTests
	case ".java", ".kt":
		return javaForTests
	case ".php":
		return phpForTests
	case ".ex":
		return elixirForTests
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		return nodeForTests
	case ".h", ".hh", ".hpp", ".hxx":
		return headerForTests
	case ".sh", ".bash":
		return shellForTests
	}
	return nil
}

// Lines by which sources take libraries of tests in.
var (
	goForTests     = pattern.New(`(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"(?:testing(?:/\w+)?|github\.com/(?:stretchr/testify/\w+|onsi/gomega|frankban/quicktest)|gotest\.tools/\S+)"`)
	pyForTests     = pattern.New(`(?m)^\s*(?:import|from)\s+(?:unittest|pytest|nose|hypothesis)\b`)
	rubyForTests   = pattern.New(`(?m)^\s*require\s+["'](?:minitest|rspec|test/unit)`)
	javaForTests   = pattern.New(`(?m)^\s*import\s+(?:static\s+)?(?:org\.(?:junit|testng|assertj|hamcrest|mockito)|junit)\.`)
	phpForTests    = pattern.New(`\bPHPUnit\\Framework\b`)
	elixirForTests = pattern.New(`(?m)^\s*(?:use|import)\s+ExUnit\.`)
	nodeForTests   = pattern.New(`["'](?:node:test|vitest|@jest/globals|chai)["']`) // programs have assertions, too
)

// Macros and functions that say themselves whether something holds.
var (
	headerForTests = pattern.New(`(?mi)^\s*#\s*define\s+(?:\w*_)?(?:assert|check|expect|require|test|fail)\w*\(`)
	shellForTests  = pattern.New(`(?m)^\s*(?:function\s+)?(?:assert\w*|expect\w*|is|ok|isnt|like|plan|done_testing|tap_\w+)\s*\(\)|\bnot ok\b`)
)
