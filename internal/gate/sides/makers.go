package sides

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Made is a file that neither side has, and that tests of the base name.
type Made struct {
	Path string // as it is named: the last part of its path
	By   string // the script or program that makes it, which the change edits
}

// EditedMakers are what tests of the base name, what a script or a program of the repository makes
// on the way to them, and what the change may so have made otherwise: by a line of a recipe, or by
// what is run with each build.
func (r *Reader) EditedMakers() []Made {
	if r.Plans[results.Base] == nil || r.Plans[results.Head] == nil {
		return nil
	}
	var recipes string // what says how files are made
	committed := map[string]bool{}
	for _, f := range r.Plans[results.Base].Files {
		if makesFiles[path.Base(f)] && !ecosystem.IgnoredDir(path.Dir(f)) {
			recipes += string(r.readBase(f)) + "\n"
		}
		committed[path.Base(f)] = true
	}
	for _, f := range r.Plans[results.Head].Files {
		committed[path.Base(f)] = true
	}
	var out []Made
	for _, by := range slices.Sorted(maps.Keys(r.Texts)) {
		v := r.Texts[by]
		if v.Base == nil || v.Head == nil || !languages.IsSource(by) && !strings.HasPrefix(string(v.Base), "#!") || languages.IsTestSource(by) {
			continue
		}
		always := runWithBuilds[path.Base(by)]
		if !always && !besideProduct.MatchString(by) {
			continue
		}
		lines := naming(recipes, by)
		if lines == "" && !always {
			continue
		}
		for _, name := range namedFiles(string(v.Base) + "\n" + lines) {
			if !committed[name] && r.inTests(name) {
				out = append(out, Made{name, by})
			}
		}
	}
	return out
}

// makesFiles are names of files whose commands make others.
var makesFiles = map[string]bool{
	"GNUmakefile": true, "makefile": true, "Makefile": true, "justfile": true, "Taskfile.yml": true, "package.json": true, "tox.ini": true,
	"noxfile.py": true, "pyproject.toml": true, "CMakeLists.txt": true, "meson.build": true, "Makefile.am": true, "Rakefile": true,
}

// runWithBuilds are sources that builds run by their names.
var runWithBuilds = map[string]bool{"setup.py": true, "build.rs": true}

// naming are the lines of recipes that name a file, its folder where that lies in another one, or
// what is built of it.
func naming(recipes, file string) string {
	at := []string{regexp.QuoteMeta(file)}
	if dir := path.Dir(file); strings.Contains(dir, "/") {
		at = append(at, regexp.QuoteMeta(dir))
	}
	lines := linesWith(recipes, at)
	for _, m := range builtOf.FindAllStringSubmatch(lines, -1) {
		at = append(at, regexp.QuoteMeta(m[1]+m[2]))
	}
	return linesWith(recipes, at)
}

// builtOf is the name of what a line builds: by CMake, or as a target.
var builtOf = pattern.New(`(?m)\badd_executable\(\s*([\w-]+)|^([\w./-]+)[ \t]*(?:=[ \t]*executable\(|:[^=])`)

func linesWith(text string, names []string) string {
	word := regexp.MustCompile(`(?m)^(?:.*[\s"'/=(])?(?:` + strings.Join(names, "|") + `)(?:[\s"'\\):].*)?$`)
	return strings.Join(word.FindAllString(text, -1), "\n")
}

// namedFiles are the names of files that stand in quotes, that a shell writes, or that are targets.
func namedFiles(text string) []string {
	var out []string
	for _, re := range []*pattern.Pattern{quotedFile, writtenFile, targetFile} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(out, m[1]) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

var (
	quotedFile  = pattern.New("[\"'`/]([A-Za-z_][\\w-]*(?:\\.[\\w-]+)*\\.[a-z]\\w{0,5})[\"'`]")
	writtenFile = pattern.New(`>\s*(?:[\w./${}()-]+/)?([A-Za-z_][\w.-]*\.[a-z]\w{0,5})\b`)
	targetFile  = pattern.New(`(?m)^(?:[\w./-]+/)?([A-Za-z_][\w.-]*\.[a-z]\w{0,5})[ \t]*:`)
)

// inTests says whether tests of the base name a file by the last part of its path, or import it.
func (r *Reader) inTests(name string) bool {
	word, in := name, `\b`+regexp.QuoteMeta(name)+"[\"'`>\\s]"
	if stem, ok := strings.CutSuffix(name, ".py"); ok {
		word, in = stem, `(?m)^\s*(?:import|from)\s+(?:\w+\.)*`+regexp.QuoteMeta(stem)+`\b`
	}
	names := regexp.MustCompile(in)
	all := r.sourcesOfBase()
	return slices.ContainsFunc(all[:min(len(all), maxRead)], func(f *baseSource) bool {
		return f.test && strings.Contains(r.textOf(f), word) && names.MatchString(r.textOf(f))
	})
}
