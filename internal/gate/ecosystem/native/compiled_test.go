package native

import (
	"maps"
	"slices"
	"testing"
)

// TestAlters holds which lines of builds alter what tests mean that no one touched, and which honest
// ones do not.
func TestAlters(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"CMakeLists.txt": {
			`add_compile_options(-O2 -ffast-math)`, `set(CMAKE_C_FLAGS "${CMAKE_C_FLAGS} -Ofast")`, `  -fno-signed-zeros`, `add_compile_options($<$<C_COMPILER_ID:GNU>:-ffinite-math-only>)`, `add_compile_options(/fp:fast)`,
			`add_compile_definitions(_GNU_SOURCE strcmp=strcasecmp)`, `target_compile_definitions(shop PUBLIC strcmp=strcasecmp)`, `add_definitions(-Disnan=0*)`, `  "fabs(x)=0"`, `add_compile_options("-Dassert(x)=(void)(x)")`,
			`add_compile_options("-D" "memcmp=same")`, `add_definitions(-DASSERT_EQ=eq)`, `add_definitions(-DDOCTEST_CONFIG_DISABLE)`, `add_definitions(-Dif=while)`,
			`add_link_options(-Wl,--defsym=__assert_fail=price)`, `target_link_options(shop INTERFACE -Wl,--wrap=strcmp)`, `add_link_options(LINKER:--wrap,strcmp)`, `add_link_options("SHELL:-Xlinker --wrap=strcmp")`, `add_link_options(-Wl,-z,muldefs)`, `add_link_options(-Wl,--as-needed,--wrap=strcmp)`, `  "--wrap=strcmp"`, `add_link_options(-Wl,-T,a.ld)`,
			`add_compile_options(-include ${CMAKE_SOURCE_DIR}/config.h)`, `target_precompile_headers(shop PUBLIC all.h)`, `include(src/CMakeLists.txt)`, `-include`, `  "SHELL:-include config.h"`,
		},
		"meson.build":  {`add_project_arguments('-O2', '-ffast-math', language: 'c')`, `add_global_arguments('-D_GNU_SOURCE', '-Dstrcmp=strcasecmp', language: 'c')`, `add_project_link_arguments('-Wl,--wrap=strcmp', language: 'c')`, `add_project_arguments('-include', 'config.h', language: 'c')`},
		"configure.ac": {`CFLAGS="$CFLAGS -O2 -ffast-math"`, `AC_SUBST([LOG_COMPILER], [tools/run])`, `AC_DEFINE([strcmp], [strcasecmp], [names])`, `AH_BOTTOM([#define strcmp strcasecmp])`, `TESTS_ENVIRONMENT=true`},
		"Makefile.am":  {`AM_CPPFLAGS = -I$(top_srcdir)/include -Dstrcmp=strcasecmp`, `AM_LDFLAGS = -Wl,--wrap=abort`},
		"m4/flags.m4":  {`XFAIL_TESTS=a`},
	} {
		for _, line := range lines {
			if !SaysFlags(name) || Alters(name, line) == "" {
				t.Errorf("%s: %s: nothing", name, line)
			}
		}
	}
	for name, lines := range map[string][]string{
		"CMakeLists.txt": {
			`add_compile_options(-Wall -Wextra -O2 -march=native -fno-fast-math)`, `find_package(ZLIB REQUIRED)`, `target_sources(shop PRIVATE src/strcmp.c)`, `add_compile_definitions(SHOP_TAX=19 _GNU_SOURCE)`, `# -ffast-math is too much`,
			`target_link_libraries(shop PUBLIC m)`, `target_include_directories(shop PUBLIC include)`, `add_link_options(-Wl,-rpath,/opt/lib -Wl,--as-needed -fuse-ld=lld)`, `target_precompile_headers(shop PRIVATE all.h)`, `add_definitions(-DENABLE_ASSERT_LOG=1 -DCHECK_UPDATES=1)`,
			`set(CMAKE_C_FLAGS "${CMAKE_C_FLAGS} -fPIC -fvisibility=hidden")`, `if(NOT true)`, `include(GNUInstallDirs)`, `check_symbol_exists(strcmp string.h HAVE_STRCMP)`, `target_compile_definitions(shop PUBLIC SHOP_NAME="printf")`, `message(STATUS "a=b if c")`, `  src/shell-init.c`, `  tools/my-script.sh --init`,
		},
		"meson.build":  {`add_project_arguments('-Wall', '-DSHOP_TAX=19', language: 'c')`, `inc = include_directories('include')`, `cc.has_function('strcmp')`},
		"configure.ac": {`AC_CHECK_FUNCS([strcmp memcmp])`, `AC_DEFINE([HAVE_FOO], [1], [foo])`, `exit=1`, `abs=$(pwd)`, `dnl LOG_COMPILER is not used`, `AC_C_INLINE`},
		"Makefile.am":  {`AM_CFLAGS = -Wall -O2`, `libshop_la_LDFLAGS = -version-info 1:0:0`, `-include local.mk`, `  -include $(DEPS)`},
	} {
		for _, line := range lines {
			if what := Alters(name, line); what != "" {
				t.Errorf("%s: %s: %s", name, line, what)
			}
		}
	}
	for _, name := range []string{"tests/CMakeLists.txt", "Makefile", "src/a.c"} {
		if SaysFlags(name) {
			t.Errorf("%s says how untouched tests are compiled", name)
		}
	}
}

