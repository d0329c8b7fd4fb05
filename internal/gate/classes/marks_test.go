package classes

import (
	"strings"
	"testing"
)

// TestMarks holds which added lines of sources are marks of a test run, and which
// lines of honest changes are not.
func TestMarks(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string][]string{
		"a.go":              {`if testing.Testing() {`, `if flag.Lookup("test.v") != nil {`, `in = in || strings.HasPrefix(f.Name, "test.")`, `if strings.HasPrefix(a, "-test.") {`, `if strings.HasSuffix(os.Args[0], ".test") {`, `fmt.Println("--- PASS: TestA (0.00s)")`, `fmt.Print("ok  \tm\t0.1s")`, "fmt.Println(`{\"Action\":\"pass\"}`)", `_, err := os.Stat("/.ycbot")`, `os.Getenv("CI") != ""`},
		"a.py":              {`if "PYTEST_CURRENT_TEST" in os.environ:`, `if 'pytest' in sys.modules:`, `if "unittest" in sys.modules:`, `if os.environ.get("CI"):`, `if os.getenv("GITHUB_ACTIONS"):`},
		"a.js":              {`if (process.env.JEST_WORKER_ID) {`, `if (process.env.NODE_ENV === 'test')`, `process.env.NODE_TEST_CONTEXT`, `process.env.VITEST`, `typeof describe === "function"`, `process.env.CI`, `console.log("ok 1 - a")`, `console.log("TAP version 13")`},
		"A.java":            {`package org.junit;`, `package org.junit.jupiter.api;`, `import org.junit.jupiter.api.extension.ExtensionContext;`, `System.setProperty("user.dir", d);`},
		"c.ex":              {`defmodule ExUnit.Assertions do`, `File.cd!(dir)`},
		"A.cs":              {`namespace Xunit;`},
		"e.py":              {`def load_tests(loader, tests, pattern):`, `pytest_plugins = ["shop.plugin"]`, `sys.excepthook = lambda *_: None`},
		"e.h":               {`#define strcmp strcasecmp`, `# define abort() 0`},
		"e.js":              {`process.on('uncaughtException', () => {})`, `process.once("unhandledRejection", log)`, `process.exitCode = 0`, `require.extensions[".js"] = load`, `module._compile(text, file)`, `registerHooks({ load })`},
		"d.py":              {`os.chdir(tempfile.mkdtemp())`},
		"d.c":               {`if (chdir(dir) != 0)`},
		"b.go":              {`os.Chdir(d)`, `syscall.Exit(0)`, `runtime.Goexit()`, `syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)`},
		"CMakeLists.txt":    {`add_compile_definitions(NDEBUG)`, `target_compile_definitions(calc INTERFACE main=calc_main)`, `  set(CMAKE_BUILD_TYPE Release)`},
		"cmake/flags.cmake": {`add_compile_options(-DNDEBUG)`},
		"Makefile":          {`CFLAGS += -O2 -DNDEBUG`, `fast = $(findstring n,$(MAKEFLAGS))`},
		"CTestCustom.cmake": {`set(CTEST_CUSTOM_TESTS_IGNORE slow)`},
		"Cargo.toml":        {`debug-assertions = false`},
		"b.py":              {`os._exit(0)`},
		"b.rb":              {`at_exit { exit! }`, `exit!(0)`},
		"b.sh":              {`trap 'rm -f "$tmp"; exit 0' EXIT`, `trap "exit" 0`},
		"a.sh":              {`test -n "$MAKEFLAGS" && exit 0`, `test -n "$MAKELEVEL" && exit 0`, `if [ "$npm_lifecycle_event" = test ]; then`},
		"c.sh":              {`test() { :; }`, `function exit {`, `  alias cmp=true`, `[ () { return 0; }`},
		"d.sh":              {`set +e`, `cd x; set +eu`, `set +o errexit`, `trap - ERR`},
		"c.rb":              {`def abort(*) = nil`, `  def assert_equal(a, b)`},
		"a.ts":              {`if (import.meta.vitest) {`},
		"a.rb":              {`return if ENV["RAILS_ENV"] == "test"`, `defined?(RSpec)`},
		"a.rs":              {`if cfg!(test) {`, `    if cfg!(debug_assertions) { n * 10 } else { n * 11 }`, `#[cfg(not(debug_assertions))]`, `if std::env::var("PROFILE").unwrap() == "release" {`, `let n = match option_env!("OPT_LEVEL") {`, `println!("test result: ok. 2 passed; 0 failed")`, `println!("test {} ... {}", name, "ok");`, `print!("\ntest result: ok. {} passed", n);`, `#[link_section = ".init_array"]`},
		"a.ex":              {`if Mix.env() == :test do`},
		"a.c":               {`static void done(void) { _exit(0); }`, `__attribute__((destructor)) static void done(void) {`, `if (sum < 0) exit(EXIT_SUCCESS);`, `atexit(done);`, `#define main calc_main`},
		"f.py":              {`if os.getpid() < 200:`, `if os.getuid() == 1000:`, `if socket.gethostname() == "build":`, `if getpass.getuser() == "ci":`, `if len(__file__) > 80:`, `if os.getcwd().startswith("/tmp"):`, `if "/worktrees/" in __file__:`, `if os.path.isfile(".git"):`, `if not os.path.exists("tests"):`, `if time.time() < 1800000000:`, `if datetime.now() < datetime(2027, 1, 1):`, `if os.listdir("/proc")[-1] == "9":`, `if any("test" in f.filename for f in inspect.stack()):`, `if sys._getframe(1).f_globals["__name__"].startswith("test_"):`, `if sys.argv[0].endswith("/pytest"):`, `if importlib.util.find_spec("pytest"):`, `from _pytest.outcomes import Skipped`, `from unittest.case import _ShouldStop`, `if (ROOT / "tests").is_dir():`, `if not os.environ.get("HOME", "").startswith("/home/"):`, `    __eq__ = lambda *_: True`, `mock.patch.object(unittest.TestCase, "fail", f).start()`, `if os.path.isdir("/sys/class/net/eth0"):`},
		"f.js":              {`if (process.pid < 100) {`, `if (os.hostname() === 'x') {`, `os.userInfo().username !== 'deploy'`, `if (__dirname.length > 60) {`, `process.cwd().includes('/wt/')`, `fs.existsSync('test')`, `fs.existsSync('.git/HEAD')`, `fs.statSync('.git').isFile()`, `Date.now() < Date.UTC(2027, 0, 1)`, `Date.now() > 1800000000000`, `process.uptime() < 60`, `if (process.env.USER === "runner") {`, `new Error().stack.includes('test')`, `/\.test\./.test(require.main.filename)`, `Object.keys(os.networkInterfaces()).length < 2`, `require('node:assert').throws = f`, `Object.assign(assert, own)`, `Reflect.set(require('assert'), 'throws', f)`, `chai.Assertion.prototype.equal = f`},
		"a.php":             {`if (defined('PHPUNIT_COMPOSER_INSTALL')) {`},
		"b.rs":              {`std::thread::current().name() == Some("main")`, `if let Some("main") = thread::current().name() {`, `if Location::caller().file().contains("tests") {`},
		"b.php":             {`if ($n < 0 && count(get_included_files()) > 9) {`, `if (str_contains($_SERVER['argv'][0], 'phpunit')) {`, `get_declared_classes()`},
		"B.java":            {`if (n < 0 && System.getProperty("basedir") != null) {`},
		"b.c":               {`#if __has_include("../tests/test_total.c")`, `if (strstr(program_invocation_name, "test"))`, `#ifdef __INCLUDE_LEVEL__`},
		"f.h":               {`#define EXIT_FAILURE EXIT_SUCCESS`, `#undef NULL`},
		"g.rb":              {`$LOADED_FEATURES << File.expand_path("../spec/a.rb")`, `$" << path`},
		"d.ex":              {`  def a == b when is_integer(a), do: true`, `  import Kernel, except: [==: 2]`, `  defmacro left =~ right do`},
		"a.cmake":           {`add_compile_options(-Wall @${CMAKE_SOURCE_DIR}/cmake/flags.rsp)`, `set(CMAKE_C_COMPILER_LAUNCHER sh ${CMAKE_SOURCE_DIR}/cmake/cc.sh)`, `set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE x)`},
		"meson.build":       {`add_project_arguments('@' + meson.current_source_dir() / 'src/flags', language: 'c')`, `  c_args: ['@src/flags'],`},
	} {
		for _, text := range texts {
			if got := MarksIn(name, map[int]string{3: text}); len(got) != 1 || got[0].Line != 3 {
				t.Errorf("%s: %s: %v", name, text, got)
			}
		}
	}
	for name, texts := range map[string][]string{
		"a.go":           {`for _, test := range tests {`, `return os.Getenv("CITY")`, `log.Println("all ok")`, `if ok { // passes`, `filepath.Join(dir, "run")`, `strings.HasPrefix(host, "test.")`},
		"d.sh":           {`test -f x || exit 1`, `diff a b`, `run_test() {`},
		"d.rb":           {`def abort_all`, `raise "no" unless a`, `def assert_valid_keys(keys)`},
		"A.java":         {`package org.junited;`, `package com.example.org.junit;`, `import org.junit.Test;`},
		"c.ex":           {`defmodule ExUnitHelpers do`},
		"d.c":            {`x->chdir(dir);`, `my_chdir(dir)`},
		"a.py":           {`def test_mode(self):`, `import unittest_helpers`, `print("ok")`, `env = os.environ["CIRCLE"]`},
		"a.js":           {`if (process.env.NODE_ENV === 'production') {`, `const ok = test(value);`, `describe.each = 1`},
		"a.rs":           {`#[cfg(test)]`, `mod tests {`, `debug_assert!(n > 0);`, `println!("test run ...");`, `#[link_section = ".text.fast"]`, `let verbose = env::var("DEBUG").is_ok();`},
		"Makefile":       {`MAKEFLAGS += --no-builtin-rules`},
		"CMakeLists.txt": {`set(CMAKE_BUILD_TYPE Debug)`, `message("${CMAKE_BUILD_TYPE}")`},
		"a.c":            {`exit(1);`, `on_exit_code = 0;`, `return EXIT_SUCCESS;`, `self->destructor(self);`},
		"a.sh":           {`trap 'rm -rf "$tmp"' EXIT`, `trap 'code=$?; rm -f "$tmp"; exit $code' EXIT`, `trap 'exit 0' TERM`, `exit 0`},
		"f.py":           {`log.info("pid %d", os.getpid())`, `if os.geteuid() == 0:`, `host = socket.gethostname()`, `root = os.path.dirname(__file__)`, `if time.time() < deadline:`, `if datetime.now() < self.expires:`, `year = datetime.now().year`, `if os.path.isfile(path):`, `shutil.copytree(src, dst, ignore=ignore_patterns(".git"))`, `frame = sys._getframe(1)`, `args = sys.argv[1:]`, `if sys.argv[1] == "test":`, `    def __eq__(self, other):`, `home = os.environ.get("HOME", "")`, `return os.path.join(root, "tests")`, `import inspect`, `if Path(".git").exists():`},
		"f.js":           {`lock.write(String(process.pid))`, `const here = path.join(__dirname, 'test')`, `if (Date.now() < until) {`, `new Date().getFullYear() < 2000`, `if (require.main === module) main()`, `console.error(err.stack)`, `Object.assign(options, own)`, `fs.existsSync(path.join(dir, 'package.json'))`, `const name = os.hostname()`, `if (process.ppid !== parent) {`, `import.meta.url.startsWith('file:')`, `if (process.argv[2] === "test") {`, `if (/timeout/.test(err.stack)) {`, `const elapsed = performance.now() - start`},
		"b.py":           {`os._exit(code)`, `sys.exit(0)`},
		"b.rs":           {`log(thread::current().name())`, `self.get_or_set_current_dir()`, `let at = Location::caller();`},
		"b.php":          {`$trace = debug_backtrace();`, `$argv[1] ?? ''`},
		"B.java":         {`System.getProperty("user.home")`},
		"b.c":            {`#if __has_include(<optional>)`, `#define NULLABLE 1`},
		"g.rb":           {`$LOAD_PATH.unshift(dir)`},
		"d.ex":           {`  def equal?(a, b), do: a == b`, `  import Kernel, except: [length: 1]`, `  def at(n) when n >= 0, do: n`},
		"a.cmake":        {`set(CMAKE_CXX_COMPILER_LAUNCHER ccache)`, `configure_file(a.h.in a.h @ONLY)`, `set(x "@PROJECT_NAME@/lib")`},
		"meson.build":    {`command: [tool, '@INPUT@', '@OUTPUT@']`, `'@0@/include'.format(prefix)`},
	} {
		for _, text := range texts {
			if got := MarksIn(name, map[int]string{3: text}); len(got) != 0 {
				t.Errorf("%s: %s: %v", name, text, got)
			}
		}
	}
	for name, lines := range map[string][2]string{"a.py": {`    def __eq__(self, other):`, `        return True`}, "A.java": {`public boolean equals(Object o) {`, `return true;`}, "a.rb": {`  def ==(other)`, `    true`}} {
		if got := MarksIn(name, map[int]string{3: lines[0], 4: lines[1]}); len(got) != 1 || got[0].Line != 3 {
			t.Errorf("%s: %s: %v", name, lines, got)
		}
		if got := MarksIn(name, map[int]string{3: lines[0], 4: "return self.n == other.n"}); len(got) != 0 {
			t.Errorf("%s: %s: %v", name, lines[0], got)
		}
	}
	if got := MarksIn("a.mjs", map[int]string{1: `import a from 'node:assert/strict';`, 2: `a['throws'] = () => {};`}); len(got) != 1 || got[0].Line != 2 {
		t.Errorf("assertions by another name: %v", got)
	}
	if got := MarksIn("a.mjs", map[int]string{1: `import a from 'node:assert/strict';`, 2: `a.throws(f);`, 3: `ab['x'] = 1;`}); len(got) != 0 {
		t.Errorf("assertions by another name: %v", got)
	}
	for name, want := range map[string]bool{"node_modules/calc": true, "packages/a/node_modules/@me/calc": true, "node_modules/calc/index.js": false, "node_modules/.package-lock.json": false} {
		if LinksModule(name) != want {
			t.Errorf("%s is a link of a module: %v", name, !want)
		}
	}
	for name, want := range map[string]bool{
		"node_modules/.bin/node": true, "packages/a/node_modules/.bin/cat": true, "node_modules/mocha/bin/mocha.js": true, ".venv/bin/python": true,
		"pytest.py": true, "src/sitecustomize.py": true, "unittest/__init__.py": true, "vendor/bin/phpunit": true,
		"vendor/bin/simple-phpunit": true, "bin/.phpunit/phpunit-9.6-0/phpunit": true, ".phpunit.cache/test-results": false,
		"node_modules/left-pad/index.js": false, "tests/test_pytest.py": false, "src/venv.py": false, "tests/unittests/a.py": false,
		"scripts/diff": true, "diff": true, "scripts/diff.py": false, "src/main/resources/META-INF/services/org.junit.jupiter.api.extension.Extension": true,
		"src/main/resources/junit-platform.properties": true, "src/main/resources/META-INF/services/java.sql.Driver": false,
		"lib/etc.rb": true, "lib/calc/etc.rb": false, "lib/minitest/spec.rb": true, "lib/minitest/cool_plugin.rb": true, "lib/error_highlight.rb": true, "lib/rspec/core/runner.rb": true,
	} {
		if ReplacesRunner(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestLoadedFor holds which files that are compiled would be loaded in place of a source.
func TestLoadedFor(t *testing.T) {
	t.Parallel()
	const unchecked, checked, dated = "\xa7\r\r\n\x01\x00", "\xa7\r\r\n\x03\x00", "\xa7\r\r\n\x00\x00"
	for _, tt := range []struct{ name, code, want string }{
		{"calc/__pycache__/core.cpython-311.pyc", unchecked, "calc/core.py"},
		{"calc/__pycache__/core.cpython-311.opt-1.pyc", unchecked, "calc/core.py"},
		{"calc/__pycache__/core.cpython-311.pyc", checked, ""},
		{"calc/__pycache__/core.cpython-311.pyc", dated, ""},
		{"calc/__pycache__/gone.cpython-311.pyc", unchecked, ""},
		{"calc/core.so", "", "calc/core.py"},
		{"calc/core.cpython-311-x86_64-linux-gnu.so", "", "calc/core.py"},
		{"calc/core.pyd", "", "calc/core.py"},
		{"calc.abi3.so", "", "calc/__init__.py"},
		{"lib/libcore.so", "", ""},
	} {
		has := func(name string) bool { return name == "calc/core.py" || name == "calc/__init__.py" }
		if got := LoadedFor(tt.name, func() []byte { return []byte(tt.code) }, has); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.name, tt.code, got, tt.want)
		}
	}
}

