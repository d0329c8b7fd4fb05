package native

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// buildSays are files in which a flag or a definition reaches tests whose sources no one touches.
// A plain Makefile is none of them: all of it steers tests, and is put back.
var buildSays = pattern.New(`^(?:CMakeLists\.txt|.*\.cmake(?:\.in)?|meson\.build|Makefile\.(?:am|in)|.*\.am|configure(?:\.ac|\.in)?|.*\.m4)$`)

// SaysFlags says whether a file says how C and C++ are compiled, outside of folders of tests.
func SaysFlags(name string) bool {
	return buildSays.MatchString(path.Base(name)) && !isCTest(name)
}

// libcName are names of the C library and of the language by which tests judge, and macros of
// libraries for tests.
const libcName = `(?:(?:str|mem|wcs|wmem)n?(?:case)?cmp|bcmp|str(?:n?len|coll|n?str|casestr|r?chr|c?spn)|wcs(?:len|coll|str)` +
	`|is(?:nan|inf|finite|normal)[fl]?|finite[fl]?|signbit|fpclassify|f(?:abs|min|max|dim|mod)[fl]?|l{0,2}abs|l{0,2}r(?:ound|int)[fl]?|nearbyint[fl]?|(?:floor|ceil|trunc)[fl]?` +
	`|v?(?:[fs]|sn|as)?printf|f?puts|putc(?:har)?|perror|abort|_?exit|_Exit|quick_exit|raise|kill|signal|sigaction|longjmp` +
	`|assert|static_assert|_Static_assert|__assert\w*|_(?:ASSERT|STRING|MATH|STDLIB|FLOAT|LIMITS)_H_*|errno|NULL|true|false|EXIT_(?:SUCCESS|FAILURE)|(?:L?DBL|FLT)_EPSILON|NAN|INFINITY` +
	`|if|else|while|for|do|return|switch|sizeof|int|long|short|char|float|double|unsigned` +
	`|(?:TEST_)?(?:ASSERT|EXPECT|CHECK|REQUIRE)(?:_(?:EQ|NE|LT|GT|LE|GE|TRUE|FALSE|NEAR|STR|MEM|INT|FLOAT|DOUBLE|THROW|THAT|NULL|NOT)\w*|\()|c[kr]_assert\w*|assert_\w+|(?:CATCH|DOCTEST)_CONFIG_DISABLE|BOOST_(?:TEST|CHECK|REQUIRE)\w*|UNITY_EXCLUDE_\w+|UNITY_(?:FLOAT|DOUBLE)_PRECISION)`

var cmakeFile = pattern.New(`^CMakeLists\.txt$|\.cmake(?:\.in)?$`)

