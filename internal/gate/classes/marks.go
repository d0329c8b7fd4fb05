package classes

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Mark is a line that the change adds to its sources and by which code can recognise a
// test run from use, print what a test runner prints, or end a test program as a success.
type Mark struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	What string `json:"what"` // for people
	Text string `json:"text"` // the line, cut
}

// A markRule is a sort of marks, in files with one of these extensions; none: all.
type markRule struct {
	exts string
	what string
	text *pattern.Pattern
}

// buildFiles stands for the files that say how C, C++ and Rust are compiled.
const buildFiles = "build files"

var buildFile = pattern.New(`^(CMakeLists\.txt|.*\.cmake|CMakePresets\.json|meson\.build|(GNUm|m|M)akefile(\.\w+)?|.*\.mk|configure\.ac|Cargo\.toml)$`)

// MayHaveMarks says whether lines that a change adds to a file may be marks.
func MayHaveMarks(name string) bool {
	return buildFile.MatchString(path.Base(name)) || IsCode(name) && !languages.IsTestFile(name)
}

// inFile says whether a rule is about a file of this name.
func (r markRule) inFile(name string) bool {
	switch r.exts {
	case "":
		return true
	case buildFiles:
		return buildFile.MatchString(path.Base(name))
	}
	return slices.Contains(strings.Fields(r.exts), path.Ext(name))
}

// takesPlace is what marks are called by which code is loaded before a test library.
const takesPlace = "takes the place of a test library"

// TakesPlace says whether code is loaded before the library that tests compare with, as it has
// its name. That is so of the library's own sources, too.
func (m Mark) TakesPlace() bool { return m.What == takesPlace }

