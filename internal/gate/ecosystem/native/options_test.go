package native

import (
	"slices"
	"testing"
)

// TestTestOptions holds which options of a build are turned on for its tests: those that are
// off, and that no other kind of tests and nothing negative is named by.
func TestTestOptions(t *testing.T) {
	t.Parallel()
	cmake := `cmake_minimum_required(VERSION 3.10)
project("tiny-xml" LANGUAGES CXX) # option(COMMENT_TESTS "x" OFF)
# option(BUILD_TESTS "x" OFF)
option(TINY_XML_BUILD_TESTS "tests (all)" OFF)
option( tinyXmlUnitTests
  "of several lines" )
cmake_dependent_option(ENABLE_TINY_XML_TEST "it's \"off\"" OFF "A STREQUAL B" OFF)
OPTION(WITH_TESTS text false)
option(BUILD_UNITTESTS "on" ON)
option(ENABLE_TESTING "computed" ${MAIN})
option(BUILD_INTEGRATION_TESTS "wants a server" OFF)
option(OTHER_BUILD_TESTS "of another project" OFF)
option(NO_TESTS "none" OFF)
option(SKIP_TESTS "none" OFF)
option(INSTALL_TESTS "puts them somewhere" OFF)
option(TEST_LOGGING "no tests" OFF)
option(BUILD_TESTING "is on" OFF)
include(CTest)
`
	if got, want := cmakeTestOptions([]byte(cmake)), []string{"TINY_XML_BUILD_TESTS", "tinyXmlUnitTests", "ENABLE_TINY_XML_TEST", "WITH_TESTS"}; !slices.Equal(got, want) {
		t.Errorf("CMake: %q, want %q", got, want)
	}
	meson := `option('tests', type : 'boolean', value : false, description : 'Build (all) tests')
option('build-tests', description: 'feature', type: 'feature', value: 'disabled')
option('unit_tests', type: 'boolean')
option('enable_tests', type: 'feature', value: 'auto')
option('tiny_tests', type: 'boolean', value: false)
option('docs', type: 'boolean', value: false)
option('slow_tests', type: 'boolean', value: false)
option('tests_dir', type: 'string', value: 'false')
`
	if got, want := mesonTestOptions([]byte("project('tiny', 'c')\n"), []byte(meson)), []string{"tests=true", "build-tests=enabled", "tiny_tests=true"}; !slices.Equal(got, want) {
		t.Errorf("Meson: %q, want %q", got, want)
	}
	for _, src := range []string{"", "project(", "option(", "option(A", `option(BUILD_TESTS "open`} {
		if got := cmakeTestOptions([]byte(src)); len(got) > 0 {
			t.Errorf("%q has the options %q", src, got)
		}
		if got := mesonTestOptions([]byte(src), []byte(src)); len(got) > 0 {
			t.Errorf("%q has the settings %q", src, got)
		}
	}
}