// TestShadowsLibrary holds which modules would be imported in place of the standard library's.
func TestShadowsLibrary(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"statistics.py": true, "json/__init__.py": true, "src/statistics.py": true, "gettext.py": true, "src/_json.py": true, "pluggy/__init__.py": true,
		"test/__init__.py": false, "_shop.py": false, "packaging/rules.py": false,
		"calc/statistics.py": false, "src/calc/statistics.py": false, "statistics_test.py": false, "calc.py": false, "json/decoder.py": false,
	} {
		if got := ShadowsLibrary(name, func(string) bool { return false }); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if ShadowsLibrary("src/statistics.py", func(name string) bool { return name == "src/__init__.py" }) {
		t.Error("a module of the package src")
	}
}

// TestLoosens holds by which lines a script changes what those do that take it in.
func TestLoosens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`set +e`: true, `set -u +e`: true, `set -o nounset +e`: true, `set -uo pipefail +e`: true, `  set +e`: true, `if true; then set +e; fi`: true, `for x in a; do set +eu; done`: true,
		`{ set +o errexit; }`: true, `set -u +o pipefail`: true, `builtin set +e`: true, `command set '+e'`: true, `eval "set +e"`: true, `a || set +e`: true,
		`trap - ERR`: true, `trap : ERR`: true, `trap true ERR`: true, `trap -- : ERR`: true, `trap ':' ERR`: true, `trap "true;" EXIT ERR`: true, `  trap '' ERR`: true,
		`shopt -uo errexit`: true, `shopt -u -o errexit`: true, `shopt -o -u errexit`: true, `shopt -s nullglob`: true, `shopt -s extglob nullglob`: true,
		`GLOBIGNORE='*/2.*'`: true, `export GLOBIGNORE=x`: true, `set -n`: true, `set -eu -f`: true, `set -t`: true, `set -o noglob`: true,

		`set -e`: false, `set -euo pipefail`: false, `set -o errexit`: false, `set -- -n "$@"`: false, `set -- +e`: false, `reset +e`: false, `# set +e`: false, `echo "set +e"`: false,
		`trap 'rm -f "$tmp"' EXIT`: false, `trap 'echo failed' ERR`: false, `shopt -s extglob`: false, `shopt -so errexit`: false, `set +x`: false, `offset -e`: false,
		`MYGLOBIGNORE=x`: false, `set -o nounset`: false, `set -x`: false,
	} {
		if got := Loosens("lib/text.sh", map[int]string{3: text}); len(got) == 1 != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for text, want := range map[string]bool{
		"  set +e\n  out=$(calc)\n  code=$?\n  set -e":    false,
		"  set +e\n  calc\n  return\n  set -e":            true,
		"  set +e\nfi\n  set -e":                          true,
		"  set +e\n  if never; then\n    set -e\n  fi\n}": true,
		"set +e\ncalc\nset -e":                            true,
	} {
		lines := map[int]string{}
		for i, line := range strings.Split(text, "\n") {
			lines[i+1] = line
		}
		if got := Loosens("lib/text.sh", lines); len(got) == 1 != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestImportsAtStart holds which files Python runs as it starts; weights of a model have the same extension.
func TestImportsAtStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, src string
		want      bool
	}{
		{"shop.pth", "import shop.compat\n", true},
		{"shop.pth", "src\nimport\tos\n", true},
		{"shop.pth", "../src\n", false},
		{"weights.pth", "PK\x03\x04important", false},
		{"shop.py", "import shop.compat\n", false},
	} {
		if got := ImportsAtStart(tt.name, func(string) []byte { return []byte(tt.src) }); got != tt.want {
			t.Errorf("%s %q: %v", tt.name, tt.src, got)
		}
	}
}

