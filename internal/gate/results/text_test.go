package results

import (
	"slices"
	"strings"
	"testing"
)

// TestFailureLine holds which line of a failed command's output says why it failed.
func TestFailureLine(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ output, want string }{
		"nothing":     {"", "it prints nothing"},
		"pytest":      {"INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"c.py\", line 2\nINTERNALERROR> KeyError: 'a'\nINTERNALERROR> \nINTERNALERROR> RuntimeError: no database\n", "RuntimeError: no database"},
		"go":          {"=== RUN   TestA\n    a_test.go:18: A_DSN is not set\n--- FAIL: TestA (0.00s)\nFAIL\n", "a_test.go:18: A_DSN is not set"},
		"conftest":    {"ImportError while loading conftest '/x/conftest.py'.\nconftest.py:1: in <module>\n    import nope\nE   ModuleNotFoundError: No module named 'nope'\n", "ModuleNotFoundError: No module named 'nope'"},
		"python":      {"Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import nope\nModuleNotFoundError: No module named 'nope'\n", "ModuleNotFoundError: No module named 'nope'"},
		"node":        {"node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module './x'\nRequire stack:\n- /a.js\n    at Module._resolve (node:internal:1140:15)\n\nNode.js v20.1.0\n", "Error: Cannot find module './x'"},
		"node's code": {"TypeError [ERR_INVALID_ARG]: bad flag\n    at x (y:1:2)\n", "TypeError [ERR_INVALID_ARG]: bad flag"},
		"ruby":        {"lib/a.rb:4:in `block in grep': undefined method `delete' for :a:Symbol (NoMethodError)\n    from lib/a.rb:4:in `grep'\nRun options: --seed 1\n\n# Running:\n", "lib/a.rb:4:in `block in grep': undefined method `delete' for :a:Symbol (NoMethodError)"},
		"npm":         {"npm error code ENOENT\nnpm error path /package.json\n", "npm error code ENOENT"},
		"npm's words": {"npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error A complete log of this run can be found in: /x.log\n", "npm error ERESOLVE unable to resolve dependency tree"},
		"pip": {"  error: subprocess-exited-with-error\n  \n  × pip subprocess to install build dependencies did not run successfully.\n  │ exit code: 1\n  ╰─> [3 lines of output]\n" +
			"      ERROR: Could not find a version that satisfies the requirement hatchling (from versions: none)\n      ERROR: No matching distribution found for hatchling\n      [end of output]\n  \n" +
			"  note: This error originates from a subprocess, and is likely not a problem with pip.\nerror: subprocess-exited-with-error\n\n╰─> See above for output.\n", "ERROR: Could not find a version that satisfies the requirement hatchling (from versions: none)"},
		"CMake":       {"-- The C compiler is GNU\nCMake Error at CMakeLists.txt:5 (project):\n  No CMAKE_Swift_COMPILER could be found.\n\n  Set the variable to the compiler, or to the compiler\n  name if it is in the PATH.\n", "No CMAKE_Swift_COMPILER could be found."},
		"collecting":  {"collected 0 items / 1 error\n\n=== ERRORS ===\n____ ERROR collecting test session ____\nDirect construction of x has been deprecated.\nSee https://docs\n=== short test summary info ===\nERROR \n=== 1 error in 0.02s ===\n", "Direct construction of x has been deprecated."},
		"jest":        {"● Validation Error:\n\n  Preset ts-jest not found relative to rootDir /r.\n\n  Configuration Documentation:\n  https://jestjs.io/docs/configuration\n", "Preset ts-jest not found relative to rootDir /r."},
		"Maven":       {"[INFO] Scanning for projects...\n[ERROR] [ERROR] Some problems were encountered while processing the POMs:\n[FATAL] Non-resolvable parent POM for a: Could not transfer artifact b\n", "[FATAL] Non-resolvable parent POM for a: Could not transfer artifact b"},
		"Bundler":     {"Could not reach host index.rubygems.org. Check your network connection and try\nagain.\n", "Could not reach host index.rubygems.org. Check your network connection and try"},
		"Ruby":        {"/usr/lib/ruby/bundler/definition.rb:507:in 'materialize': Could not find gem 'test-unit' in locally installed gems. (Bundler::GemNotFound)\n\tfrom /usr/lib/ruby/bundler/definition.rb:1:in 'specs'\n\tfrom <internal:/usr/lib/ruby/rubygems/kernel_require.rb>:85:in 'require'\n", "/usr/lib/ruby/bundler/definition.rb:507:in 'materialize': Could not find gem 'test-unit' in locally installed gems. (Bundler::GemNotFound)"},
		"signal":      {"/bin/bash: line 3:   41 Segmentation fault      (core dumped) ( python3 -c \"$X\" discover\n) 1>&2\n", "Segmentation fault      (core dumped)"},
		"PHP":         {"PHP Fatal error:  Uncaught RuntimeException: boom in /x/a.php:3\nStack trace:\n#0 {main}\n  thrown in /x/b.php on line 99\n", "PHP Fatal error:  Uncaught RuntimeException: boom in /x/a.php:3"},
		"shell":       {"run.sh: line 3: cargo: command not found\n", "run.sh: line 3: cargo: command not found"},
		"make":        {"cc: fatal error: no input files\nmake: *** [Makefile:2: test] Error 1\n", "cc: fatal error: no input files"},
		"make's own":  {"* See docs. *\nmake[1]: Entering directory '/x'\nmake[2]: *** No rule to make target 'lib/a.la', needed by 'b.la'.\nmake[2]: Target 'check-am' not remade because of errors.\nmake[1]: *** [Makefile:9: check] Error 1\nmake[1]: Leaving directory '/x'\n", "make[2]: *** No rule to make target 'lib/a.la', needed by 'b.la'."},
		"make waits":  {"a.c:1:2: error: expected ';'\nmake: *** [Makefile:3: a.o] Error 1\nmake: *** Waiting for unfinished jobs....\n", "a.c:1:2: error: expected ';'"},
		"a Makefile":  {"Makefile:3: *** missing separator.  Stop.\n", "Makefile:3: *** missing separator.  Stop."},
		"linker":      {"/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x5): undefined reference to `b'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:2: a] Error 1\n", "a.c:(.text+0x5): undefined reference to `b'"},
		"go's own":    {"go: downloading a.b/c v1.0.0\ngo: updates to go.mod needed; to update it:\n\tgo mod tidy\n", "go: updates to go.mod needed; to update it:"},
		"rustup":      {"error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly, and no default is configured.\nhelp: run 'rustup default stable'\n", "error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly, and no default is configured."},
		"Java":        {"[ERROR] Failed to execute goal x\n[ERROR] -> [Help 1]\n", "[ERROR] Failed to execute goal x"},
		"logged":      {"16 passing\n\x1b[36m27 11 2026 16:18:55:DEBUG [dir]: \x1b[39mmade\n\x1b[91m27 11 2026 16:18:55.141:ERROR [launcher]: \x1b[39mNo binary for ChromeHeadless.\n  Please, set CHROME_BIN.\n\nWriting reports at [coverage]\n", "27 11 2026 16:18:55.141:ERROR [launcher]: No binary for ChromeHeadless."},
		"complained":  {"2026-11-27 ERROR retrying\nError: no port\n2026-11-27 ERROR bye\n", "Error: no port"},
		"plain words": {"starting\nNo tests found, exiting with code 1\n", "No tests found, exiting with code 1"},
	} {
		if got := FailureLine(c.output); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// TestMentions holds what names a word.
func TestMentions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, word string
		want       bool
	}{
		{"404 Not Found: left-padd@1.0.0", "left-padd", true},
		{"404 Not Found: left-padding", "left-padd", false},
		{"at src/main.ts(3,5): error", "main.ts", true},
		{"remain.ts, main.tsx: error in main.ts", "main.ts", true},
		{"a domain.ts", "main.ts", false},
		{"", "x", false},
	} {
		if got := Mentions(tt.text, tt.word); got != tt.want {
			t.Errorf("%q in %q: %v", tt.word, tt.text, got)
		}
	}
}

