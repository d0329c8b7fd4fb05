package sides

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// Reaches says whether a touched file can influence a test, and by running what it
// would show; no places: by all that its command runs.
func (r *Reader) Reaches(t Touch, id results.ID, eco string) (places []string, ok bool) {
	if t.Class == compare.Test && !t.Mixed && id.Command == "" && r.runTogether(t, id, eco) {
		if languages.ByPackage(eco) {
			return r.packageSites(id, eco), true
		}
		return nil, true
	}
	return r.Concerns(t, id, eco)
}

// runTogether says whether a command in which the tests of a file reach all others runs a test.
func (r *Reader) runTogether(t Touch, id results.ID, eco string) bool {
	return r.Together != nil && t.eco == eco && slices.ContainsFunc(r.Plans[results.Base].Test, func(c ecosystem.Command) bool {
		return c.Eco == eco && c.Unit == id.Unit && c.Results != nil && r.Together(c) && r.Runs(results.Base, c, t.Path)
	})
}

// Concerns is Reaches by what a file and a test say of one another, and not by what a file
// of tests does to others that its command runs.
func (r *Reader) Concerns(t Touch, id results.ID, eco string) (places []string, ok bool) {
	for _, at := range t.links {
		via := t
		via.Path, via.links = at, nil
		if places, ok = r.Concerns(via, id, eco); ok {
			return places, true
		}
	}
	unit := id.Unit
	within := ecosystem.Inside(unit, t.Path)
	mine := t.eco == "" || t.eco == eco || t.Mixed && classes.InMixed(t.Path, eco) || t.Class != compare.Steering && !r.tested(t.eco) || r.foreign(t, id, eco)
	if t.Class == compare.Steering {
		concerns := within || ecosystem.Inside(path.Dir(t.Path), unit)
		runsAny := id.Command != "" || r.Configured
		switch {
		case !concerns, !runsAny && (!mine || t.eco == "" && !t.Mixed):
			return nil, false
		case languages.ByPackage(eco) && id.Command == "":
			return r.packageSites(id, eco), true
		}
		return nil, true
	}
	within = within || r.above(t, id)
	switch {
	case id.Command != "":
		return nil, within
	case !within || !mine:
		return nil, false
	case languages.ByPackage(eco):
		return r.packageSites(id, eco), r.packageReached(t, id, eco)
	}
	return r.filesReach(t, id, eco)
}

// foreign says whether a file of another language is data to the tests of one: by its class or its
// folder, or as a file of these tests names it.
func (r *Reader) foreign(t Touch, id results.ID, eco string) bool {
	switch {
	case t.Class == compare.Steering:
		return false
	case t.Class == compare.Data, ecosystem.InFolder(t.Path, classes.DataFolders...):
		return true
	}
	return slices.ContainsFunc(r.namersOf(t.Path), func(f *baseSource) bool {
		of := languages.Named(eco)
		return f != nil && of != nil && of.IsTest != nil && of.IsTest(f.name) && ecosystem.Inside(id.Unit, f.name)
	})
}

// above says whether a file that lies outside of the folder of a test's project belongs to its
// tests: they or what helps them name it, or it lies in no project that has tests.
func (r *Reader) above(t Touch, id results.ID) bool {
	if t.Class == compare.Steering {
		return false
	}
	if !slices.ContainsFunc(r.Plans[results.Base].Projects, func(p ecosystem.Project) bool { return len(p.Test) > 0 && ecosystem.Inside(p.Dir, t.Path) }) {
		return true
	}
	all := r.sourcesOfBase()
	return slices.ContainsFunc(all[:min(len(all), maxRead)], func(f *baseSource) bool {
		if !ecosystem.Inside(id.Unit, f.name) || !f.test && !classes.InTestFolder(f.name) && !classes.MayHelpTests(f.name) {
			return false
		}
		return classes.Names(r.textOf(f), path.Dir(f.name), t.Path) || classes.Imports(r.textOf(f), path.Dir(f.name), t.Path)
	})
}

// tested says whether a project of an ecosystem has tests on the base: where none has, what its
// table calls a file of tests belongs to those of other languages.
func (r *Reader) tested(eco string) bool {
	return slices.ContainsFunc(r.Plans[results.Base].Projects, func(p ecosystem.Project) bool { return p.Eco.Name == eco && len(p.Test) > 0 })
}

// packageSites are the folders in which the package of a test can stand.
func (r *Reader) packageSites(id results.ID, eco string) []string {
	var out []string
	for _, s := range r.Sites(results.ID{Unit: id.Unit, Package: id.Package, Test: id.Test}, eco) {
		if !slices.Contains(out, s.At) {
			out = append(out, s.At)
		}
	}
	return out
}