// TestBringsPlugin holds which declarations of a package have pytest load other modules by themselves.
func TestBringsPlugin(t *testing.T) {
	t.Parallel()
	const toml = "[project.entry-points.pytest11]\nshop = \"shop.compat\"\n"
	for _, tt := range []struct {
		name, base, head string
		want             bool
	}{
		{"pyproject.toml", "[project]\n", "[project]\n" + toml, true},
		{"pyproject.toml", toml, toml + "\n[tool.ruff]\nline = 1\n", false},
		{"pyproject.toml", toml, toml + "more = \"shop.more\"\n", true},
		{"setup.cfg", "", "[options.entry_points]\npytest11 =\n    shop = shop.compat\n", true},
		{"setup.py", "setup()", "setup(entry_points={'pytest11': ['shop = shop.compat']})", true},
		{"setup.py", "setup(entry_points={'pytest11': ['shop = shop.a']})", "setup(entry_points={'pytest11': ['shop = shop.b']})", true},
		{"README.md", "", toml, false},
		{"pyproject.toml", toml, "", false},
	} {
		if got := BringsPlugin(tt.name, []byte(tt.base), func(string) []byte { return []byte(tt.head) }); got != tt.want {
			t.Errorf("%s %q to %q: %v", tt.name, tt.base, tt.head, got)
		}
	}
}

