package classes

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/pattern"
)

// pathWord is what may be a path, with stars in it, in a recipe, a script or a setting.
var pathWord = pattern.New(`[\w.*?@{}+~/-]*[\w*}]`)

// included is what a Makefile, a script or a call takes as a part of itself.
var included = pattern.New(`(?m)^[ \t]*[-s]?include[ \t]+(.+)$|--env-file(?:-if-exists)?[= \t]["']?([^\s"']+)|(?:^|[;&|(][ \t]*|[ \t])(?:\.|source)[ \t]+["']?([^\s"';&|]+)|\bBASH_ENV[ \t]*[:?]?=[ \t]*["']?([^\s"']+)`)

// Includes says whether the text of a file in dir that steers tests takes another one as
// a part of itself: a Makefile's include, a file of variables.
func Includes(text, dir, name string) bool {
	for _, m := range included.FindAllStringSubmatch(text, -1) {
		if Reads(strings.Join(m[1:], " "), dir, name) {
			return true
		}
	}
	return false
}

// TakesIn says whether the text of a script in dir sources or calls another one, also from the
// script's own folder, however that is written.
func TakesIn(text, dir, name string) bool {
	for _, m := range takenIn.FindAllStringSubmatch(text, -1) {
		to := strings.Trim(firstOf(m[1:]), `"'`)
		if i := strings.LastIndexAny(to, ")}"); i >= 0 { // "$(dirname "$0")/lib.sh"
			to = strings.TrimPrefix(to[i+1:], "/")
		}
		if to = strings.TrimPrefix(to, "./"); to != "" && (to == name || path.Join(dir, to) == name) {
			return true
		}
	}
	return false
}

// takenIn is what a script sources or runs.
var takenIn = pattern.New(`(?m)(?:^|[;&|(])[ \t]*(?:(?:\.|source|sh|bash|node|python3?|ruby|php|perl)[ \t]+((?:"\$\([^\n]*?\)|\$\([^\n]*?\)|"?\$\{[^}\n]*\})?[^\s;&|]*)|(\./[^\s;&|]+))`)

func firstOf(list []string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// testPlace is what folders of tests of any language are called, besides those that classes know.
var testPlace = pattern.New(`(?i)^(?:checks?|cases|suites?|t)$`)

// NamesTests says whether the text of a script names other files of tests of the tree, or folders
// of such.
func NamesTests(text, name string, files []string) bool {
	tried := map[string]bool{}
	for _, f := range files {
		place := ""
		parts := strings.Split(f, "/")
		for _, p := range parts[:len(parts)-1] {
			if testPlace.MatchString(p) || slices.Contains(testFolders, strings.ToLower(p)) {
				place = p
				break
			}
		}
		if class, _ := ClassOf(f, nil, Referred{}); place == "" && class == compare.Test {
			place = path.Base(f)
		}
		if place == "" || f == name || tried[place] {
			continue
		}
		tried[place] = true
		for i := strings.Index(text, place); i >= 0; {
			before, after := byte('\n'), byte('\n')
			if i > 0 {
				before = text[i-1]
			}
			if end := i + len(place); end < len(text) {
				after = text[end]
			}
			quoted := strings.IndexByte("\"'`/", before) >= 0 && strings.IndexByte("\"'`/*", after) >= 0
			if quoted || after == '/' && strings.IndexByte(" \t\n=(", before) >= 0 || strings.Contains(place, ".") {
				return true
			}
			j := strings.Index(text[i+1:], place)
			if j < 0 {
				break
			}
			i += 1 + j
		}
	}
	return false
}

var variableLine = pattern.New(`^(?:export\s+)?\w+=`)

// SetsVariables says whether a script does nothing but set variables.
func SetsVariables(text string) bool {
	some := false
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !variableLine.MatchString(line) || strings.Contains(line, "$(") {
			return false
		}
		some = true
	}
	return some
}

// Reads says whether the text of a file in dir that steers tests names another one, by
// its path from there or from the top, such as what a recipe compares with.
func Reads(text, dir, name string) bool {
	base := path.Base(name)
	for _, w := range pathWord.FindAllString(text, -1) {
		if !strings.Contains(w, "*") && path.Base(w) != base {
			continue
		}
		w = strings.TrimPrefix(w, "./")
		for _, at := range []string{path.Join(dir, w), w} {
			if ok, err := path.Match(at, name); ok && err == nil && at != "*" {
				return true
			}
			// One of a case's files by a pattern, such as cases/*.in, and the others by what it is called.
			if dir := path.Dir(at); strings.Contains(path.Base(at), "*") && dir != "." && dir == path.Dir(name) && !IsCode(name) {
				return true
			}
		}
	}
	return false
}