// alterations are what a line of such a file does to tests that are compiled or linked by it.
var alterations = []struct {
	what string
	in   *pattern.Pattern // base names of files; nil: all
	text *pattern.Pattern
}{
	// https://gcc.gnu.org/onlinedocs/gcc/Optimize-Options.html: comparisons with NaN are dropped.
	{"has tests compiled by other rules of arithmetic", nil, pattern.New(`-Ofast\b|-ffast-math\b|-funsafe-math-optimizations\b|-ffinite-math-only\b|-fno-(?:signed-zeros|signaling-nans|honor-nans|honor-infinities|math-errno|trapping-math|rounding-math)\b|` +
		`-f(?:associative|reciprocal)-math\b|-fcx-(?:limited-range|fortran-rules)\b|-ffp-model=fast|-fp-model[= ]fast|/fp:fast\b|-fsingle-precision-constant\b|-mrecip\b|-fshort-(?:enums|wchar)\b|-fpack-struct\b|-f(?:no-)?(?:un)?signed-(?:char|bitfields)\b|-m(?:x?32|long-double-\w+)\b`)},
	{"redefines what tests judge by", nil, pattern.New(`(?:^|[\s"'(\[;,=])[-/]D["',\s]*` + libcName + `(?:\(|\b)|AC_DEFINE(?:_UNQUOTED)?\(\s*\[?` + libcName + `\b|#\s*define\s+` + libcName + `\b`)},
	{"redefines what tests judge by", cmakeFile, pattern.New(`(?:^|[\s"'(;])` + libcName + `(?:\(?[^=\s"'();]*\))?=[^=\s]`)},
	// https://sourceware.org/binutils/docs/ld/Options.html
	{"redefines what tests judge by", nil, pattern.New(`(?:-Wl,|LINKER:|-Xlinker[\s"',]+)(?:[^\s"']*[,:])?--?(?:wrap|defsym|allow-multiple-definition|just-symbols|entry|init|fini|script|default-script)\b|^\s*["']?--(?:wrap|defsym)[=, "']|-Wl,-[eT]\b|\bmuldefs\b|--(?:redefine-syms?|weaken-symbol|globalize-symbol)\b|-fplugin=`)},
	{"has a file compiled into tests", nil, pattern.New(`\S.*[\s"'(\[;,=:]-(?:include|imacros)(?:[\s"',]|$)|(?i:\btarget_precompile_headers\s*\([^)]*\b(?:PUBLIC|INTERFACE)\b)`)},
	{"has a file compiled into tests", cmakeFile, pattern.New(`^\s*["']?(?:SHELL:)?-(?:include|imacros)\b`)},
	{"has tests compiled by settings of another folder", cmakeFile, pattern.New(`(?i)\binclude\s*\([^)]*\bCMakeLists\.txt`)},
	// https://www.gnu.org/software/automake/manual/html_node/Parallel-Test-Harness.html
	{"decides how tests are started", pattern.New(`^configure|\.m4$`), pattern.New(`\b(?:\w*LOG_(?:COMPILER|COMPILE|DRIVER|FLAGS|DRIVER_FLAGS)|(?:AM_)?TESTS_ENVIRONMENT|TESTS_FD_REDIRECT|XFAIL_TESTS|DISABLE_HARD_ERRORS)\b`)},
}

// inSources are what lines of sources and headers of the product do to tests that include them, or
// that are linked with them: a function by the name of one of the C library comes first.
var inSources = []struct {
	what   string
	header bool // alone
	text   *pattern.Pattern
}{
	{"has tests compiled by other rules of arithmetic", true, pattern.New(`(?:#\s*pragma|\b_Pragma\s*\(\s*")\s*(?:GCC\s+optimize\b.*(?:math|fast|signed-zeros)|clang\s+fp\b|float_control\b|fp_contract\b)`)},
	{"redefines what tests judge by", true, pattern.New(`#\s*define\s+(?:is(?:nan|inf|finite|normal)|fabs[fl]?|bcmp|strn?str|if|while|for|return|int|long|double|float)\b|#\s*pragma\s+(?:redefine_extname|weak)\b`)},
	{"redefines what tests judge by", false, pattern.New(`^(?:(?:int|void|double|float|extern|__attribute__\s*\(\(\w+\)\)|_Noreturn|noreturn)\s+)+(?:(?:str|mem|wcs)n?(?:case)?cmp|bcmp|abort|_?exit|_Exit|raise|kill|fabs[fl]?|(?:__)?is(?:nan|inf)[fl]?)\s*\([^;]*$`)},
}

// AltersInSource is what a line of a source in C or C++ does to tests; empty: nothing.
func AltersInSource(name, line string) string {
	for _, a := range inSources {
		if (!a.header || IsProductHeader(name)) && a.text.MatchString(line) {
			return a.what
		}
	}
	return ""
}

var buildComment = pattern.New(`^\s*(?:#(?:[^a-z]|$)|dnl\b)`)

// Alters is what a line of a file that says how C is compiled does to tests; empty: nothing.
func Alters(name, line string) string {
	if buildComment.MatchString(line) {
		return ""
	}
	for _, a := range alterations {
		if (a.in == nil || a.in.MatchString(path.Base(name))) && a.text.MatchString(line) {
			return a.what
		}
	}
	return ""
}

