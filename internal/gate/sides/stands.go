package sides

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/elixir"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Stands says whether a test of the base still stands in the head's tree by its own
// name, whatever its file is called, however it is tagged and wherever it is.
func (r *Reader) Stands(id results.ID) bool {
	file, src := r.TestFileOf(id)
	if src == nil {
		return r.projectStands(id) && !r.nameGone(id) && !r.unfiledRowGone(id)
	}
	whole := false // another function can have the name, so that the text has to be there
	if in, own := rust.InFile(file, id.Test, func(f string) bool { return r.readBase(f) != nil }); own != id.Test {
		if r.reportedAs(id.Package, id.Test, "::"+own) {
			return false // its module has another name
		}
		file, src, id.Package, id.Test, whole = in, r.readBase(in), in, own, true
	}
	base := r.testsOf(results.Base, file, src)
	known := base.Has(id.Test) && !whole
	params := strings.Contains(id.Test, "[") && base.Text(id.Test) != ""
	for name, head := range r.headTests(file) {
		t := r.testsOf(results.Head, name, head)
		if name != file && name != r.MovedTo(file) && (r.testsOf(results.Base, name, r.Texts[name].Base).Has(id.Test) || r.reported(name, id.Test, func() bool { return r.AddsSkip(id) || skipMark.MatchString(classes.TextAt(string(head), id.Test)) }) || whole && r.ranInModule(name, id.Test)) {
			continue // it is another test of that name, or this one where it ran
		}
		if own, ok := classes.Bare(name, id.Test); ok && r.renamed().fresh[Site{name, own}] {
			continue // it ran there by another namespace
		}
		switch {
		case known && !params && t.Keeps(base, id.Test):
			return true
		case known && !params && (name == file || name == r.MovedTo(file)) && r.displaced(t.Displaced(base, id.Test)):
			return true
		case params && t.Text(id.Test) == base.Text(id.Test):
			return !r.rowGone(id) // its parameter is put together by what did not change
		case !known && base.Text(id.Test) != "" && t.Text(id.Test) == base.Text(id.Test):
			return whole || !r.rowGone(id)
		case !known && bytes.Equal(head, src):
			return !r.takenElsewhere(id) && (whole || !r.rowGone(id))
		}
	}
	return false
}

// exampleGone says of an example in the documentation of Elixir or Python whether the change takes what it is
// of out of its module.
func (r *Reader) exampleGone(id results.ID) bool {
	if module, function := elixir.ExampleOf(id.Test); function != "" && path.Ext(id.Package) == ".exs" {
		was, is := false, false
		for _, v := range r.Texts {
			was = was || elixir.Defines(v.Base, module, function)
			is = is || elixir.Defines(v.Head, module, function)
		}
		return was && !is
	}
	if path.Ext(id.Package) != ".py" || languages.IsTestFile(id.Package) {
		return false
	}
	file, src := r.TestFileOf(id)
	name := id.Test[strings.LastIndexByte(id.Test, '.')+1:]
	defined := regexp.MustCompile(`(?m)^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+` + regexp.QuoteMeta(name) + `\b`)
	return defined.Match(src) && !defined.Match(r.readHead(file))
}

// displaced says of the name of a test that stands in another place of its file, such as in a class or a
// function, whether no test that only the head has is called so: its runner does not find it there.
func (r *Reader) displaced(name string) bool {
	for id, t := range r.Suites[results.Head] {
		test, _, _ := strings.Cut(id.Test, "[")
		if t.Status != results.NotRun && r.Suites[results.Base][id].Status == "" && strings.HasSuffix(test, name) {
			return false
		}
	}
	return name != ""
}

// testsOf is what a source of a side says of its tests, which is read once.
func (r *Reader) testsOf(side results.Side, name string, src []byte) classes.TestText {
	at := [2]string{string(side), name}
	t, ok := r.testsRead[at]
	if !ok {
		if r.testsRead == nil {
			r.testsRead = map[[2]string]classes.TestText{}
		}
		t = classes.ReadTests(name, src)
		r.testsRead[at] = t
	}
	return t
}

