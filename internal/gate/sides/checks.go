package sides

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/node"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// checksForTests says whether a source of the base is a suite of checks, or a set of assertions:
// it is written for tests, they alone take it in, and each of them has to do with another source as
// well. Else it may be what they test, such as a library of assertions.
func (r *Reader) checksForTests(name string, src []byte, refers func(text, dir, name string) bool) bool {
	return classes.ChecksForTests(name, src) && r.besideTested(name, refers)
}

// maxImports is how much of a table is searched for what it takes in.
const maxImports = 1 << 14

// tableOfTests says the same of a source of the base that has nothing but values.
func (r *Reader) tableOfTests(name string, src []byte, refers func(text, dir, name string) bool) bool {
	if src == nil || languages.IsTestSource(name) || !classes.IsTable(name, src) {
		return false
	}
	top := string(src[:min(len(src), maxImports)])
	if slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool { return f.name != name && refers(top, path.Dir(name), f.name) }) {
		return false // it hands on what others have
	}
	if path.Ext(name) == ".go" && slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool { // its package does more
		return !f.test && path.Dir(f.name) == path.Dir(name) && path.Ext(f.name) == ".go" && !classes.IsTable(f.name, []byte(r.textOf(f)))
	}) {
		return false
	}
	return r.besideTested(name, func(text, dir, name string) bool {
		return refers(text, dir, name) || classes.Names(text, dir, name)
	})
}

// packageOfTests says whether a source is of a package of Node.js in the tree that has no tests, that
// nothing depends on, and that only tests of others take in by its path, each of which has to do
// with another source as well.
func (r *Reader) packageOfTests(name string, src []byte, refers func(text, dir, name string) bool) bool {
	if src == nil || r.Plans[results.Base] == nil || !node.IsSource(name) || languages.IsTestSource(name) {
		return false
	}
	own := node.PackageDir(name, r.readBase)
	if known, ok := r.onlyOfTests[own]; ok {
		return known
	}
	if r.onlyOfTests == nil {
		r.onlyOfTests = map[string]bool{}
	}
	r.onlyOfTests[own] = r.forOthersTests(own, refers)
	return r.onlyOfTests[own]
}

// forOthersTests says so of a package by its folder.
func (r *Reader) forOthersTests(own string, refers func(text, dir, name string) bool) bool {
	called := node.PackageName(r.readBase(path.Join(own, "package.json")))
	p := r.Plans[results.Base]
	if own == "." || called == "" || slices.ContainsFunc(p.Files, func(f string) bool { return path.Base(f) == "package.json" && node.DependsOn(r.readBase(f), called) }) {
		return false
	}
	all := r.sourcesOfBase()
	in := func(f *baseSource) bool { return ecosystem.Inside(own, f.name) }
	if len(all) > maxRead || slices.ContainsFunc(all, func(f *baseSource) bool { return f.test && in(f) }) {
		return false
	}
	found := false
	for _, f := range all {
		text, dir := r.textOf(f), path.Dir(f.name)
		switch {
		case in(f), f.apart, !strings.Contains(text, path.Base(own)) && !strings.Contains(text, called):
			continue
		case !f.test && (strings.Contains(text, "'"+called) || strings.Contains(text, `"`+called)):
			return false
		case !slices.ContainsFunc(all, func(o *baseSource) bool { return in(o) && refers(text, dir, o.name) }):
			continue
		case !f.test || !r.usesItself(f) && !slices.ContainsFunc(all, func(o *baseSource) bool { return !o.test && !in(o) && refers(text, dir, o.name) }):
			return false
		}
		found = true
	}
	return found
}

// usesItself says whether a file of tests takes in its own package by the name of that.
func (r *Reader) usesItself(f *baseSource) bool {
	own := node.PackageName(r.readBase(path.Join(node.PackageDir(f.name, r.readBase), "package.json")))
	return own != "" && slices.ContainsFunc([]string{`"` + own + `"`, "'" + own + "'", `"` + own + "/", "'" + own + "/"}, func(s string) bool { return strings.Contains(r.textOf(f), s) })
}