// markRules are how code recognises a test run, by ecosystem, and what is common.
var markRules = []markRule{
	{".go", "asks whether it runs in a test", pattern.New(`\btesting\.(Testing|Verbose|Short|CoverMode)\(|flag\.Lookup\(\s*"test\.|"-?test\.(v|run|timeout|paniconexit0|testlogfile)\b|"-test\."|\.Name\b.*"test\."|os\.Args\[0\].*test|\.test"\s*\)|"GO(COVERDIR|TESTSUM\w*)"`)},
	{".py .pyx", "asks whether it runs in a test", pattern.New(`PYTEST_(CURRENT_TEST|VERSION|XDIST\w*)|sys\.modules[^#]*(pytest|unittest|nose)|["'](_?pytest|unittest|nose)["']\s*(not\s+)?in\s|sys\.argv(\[0\][^#]*test|[^#]*(pytest|unittest))|(find_spec|import_module|__import__)\(\s*["']_?(pytest|unittest|nose)|(\bstack\(|extract_stack|format_stack|_getframe|currentframe|f_code|f_globals|__main__)[^#]*["']\w*test|["']\w*test[^#]*\b(stack\(|extract_stack|format_stack|_getframe|currentframe)|\bsys\.gettrace\(`)},
	{".js .cjs .mjs .ts .cts .mts .jsx .tsx .vue .svelte", "asks whether it runs in a test", pattern.New(`JEST_WORKER_ID|\bVITEST(_\w+)?\b|import\.meta\.vitest|NODE_TEST_CONTEXT|NODE_ENV\b[^;\n]*["'` + "`" + `]test|["']test["'][^;\n]*NODE_ENV|(argv|execArgv)[^;\n]*(jest|mocha|vitest|--test)|(require\.main|\.stack\b)[^;\n]*(jest|mocha|vitest|\btest)|\btest\b[^(\n][^;\n]*require\.main\.filename|typeof\s+(describe|jest|it|vi|expect|beforeEach)\b|MOCHA_\w+|AVA_PATH|TAP_CHILD_ID`)},
	{".rb .rake .ru", "asks whether it runs in a test", pattern.New(`(RAILS|RACK)_ENV|Rails\.env\.test\?|defined\?\(?\s*(::)?(RSpec|Minitest|Test::Unit)|\$(0|PROGRAM_NAME)[^#]*(rspec|test)`)},
	{".rs", "asks whether it runs in a test", pattern.New(`cfg!\(\s*(any\(|all\(|not\()*\s*test\b|#\[cfg\((not\(|any\(|all\()+\s*test\b|CARGO_TARGET_TMPDIR|NEXTEST|RUST_TEST_\w+|/deps/|\bcfg(!|_attr)?\(\s*(any\(|all\(|not\()*\s*debug_assertions\b|\bvar(_os)?\(\s*"(PROFILE|OPT_LEVEL)"|\b(option_)?env!\(\s*"(PROFILE|OPT_LEVEL)"|\bcurrent\(\)\.name\(\)[^;\n]*(==|!=|\b(contains|starts_with|ends_with|is_some_and)\()|(Some\("|\bmatches!)[^;\n]*\bcurrent\(\)\.name\(\)|\bcaller\(\)\.file\(\)[^;\n]*(==|!=|with\(|contains\()`)},
	{".java .kt .kts .scala .groovy", "asks whether it runs in a test", pattern.New(`Class\.forName\([^)]*(junit|testng|surefire)|surefire\.|getStackTrace\(\)[^;]*(junit|surefire)|sun\.java\.command|org\.gradle\.test\.worker|getProperty\(\s*"(basedir|java\.class\.path)"`)},
	{".cs .fs .vb", "asks whether it runs in a test", pattern.New(`(?i)testhost|GetAssemblies\(\)[^;]*(xunit|nunit|mstest)|"(xunit|nunit|vstest)`)},
	{".php", "asks whether it runs in a test", pattern.New(`PHPUNIT_\w+|__PHPUNIT|runningUnitTests\(|class_exists\([^)]*PHPUnit|APP_ENV\b[^;]*["']test|\bget_(included|required)_files\s*\(|\bget_declared_classes\s*\(|(debug_backtrace|argv|PHP_SELF|SCRIPT_(FILE)?NAME)\b[^;]*(phpunit|[tT]est)`)},
	{ofC, "asks whether it runs in a test", pattern.New(`(?i)__has_include\s*\(\s*["<][^">]*test|\b__(BASE_FILE|INCLUDE_LEVEL)__|\b(program_invocation_(short_)?name|getprogname\s*\(\s*\)|__progname)[^;\n]*test|test[^;\n]*\b(program_invocation_(short_)?name|getprogname\b|__progname)`)},
	{".ex .exs .erl", "asks whether it runs in a test", pattern.New(`MIX_ENV|Mix\.env\b|\bconfig_env\(\)\s*(?:==|!=|in\b|do\b)|Code\.ensure_loaded\??\(\s*ExUnit|Process\.whereis\(\s*ExUnit`)},
	{".go", "reaches into the test runner", pattern.New(`_test\.go["` + "`" + `]|["` + "`" + `]-test\.\w|\bos\.Args\s*=\s*append|(?i:mprotect)|//go:linkname\b|NewAt\([^)]*unsafe`)},
	{".py .pyx", "reaches into the test runner", pattern.New(`\b(TestCase|unittest|pytest|_pytest|assertEqual)(\.\w+)*\s*=[^=]|setattr\(\s*[\w.]*(TestCase|unittest|pytest)|\baddTypeEqualityFunc\b|^\s*(async )?def (pytest_\w+|load_tests)\(|^pytest_plugins\b|\bbuiltins\.\w+\s*=[^=]|gc\.get_objects\(|^\s*(from|import)\s+_pytest\b|\bimport\s.*\b_(ShouldStop|Outcome)\b|\bpatch\.object\([^)]*(TestCase|unittest|pytest)`)},
	{".js .cjs .mjs .ts .cts .mts .jsx .tsx .vue .svelte", "reaches into the test runner", pattern.New(`syncBuiltinESMExports|\bassert(/strict)?(["']\))?(\.strict)?(\.\w+|\[[^\]]+\])\s*=[^=]|\b(Object\.(assign|defineProp\w+)|Reflect\.\w+)\(\s*(\w+\()?["']?(node:)?(assert|expect|chai)\b|\bAssertion\.(prototype|overwrite)|\bexpect\.extend\b|\b(globalThis|global|window)(\.|\[["'` + "`" + `])(expect|describe|it|test|assert|jest|vi)\b|["'` + "`" + `]ex["'` + "`" + `]\s*\+|\bModule\.(_\w+|prototype)|\brequire\.extensions\b|\bmodule\._compile\(|\bregisterHooks\(|Error\.prepareStackTrace`)},
	{".rb .rake .ru", "reaches into the test runner", pattern.New(`\b(Minitest|RSpec|Test::Unit)\b`)},
	{".rb .rake .ru", "says of files that they are loaded", pattern.New(`\$LOADED_FEATURES\b|\$"\s*(<<|\.(push|append|concat|unshift|replace)\b)`)},
	{".ex .exs", "redefines what tests judge by", pattern.New(`^\s*def(p|macro|macrop)?\s+\w+\s*([=!]==?|=~|[<>]=?)\s*\w|\bimport\s+Kernel,\s*except:[^\n]*([=!]==?|=~|[<>]=?|\braise):`)},
	{".rs", "reaches into the test runner", pattern.New(`macro_rules!\s*(assert\w*|debug_assert\w*|panic)\b`)},
	// What is loaded before the library that tests compare with, as it has its name.
	{".java .kt .kts .scala .groovy", takesPlace, pattern.New(`^\s*package\s+(org\.(junit|testng|hamcrest|assertj|mockito|opentest4j|scalatest|specs2|spockframework|powermock)|junit\.framework|io\.(kotest|mockk|strikt)|kotlin\.test|spock|munit|com\.google\.common\.truth)\b`)},
	{".java .kt .kts .scala .groovy", "reaches into the test runner", pattern.New(`\bimport\s+(static\s+)?org\.(junit\.(jupiter\.api\.extension|platform|runner|rules|internal)|testng\.(I\w*Listener|TestListenerAdapter)|apache\.maven\.surefire)`)},
	{".ex .exs .erl", takesPlace, pattern.New(`\bdefmodule\s+(ExUnit|Mix\.Tasks\.Test)\b|-module\(\s*(ct|eunit)`)},
	{".cs .fs .vb", takesPlace, pattern.New(`^\s*(namespace|module)\s+(global\.)?(Xunit|NUnit|Microsoft\.VisualStudio\.TestTools|FluentAssertions|Shouldly|Moq)\b`)},
	{".swift", takesPlace, pattern.New(`\bfunc\s+XCTAssert\w*`)},
	// Tests that read files by relative paths find others there.
	{".go .py .pyx .js .cjs .mjs .ts .cts .mts .rb .rs .java .kt .php .ex .c .cc .cpp", "leaves the folder that tests read files in", pattern.New(`\b(os|syscall|unix)\.(Fc|C)hdir\(|\bt?os\.f?chdir\(|\bprocess\.chdir\(|\bDir\.chdir\b|\bFileUtils\.(cd|chdir)\b|\bset_current_dir\(|System\.setProperty\(\s*"user\.dir"|File\.cd!?\(|(^|[^\w.>:$])f?chdir\s*\(`)},
	// Tests that are no more than a script judge by these, which code that they load can be.
	{".sh .bash .zsh .ksh .bats", "redefines what tests judge by", pattern.New(`^\s*(function\s+)?(test|\[|exit|return|false|cmp|diff)\s*\(\s*\)|^\s*function\s+(test|exit|return|false|cmp|diff)\b|\balias\s+(test|\[|exit|return|false|cmp|diff)=`)},
	{".sh .bash .zsh .ksh .bats", "takes assertions, or the tests, away", pattern.New(`(^|[;&|{]\s*)set\s+(\+[a-z]*e|\+o\s+(errexit|pipefail))|\btrap\s+(-|''|"")\s+ERR\b|\bshopt\s+-uo\s+errexit`)},
	{".rb .rake .ru", "redefines what tests judge by", pattern.New(`^\s*(def\s+|define_method\W+)(abort|raise|exit!?|assert|assert_equal|refute)\b`)},
	{buildFiles, "takes assertions, or the tests, away", pattern.New(`(\b|-D)NDEBUG\b|(\b|-D)main=\w|\bCMAKE_BUILD_TYPE\s+"?(Release|MinSizeRel|RelWithDebInfo)\b|\bb_ndebug\b|buildtype=(release|minsize|plain)\b|debug-assertions\s*=\s*false|\bCTEST_CUSTOM_\w*IGNORE\b`)},
	{buildFiles, "compiles with flags that stand in a file", pattern.New(`(^|[\s"'(;])@(\$\{|[\w.-]*/)[^@\s]*([\s"')]|$)|["']@["']\s*\+|["']@[^'"@\s]*/[^'"@\s]*["']`)},
	{buildFiles, "compiles with a program of the tree", pattern.New(`(?i)\w+_LAUNCHER\b[^#\n]*(\w_(SOURCE|LIST)_DIR|\.(sh|py)\b|["'\s(](ba|da)?sh\b)|\bRULE_LAUNCH_(COMPILE|LINK)\b`)},
	{".php", "takes assertions, or the tests, away", pattern.New(`(?i)\bzend\.assertions\b|\bassert_options\s*\(|\bassert\.(?:active|exception|callback)\b`)},
	{".java .kt .kts .scala .groovy", "takes assertions, or the tests, away", pattern.New(`set(Default|Class|Package)AssertionStatus\s*\(|clearAssertionStatus\s*\(`)},
	{headers, "redefines what tests judge by", pattern.New(`#\s*(define|undef)\s+(EXIT_(FAILURE|SUCCESS)|NULL|true|false|bool)\b`)},
	{ofC, "takes assertions, or the tests, away", pattern.New(`#\s*(define|undef)\s+(NDEBUG|assert|main|(str|mem|wcs)n?(case)?cmp|abort|exit|_Exit)\b|__assert_fail\s*\(`)},
	// Where a test program is nothing but its exit code, code under test decides it by these.
	{ofC, "ends the process as a success, whatever its tests found", pattern.New(`\b(_?exit|_Exit|quick_exit)\s*\(\s*(0|EXIT_SUCCESS)\s*\)|\b(at_quick_exit|atexit)\s*\(|__attribute__\s*\(\(\s*(__)?destructor`)},
	{".go .py .pyx .js .cjs .mjs .ts .cts .mts .rb .rs .php .ex .exs", "ends the process as a success, whatever its tests found", pattern.New(`\b(syscall|unix)\.Exit\(\s*0|\bSYS_EXIT(_GROUP)?\b|\bos\._exit\(\s*(0|os\.EX_OK)|\b(process\.)?reallyExit\(\s*0|\bexit!(\s*\(?\s*(0|true)\b|\s*[;}]|\s*$)|\blibc::_exit\(\s*0|\blink_section\s*=\s*"\.(pre)?(init|fini|ctors|dtors)|:erlang\.halt\(\s*0`)},
	{".go", "ends the goroutine of a test, whatever it has yet to check", pattern.New(`\bruntime\.Goexit\(`)},
	{".js .cjs .mjs .ts .cts .mts", "keeps a process from failing, whatever its tests throw", pattern.New(`\bprocess\s*\.\s*(on|once|addListener|prepend(Once)?Listener)\(\s*["'` + "`" + `](uncaughtException|unhandledRejection)\w*["'` + "`" + `]|\bsetUncaughtExceptionCaptureCallback\(|\bprocess\.exitCode\s*=\s*(0|undefined)\b`)},
	{".py .pyx", "keeps a process from failing, whatever its tests raise", pattern.New(`\b(sys|threading)\.(excepthook|unraisablehook)\s*=[^=]`)},
	{"", "ends the process as a success, whatever its tests found", pattern.New(`\btrap\b.*\bexit(\s+0)?\s*["';}].*\b(EXIT|0)\s*$`)},
	{".php", "reaches into the test runner", pattern.New(`registerComparator|SebastianBergmann|PHPUnit`)},
	{"", "asks what runs it", pattern.New(`[.$({"'` + "`" + `](MAKEFLAGS|MFLAGS)\b|\b(MAKELEVEL|npm_lifecycle_(event|script)|npm_command|CTEST_\w+|MESON_TEST_\w+|TOX_ENV_\w+|NOX_CURRENT_SESSION)\b`)},
	{"", "asks whether it runs in CI or in a sandbox", pattern.New(`(?i)(getenv|environ|lookupenv|\benv)\W{0,3}\w{0,8}\W{0,4}(CI|CONTINUOUS_INTEGRATION|BUILD_NUMBER)\b["'\])]|\bGITHUB_(ACTIONS?|WORKFLOW|RUN_ID|JOB)\b|process\.env\.CI\b|/\.dockerenv|/run/init\b|\bbwrap\b|/proc/(self|1|thread-self)/(cgroup|cmdline|mountinfo|mounts|status|environ)|["'` + "`" + `/.]ycbot\b`)},
	{"", "prints what a test runner prints", pattern.New(`--- (PASS|FAIL|SKIP)\b|=== (RUN|NAME)\b|\\x16|\\u0016|["'` + "`" + `](ok|FAIL) {1,2}\\t|\\?"Action\\?"\s*:\s*\\?"(pass|fail|skip|run)|["'` + "`" + `](not )?ok \d+\b|TAP version 1|<testsuite\b|##teamcity\[|(\b|\\n)test result: (ok|FAILED)\b|(\b|\\n)test [\w:{}]+ \.\.\. (ok|FAILED|ignored|\{)`)},
}