// rowGone says of a test whose name is put together as it runs whether others of its function, or of its
// file, ran on the head, and the change edits what they are made of, such as a table or a folder of
// cases, and nothing that chooses among tests.
func (r *Reader) rowGone(id results.ID) bool {
	eco := r.EcoOf(id)
	if !r.familyRan(id) {
		return false
	}
	file, src := r.TestFileOf(id)
	made := false
	for _, t := range r.Touched {
		if _, ok := r.Concerns(t, id, eco); !ok {
			continue
		}
		v := r.Texts[t.Path]
		switch {
		case r.choosesTests(t), bytes.Contains(v.Base, []byte("TestMain(")), bytes.Contains(v.Head, []byte("TestMain(")):
			return false
		case t.Class == compare.Steering:
			continue // it makes none
		case t.Class == compare.Support && path.Base(t.Path) != "conftest.py" && !languages.ByPackage(eco) && !classes.Imports(string(src), path.Dir(file), t.Path) && !classes.Names(string(src), path.Dir(file), t.Path):
			return false
		}
		made = true
	}
	return made
}

// familyRan says whether others of the function of a test, or of its file, ran on the head.
func (r *Reader) familyRan(id results.ID) bool {
	family := ""
	if name, _, ok := strings.Cut(id.Test, "["); ok {
		family = name + "["
	} else if languages.ByPackage(r.EcoOf(id)) {
		family = id.Top()
	}
	ran := false
	for have, t := range r.Suites[results.Head] {
		ran = ran || t.Status != results.NotRun && have.Test != "" && have.Unit == id.Unit && strings.HasPrefix(have.Test, family) &&
			(have.Package == id.Package || have.Package == r.MovedTo(id.Package))
	}
	return ran
}

// OfGone says of a row that others of its function ran beside whether the change deletes the file that it
// is named after, and of an example whether it removes the function. A document of its name alone makes no row.
func (r *Reader) OfGone(id results.ID) bool {
	if r.exampleGone(id) {
		return true
	}
	_, row, ok := strings.Cut(strings.TrimSuffix(id.Test, "]"), "[")
	if !ok && languages.ByPackage(r.EcoOf(id)) {
		_, row, ok = strings.Cut(id.Test, "/")
	}
	return ok && r.familyRan(id) && slices.ContainsFunc(r.Change.Files, func(f change.File) bool {
		base := path.Base(f.Path)
		return f.Status == change.Deleted && !languages.IsTestFile(f.Path) && (row == f.Path || row == base || !ecosystem.IsDoc(f.Path) && row == strings.TrimSuffix(base, path.Ext(base)))
	})
}

// takenElsewhere says whether the change takes a test out of another file, of which the test's own has
// it: a class that those of several files are made of.
func (r *Reader) takenElsewhere(id results.ID) bool {
	return slices.ContainsFunc(r.Touched, func(t Touch) bool {
		v := r.Texts[t.Path]
		return !t.Mixed && v.Base != nil && r.testsOf(results.Base, t.Path, v.Base).Text(id.Test) != "" && r.testsOf(results.Head, t.Path, v.Head).Text(id.Test) == ""
	})
}

// reported says whether the head's run has a test of a name in a file. One that was skipped counts where
// the test itself asks for that; another one, such as with a test beside it that alone is to run, only stands there.
func (r *Reader) reported(file, test string, skips func() bool) bool {
	for id, t := range r.Suites[results.Head] {
		if id.Test == test && t.Status != results.NotRun && (t.Status != results.Skipped || skips()) && (id.Package == file || languages.ByPackage(t.Eco) && r.PackageDir(results.Head, id) == path.Dir(file)) {
			return true
		}
	}
	return false
}

// reportedAs says whether the head's run has a test in a file whose name ends so, and the
// base's has not.
func (r *Reader) reportedAs(file, test, end string) bool {
	for id, t := range r.Suites[results.Head] {
		if id.Package == file && id.Test != test && strings.HasSuffix(id.Test, end) && t.Status != results.NotRun && r.Suites[results.Base][id].Status == "" {
			return true
		}
	}
	return false
}

// headTests are the head's contents of the file of a test, wherever it is, and of
// all that the change brings.
func (r *Reader) headTests(file string) map[string][]byte {
	out := map[string][]byte{}
	for name, v := range r.Texts {
		if v.Head != nil {
			out[name] = v.Head
		}
	}
	if src, err := ecosystem.ReadInTree(r.Head.Dir, file); err == nil {
		out[file] = src
	}
	return out
}

