package native

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/node"
)

// TestIsTestProgram holds which C sources are known as programs of tests by what builds them.
func TestIsTestProgram(t *testing.T) {
	t.Parallel()
	const (
		plain  = "#include <stdio.h>\nint main(int argc, char **argv) { return 0; }\n"
		cmake  = "enable_testing()\nadd_executable(calctest calctest.c)\nadd_executable(all_tests check/main.c\n  a.c)\nadd_executable(tool tool.c latest.c)\nadd_test(NAME a COMMAND calctest)\n"
		meson  = "e = executable('unittests', 'src/run.c')\ntest('all', e)\nexecutable('tool', 'tool.c')\n"
		recipe = "tool: tool.c\nruntests: runtests.c\ntest: runtests\n\t./runtests\n"
	)
	for _, tt := range []struct {
		name, src string
		tree      map[string]string
		want      bool
	}{
		{"calctest.c", plain, map[string]string{"CMakeLists.txt": cmake}, true},
		{"calctest.c", "int helper(void);\n", map[string]string{"CMakeLists.txt": cmake}, false},
		{"calctest.c", plain, map[string]string{"CMakeLists.txt": "add_executable(calctest calctest.c)\n"}, false}, // runs no tests
		{"calctest.c", plain, nil, false},
		{"check/main.c", plain, map[string]string{"CMakeLists.txt": cmake}, true},
		{"tool.c", plain, map[string]string{"CMakeLists.txt": cmake, "Makefile": recipe}, false},
		{"src/calctest.c", plain, map[string]string{"CMakeLists.txt": "include(CTest)\nadd_executable(calctest src/calctest.c)\n"}, true},
		{"src/run.c", plain, map[string]string{"meson.build": meson}, true},
		{"tool.c", plain, map[string]string{"meson.build": meson}, false},
		{"runtests.c", plain, map[string]string{"Makefile": recipe}, true},
		{"othertest.c", plain, map[string]string{"Makefile": recipe}, false}, // no rule names it
		{"runtests.go", plain, map[string]string{"Makefile": recipe}, false},
		{"speedtest.c", plain, map[string]string{"CMakeLists.txt": "project(speedtest C)\nenable_testing()\nadd_executable(speedtest speedtest.c)\n"}, false}, // what the project is for
		{"memtest.c", plain, map[string]string{"CMakeLists.txt": "project(tools C)\nenable_testing()\nadd_executable(memtest memtest.c)\ninstall(TARGETS\n  other memtest\n  DESTINATION bin)\n"}, false},
		{"memtest.c", plain, map[string]string{"meson.build": "executable('memtest', 'memtest.c', install: true)\ntest('a', find_program('run.sh'))\n"}, false},
		{"memtest.c", plain, map[string]string{"Makefile": "memtest: memtest.c\ntest: memtest\n\t./run.sh\ninstall:\n\tinstall -m 755 memtest /usr/bin\n"}, false},
		{"a_b/looptest.c", plain, map[string]string{"CMakeLists.txt": "enable_testing()\nforeach(t looptest)\n  add_executable(${t} a_b/${t}.c)\nendforeach()\n"}, true},
		{"testdisk.c", plain, map[string]string{"Makefile": "testdisk: testdisk.c\ntest: testdisk\n\t./testdisk < in | diff - out\n"}, false},
	} {
		read := func(name string) []byte { return []byte(tt.tree[name]) }
		if got := IsTestProgram(tt.name, []byte(tt.src), read); got != tt.want {
			t.Errorf("%s in %v: %v", tt.name, tt.tree, got)
		}
	}
}

// TestDeclaredScripts holds which scripts the tests of C and C++ run by, and which settings a
// compiler that is a test.
func TestDeclaredScripts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"CMakeLists.txt", "add_test(NAME a COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cmp.py $<TARGET_FILE:a>)\nadd_executable(a gen.py)\n", "cmp.py"},
		{"CMakeLists.txt", "ADD_TEST(b ${CMAKE_COMMAND} -P\n  cmake/Run.cmake)", "cmake/Run.cmake"},
		{"meson.build", "test('a', find_program('scripts/check.sh'), args: [exe, files('b.txt')])\n", "scripts/check.sh"},
		{"Makefile.am", "TESTS = a.sh \\\n  $(srcdir)/b.py\nLOG_COMPILER = run.sh\nEXTRA = c.sh\n", "a.sh b.py run.sh"},
	} {
		if got := strings.Join(DeclaredScripts(tt.name, tt.text), " "); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	for recipe, want := range map[string]string{
		"node --test && tsc -p .": "tsconfig.json", "tsc": "tsconfig.json", "vue-tsc --noEmit -p tsconfig.test.json": "tsconfig.test.json",
		"tsc --build packages/a": "packages/a/tsconfig.json", "etsc": "", "node tsc.js": "",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(node.CompilerSettings(recipe))), " "); got != want {
			t.Errorf("%q: %q, want %q", recipe, got, want)
		}
	}
}