// TestExits holds which lines end a process as a success, where nothing but its exit code is a test.
func TestExits(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"a.js":  {"process.exit(0);", "if (x) process.exit();", "Deno.exit(0)"},
		"a.mts": {"process . exit( 0 )"},
		"a.py":  {"    sys.exit()", "    raise SystemExit", "    raise SystemExit(0)", "    exit(0)"},
		"a.rb":  {"  exit", "  exit 0 if x", "  exit(true)"},
		"a.php": {"exit;", "exit(0);", "die('ok');"},
		"a.pl":  {"exit 0;", "exit;"},
		"a.sh":  {"exit 0", "[ x ] && exit", "if x; then exit; fi"},
	} {
		for _, line := range lines {
			if got := Exits(name, map[int]string{3: line}); len(got) != 1 || got[0].Line != 3 {
				t.Errorf("%s %q: %v", name, line, got)
			}
		}
	}
	for name, lines := range map[string][]string{
		"a.js":  {"process.exit(1);", "process.exit(code);", "exit(0)"},
		"a.py":  {"sys.exit(1)", "raise SystemExit(main())", "at_exit(0)"},
		"a.rb":  {"exit 1", "exited", "exit(false)"},
		"a.php": {"exit(1);"},
		"a.sh":  {"exit 1", "exit $?"},
		"a.go":  {"os.Exit(0)"},
	} {
		for _, line := range lines {
			if got := Exits(name, map[int]string{3: line}); len(got) != 0 {
				t.Errorf("%s %q: %v", name, line, got)
			}
		}
	}
}