// jsonValue is a string of JSON; with a colon behind it it is a key.
var jsonValue = pattern.New(`"((?:\\.|[^"\\])*)"(\s*:)?`)

// ListsTests says whether a text is a list of tests of the tree: most of its lines begin
// with the path or the name of one of the test files, with or without extension.
func ListsTests(text string, files []string) bool {
	names := map[string]bool{}
	for _, f := range files {
		if class, _ := ClassOf(f, nil, Referred{}); class == compare.Test {
			for _, n := range []string{f, path.Base(f)} {
				names[n], names[strings.TrimSuffix(n, path.Ext(n))] = true, true
			}
		}
	}
	lines, tests := 0, 0
	if strings.HasPrefix(strings.TrimSpace(text), "[") || strings.HasPrefix(strings.TrimSpace(text), "{") { // of JSON each value is as a line
		var values []string
		for _, m := range jsonValue.FindAllStringSubmatch(text, -1) {
			if m[2] == "" {
				values = append(values, m[1])
			}
		}
		text = strings.Join(values, "\n")
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		lines++
		if names[strings.TrimPrefix(words[0], "./")] {
			tests++
		}
	}
	return tests*2 > lines
}

// otherCode are extensions of programs beside those that [languages.IsSource] knows. Of a language that
// gets an ecosystem they may stay here.
var otherCode = strings.Fields(".sh .bash .zsh .fish .ksh .pl .pm .lua .awk .sed .tcl .r .jl .ps1 .bat .cmd .sql .html .htm .css .scss .less .vue .svelte .hs .ml .clj .nim .zig .d .pas .f90 .asm .s .proto .graphql .tmpl .j2 .erb " +
	".ada .adb .bas .cljc .cljs .cr .dart .el .elm .erl .f .f03 .f08 .feature .fs .fsx .gleam .groovy .lhs .lisp .mli .nix .pro .purs .re .rkt .robot .scm .sml .sol .st .sv .swift .v .vb .vhd .vhdl")

// IsCode says whether a file is a program or a part of one, of whatever language: by its
// name, or as one of its versions begins with an interpreter's.
func IsCode(name string, versions ...[]byte) bool {
	return languages.IsSource(name) || slices.Contains(otherCode, strings.ToLower(path.Ext(name))) ||
		slices.ContainsFunc(versions, func(v []byte) bool { return bytes.HasPrefix(v, []byte("#!")) })
}

// helperName is what people call code that is there for tests.
var helperName = pattern.New(`(?i)(^|[/_.-])(tests?|testing|test-?(util|support|helper|kit|lib)s?|asserts?|assertions?|expect|checks?|checker|mocks?|mocking|fakes?|stubs?|fixtures?|matchers?|spec-?helpers?|support)([/_.-]|$)`)

// MayHelpTests says whether a source may be one that only tests use: by its name, as a
// dependency that stands in the tree, or, in Go, as nothing outside the module can import it.
func MayHelpTests(name string) bool {
	return languages.IsSource(name) && !languages.IsTestSource(name) &&
		(helperName.MatchString(name) || ecosystem.InFolder(name, "vendor", "node_modules") || ofOthers(name) != "" || path.Ext(name) == ".go" && ecosystem.InFolder(name, "internal"))
}

// IsOfTools says whether a file is in a folder that is called as those of what makes and checks a program, and is no part of it.
func IsOfTools(name string) bool {
	return ecosystem.InFolder(name, "tools", "tool", "tooling", "dev", "devtools", "scripts", "script", "ci", ".ci", ".github", "build", "hack", "contrib", "etc", "misc")
}

// IsCalledHelper says whether code outside of what runners take for tests is called what
// people call code that is there for tests.
func IsCalledHelper(name string) bool {
	return IsCode(name) && !languages.IsTestSource(name) && helperName.MatchString(name)
}

// IsRunnerSettings says whether a file is one in which a runner is given files of its own.
func IsRunnerSettings(name string) bool {
	return slices.ContainsFunc(ecosystem.RunnerSettings, func(s string) bool { return path.Base(s) == path.Base(name) })
}
