package native

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// declaredTests are how files that say what is built declare tests, by base name; the group is
// what a test runs.
var declaredTests = map[string]*pattern.Pattern{
	"CMakeLists.txt": pattern.New(`(?is)\badd_test\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)`),
	"meson.build":    pattern.New(`(?s)\b(?:test|benchmark|add_test_setup)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)`),
	"Makefile.am":    pattern.New(`(?m)^\s*(?:TESTS|\w*LOG_(?:COMPILER|DRIVER))\s*\+?=((?:[^\n]*\\\n)*[^\n]*)`),
}

var (
	sourceRoot   = pattern.New(`\$\{\w*SOURCE_DIR\}/|\$[({](?:top_)?srcdir[)}]/`)
	declaredWord = pattern.New(`[^\s"'(),=]+\.(?:cmake|sh|bash|py|pl|rb|js|mjs|cjs|lua|tcl|awk)\b`)
)

// DeclaresTests names the ecosystem in which a file declares tests that run commands; empty: in
// none.
func DeclaresTests(name string) string {
	if declaredTests[path.Base(name)] == nil {
		return ""
	}
	return cEcosystemName
}

// DeclaredScripts are the scripts that the tests of such a file run, as it names them: from its
// folder, or from the root of the tree.
func DeclaredScripts(name, text string) []string {
	var out []string
	for _, m := range declaredTests[path.Base(name)].FindAllStringSubmatch(text, -1) {
		out = append(out, declaredWord.FindAllString(sourceRoot.ReplaceAllString(strings.ReplaceAll(m[1], "\\\n", " "), ""), -1)...)
	}
	return out
}

// declaredCopies are the calls by which CMake makes, in a folder of tests, what these read.
var declaredCopies = pattern.New(`(?i)\b(?:configure_file\s*\(|file\s*\(\s*(?:COPY|COPY_FILE|CREATE_LINK|GENERATE|READ|STRINGS)\b)([^()]*)`)

// DeclaredData is what such a file says of what its tests are given: what they are called with, and
// in a folder of tests what is copied for them. Paths begin at its folder, or at the root of the tree.
func DeclaredData(name, text string) string {
	text = string(cmakeComment.ReplaceAll([]byte(text), nil))
	found := declaredTests[path.Base(name)].FindAllStringSubmatch(text, -1)
	if path.Base(name) == "CMakeLists.txt" && isCTest(name) {
		found = append(found, declaredCopies.FindAllStringSubmatch(text, -1)...)
	}
	var out strings.Builder
	for _, m := range found {
		out.WriteString(sourceRoot.ReplaceAllString(m[1], "") + "\n")
	}
	return out.String()
}