// packageReached says whether a file belongs to the package of a test, or is data that
// its tests name.
func (r *Reader) packageReached(t Touch, id results.ID, eco string) bool {
	dir := r.PackageDir(results.Base, id)
	if slices.Contains(r.packageSites(id, eco), path.Dir(t.Path)) {
		return true
	}
	by := languages.Named(eco)
	if by.IsTest(t.Path) && !ecosystem.InFolder(t.Path, classes.DataFolders...) {
		return false
	}
	if near := r.nearestPackage(by.Packages, t.Path); near != "" && near == dir {
		return true
	}
	return r.testsName(dir, t.Path)
}

// nearestPackage is the folder of the nearest package around a file, on the base.
func (r *Reader) nearestPackage(by *ecosystem.Packages, name string) string {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if by.Has(r.Base.Dir, dir) && !ecosystem.IgnoredDir(dir) {
			return dir
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}

// testsName says whether the base's tests in a folder name a file, or import code that is there for
// tests and does.
func (r *Reader) testsName(dir, file string) bool {
	key := [2]string{dir, file}
	if _, ok := r.naming[key]; !ok {
		if r.naming == nil {
			r.naming = map[[2]string]bool{}
		}
		r.naming[key] = r.findNaming(dir, file)
	}
	return r.naming[key]
}

func (r *Reader) findNaming(dir, file string) bool {
	var helpers []*baseSource
	for _, f := range r.sourcesOfBase() {
		if !f.test && path.Dir(f.name) != dir && len(helpers) < maxRead && (classes.MayHelpTests(f.name) || classes.InTestFolder(f.name)) &&
			classes.Names(r.textOf(f), path.Dir(f.name), file) {
			helpers = append(helpers, f)
		}
	}
	for _, f := range r.sourcesOfBase() {
		if f.test && path.Dir(f.name) == dir && (classes.Names(r.textOf(f), dir, file) ||
			slices.ContainsFunc(helpers, func(h *baseSource) bool { return classes.Imports(r.textOf(f), dir, h.name) })) {
			return true
		}
	}
	return false
}

// filesReach says which test file a touched file belongs to; none: all of them.
func (r *Reader) filesReach(t Touch, id results.ID, eco string) (places []string, ok bool) {
	file, src := r.TestFileOf(id)
	if src == nil {
		return nil, true
	}
	here := []string{file}
	if to := r.MovedTo(file); to != file {
		here = append(here, to)
	}
	switch {
	case t.examples:
		return here, t.Path == file
	case t.Class == compare.Test && !t.Mixed && t.eco != "" && t.eco != eco: // to these tests it is data, whatever its language makes of it
		return here, classes.Names(string(src), path.Dir(file), t.Path) || !r.namedElsewhere(t.Path, id.Unit, file)
	case t.Class == compare.Test && !t.Mixed && !languages.IsTestSource(file) && classes.ForTests(t.Path, r.readBase) != "":
		return nil, true // the program whose tests these are is made of several files
	case t.Class == compare.Test && !t.Mixed:
		return here, t.Path == file || t.Path == r.MovedTo(file) || r.importers(t.Path)[file]
	case t.Class == compare.Data && ecosystem.InFolder(t.Path, "__snapshots__"):
		if of := r.snapshotOf(t.Path); of != "" {
			return here, of == file
		}
		return here, classes.Names(string(src), path.Dir(file), t.Path) || !r.namedElsewhere(t.Path, id.Unit, file)
	case t.Class == compare.Data && classes.Names(string(src), path.Dir(file), t.Path):
		return here, true
	case t.Class == compare.Data && r.namedElsewhere(t.Path, id.Unit, file):
		return nil, false
	}
	return nil, true
}

// snapshotOf is the file of tests of the base that a file of a folder __snapshots__ belongs to by its
// name: x.test.js.snap, or test_x.ambr. Empty: there is none.
func (r *Reader) snapshotOf(name string) string {
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	for _, f := range r.Plans[results.Base].Files {
		base := path.Base(f)
		if path.Dir(f) == path.Dir(path.Dir(name)) && (base == stem || strings.TrimSuffix(base, path.Ext(base)) == stem) && languages.IsTestSource(f) {
			return f
		}
	}
	return ""
}

// importers are the test files of the base that import a test file, or one that does, as
// where their classes are made of its: what it says they say, too. What a runner loads for all of
// them, such as conftest.py, imports it for all.
func (r *Reader) importers(name string) map[string]bool {
	if out, ok := r.importing[name]; ok {
		return out
	}
	r.readTests()
	out := map[string]bool{}
	var all []string // folders
	for next := []string{name}; len(next) > 0; {
		of := next[0]
		stem, by := importOf(of)
		next = next[1:]
		for f, src := range r.testTexts {
			if f == name || out[f] || !importsTest(f, src, of, stem, by) {
				continue
			}
			out[f], next = true, append(next, f)
			if dir, loaded := r.loadedBefore(f); loaded {
				all = append(all, dir)
			}
		}
	}
	for f := range r.testTexts {
		if f != name && slices.ContainsFunc(all, func(dir string) bool { return ecosystem.Inside(dir, f) }) {
			out[f] = true
		}
	}
	r.importing[name] = out
	return out
}

// OnlyImports says whether a test stands in none of the files of tests that the change touches and that
// have to do with it: it imports them.
func (r *Reader) OnlyImports(id results.ID, eco string) bool {
	file, src := r.TestFileOf(id)
	if src == nil || languages.ByPackage(eco) {
		return false
	}
	some := false
	for _, t := range r.Touched {
		if _, ok := r.Concerns(t, id, eco); !ok || t.Class != compare.Test {
			continue
		}
		text := r.Texts[t.Path].Base
		if t.Mixed || !r.importers(t.Path)[file] || r.testsOf(results.Base, t.Path, text).Text(id.Test) != "" || path.Ext(file) != ".py" && classes.TextAt(string(text), id.Test) != "" {
			return false
		}
		some = true
	}
	return some
}

// readTests reads the base's test files once.
func (r *Reader) readTests() {
	if r.testTexts == nil {
		r.testTexts = map[string]string{}
		for _, f := range r.sourcesOfBase() {
			if len(r.testTexts) < maxRead && f.test {
				r.testTexts[f.name] = r.textOf(f)
			}
		}
		r.importing = map[string]map[string]bool{}
	}
}

// loadedBefore says whether a runner loads a file before all tests of a folder.
func (r *Reader) loadedBefore(name string) (dir string, ok bool) {
	if path.Base(name) == "conftest.py" {
		return path.Dir(name), true
	}
	return ".", classes.NamesSetup(r.settings, name)
}

// importsTest says whether a file of tests imports another one: by its name, by its folder where it
// stands for that, or by its class.
func importsTest(file, src, of, stem string, by *regexp.Regexp) bool {
	return someLine(src, stem, by.MatchString) || isIndex(of) && classes.Imports(src, path.Dir(file), of) ||
		strings.Contains(src, stem) && classes.UsesClass(src, of)
}

// isIndex says whether a module is called by its folder.
func isIndex(file string) bool {
	return path.Base(file) == "__init__.py" || strings.HasPrefix(path.Base(file), "index.")
}

// someLine says whether a line with a word in it is one. Only these are looked at.
func someLine(text, word string, is func(line string) bool) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		i += at
		start := strings.LastIndexByte(text[:i], '\n') + 1
		end := len(text)
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			end = i + n
		}
		if is(text[start:end]) {
			return true
		}
		if at = end + 1; at >= len(text) {
			return false
		}
	}
}

