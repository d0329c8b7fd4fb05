package ecosystem

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
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

// otherCode are extensions of programs beside those that [IsSource] knows. Of a language that
// gets an ecosystem they may stay here.
var otherCode = strings.Fields(".sh .bash .zsh .fish .ksh .pl .pm .lua .awk .sed .tcl .r .jl .ps1 .bat .cmd .sql .html .htm .css .scss .less .vue .svelte .hs .ml .clj .nim .zig .d .pas .f90 .asm .s .proto .graphql .tmpl .j2 .erb " +
	".ada .adb .bas .cljc .cljs .cr .dart .el .elm .erl .f .f03 .f08 .feature .fs .fsx .gleam .groovy .lhs .lisp .mli .nix .pro .purs .re .rkt .robot .scm .sml .sol .st .sv .swift .v .vb .vhd .vhdl")

// IsCode says whether a file is a program or a part of one, of whatever language: by its
// name, or as one of its versions begins with an interpreter's.
func IsCode(name string, versions ...[]byte) bool {
	return IsSource(name) || slices.Contains(otherCode, strings.ToLower(path.Ext(name))) ||
		slices.ContainsFunc(versions, func(v []byte) bool { return bytes.HasPrefix(v, []byte("#!")) })
}

// relativeImport is a module of the same tree in JavaScript and TypeScript.
var relativeImport = pattern.New(`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.{1,2}/[^"']+)["']`)

// ImportsScript says whether a JavaScript or TypeScript source in dir imports a file of
// the tree by a relative path, with or without its extension.
func ImportsScript(text, dir, name string) bool {
	if !slices.Contains(nodeExts, path.Ext(name)) {
		return false
	}
	if _, in, ok := strings.Cut("/"+name, "/node_modules/"); ok {
		parts := strings.SplitN(in, "/", 3)
		module := parts[0]
		if strings.HasPrefix(module, "@") && len(parts) > 1 {
			module += "/" + parts[1]
		}
		return slices.ContainsFunc([]string{`"` + module + `"`, "'" + module + "'", `"` + module + "/", "'" + module + "/"}, func(s string) bool { return strings.Contains(text, s) })
	}
	if in := ofOthers(name); in != "" && importsOthers(text, path.Dir(in)) {
		return true
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, m := range relativeImport.FindAllStringSubmatch(text, -1) {
		to := path.Join(dir, m[1])
		if to == name || to == stem || to+"/index" == stem || strings.TrimSuffix(to, path.Ext(to)) == stem {
			return true
		}
	}
	return false
}

var pythonImport = pattern.New(`(?m)^\s*(?:from\s+(\.*[\w.]*)\s+import\s+\(?([\w ,*]*)|import\s+([\w., ]+))`)

// ImportsModule says whether a Python source in dir imports a module of the tree.
func ImportsModule(text, dir, name string) bool {
	if path.Ext(name) != ".py" {
		return false
	}
	module := strings.TrimSuffix(strings.TrimSuffix(name, ".py"), "/__init__")
	is := func(dotted string) bool {
		at := strings.ReplaceAll(dotted, ".", "/")
		return at != "" && (module == at || strings.HasSuffix(module, "/"+at))
	}
	for _, m := range pythonImport.FindAllStringSubmatch(text, -1) {
		for one := range strings.SplitSeq(m[3], ",") {
			if first, _, _ := strings.Cut(strings.TrimSpace(one), " "); is(first) {
				return true
			}
		}
		from := strings.TrimLeft(m[1], ".")
		if up := len(m[1]) - len(from); up > 0 {
			at := dir
			for range up - 1 {
				at = path.Dir(at)
			}
			from = strings.ReplaceAll(path.Join(at, strings.ReplaceAll(from, ".", "/")), "/", ".")
		}
		if from == "" {
			continue
		}
		if is(from) {
			return true
		}
		for one := range strings.SplitSeq(m[2], ",") {
			if first, _, _ := strings.Cut(strings.TrimSpace(one), " "); first != "" && is(from+"."+first) {
				return true
			}
		}
	}
	return false
}

// TopModule is the name by which a source of Python or Ruby, or a header of C and C++, is
// imported from a folder in which such are looked for, and that folder; empty: it is none.
func TopModule(name string) (dir, module string) {
	dir, stem := path.Dir(name), strings.TrimSuffix(path.Base(name), path.Ext(name))
	switch path.Ext(name) {
	case ".py":
		if stem == "__init__" {
			dir, stem = path.Dir(dir), path.Base(dir)
		}
		return dir, stem
	case ".rb":
		if in, module, ok := strings.Cut("/"+name, "/lib/"); ok {
			return path.Join(strings.TrimPrefix(in, "/"), "lib"), strings.TrimSuffix(module, ".rb")
		}
	case ".h", ".hh", ".hpp":
		return dir, stem
	}
	return "", ""
}

// classNames are the languages in which a file has one class of its name, which others use by
// that alone.
var classNames = []string{".php", ".java", ".kt", ".scala", ".groovy", ".cs", ".swift"}

// UsesClass says whether a source has the name of the class that a file of its language is
// called after.
func UsesClass(text, name string) bool {
	ext := path.Ext(name)
	return slices.Contains(classNames, ext) && Words([]byte(text))[strings.TrimSuffix(path.Base(name), ext)]
}

// SameLanguage says whether two files are sources of one ecosystem.
func SameLanguage(a, b string) bool {
	return anyEcosystem(func(e *Ecosystem) bool { return e.IsSource != nil && e.IsSource(a) && e.IsSource(b) })
}

// ImportsTop says whether a source imports a module by its name alone, and not by its place in
// the tree.
func ImportsTop(text, ext, module string) bool {
	switch ext {
	case ".py":
		for _, m := range pythonImport.FindAllStringSubmatch(text, -1) {
			names := []string{m[1]}
			if m[3] != "" {
				names = strings.Split(m[3], ",")
			}
			for _, one := range names {
				first, _, _ := strings.Cut(strings.TrimSpace(one), " ")
				if top, _, _ := strings.Cut(first, "."); top == module {
					return true
				}
			}
		}
	case ".h", ".hh", ".hpp":
		return slices.ContainsFunc(cInclude.FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] == module+ext })
	case ".rb":
		return slices.ContainsFunc(rubyRequire.FindAllStringSubmatch(text, -1), func(m []string) bool {
			return m[1] == "" && strings.TrimSuffix(m[2], ".rb") == module
		})
	}
	return false
}