// A program of cargo is called by what cargo says before any has run. Of one that is said to be made
// of two sources nothing is believed, and what people read has no line that is for us.
func TestCargoPrograms(t *testing.T) {
	t.Parallel()
	named := func(src string) string {
		return `{"reason":"compiler-artifact","manifest_path":"/repo/vat/Cargo.toml","target":{"kind":["lib"],"name":"vat","src_path":"/repo/` + src + `"},"executable":"/repo/target/debug/deps/vat-0123456789abcdef"}` + "\n"
	}
	ran := "     Running unittests src/lib.rs (target/debug/deps/vat-0123456789abcdef)\nrunning 1 test\ntest a ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n"
	for text, want := range map[string]string{
		named("vat/src/lib.rs") + ran:                           "vat/src/lib.rs",
		ran + named("vat/src/lib.rs"):                           "src/lib.rs", // what a test prints
		named("vat/src/lib.rs") + named("net/src/lib.rs") + ran: "",
	} {
		c := Cargo(".")
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		got := ""
		for id := range c.Suite("E1", "/repo") {
			got = id.Package
		}
		why, _ := c.Gap()
		if got != want || (why == "") != (want != "") || strings.Contains(c.Rest(), "compiler-artifact") {
			t.Errorf("%s:\n%q, want %q; gap %q, rest %q", text, got, want, why, c.Rest())
		}
	}
}