// importOf matches a line that imports a file by its name, which has to stand in it, in whatever language.
// A module that is called by its folder is imported by a string that ends in that.
func importOf(file string) (stem string, by *regexp.Regexp) {
	stem, word, end := path.Base(strings.TrimSuffix(file, path.Ext(file))), "include", `(?:\b|$)`
	switch {
	case path.Ext(file) == ".rs":
		if word = "include|mod"; stem == "mod" {
			stem = path.Base(path.Dir(file))
		}
	case isIndex(file) && path.Dir(file) != ".":
		stem, end = path.Base(path.Dir(file)), `(?:/index(?:\.\w+)?)?/?["'`+"`"+`]`
	}
	return stem, regexp.MustCompile(`\b(?:import\w*|from|require\w*|pytest_plugins|` + word + `)\b.*\b` + regexp.QuoteMeta(stem) + end)
}

// namedElsewhere says whether some test file of a folder names a file, so that the
// others have nothing to do with it. What conftest.py names may reach all of them, and what
// any file of theirs names those that name that one.
func (r *Reader) namedElsewhere(file, unit, test string) bool {
	named := false
	for _, f := range r.namersOf(file) {
		if f == nil {
			return false
		}
		if !ecosystem.Inside(unit, f.name) {
			continue
		}
		by := r.importers(f.name)
		if path.Base(f.name) == "conftest.py" || by[test] || len(by) == 0 && !r.reportsOf(f.name) || classes.Words([]byte(r.testTexts[test]))[stemOf(f.name)] {
			return false
		}
		named = true
	}
	return named
}