// TestFileOf is the base's file that a test is in, with its content; no content
// where that is not known.
func (r *Reader) TestFileOf(id results.ID) (string, []byte) {
	if id.Command != "" {
		return "", nil
	}
	eco := languages.Named(r.EcoOf(id))
	if eco == nil || eco.Packages == nil {
		src, ok := r.testFiles[id.Package]
		if !ok {
			if r.testFiles == nil {
				r.testFiles = map[string][]byte{}
			}
			if src = r.readBase(id.Package); src == nil {
				return "", nil
			}
			r.testFiles[id.Package] = src
		}
		return id.Package, src
	}
	dir := r.PackageDir(results.Base, id)
	if r.byDir == nil {
		r.byDir = map[string]map[string]testFile{}
	}
	if r.byDir[dir] == nil {
		r.byDir[dir] = r.readPackage(eco, dir)
	}
	f := r.byDir[dir][id.Top()]
	return f.name, f.src
}

// StandsIn is the base's file that the text of a test is in: that of its own module, where its
// program is made of several sources.
func (r *Reader) StandsIn(id results.ID) string {
	in, _ := r.NamedIn(id)
	return in
}

// NamedIn is that file with the name that the test has in it.
func (r *Reader) NamedIn(id results.ID) (file, own string) {
	file, _ = r.TestFileOf(id)
	return rust.InFile(file, id.Test, func(f string) bool { return r.readBase(f) != nil })
}

// A testFile is a file of the base that has a test.
type testFile struct {
	name string
	src  []byte
}

// readPackage returns the base's test files in a folder by the tests in them.
func (r *Reader) readPackage(eco *ecosystem.Ecosystem, dir string) map[string]testFile {
	out := map[string]testFile{}
	for _, f := range r.Plans[results.Base].Files {
		if path.Dir(f) != dir || !eco.IsTest(f) {
			continue
		}
		src, err := ecosystem.ReadInTree(r.Base.Dir, f)
		if err != nil {
			continue
		}
		for name := range eco.Packages.Tests(src) {
			out[name] = testFile{f, src}
		}
	}
	return out
}

// projectStands says of a test without a file whether what runs it is still there.
func (r *Reader) projectStands(id results.ID) bool {
	for _, p := range r.allProjects(results.Base) {
		if p.Dir != id.Unit {
			continue
		}
		for _, w := range p.Why {
			if _, gone := slices.BinarySearch(r.Plans[results.Head].Files, r.MovedTo(w)); gone {
				return true
			}
		}
	}
	return len(r.allProjects(results.Base)) == 0 || r.Configured
}

var skipMark = pattern.New(`(?i)skip|\btodo\b|\bxit\b|\bxtest\b|\bxdescribe\b|pending|@ignore|\bignore\b|disabled|xfail|expectedFailure`)

// AddsSkip says whether an edit of the test itself, or of what stands around it, may skip it.
func (r *Reader) AddsSkip(id results.ID) bool { return r.marked(id, skipMark) || r.skippedAround(id) }

// marked says whether an edit of the test itself brings a mark.
func (r *Reader) marked(id results.ID, mark *pattern.Pattern) bool {
	file, src := r.TestFileOf(id)
	if src == nil {
		return r.markedUnfiled(id, mark)
	}
	base := r.testsOf(results.Base, file, src)
	for name, head := range r.headTests(file) {
		t := r.testsOf(results.Head, name, head)
		before, after := base.Text(id.Test), t.Text(id.Test)
		if before == "" && (name == file || name == r.MovedTo(file)) {
			before, after = string(src), string(head)
		}
		if after == "" || after == before {
			continue
		}
		was := map[string]bool{}
		for line := range strings.Lines(before) {
			was[strings.TrimSpace(line)] = true
		}
		for line := range strings.Lines(after) {
			if !was[strings.TrimSpace(line)] && mark.MatchString(line) {
				return true
			}
		}
	}
	return false
}