// A program of cargo without tests that are reported is a test of its own, and so is what fails of
// one although its tests pass.
func TestCargoWithoutHarness(t *testing.T) {
	t.Parallel()
	const hash = "-0123456789abcdef)\n"
	const lib = "     Running unittests src/lib.rs (target/debug/deps/m" + hash
	const one = "\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n\n"
	const cli = "     Running tests/cli.rs (target/debug/deps/cli" + hash + "checks all\n"
	const failed = "error: test failed, to rerun pass `--test cli`\n"
	const end = "error: 1 target failed:\n    `--test cli`\n"
	for text, want := range map[string]string{
		lib + one + cli:                                    "cli.rs main pass; lib.rs a pass",
		cli + failed + lib + one + end:                     "cli.rs main fail; lib.rs a pass",
		lib + one + cli + failed + end:                     "cli.rs main fail; lib.rs a pass",
		cli + one + failed + end:                           "cli.rs a pass; cli.rs main fail",
		cli + strings.ReplaceAll(one, "1 test", "0 tests"): "cli.rs a pass",
		cli + failed + cli:                                 "cli.rs main fail; cli.rs main[2] pass",
		cli + "   Doc-tests m\n" + strings.ReplaceAll(one, "test a", "test src/a.rs - a (line 3)"): "cli.rs main pass; m src/a.rs - a pass",
	} {
		out, err := ParseCargo([]byte(text))
		var got []string
		for _, o := range out {
			got = append(got, o.pkg[strings.LastIndex(o.pkg, "/")+1:]+" "+o.name+" "+string(o.status))
			if o.name == "main" && o.status == Failed && o.output == "" {
				t.Errorf("%s: it says nothing", text)
			}
		}
		slices.Sort(got)
		if strings.Join(got, "; ") != want || err != nil {
			t.Errorf("%s:\n%q, want %q; %v", text, got, want, err)
		}
	}
}

// TestLastName holds by what name the file of a test has it.
func TestLastName(t *testing.T) {
	t.Parallel()
	for test, want := range map[string]string{
		"TestIP::test_parse[::1]":     "test_parse",
		"test_cmp[a > b]":             "test_cmp",
		"TestIP::test_parse":          "test_parse",
		"groups > of [1] > works":     "works",
		"groups[x] > works[2]":        "works",
		"works[2]":                    "works",
		"[a]":                         "[a]",
		"tests::rounds":               "rounds",
		"Test_A::test_b[x]-y[[1, 2]]": "test_b",
	} {
		if got := LastName(test); got != want {
			t.Errorf("%s: %q, want %q", test, got, want)
		}
	}
}
