package native

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// What declares tests, and what says how programs of tests are made and started, is the
// base's; all else of a CMakeLists.txt is the head's.
func TestMergeCMake(t *testing.T) {
	t.Parallel()
	const base = "project(a C)\nadd_test(NAME a COMMAND a)\n"
	for what, tt := range map[string]struct{ head, want string }{
		"the same tests":          {"project(a C CXX)\nadd_test(NAME a COMMAND a)\n", "project(a C CXX)\nadd_test(NAME a COMMAND a)\n"},
		"another case":            {"project(a C)\nADD_TEST(NAME a COMMAND true)\n", base},
		"an emulator":             {"project(a C)\nset(CMAKE_CROSSCOMPILING_EMULATOR true)\nadd_test(NAME a COMMAND a)\n", base},
		"an emulator of one":      {"project(a C)\nset_target_properties(a PROPERTIES\n  FOLDER x CROSSCOMPILING_EMULATOR true)\nadd_test(NAME a COMMAND a)\n", base},
		"a launcher of linkers":   {"project(a C)\nset_property(GLOBAL PROPERTY RULE_LAUNCH_LINK \"cp true\")\nadd_test(NAME a COMMAND a)\n", base},
		"what ctest takes in":     {"project(a C)\nset_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_SOURCE_DIR}/env.cmake)\nadd_test(NAME a COMMAND a)\n", base},
		"a command that is built": {"project(a C)\nmacro(add_executable name)\n  _add_executable(${name} ok.c)\nendmacro()\nadd_test(NAME a COMMAND a)\n", base},
		"a macro of its own":      {"project(a C)\nmacro(mine)\nendmacro()\nadd_test(NAME a COMMAND a)\n", "project(a C)\nmacro(mine)\nendmacro()\nadd_test(NAME a COMMAND a)\n"},
	} {
		got, err := ecosystem.MergeCalls(cmakeTestCalls...)([]byte(base), []byte(tt.head))
		if diff := cmp.Diff(ecosystem.Trimmed(tt.want), ecosystem.Trimmed(string(got))); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", what, err, diff)
		}
	}
}