// RemovedNames are the names that the change takes out of the sources that a test
// can mean: those of its files on the base that none of the same folder has on the
// head, in the test's own folder and in files and folders that it names. Those of tests inside of
// sources are none of them.
func (r *Reader) RemovedNames(id results.ID) map[string]bool {
	file, src := r.TestFileOf(id)
	about := classes.Words(src)
	before, after := map[string]map[string]bool{}, map[string]map[string]bool{}
	add := func(to map[string]map[string]bool, dir string, names map[string]bool) {
		if to[dir] == nil {
			to[dir] = map[string]bool{}
		}
		maps.Copy(to[dir], names)
	}
	for name, v := range r.Texts {
		apart := slices.ContainsFunc(r.Touched, func(t Touch) bool { return t.Path == name && !t.Mixed })
		if apart || ecosystem.IsDoc(name) || !languages.IsSource(name) {
			continue
		}
		words := classes.Words
		if parts := classes.PartsOf(name); parts != nil {
			words = func(src []byte) map[string]bool {
				_, rest := parts(string(src))
				return classes.Words([]byte(rest))
			}
		}
		dir, stem := path.Dir(name), strings.TrimSuffix(path.Base(name), path.Ext(name))
		add(after, dir, words(v.Head))
		if src != nil && dir != path.Dir(file) && !about[path.Base(dir)] && !about[stem] {
			continue
		}
		add(before, dir, words(v.Base))
		if v.Head == nil { // a module is called by the name of its file
			add(before, dir, map[string]bool{stem: true})
		}
	}
	out := map[string]bool{}
	for dir, names := range before {
		for w := range names {
			if !after[dir][w] {
				out[w] = true
			}
		}
	}
	return out
}

// usable finds what a source declares that others can name; what it only uses, as words of the language,
// those of a message and variables of a function, is nothing that a test is about.
var usable = []*pattern.Pattern{
	pattern.New(`\b(?:func|defp?|defmodule|function|fn|fun|type|class|record|struct|enum|trait|interface|module|define)\b[ \t*]*(?:\([^)\n]*\)[ \t]*)?(?:\w+(?:::|\.))*([\pL_$][\pL\pN_$]*)`),
	pattern.New(`(?m)^[ \t]*(?:[^\s(;=]+[ \t*&]+)*([\pL_$][\pL\pN_$]*)[ \t]*\([^;\n]*\)[^;\n]*(?:\n[ \t]*)?\{[ \t]*$`), // such as of C, Java and in classes of JavaScript
	pattern.New(`(?m)^(?:[a-z]+[ \t]+)*([\pL_$][\pL\pN_$]*)[ \t]*(?::[^=\n]*)?=[^=]|^[ \t]+([\p{Lu}][\pL\pN_]*)[ \t]*(?:=[^=\n].*|\([^\n]*\))?[,;]?$`),
	pattern.New(`\.([\pL_$][\pL\pN_$]*)[ \t]*=[^=]|(?m:^[ \t]*|[{,][ \t]*)["']?([\pL_$][\pL\pN_$]*)["']?\??[ \t]*:[ \t]*[^\s:=]`), // properties
	pattern.New("[\"'`](?:--?|/)([\\pL_$][\\pL\\pN_$]*)"), // options and routes
}

// usables are the names that the sources of the change declared on the base, and those of files that are gone.
func (r *Reader) usables() map[string]bool {
	out := map[string]bool{}
	for name, v := range r.Texts {
		if !r.sourceText(name) {
			continue
		}
		if v.Head == nil {
			out[strings.TrimSuffix(path.Base(name), path.Ext(name))] = true
		}
		maps.Copy(out, declaredBy(string(v.Base)))
	}
	return out
}

// declaredBy are the names that a source declares.
func declaredBy(text string) map[string]bool {
	out := map[string]bool{}
	for _, p := range usable {
		for _, m := range p.FindAllStringSubmatch(text, -1) {
			out[results.FirstGroup(m)] = true
		}
	}
	return out
}

// SubjectStands says whether nothing that a test names, and that can be named, was taken out of the sources.
func (r *Reader) SubjectStands(id results.ID) bool {
	file, src := r.TestFileOf(id)
	if src == nil {
		return true
	}
	if text := r.testsOf(results.Base, file, src).Text(id.Test); text != "" {
		src = []byte(text)
	}
	removed := r.RemovedNames(id)
	for _, f := range r.moves().sources { // what moves stands
		maps.DeleteFunc(removed, func(w string, _ bool) bool {
			return w == strings.TrimSuffix(path.Base(f.OldPath), path.Ext(f.OldPath))
		})
		for w := range classes.Words(r.Texts[f.Path].Head) {
			delete(removed, w)
		}
	}
	for _, s := range r.moves().out {
		for name := range s.To {
			delete(removed, name)
		}
	}
	usable := r.usables()
	for w := range classes.Words(src) {
		if removed[w] && usable[w] && !slices.Contains(keywords, w) {
			return false
		}
	}
	return true
}