// MarksIn are the marks in lines that a change adds to a source.
func MarksIn(name string, added map[int]string) []Mark {
	var out []Mark
	called := assertions(name, added)
	for _, line := range sortedKeys(added) {
		text := added[line]
		for _, by := range called { // as if it had the library's own name
			text = by.ReplaceAllString(text, "assert$1")
		}
		if equality.MatchString(text) && alwaysTrue.MatchString(text+"\n"+strings.TrimSpace(added[line+1])) {
			out = append(out, markOf(name, line, "equals whatever it is compared with", text))
			continue
		}
		for _, rule := range slices.Concat(markRules, placeRules) {
			if !rule.inFile(name) || !rule.text.MatchString(text) {
				continue
			}
			out = append(out, markOf(name, line, rule.what, text))
			break
		}
	}
	return out
}

func markOf(name string, line int, what, text string) Mark {
	text = strings.TrimSpace(text)
	return Mark{Path: name, Line: line, What: what, Text: text[:min(len(text), 200)]}
}

// A method that compares and is nothing but true makes each assertion about its class hold.
var (
	equality   = pattern.New(`\bdef\s+(__(eq|ne)__|==)|\b__eq__\s*=|\b(bool|boolean)\s+(equals|Equals|operator\s*==)\s*\(|\bfn\s+eq\(|\bfun\s+equals\(`)
	alwaysTrue = pattern.New(`(?im)(\n|[:{;=)]\s*)(return\s+)?true\s*;?\s*(\}|end)?$`)
)

