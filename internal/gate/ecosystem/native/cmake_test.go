package native

import (
	"slices"
	"strings"
	"testing"
)

// TestBuildPart holds what is left of a file of CMake that the change adds, and which could still
// decide about tests of the base, so that nothing of it stays.
func TestBuildPart(t *testing.T) {
	t.Parallel()
	inBase := func(word string) bool { return word == "test_cal" }
	isTest := func(name string) bool { return name == "tests/test_cal.c" }
	for _, tt := range []struct {
		name, text, rest string
		sources          []string
		ok               bool
	}{
		{"tests/CMakeLists.txt", "add_executable(test_cal test_cal.c)\nadd_test(NAME cal COMMAND test_cal)\n", "add_executable(test_cal test_cal.c)", nil, true},
		{"tests/CMakeLists.txt", "add_executable(test_cal ${CMAKE_CURRENT_SOURCE_DIR}/test_cal.c)\n", "add_executable(test_cal ${CMAKE_CURRENT_SOURCE_DIR}/test_cal.c)", nil, true},
		{"tests/CMakeLists.txt", "add_executable(test_cal ${PROJECT_SOURCE_DIR}/tests/test_cal.c)\n", "add_executable(test_cal ${PROJECT_SOURCE_DIR}/tests/test_cal.c)", nil, true},
		{"tests/CMakeLists.txt", "add_executable(test_new new.c)\n# add_test declares it\nadd_test(NAME new COMMAND test_new)\n", "add_executable(test_new new.c)\n# add_test declares it", []string{"tests/new.c"}, true},
		{"tests/CMakeLists.txt", "add_executable(test_cal ../src/fake.c)\n", "", nil, false},
		{"tests/CMakeLists.txt", "add_executable(test_cal $<1:../src/fake.c>)\n", "", nil, false},
		{"tests/CMakeLists.txt", "set(p test_cal)\nadd_executable(${p} ../src/fake.c)\n", "", nil, false},
		{"cmake/T.cmake", "function(t n)\n  add_executable(test_${n} test_${n}.c)\n  add_test(NAME ${n} COMMAND test_${n})\n  set_tests_properties(${n} PROPERTIES TIMEOUT 3)\nendfunction()\n", "function(t n)\n  add_executable(test_${n} test_${n}.c)\n\n\nendfunction()", nil, true},
		{"cmake/T.cmake", "if(TRUE) set_tests_properties(cal PROPERTIES WILL_FAIL ON)\nendif()\n", "", nil, false},
		{"cmake/T.cmake", "cmake_language(EVAL CODE \"${x}\")\n", "", nil, false},
		{"cmake/T.cmake", "set_property(${kind} cal PROPERTY ${p} x)\n", "", nil, false},
		{"cmake/T.cmake", "file(WRITE ${CMAKE_BINARY_DIR}/x \"\")\n", "", nil, false},
		{"tests/list.txt", "cal\n", "", nil, false},
	} {
		rest, sources, ok := BuildPart(tt.name, []byte(tt.text), inBase, isTest)
		if ok != tt.ok || strings.TrimSpace(string(rest)) != tt.rest || !slices.Equal(sources, tt.sources) {
			t.Errorf("%s with %q: %q, %v, %v", tt.name, tt.text, rest, sources, ok)
		}
	}
}

// TestMergeCMake holds that the base's tests find their programs by the targets, where the head may
// build them in another folder.
func TestMergeCMakeByTarget(t *testing.T) {
	t.Parallel()
	base := "add_library(a a.c)\nadd_test(a test_a)\nadd_test(b test_b -v x)\nadd_test(NAME c COMMAND test_c)\nadd_test(d \"sh\" -c 'x')\n"
	got, err := mergeCMake([]byte(base), []byte("add_library(a src/a.c)\nadd_subdirectory(tests)\n"))
	want := "add_library(a src/a.c)\nadd_subdirectory(tests)\nadd_test(NAME a COMMAND test_a)\nadd_test(NAME b COMMAND test_b -v x)\nadd_test(NAME c COMMAND test_c)\nadd_test(d \"sh\" -c 'x')\n"
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s", err, got)
	}
	if got, err := mergeCMake([]byte(base), []byte(base)); err != nil || string(got) != base {
		t.Errorf("what is the same becomes %v\n%s", err, got)
	}
}

func TestTakenInByCMake(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, dir, name string
		want            bool
	}{
		{"add_subdirectory(tests)", ".", "tests/CMakeLists.txt", true},
		{"add_subdirectory(unit)", "tests", "tests/unit/CMakeLists.txt", true},
		{"add_subdirectory(${CMAKE_SOURCE_DIR}/tests)", "src", "tests/CMakeLists.txt", true},
		{"add_subdirectory(src)", ".", "tests/CMakeLists.txt", false},
		{"include(BufTest)", ".", "cmake/BufTest.cmake", true},
		{"include(${CMAKE_CURRENT_LIST_DIR}/BufTest.cmake)", "cmake", "cmake/BufTest.cmake", true},
		{"include(Buf)", ".", "cmake/BufTest.cmake", false},
	} {
		if got := TakenInByCMake([]byte(tt.text), tt.dir, tt.name); got != tt.want {
			t.Errorf("%q in %s takes in %s: %v", tt.text, tt.dir, tt.name, got)
		}
	}
}

func TestBuildsByVariable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"add_executable(test_${n} test_${n}.c)":   true,
		"add_executable(${n} ${n}.c helper.c)":    true,
		"add_executable(${n} ${dir}/test_${n}.c)": true,
		"add_executable(check_${n} check_${n}.c)": false,
		"add_executable(check_cal check_cal.c)":   false,
		"set(SOURCES test_${n}.c)":                false,
	} {
		if got := BuildsByVariable([]byte(text), "test_cal.c"); got != want {
			t.Errorf("%q builds test_cal.c: %v", text, got)
		}
	}
}

// TestDeclaredData holds what is said of what tests read, and that what a product is configured by is
// none of it.
func TestDeclaredData(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, has, not string }{
		{"CMakeLists.txt", "configure_file(config.in config.h)\nadd_test(NAME a COMMAND a -DOUT=${CMAKE_SOURCE_DIR}/samples/a.out)\n", "=samples/a.out", "config.in"},
		{"CMakeLists.txt", "# add_test(NAME a COMMAND a old.out)\nadd_test(a a new.out)\n", "new.out", "old.out"},
		{"tests/CMakeLists.txt", "configure_file(${CMAKE_SOURCE_DIR}/rates.in rates.txt COPYONLY)\nset(x y.in)\n", "rates.in", "y.in"},
		{"tests/CMakeLists.txt", "file(COPY ../cases.txt DESTINATION .)\nfile(WRITE made.txt x)\n", "../cases.txt", "made.txt"},
		{"meson.build", "configure_file(input : 'config.in')\ntest('a', exe, args : files('samples/a.out'))\n", "samples/a.out", "config.in"},
	} {
		if got := DeclaredData(tt.name, tt.text); !strings.Contains(got, tt.has) || strings.Contains(got, tt.not) {
			t.Errorf("%s with %q: %q", tt.name, tt.text, got)
		}
	}
}