var rubyRequire = pattern.New(`(?m)^\s*(?:require|load)(_relative)?[\s(]+["']([^"']+)["']`)

// ImportsFeature says whether a Ruby source in dir requires a file of the tree.
func ImportsFeature(text, dir, name string) bool {
	if path.Ext(name) != ".rb" {
		return false
	}
	stem := strings.TrimSuffix(name, ".rb")
	return slices.ContainsFunc(rubyRequire.FindAllStringSubmatch(text, -1), func(m []string) bool {
		to := strings.TrimSuffix(m[2], ".rb")
		if m[1] != "" {
			return path.Join(dir, to) == stem
		}
		return stem == to || strings.HasSuffix(stem, "/"+to)
	})
}

// ImportsPackage says whether a Go source imports the package of a file of the tree, by
// what its import path ends in.
func ImportsPackage(text, name string) bool {
	dir := path.Dir(name)
	if path.Ext(name) != ".go" || dir == "." {
		return false
	}
	if _, in, ok := strings.Cut("/"+dir, "/vendor/"); ok {
		return strings.Contains(text, `"`+in+`"`)
	}
	if in := ofOthers(name); in != "" && importsOthers(text, path.Dir(in)) {
		return true
	}
	return strings.Contains(text, "/"+dir+`"`)
}

// importsOthers says whether a source has a string that ends in the folder of a module of
// another project, or in a folder above it, by which a replaced module or a package of
// package.json is imported.
func importsOthers(text, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if slices.ContainsFunc([]string{`"` + dir + `"`, "'" + dir + "'", "/" + dir + `"`, "/" + dir + "'"}, func(s string) bool { return strings.Contains(text, s) }) {
			return true
		}
	}
	return false
}