// assertLibrary is how JavaScript gives the library of assertions a name.
var assertLibrary = pattern.New(`([\w$]+)\s*=\s*require\(\s*["'](?:node:)?assert(?:/strict)?["']|\bimport\s+(?:\*\s*as\s+)?([\w$]+)\s+from\s*["'](?:node:)?assert(?:/strict)?["']`)

// assertions recognise what is done to the library of assertions by other names that the change gives it.
func assertions(name string, added map[int]string) []*regexp.Regexp {
	if !strings.HasSuffix(strings.TrimLeft(path.Ext(name), ".cm"), "js") && !strings.HasSuffix(path.Ext(name), "ts") {
		return nil
	}
	var out []*regexp.Regexp
	for _, line := range sortedKeys(added) {
		for _, m := range assertLibrary.FindAllStringSubmatch(added[line], -1) {
			if by := m[1] + m[2]; by != "assert" {
				out = append(out, regexp.MustCompile(`\b`+regexp.QuoteMeta(by)+`\b([.\[])`))
			}
		}
	}
	return out
}

func sortedKeys(m map[int]string) []int {
	var out []int
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// runnerFiles are paths, in any folder, that a run of tests takes for its own
// programs before those of the machine or of what is installed.
var runnerFiles = pattern.New(`(^|/)(node_modules/(\.bin/[^/]+|(jest|mocha|vitest|ava|tape|tap|c8|nyc|react-scripts)(-cli)?/.*|@(jest|vitest)/.*)` +
	`|\.?venv/.*|[^/]+\.(dist|egg)-info/entry_points\.txt|_?pytest(\.py|/.*)|(pluggy|unittest)(\.py|/.*)|(site|user)customize\.py` +
	`|(diff|cmp|[ef]?grep|g?awk|sed|expr|sh|bash|dash|python3?|node|np[mx]|cargo|go|ruby|php|perl|jq|pytest|valgrind)` + // on a PATH that has a folder of the tree
	`|vendor/(bin/((simple-)?phpunit|pest)|phpunit/.*|bundle/.*)|\.phpunit/.*` +
	`|src/(\w*[mM]ain/)?(resources/)?(META-INF/services/(org\.(junit|testng|spockframework|mockito|assertj)|io\.kotest)[^/]*|junit-platform\.properties|kotest\.properties|mockito-extensions/[^/]+)` +
	`|lib/(minitest(\.rb|/(autorun|spec|test|unit|assertions|mock|parallel|expectations|\w+_plugin)\.rb)|rspec(\.rb|/(core|expectations|mocks|support)(\.rb|/.*))|test/unit(\.rb|/.*)))$`)

// shadowing are modules at the top of a Python project that would be imported in place of
// those of the standard library, or of others, that runners stand on.
var shadowing = pattern.New(`^(src/|lib/)?(difflib|traceback|pprint|warnings|inspect|ast|dis|re|functools|collections|reprlib|textwrap|contextlib|tokenize|linecache|argparse|logging|fnmatch|importlib|doctest|iniconfig|exceptiongroup|packaging|pygments|tomli|attr)(\.py|/__init__\.py)$`)

// rubyShadowing are the same below lib, which comes first for rake and rspec (https://stdgems.org), and what Ruby
// itself loads as it starts.
var rubyShadowing = pattern.New(`^lib/(abbrev|base64|benchmark|bigdecimal|bundler|bundled_gems|cgi|coverage|csv|date|delegate|did_you_mean|digest|English|erb|erb/util|error_highlight|etc|expect|fileutils|find|forwardable|getoptlong|io/console|ipaddr|json|logger|` +
	`matrix|monitor|mutex_m|objspace|observer|open-uri|open3|openssl|optparse|ostruct|pathname|pp|prettyprint|prime|pstore|psych|pty|racc|rake|random/formatter|rbconfig|readline|reline|resolv|rexml/document|ripper|rubygems|` +
	`ruby2_keywords|securerandom|set|shellwords|singleton|socket|stringio|strscan|syntax_suggest|syslog|tempfile|time|timeout|tmpdir|tsort|un|unicode_normalize/normalize|uri|weakref|yaml|zlib|diff/lcs|power_assert)\.rb$`)

// linkedModule is a link, or a single file, that Node.js finds by the name of a package.
var linkedModule = pattern.New(`(^|/)node_modules/(@[^/]+/)?[^/.@][^/]*$`)

// ImportsAtStart says whether a file has code that Python runs as it starts, once the file is installed
// (https://docs.python.org/3/library/site.html).
func ImportsAtStart(name string, read func(name string) []byte) bool {
	return path.Ext(name) == ".pth" && startLine.Match(read(name))
}

var startLine = pattern.New(`(?m)^import[ \t]`)

// BringsPlugin says whether a file that declares a package of Python has pytest load other modules of it by itself
// than before (https://docs.pytest.org/en/stable/how-to/writing_plugins.html).
func BringsPlugin(name string, base []byte, read func(name string) []byte) bool {
	switch path.Base(name) {
	case "pyproject.toml", "setup.cfg", "setup.py", "entry_points.txt":
		now := plugins(read(name))
		return now != "" && now != plugins(base)
	}
	return false
}

// plugins are the entries of pytest's group in a file, each as it is written.
func plugins(src []byte) string {
	return strings.Join(strings.Fields(strings.Join(pluginEntries.FindAllString(string(src), -1), "\n")), " ")
}

// pluginEntries are the group with what follows: up to the next table, of a dictionary the list or the line.
var pluginEntries = pattern.New(`\bpytest11\b["']?[ \t]*(?:[\]=][^\[]*|:\s*\[[^\]]*|[^\n]*)`)

// LinksModule says whether a file of the tree says what a name of a package leads to.
func LinksModule(name string) bool { return linkedModule.MatchString(name) }

// ReplacesRunner says whether a file of the tree would be run, or loaded, in place of
// the program that runs tests.
func ReplacesRunner(name string) bool {
	return runnerFiles.MatchString(name) || shadowing.MatchString(name) || rubyShadowing.MatchString(name)
}

var (
	byteCode  = pattern.New(`(?:^|/)__pycache__/([^/]+?)\.[\w-]+(?:\.opt-\w+)?\.pyc$`)
	extension = pattern.New(`^(.*?[^/.]+)(?:\.[\w-]+)*\.(?:so|pyd)$`)
)

// LoadedFor returns the source in place of which an interpreter would load a file that is
// compiled, "" where there is none: Python takes an extension before a module of its name, and
// byte code without a look at the source where its head says so
// (https://peps.python.org/pep-0552/). has says whether the tree has a file.
func LoadedFor(name string, read func() []byte, has func(name string) bool) string {
	if m := byteCode.FindStringSubmatch(name); m != nil {
		src := path.Join(path.Dir(path.Dir(name)), m[1]+".py")
		if code := read(); len(code) > 4 && code[4] == 1 && has(src) { // by its hash, which is not compared
			return src
		}
	} else if m := extension.FindStringSubmatch(name); m != nil {
		for _, src := range []string{m[1] + ".py", m[1] + "/__init__.py"} {
			if has(src) {
				return src
			}
		}
	}
	return ""
}

// libraryModule is a module of Python's standard library (https://docs.python.org/3/py-modindex.html), one in C
// behind such a module, or one that pytest needs, where an import would find it first: a program that runs tests
// imports these before, or without, the sources. Modules that projects have under their own names, as test and
// distutils, are left out, and those that nothing but a program by itself imports.
var libraryModule = pattern.New(`^(src/)?(abc|argparse|array|ast|asyncio|atexit|base64|bdb|binascii|_?bisect|builtins|bz2|calendar|cmath|cmd|code|codecs|codeop|` +
	`_?collections(?:_abc)?|colorsys|concurrent|configparser|contextlib|_?contextvars|copy|copyreg|_?csv|_?ctypes|curses|dataclasses|_?datetime|dbm|_?decimal|difflib|dis|doctest|` +
	`email|encodings|enum|errno|faulthandler|fcntl|filecmp|fileinput|fnmatch|fractions|ftplib|_?functools|gc|genericpath|getopt|getpass|gettext|glob|graphlib|grp|gzip|` +
	`_?hashlib|_?heapq|hmac|html|http|imaplib|importlib|inspect|_?io|ipaddress|itertools|_?json|keyword|linecache|_?locale|logging|lzma|mailbox|marshal|math|mimetypes|mmap|` +
	`_?multiprocessing|netrc|ntpath|numbers|opcode|_?operator|optparse|os|pathlib|pdb|_?pickle|pickletools|pkgutil|platform|plistlib|poplib|posix|posixpath|pprint|profile|pstats|pty|pwd|` +
	`py_compile|pyclbr|pydoc|_?queue|quopri|_?random|re|readline|reprlib|resource|rlcompleter|runpy|sched|secrets|select|selectors|shelve|shlex|shutil|_?signal|site|smtplib|` +
	`_?socket|socketserver|_?sqlite3|sre_\w+|_?ssl|_?stat|_?statistics|_?string|stringprep|_?struct|subprocess|symtable|sys|sysconfig|syslog|tarfile|tempfile|termios|textwrap|_?threading|time|timeit|` +
	`_?token|_?tokenize|tomllib|trace|traceback|_?tracemalloc|tty|types|_?typing|unicodedata|unittest|urllib|_?uuid|_?warnings|_?weakref|webbrowser|wsgiref|xml|xmlrpc|zipapp|zipfile|zipimport|zlib|_?zoneinfo|` +
	`_?pytest|pluggy|iniconfig|packaging|exceptiongroup|tomli|coverage|xdist|execnet|pytest_\w+)(\.py|/__init__\.py)$`)

// ShadowsLibrary says whether a module would be imported in place of one of the standard
// library, or of the runner, by which tests may compare. A src that is a package itself is not searched.
func ShadowsLibrary(name string, has func(name string) bool) bool {
	m := libraryModule.FindStringSubmatch(name)
	return m != nil && (m[1] == "" || !has("src/__init__.py"))
}