// TestAltersInSource holds the same of sources of the product.
func TestAltersInSource(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line string
		want       bool
	}{
		{"include/a.h", `#pragma GCC optimize ("Ofast", "no-signed-zeros")`, true},
		{"include/a.h", `_Pragma("GCC optimize (\"fast-math\")")`, true},
		{"include/a.h", `#pragma redefine_extname strcmp strcasecmp`, true},
		{"include/a.h", `#define isnan(x) 0`, true},
		{"src/a.c", `int strcmp(const char *a, const char *b)`, true},
		{"src/a.c", `_Noreturn void abort(void) {`, true},
		{"src/a.c", `int isnan(double x) { return 0`, true},
		{"include/a.h", `#pragma once`, false},
		{"include/a.h", `#pragma GCC optimize ("O3")`, false},
		{"include/a.h", `#pragma omp parallel for`, false},
		{"include/a.h", `#define is_name(x) 1`, false},
		{"include/a.h", `int strcmp(const char *, const char *);`, false},
		{"src/a.c", `static int strcmp(const char *a, const char *b)`, false},
		{"src/a.c", `	int kill(pid_t pid) {`, false},
		{"src/a.c", `int name_strcmp(const char *a)`, false},
		{"src/a.c", `	return strcmp(a, b) ==`, false},
		{"src/a.c", `#pragma GCC optimize ("Ofast")`, false},
	} {
		if got := AltersInSource(tt.name, tt.line); (got != "") != tt.want {
			t.Errorf("%s: %s: %q", tt.name, tt.line, got)
		}
	}
}

// TestOfTargets holds which lines bind what is no test of the base.
func TestOfTargets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, file, base, head string
		alone                  bool
		want                   []int
	}{
		{"a library's own", "CMakeLists.txt", "", "add_library(shop a.c)\ntarget_compile_options(shop\n  PRIVATE -ffast-math)\n", false, []int{2, 3}},
		{"a library's, which its users get", "CMakeLists.txt", "", "add_library(shop a.c)\ntarget_compile_options(shop PRIVATE -O2 PUBLIC -ffast-math)\n", false, nil},
		{"a library of tests", "CMakeLists.txt", "", "add_library(t OBJECT tests/a.c)\ntarget_compile_options(t PRIVATE -ffast-math)\n", false, nil},
		{"a program of the base", "CMakeLists.txt", "add_executable(a a.c)\n", "add_executable(a a.c)\ntarget_compile_options(a PRIVATE -ffast-math)\n", false, nil},
		{"a new program", "CMakeLists.txt", "add_executable(a a.c)\n", "add_executable(b b.c)\ntarget_link_options(b PRIVATE -Wl,--wrap=read)\n", false, []int{2}},
		{"sources", "CMakeLists.txt", "", "set_source_files_properties(a.c PROPERTIES COMPILE_OPTIONS -ffast-math)\nset_source_files_properties(tests/a.c PROPERTIES COMPILE_OPTIONS -ffast-math)\n", false, []int{1}},
		{"a library of Meson", "meson.build", "", "lib = static_library('shop', files('a.c'),\n  c_args: ['-ffast-math'])\n", false, []int{1, 2}},
		{"a program of Meson", "meson.build", "e = executable('a', 'a.c')\n", "e = executable('a', 'a.c', c_args: ['-ffast-math'])\n", false, nil},
		{"a library of Automake", "Makefile.am", "", "libshop_la_CFLAGS = -ffast-math\nAM_CFLAGS = -ffast-math\ntest_a_CFLAGS = -ffast-math\n", false, []int{1}},
		{"a folder without tests", "src/CMakeLists.txt", "", "add_compile_options(-ffast-math)\nset(CMAKE_C_FLAGS -ffast-math PARENT_SCOPE)\nset(CMAKE_C_FLAGS -ffast-math)\n", true, []int{1, 3}},
		{"a folder with tests", "src/CMakeLists.txt", "", "add_compile_options(-ffast-math)\n", false, nil},
		{"a folder that builds tests of another one", "src/CMakeLists.txt", "", "add_compile_options(-ffast-math)\nadd_executable(a ../tests/a.c)\n", true, nil},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := slices.Sorted(maps.Keys(OfTargets(tt.file, []byte(tt.head), []byte(tt.base), tt.alone))); !slices.Equal(got, tt.want) {
				t.Errorf("lines %v, want %v", got, tt.want)
			}
		})
	}
}