var (
	cmakeOfTarget = pattern.New(`(?is)\b(?:target_(?:compile_options|compile_definitions|compile_features|link_options)\s*\(\s*([\w.+:-]+)\s+(?:BEFORE\s+)?PRIVATE\b|set_target_properties\s*\(\s*([\w.+:-]+)\s+PROPERTIES\b)([^()]*)\)`)
	cmakeOfSource = pattern.New(`(?is)\bset_source_files_properties\s*\(([^()$]*)\)`)
	cmakeOfFolder = pattern.New(`(?i)\b(?:add_(?:compile_options|definitions|compile_definitions|link_options)\s*\(|(?:set\s*\(|string\s*\(\s*APPEND\s)\s*CMAKE_)[^()]*\)`)
	cmakeAbove    = pattern.New(`(?i)\b(?:PARENT_SCOPE|CACHE)\b`)
	cmakeLibrary  = pattern.New(`(?i)\badd_library\s*\(\s*([\w.+:-]+)([^()]*)\)`)
	cmakeShared   = pattern.New(`\b(?:PUBLIC|INTERFACE)\b|\bINTERFACE_`)
	mesonOfTarget = pattern.New(`\b(?:((?:static_|shared_|both_)?library)|executable)\s*\(\s*'([^']+)'(?:[^()]|\([^()]*\))*\)`)
	argument      = pattern.New(`[^\s"',;()\[\]]+`)
	amOfTarget    = pattern.New(`(?m)^lib\w+_l?a_(?:C|CPP|CXX)FLAGS\s*\+?=.*$`)
)

// OfTargets are the lines of a file, from 1, that bind libraries of the product alone, or programs
// of which the base says nothing: no test of the base is compiled or linked by them. alone says that
// the base has no test below the folder of the file.
func OfTargets(name string, src, base []byte, alone bool) map[int]bool {
	text := string(src)
	out := map[int]bool{}
	note := func(from, to int) {
		first := 1 + strings.Count(text[:from], "\n")
		for n := range 1 + strings.Count(text[from:to], "\n") {
			out[first+n] = true
		}
	}
	tests := func(args string) bool { return slices.ContainsFunc(argument.FindAllString(args, -1), isCTest) }
	libraries := map[string]bool{}
	for _, m := range cmakeLibrary.FindAllStringSubmatch(text, -1) {
		libraries[m[1]] = !tests(m[2])
	}
	for _, m := range cmakeOfTarget.FindAllStringSubmatchIndex(text, -1) {
		target := group(text, m, 1) + group(text, m, 2)
		own, library := libraries[target]
		if own = own || !library && !NamesWord(base, target); own && !cmakeShared.MatchString(text[m[6]:m[7]]) {
			note(m[0], m[1])
		}
	}
	for _, m := range cmakeOfSource.FindAllStringSubmatchIndex(text, -1) {
		if !tests(text[m[2]:m[3]]) {
			note(m[0], m[1])
		}
	}
	if alone && path.Base(name) == "CMakeLists.txt" && !cmakeDeclares.Match(src) && !cmakeDeclares.Match(base) && !tests(text) {
		for _, m := range cmakeOfFolder.FindAllStringSubmatchIndex(text, -1) {
			if !cmakeAbove.MatchString(text[m[0]:m[1]]) {
				note(m[0], m[1])
			}
		}
	}
	if path.Base(name) == "meson.build" {
		for _, m := range mesonOfTarget.FindAllStringSubmatchIndex(text, -1) {
			if library := m[2] >= 0; library && !tests(text[m[0]:m[1]]) || !library && !NamesWord(base, text[m[4]:m[5]]) {
				note(m[0], m[1])
			}
		}
	}
	for _, m := range amOfTarget.FindAllStringSubmatchIndex(text, -1) {
		note(m[0], m[1])
	}
	return out
}

// group is a group of a match by its places, empty where it has none.
func group(text string, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return text[m[2*n]:m[2*n+1]]
}
