package sides

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Product says whether a touched file is a part of the product as well, which the head has
// otherwise: sources of the base import it, or have it as their data, or the change has them do
// so, or it is what the product is built by. A file that is added or removed is one where
// no test that the change touches names it. keep is what to put in its place with the head's
// part in it; nil: the file is the head's.
func (r *Reader) Product(t Touch) (keep *workspace.Put, ok bool) {
	switch t.Class {
	case compare.Test, compare.Support:
		if t.Mixed {
			return nil, false
		}
		if _, source, _ := r.namedIn(t.Path, classes.Imports); source || r.newlyNamed(t.Path, importsOrNames) || native.OnlyNamedTest(t.Path, r.Texts[t.Path].Base) {
			return nil, true
		}
		helps := classes.MayHelpTests(t.Path) && !classes.InTestFolder(t.Path) // of a library for tests it is the product
		return nil, t.Class == compare.Support && (helps || !r.foundByName(t.Path) && r.unnamed(t.Path))
	case compare.Data:
		return nil, languages.IsSource(t.Path) || r.inProduct(t.Path) || r.newlyNamed(t.Path, classes.NamesInTree) || !r.readInPart(t.Path, r.Texts[t.Path]) && (r.unnamed(t.Path) || r.notOfTests(t.Path))
	case compare.Steering:
		if data := classes.ProductOf(t.Path, r.Texts[t.Path]); data != nil {
			return &workspace.Put{Path: t.Path, Data: data}, true
		}
		return nil, !t.Mixed && r.inProduct(t.Path) || r.newlyNamed(t.Path, classes.NamesInTree)
	}
	return nil, false
}

func importsOrNames(text, dir, name string) bool {
	return classes.Imports(text, dir, name) || classes.NamesInTree(text, dir, name)
}

// besideProduct are sources that are run by those who work on a project, and are no part of it.
var besideProduct = pattern.New(`(?:^|/)(?:scripts?|tools?|bench(?:marks?|es)?|examples?|docs?|dev|ci|build)/|(?:^|/)(?:setup|noxfile|conf|build|gulpfile|Gruntfile)\.\w+$`)

// inProduct says whether a source of the base that is no test has a file as its own.
func (r *Reader) inProduct(name string) bool {
	all := r.sourcesOfBase()
	return slices.ContainsFunc(all[:min(len(all), maxRead)], func(f *baseSource) bool {
		return !f.test && !f.apart && !classes.InTestFolder(f.name) && !besideProduct.MatchString(f.name) && classes.NamesInTree(r.textOf(f), path.Dir(f.name), name)
	})
}

// OnlyTestsName says whether tests of the base name a file, and none of its sources does that
// is a part of the product.
func (r *Reader) OnlyTestsName(name string) bool {
	all := r.sourcesOfBase()
	tests := slices.ContainsFunc(all[:min(len(all), maxRead)], func(f *baseSource) bool {
		text, dir := r.textOf(f), path.Dir(f.name)
		return f.test && (classes.Names(text, dir, name) || classes.NamesInTree(text, dir, name) || classes.Embeds(text, dir, name))
	})
	return tests && !r.inProduct(name)
}

// newlyNamed says whether a source that the change touches, and that is no test, refers to a file
// as the head has it.
func (r *Reader) newlyNamed(name string, refers func(text, dir, name string) bool) bool {
	for f, v := range r.Texts {
		if f != name && v.Head != nil && languages.IsSource(f) && !languages.IsTestSource(f) && !classes.InTestFolder(f) && !classes.IsRunnerSettings(f) &&
			!besideProduct.MatchString(f) && refers(string(v.Head), path.Dir(f), name) {
			return true
		}
	}
	return false
}

// ofRunners are folders whose files runners and their plug-ins find without a name in the tests.
var ofRunners = strings.Fields("testdata snapshots __snapshots__ cassettes golden goldens __fixtures__ approvals expected corpus __mocks__ stubs mappings")

// notOfTests says whether data that the change edits is named by no test of the base, nor is the
// folder in which it lies: what reads it is the product, by a name that its settings have or that it
// puts together.
func (r *Reader) notOfTests(name string) bool {
	v, ok := r.Texts[name]
	folder := path.Base(path.Dir(name))
	all := r.sourcesOfBase()
	if !ok || v.Base == nil || v.Head == nil || folder == "." || slices.Contains(ofRunners, folder) || len(all) > maxRead {
		return false
	}
	stem, _, _ := strings.Cut(path.Base(name), ".")
	word := regexp.MustCompile(`\b(?:` + regexp.QuoteMeta(folder) + `|` + regexp.QuoteMeta(path.Base(name)) + `)\b|["'` + "`" + `]` + regexp.QuoteMeta(stem) + `["'` + "`" + `]`)
	return !slices.ContainsFunc(all, func(f *baseSource) bool {
		tests := f.test || classes.InTestFolder(f.name) || classes.MayHelpTests(f.name) || f.apart
		return tests && (word.MatchString(r.textOf(f)) || strings.Contains(f.name, "/"+folder+"/") || strings.HasPrefix(path.Base(f.name), folder+"."))
	})
}

// unnamed says whether a file is added or removed, and no test that the change touches names it:
// what reads it then is the product, by a name that it puts together.
func (r *Reader) unnamed(name string) bool {
	v, ok := r.Texts[name]
	if !ok || v.Base != nil && v.Head != nil {
		return false
	}
	stem, _, _ := strings.Cut(path.Base(name), ".")
	named := func(text []byte) bool {
		return bytes.Contains(text, []byte(path.Base(name))) || slices.ContainsFunc([]string{`"`, "'", "`"}, func(q string) bool { return bytes.Contains(text, []byte(q+stem+q)) })
	}
	for f, t := range r.Texts {
		imports := func(text []byte) bool { return classes.Imports(string(text), path.Dir(f), name) }
		if f != name && r.ofTests(f) && (named(t.Head) || named(t.Base) || imports(t.Head) || imports(t.Base)) {
			return false
		}
	}
	return true
}

// ofTests says whether a file is one of tests, or stands among them.
func (r *Reader) ofTests(name string) bool {
	return languages.IsSource(name) && languages.IsTestSource(name) || slices.ContainsFunc(r.Touched, func(t Touch) bool {
		return t.Path == name && (t.Class == compare.Test || t.Class == compare.Support || classes.InTestFolder(name) && t.Class == compare.Steering)
	})
}

// foundByName says whether runners find a file that tests share by its name or folder, so that
// none of them has to name it.
func (r *Reader) foundByName(name string) bool {
	v := r.Texts[name]
	return slices.Contains(ofRunners, path.Base(path.Dir(name))) || classes.IsShared(name, v.Base) || classes.IsShared(name, v.Head)
}