// besideTested says whether only tests of the base refer to a source, and each of them has to do with
// another one as well.
func (r *Reader) besideTested(name string, refers func(text, dir, name string) bool) bool {
	if test, source, ok := r.namedIn(name, refers); !ok || !test || source {
		return false
	}
	return !slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		return f.test && refers(r.textOf(f), path.Dir(f.name), name) && !r.testsAnother(f, name, refers)
	})
}

// testsAnother says whether a file of tests has to do with another source than the one by name:
// with its own package in Go, or one that it refers to.
func (r *Reader) testsAnother(test *baseSource, name string, refers func(text, dir, name string) bool) bool {
	goes := path.Ext(name) == ".go"
	if goes && path.Dir(test.name) == path.Dir(name) {
		return false
	}
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		switch {
		case f.test || f.apart || f.name == name || goes && path.Dir(f.name) == path.Dir(name):
			return false
		case goes && path.Dir(f.name) == path.Dir(test.name) && path.Ext(f.name) == ".go":
			return true
		}
		return refers(r.textOf(test), path.Dir(test.name), f.name) && !classes.ChecksForTests(f.name, []byte(r.textOf(f))) && !classes.IsTable(f.name, []byte(r.textOf(f)))
	})
}

// BroughtForTests are the sources that the change adds and that only tests take in, among them one that
// gives up a function of its own for what these have: what they say is said by the tests.
func (r *Reader) BroughtForTests() []string {
	var out []string
	for name, v := range r.Texts {
		if v.Base != nil || v.Head == nil || !languages.IsSource(name) || languages.IsTestFile(name) {
			continue
		}
		gives, others := false, false
		for f, o := range r.Texts {
			goes := path.Ext(name) == ".go" && path.Dir(f) == path.Dir(name)
			if o.Head == nil || f == name || goes || !languages.IsSource(f) || !classes.Imports(string(o.Head), path.Dir(f), name) {
				continue
			}
			test := languages.IsTestFile(f)
			others = others || !test
			gives = gives || test && o.Base != nil && !classes.Imports(string(o.Base), path.Dir(f), name) && givesUp(f, o)
		}
		if gives && !others {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// givesUp says whether a file of tests lost a function that is no test.
func givesUp(name string, v classes.Versions) bool {
	now := classes.Helpers(name, v.Head)
	for f := range classes.Helpers(name, v.Base) {
		if !now[f] {
			return true
		}
	}
	return false
}

// scriptChecks says the same of a script.
func (r *Reader) scriptChecks(name string, src []byte, called map[string]bool) bool {
	if !classes.IsScript(name) || !classes.ChecksForTests(name, src) {
		return false
	}
	in := r.takenIn(name, called)
	return in.tests && !in.others && !in.alone
}

// A taking is by which scripts of the base another one is named.
type taking struct {
	tests  bool // by tests, or what test commands call
	alone  bool // by one of these that names no other program of the base
	others bool // by others, or there are too many to look at
}

// takenIn finds the scripts that name one. Makefiles are none.
func (r *Reader) takenIn(name string, called map[string]bool) taking {
	var out taking
	read := 0
	for _, f := range r.Plans[results.Base].Files {
		if f == name || !isProgram(f) || ecosystem.IgnoredDir(path.Dir(f)) {
			continue
		}
		if read++; read > maxRead {
			out.others = true
			break
		}
		text := string(r.readBase(f))
		switch {
		case !strings.Contains(text, path.Base(name)):
		case called[f] || ofTests(f):
			out.tests = true
			out.alone = out.alone || !r.namesProgram(text, f, name)
		default:
			out.others = true
		}
	}
	return out
}

// namesProgram says whether the text of a script of tests names a program of the base that is
// none of the tests, and not the one by name.
func (r *Reader) namesProgram(text, script, name string) bool {
	return slices.ContainsFunc(r.Plans[results.Base].Files, func(f string) bool {
		return f != name && f != script && soughtKind(f) == "program" && !classes.InTestFolder(f) && !ecosystem.InFolder(f, "t") && strings.Contains(text, path.Base(f))
	})
}