// namersOf are the test files of the base that name a file; the last one is nil where there are too
// many to look at.
func (r *Reader) namersOf(file string) []*baseSource {
	out, ok := r.namers[file]
	if ok {
		return out
	}
	read := 0
	for _, f := range r.sourcesOfBase() {
		if !f.test {
			continue
		}
		if read++; read > maxRead {
			out = append(out, nil)
			break
		}
		if classes.Names(r.textOf(f), path.Dir(f.name), file) {
			out = append(out, f)
		}
	}
	if r.namers == nil {
		r.namers = map[string][]*baseSource{}
	}
	r.namers[file] = out
	return out
}

// reportsOf says whether the base's run has a test of a file.
func (r *Reader) reportsOf(file string) bool {
	for id := range r.Suites[results.Base] {
		if id.Package == file {
			return true
		}
	}
	return false
}

// Edits says whether the change alters, adds or takes away a line of the sources in
// which a name stands.
func (r *Reader) Edits(name string) bool {
	if name == "" {
		return false
	}
	line := regexp.MustCompile(`(?m)^.*\b` + regexp.QuoteMeta(name) + `\b.*$`)
	lines := func(src []byte) []string {
		var out []string
		for _, l := range line.FindAll(src, -1) {
			out = append(out, string(l))
		}
		slices.Sort(out)
		return out
	}
	for file, v := range r.Texts {
		if r.sourceText(file) && !slices.Equal(lines(v.Base), lines(v.Head)) {
			return true
		}
	}
	return false
}

// sourceText says whether a changed file is one of the sources.
func (r *Reader) sourceText(file string) bool {
	return languages.IsSource(file) && !slices.ContainsFunc(r.Touched, func(t Touch) bool { return t.Path == file && !t.Mixed })
}

// RootGone says whether a message names what a project of the base is imported by, and no
// project of the head is.
func (r *Reader) RootGone(message string) bool {
	roots := func(side results.Side) []string {
		var out []string
		for _, p := range r.allProjects(side) {
			if by := languages.PackagesOf(p.Eco.Name); by != nil && by.Root(p) != "" {
				out = append(out, by.Root(p))
			}
		}
		return out
	}
	head := roots(results.Head)
	return slices.ContainsFunc(roots(results.Base), func(root string) bool { return !slices.Contains(head, root) && results.Mentions(message, root) })
}

// Undeclared says whether a folder of the change's sources has lost the declaration of a
// name, which may still stand there as that of something else.
func (r *Reader) Undeclared(name string) bool {
	line := regexp.MustCompile(`(?m)\b(?:func|def|function|fn|fun|type|class|var|const|let|struct|enum|trait|interface)\b[ \t*]*(?:\([^)\n]*\)[ \t]*)?` + regexp.QuoteMeta(name) + `(?:[^\pL\pN_]|$)`)
	before, after := map[string]bool{}, map[string]bool{}
	for file, v := range r.Texts {
		if r.sourceText(file) {
			before[path.Dir(file)] = before[path.Dir(file)] || line.Match(v.Base)
			after[path.Dir(file)] = after[path.Dir(file)] || line.Match(v.Head)
		}
	}
	for dir := range before {
		if before[dir] && !after[dir] {
			return true
		}
	}
	return false
}

// Redeclared says whether the change alters the line that declares a name in the
// sources.
func (r *Reader) Redeclared(name string) bool {
	if name == "" {
		return false
	}
	quoted := regexp.QuoteMeta(name)
	line := regexp.MustCompile(`(?m)^(?:.*\b(?:func|def|function|fn|fun|type|class|record|var|const|let|struct)\b[^\n]*\b` + quoted + `\b.*` +
		`|[ \t]*(?:[\w:<>,\[\]*&]+[ \t*&]+)*` + quoted + `[ \t]*\(.*)$`) // C, Java and C# have no word for it
	for file, v := range r.Texts {
		if !r.sourceText(file) {
			continue
		}
		for _, was := range line.FindAll(v.Base, -1) {
			if !slices.ContainsFunc(line.FindAll(v.Head, -1), func(is []byte) bool { return string(is) == string(was) }) {
				return true
			}
		}
	}
	return false
}

// TestsSay says whether a test of the base has the name of a package, as they do that import it.
func (r *Reader) TestsSay(pkg string) bool {
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		if !f.test {
			return false
		}
		text := r.textOf(f)
		return strings.Contains(text, `"`+pkg+`"`) || strings.Contains(text, "'"+pkg+"'") || strings.Contains(text, `"`+pkg+`/`) || strings.Contains(text, "'"+pkg+"/") ||
			strings.Contains(text, "import "+pkg) || strings.Contains(text, "from "+pkg)
	})
}