// TestDefinitions holds which macros builds define, and which of them tests ask for.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"CMakeLists.txt": {`add_compile_definitions(EPS=9)`, `add_compile_definitions(_A "EPS=9")`, `add_definitions(-DEPS=9)`, `target_compile_definitions(a PUBLIC A EPS=9)`, `option(EPS "how exact" 9)`, `set(EPS 9)`, `set(CMAKE_C_FLAGS "-O2 -DEPS=9")`},
		"meson.build":    {`add_project_arguments('-DEPS=9', language: 'c')`, `conf.set('EPS', 9)`},
		"configure.ac":   {`AC_DEFINE([EPS], [9], [how exact])`, `AC_DEFINE_UNQUOTED(EPS, 9)`, `CPPFLAGS="$CPPFLAGS -DEPS=9"`},
		"Makefile.am":    {`AM_CPPFLAGS = -I. -DEPS=9`},
	} {
		for _, line := range lines {
			if got := Definitions(name, []byte(line+"\n")); got["EPS"] != "9\n" {
				t.Errorf("%s: %s: %q", name, line, got)
			}
		}
	}
	src := "#ifndef EPS\n#define EPS 1e-9\n#endif\n#if defined(STRICT) && \\\n  LEVEL > 2\n#endif\n#ifndef A_H\n#define A_H\n"
	if got := slices.Sorted(maps.Keys(AskedFor(src))); !slices.Equal(got, []string{"A_H", "EPS", "LEVEL", "STRICT", "defined"}) {
		t.Errorf("asked for %q", got)
	}
	if got := Defaults(src); len(got) != 1 || !got["EPS"] {
		t.Errorf("by default: %v", got)
	}
}

// TestLowered holds when tests are compiled by an older standard.
func TestLowered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		base, head string
		asked      bool
		want       bool
	}{
		{"set(CMAKE_C_STANDARD 11)", "set(CMAKE_C_STANDARD 99)", false, true},
		{"set(CMAKE_C_STANDARD 11)", "set(CMAKE_C_STANDARD 17)", true, false},
		{"set(CMAKE_C_STANDARD 11)", "set(CMAKE_C_STANDARD 11)\ntarget_compile_features(a PUBLIC cxx_std_20)", true, false},
		{"", "set(CMAKE_C_STANDARD 99)", true, true},
		{"", "set(CMAKE_C_STANDARD 99)", false, false},
		{"-std=gnu++20", "-std=c++14", false, true},
		{"c_std=c11", "c_std=gnu99", false, true},
		{"-std=c2x", "", false, true},
		{"-std=c11", "-ansi", false, true},
		{"cpp_std=c++17", "cpp_std=c++2a", false, false},
	} {
		if got := Lowered(Standards(tt.base), Standards(tt.head), tt.asked); got != tt.want {
			t.Errorf("%q to %q: %v", tt.base, tt.head, got)
		}
	}
}
