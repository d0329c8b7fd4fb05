package native

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	flagDefined  = pattern.New(`(?:^|[\s"',;(\[=])[-/]D["',\s]*([A-Za-z_]\w*)(?:=([^\s"',;)]*))?`)
	cmakeDefines = pattern.New(`(?is)\b(?:(?:add|target)_compile_definitions\s*\(|COMPILE_DEFINITIONS\s)([^()]*)`)
	cmakeDefined = pattern.New(`([A-Za-z_]\w*)(?:=([^\s";]*))?`)
	cmakeSets    = pattern.New(`(?i)\b(?:option\s*\(\s*(\w+)\s+(?:"(?:[^"\\]|\\.)*"|\S+)|set\s*\(\s*(\w+))\s+([^()]*)\)`)
	acDefines    = pattern.New(`\bAC_DEFINE(?:_UNQUOTED)?\(\s*\[?(\w+)\]?(?:\s*,\s*\[?([^\],)]*))?`)
	mesonSets    = pattern.New(`\.set(?:10|_quoted)?\(\s*'(\w+)'\s*,\s*([^)\n]*)`)
)

// Definitions are the macros that a file that says how C is compiled defines, and the options by
// which it does, each with all its values.
func Definitions(name string, src []byte) map[string]string {
	out := map[string]string{}
	add := func(name, value string) { out[name] += strings.TrimSpace(value) + "\n" }
	var text strings.Builder
	for line := range strings.Lines(string(src)) {
		if !buildComment.MatchString(line) {
			text.WriteString(line)
		}
	}
	for _, p := range []*pattern.Pattern{flagDefined, acDefines, mesonSets} {
		for _, m := range p.FindAllStringSubmatch(text.String(), -1) {
			add(m[1], m[2])
		}
	}
	if IsCMake(name) {
		for _, m := range cmakeDefines.FindAllStringSubmatch(text.String(), -1) {
			for _, w := range strings.Fields(m[1]) {
				if d := cmakeDefined.FindStringSubmatch(strings.TrimPrefix(strings.Trim(w, `"`), "-D")); d != nil {
					add(d[1], d[2])
				}
			}
		}
		for _, m := range cmakeSets.FindAllStringSubmatch(text.String(), -1) {
			add(m[1]+m[2], m[3])
		}
	}
	return out
}

var (
	conditions = pattern.New(`(?m)^\s*#\s*(?:if|ifdef|ifndef|elif)\b((?:[^\\\n]|\\\n|\\.)*)`)
	macroName  = pattern.New(`[A-Za-z_]\w*`)
	defaultsIn = pattern.New(`(?m)^\s*#\s*ifndef\s+(\w+)\s*\n\s*#\s*define\s+(\w+)[ \t]+\S`)
	// definesIn is a macro with a value, as a header has it.
	definesIn = pattern.New(`(?m)^\s*#\s*define\s+(\w+)[ \t]+(\S.*)$`)
)

// AskedFor are the macros by which a source of tests decides what it compiles.
func AskedFor(src string) map[string]bool {
	out := map[string]bool{}
	for _, m := range conditions.FindAllStringSubmatch(src, -1) {
		for _, w := range macroName.FindAllString(m[1], -1) {
			out[w] = true
		}
	}
	return out
}

// Defaults are the macros that a source of tests defines where nothing else has.
func Defaults(src string) map[string]bool {
	out := map[string]bool{}
	for _, m := range defaultsIn.FindAllStringSubmatch(src, -1) {
		if m[1] == m[2] {
			out[m[1]] = true
		}
	}
	return out
}

// MacrosIn are the macros with a value that a source defines.
func MacrosIn(src []byte) map[string]string {
	out := map[string]string{}
	for _, m := range definesIn.FindAllStringSubmatch(string(src), -1) {
		out[m[1]] += strings.TrimSpace(m[2]) + "\n"
	}
	return out
}

// OfTheSystem are macros by which the system's headers offer more, which tests and builds set alike.
var OfTheSystem = pattern.New(`^_(?:GNU|POSIX_C|XOPEN|DEFAULT|BSD|DARWIN_C|NETBSD|ALL|ISOC\d+)_SOURCE\w*$|^(?:_FILE_OFFSET_BITS|_LARGEFILE\w*|_REENTRANT|_TIME_BITS|_CRT_\w+|_?UNICODE|NOMINMAX|_?WIN32\w*|__\w+)$`)

var (
	standards = pattern.New(`(?i)\b(?:CMAKE_)?(C|CXX)_STANDARD\s+"?(\d+)|\b(c|cxx)_std_(\d+)|-std=(?:gnu|c|iso9899:)(\+\+)?(\w+)|\b(c|cpp)_std=(?:gnu|c)(\+\+)?(\w+)`)
	ansi      = pattern.New(`(?:^|\s|["'])-ansi\b`)
	// AsksStandard is what a source has that compiles by the standard.
	AsksStandard = pattern.New(`\b__STDC_VERSION__\b|\b__cplusplus\s*[<>]|\b__cpp_\w+`)
)

// byDefault is the standard of a compiler that is asked for none.
const byDefault = 2017

// Standards are the oldest standards, by their years, that a text asks for, by "C" and "CXX".
func Standards(text string) map[string]int {
	out := map[string]int{}
	note := func(language string, year int) {
		if old, there := out[language]; year > 0 && (!there || year < old) {
			out[language] = year
		}
	}
	for _, m := range standards.FindAllStringSubmatch(text, -1) {
		language, number := "C", m[2]+m[4]+m[6]+m[9]
		if strings.EqualFold(m[1]+m[3], "cxx") || m[5] != "" || m[8] != "" {
			language = "CXX"
		}
		note(language, yearOf(number))
	}
	if ansi.MatchString(text) {
		note("C", 1990)
	}
	return out
}

// yearOf is the year of a standard by its two digits, or by what it was called before it had them.
func yearOf(number string) int {
	if old, ok := map[string]int{"0x": 2011, "1x": 2011, "1y": 2014, "1z": 2017, "2a": 2020, "2b": 2023, "2x": 2023, "2c": 2026, "2y": 2026, "1990": 1990, "1999": 1999, "2011": 2011, "2017": 2017}[strings.ToLower(number)]; ok {
		return old
	}
	if len(number) != 2 || strings.Trim(number, "0123456789") != "" {
		return 0
	}
	if number > "80" {
		return 1900 + 10*int(number[0]-'0') + int(number[1]-'0')
	}
	return 2000 + 10*int(number[0]-'0') + int(number[1]-'0')
}

// Lowered says whether tests are compiled by an older standard than on the base. asked says that
// they compile something else by it: then also the first one that is named counts.
func Lowered(base, head map[string]int, asked bool) bool {
	return slices.ContainsFunc([]string{"C", "CXX"}, func(language string) bool {
		was, wasSaid := base[language]
		is, isSaid := head[language]
		switch {
		case !wasSaid && !isSaid, !wasSaid && !asked:
			return false
		case !wasSaid:
			was = byDefault
		case !isSaid:
			is = byDefault
		}
		return is < was
	})
}