var cInclude = pattern.New(`(?m)^\s*#\s*include\s*["<]([^">\n]+)[">]`)

// includesHeader says whether a source in C or C++ includes a header of other projects'
// sources, or that which a source of theirs is named like.
func includesHeader(text, name string) bool {
	in := ofOthers(name)
	if in == "" || !slices.Contains(cExts, path.Ext(name)) {
		return false
	}
	stem := strings.TrimSuffix(in, path.Ext(in))
	return slices.ContainsFunc(cInclude.FindAllStringSubmatch(text, -1), func(m []string) bool {
		to := strings.TrimSuffix(m[1], path.Ext(m[1]))
		return to == stem || strings.HasSuffix("/"+stem, "/"+strings.TrimLeft(to, "./"))
	})
}

// helperName is what people call code that is there for tests.
var helperName = pattern.New(`(?i)(^|[/_.-])(tests?|testing|test-?(util|support|helper|kit|lib)s?|asserts?|assertions?|expect|checks?|checker|mocks?|mocking|fakes?|stubs?|fixtures?|matchers?|spec-?helpers?|support)([/_.-]|$)`)

// MayHelpTests says whether a source may be one that only tests use: by its name, as a
// dependency that stands in the tree, or, in Go, as nothing outside the module can import it.
func MayHelpTests(name string) bool {
	return IsSource(name) && !IsTestSource(name) &&
		(helperName.MatchString(name) || InFolder(name, "vendor", "node_modules") || ofOthers(name) != "" || path.Ext(name) == ".go" && InFolder(name, "internal"))
}

// othersFolder is what people call a folder of other projects' sources.
var othersFolder = pattern.New(`(?i)(?:^|/)(?:_?third[_-]?party|3rd-?party|externals?|extern|_vendor|vendored)/(.+)$`)

// ofOthers is the path of a file within a folder of other projects' sources, empty for one
// that is in none.
func ofOthers(name string) string {
	if m := othersFolder.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// IsCalledHelper says whether code outside of what runners take for tests is called what
// people call code that is there for tests.
func IsCalledHelper(name string) bool {
	return IsCode(name) && !IsTestSource(name) && helperName.MatchString(name)
}

// ImportsOrLists says whether a source imports a file of the tree, or names the folder in which
// it lies in a string, as one that loads all that it finds there.
func ImportsOrLists(text, dir, name string) bool {
	if Imports(text, dir, name) {
		return true
	}
	in := path.Base(path.Dir(name))
	return in != "." && slices.ContainsFunc([]string{`"` + in + `"`, "'" + in + "'", "/" + in + `"`, "/" + in + "'", "/" + in + "/"}, func(s string) bool { return strings.Contains(text, s) })
}

// runnerSettings are the files in which runners are given files of their own.
var runnerSettings = strings.Fields(`package.json jest.config.js jest.config.cjs jest.config.mjs jest.config.ts jest.config.json
	vitest.config.js vitest.config.ts vitest.config.mts vite.config.js vite.config.mjs vite.config.ts vite.config.mts
	.mocharc.js .mocharc.cjs .mocharc.json .mocharc.yml .mocharc.yaml test/mocha.opts karma.conf.js
	babel.config.js babel.config.cjs babel.config.mjs babel.config.json .babelrc .babelrc.js .babelrc.json
	conftest.py tests/conftest.py test/conftest.py pytest.ini .pytest.ini tox.ini setup.cfg pyproject.toml
	phpunit.xml phpunit.xml.dist .rspec`)

// IsRunnerSettings says whether a file is one in which a runner is given files of its own.
func IsRunnerSettings(name string) bool {
	return slices.ContainsFunc(runnerSettings, func(s string) bool { return path.Base(s) == path.Base(name) })
}

// Imports says whether a source in dir imports another file of the tree.
func Imports(text, dir, name string) bool {
	return ImportsScript(text, dir, name) || ImportsModule(text, dir, name) || ImportsPackage(text, name) || ImportsFeature(text, dir, name) || includesHeader(text, name)
}
