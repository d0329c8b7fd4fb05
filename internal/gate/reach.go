package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// reach is what the kept arm runs: the tests that touched files can influence.
// By their packages, others by file where no more than tests and their data
// changed, else by command.
func (r *runner) reach(tests []*examined, touches []touch) []selection {
	var out []selection
	whole := map[int]bool{}
	seen := map[reachKey]struct {
		places []string
		ok     bool
	}{}
	for _, e := range tests {
		for _, t := range touches {
			at := reachKey{t.path, e.eco, e.id.Unit, e.id.Package, e.id.Command, ""}
			if ecosystem.ByPackage(e.eco) && t.file.Status == change.Renamed {
				at.top = e.id.Top()
			}
			found, known := seen[at]
			if !known {
				found.places, found.ok = r.reaches(t, e)
				seen[at] = found
			}
			places, ok := found.places, found.ok
			if !ok {
				continue
			}
			key := selection{eco: e.eco, unit: e.id.Unit, command: e.id.Command}
			i := slices.IndexFunc(out, func(s selection) bool { return s.eco == key.eco && s.unit == key.unit && s.command == key.command })
			if i < 0 {
				i, out = len(out), append(out, key)
			}
			whole[i] = whole[i] || len(places) == 0
			for _, p := range places {
				if !slices.Contains(out[i].places, p) {
					out[i].places = append(out[i].places, p)
				}
			}
		}
	}
	for i := range out {
		slices.Sort(out[i].places)
		if whole[i] {
			out[i].places = nil
		}
	}
	return out
}

// A reachKey is all that reaching depends on.
type reachKey struct{ path, eco, unit, pkg, command, top string }

// reaches says whether a touched file can influence a test, and by running what it
// would show; no places: by all that its command runs.
func (r *runner) reaches(t touch, e *examined) (places []string, ok bool) {
	unit := e.id.Unit
	within := ecosystem.Inside(unit, t.path)
	mine := t.eco == "" || t.eco == e.eco || t.mixed && ecosystem.InMixed(t.path, e.eco)
	if t.class == compare.Steering {
		concerns := within || ecosystem.Inside(path.Dir(t.path), unit)
		runsAny := e.id.Command != "" || r.configured(StageTest)
		switch {
		case !concerns, !runsAny && (!mine || t.eco == "" && !t.mixed):
			return nil, false
		case ecosystem.ByPackage(e.eco) && e.id.Command == "":
			return r.packageSites(e), true
		}
		return nil, true
	}
	switch {
	case e.id.Command != "":
		return nil, within
	case !within || !mine:
		return nil, false
	case ecosystem.ByPackage(e.eco):
		return r.packageSites(e), r.packageReached(t, e)
	}
	return r.filesReach(t, e)
}

// packageSites are the folders in which the package of a test can stand.
func (r *runner) packageSites(e *examined) []string {
	var out []string
	for _, s := range r.sites(ID{Unit: e.id.Unit, Package: e.id.Package, Test: e.id.Test}, e.eco) {
		if !slices.Contains(out, s.at) {
			out = append(out, s.at)
		}
	}
	return out
}

// packageReached says whether a file belongs to the package of a test, or is data that
// its tests name.
func (r *runner) packageReached(t touch, e *examined) bool {
	dir := r.packageDir(Base, e.id)
	if slices.Contains(r.packageSites(e), path.Dir(t.path)) {
		return true
	}
	eco := ecosystem.Named(e.eco)
	if eco.IsTest(t.path) && !ecosystem.InFolder(t.path, ecosystem.DataFolders...) {
		return false
	}
	if near := r.nearestPackage(eco.Packages, t.path); near != "" && near == dir {
		return true
	}
	return r.testsName(dir, t.path)
}

// nearestPackage is the folder of the nearest package around a file, on the base.
func (r *runner) nearestPackage(by *ecosystem.Packages, name string) string {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if by.Has(r.in.Base.Dir, dir) && !ecosystem.IgnoredDir(dir) {
			return dir
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}

// testsName says whether the base's tests in a folder name a file.
func (r *runner) testsName(dir, file string) bool {
	for _, f := range r.plan[Base].files {
		if path.Dir(f) != dir || !ecosystem.IsTestSource(f) {
			continue
		}
		if src, err := ecosystem.ReadInTree(r.in.Base.Dir, f); err == nil && ecosystem.Names(string(src), dir, file) {
			return true
		}
	}
	return false
}

// filesReach says which test file a touched file belongs to; none: all of them.
func (r *runner) filesReach(t touch, e *examined) (places []string, ok bool) {
	file, src := r.testFileOf(e.id)
	if src == nil {
		return nil, true
	}
	here := []string{file}
	if to := r.movedTo(file); to != file {
		here = append(here, to)
	}
	switch {
	case t.examples:
		return here, t.path == file
	case t.class == compare.Test && !t.mixed && !ecosystem.IsTestSource(file) && ecosystem.ForTests(t.path, r.readBase) != "":
		return nil, true // the program whose tests these are is made of several files
	case t.class == compare.Test && !t.mixed:
		return here, t.path == file || t.path == r.movedTo(file) || r.importers(t.path)[file]
	case t.class == compare.Data && ecosystem.InFolder(t.path, "__snapshots__"):
		of := path.Join(path.Dir(path.Dir(t.path)), strings.TrimSuffix(path.Base(t.path), ".snap"))
		return here, of == file
	case t.class == compare.Data && ecosystem.Names(string(src), path.Dir(file), t.path):
		return here, true
	case t.class == compare.Data && r.namedElsewhere(t.path, e.id.Unit):
		return nil, false
	}
	return nil, true
}

// importers are the test files of the base that import a test file, or one that does, as
// where their classes are made of its: what it says they say, too.
func (r *runner) importers(name string) map[string]bool {
	if out, ok := r.importing[name]; ok {
		return out
	}
	if r.testTexts == nil {
		r.testTexts = map[string]string{}
		for _, f := range r.sourcesOfBase() {
			if len(r.testTexts) < maxRead && f.test {
				r.testTexts[f.name] = r.textOf(f)
			}
		}
		r.importing = map[string]map[string]bool{}
	}
	out := map[string]bool{}
	for next := []string{name}; len(next) > 0; {
		by := importOf(next[0])
		next = next[1:]
		for f, src := range r.testTexts {
			if f != name && !out[f] && by.MatchString(src) {
				out[f], next = true, append(next, f)
			}
		}
	}
	r.importing[name] = out
	return out
}

// importOf matches a line that imports a file by its name, in whatever language.
func importOf(file string) *regexp.Regexp {
	stem, word := path.Base(strings.TrimSuffix(file, path.Ext(file))), "include"
	if path.Ext(file) == ".rs" {
		if word = "include|mod"; stem == "mod" {
			stem = path.Base(path.Dir(file))
		}
	}
	return regexp.MustCompile(`(?m)^.*\b(?:import|from|require|require_relative|` + word + `)\b.*\b` + regexp.QuoteMeta(stem) + `(?:\b|$)`)
}

// namedElsewhere says whether some test file of a folder names a file, so that the
// others have nothing to do with it.
func (r *runner) namedElsewhere(file, unit string) bool {
	read := 0
	for _, f := range r.sourcesOfBase() {
		if !f.test || !ecosystem.Inside(unit, f.name) {
			continue
		}
		if read++; read > maxRead {
			return false
		}
		if ecosystem.Names(r.textOf(f), path.Dir(f.name), file) {
			return true
		}
	}
	return false
}

// narrowTo selects single tests, by package or file where no less can be run.
func (r *runner) narrowTo(tests []*examined) []selection {
	var out []selection
	for _, e := range tests {
		key := selection{eco: e.eco, unit: e.id.Unit, command: e.id.Command}
		i := slices.IndexFunc(out, func(s selection) bool { return s.eco == key.eco && s.unit == key.unit && s.command == key.command })
		if i < 0 {
			i, out = len(out), append(out, key)
			if ecosystem.ByPackage(e.eco) {
				out[i].tests = map[string]bool{}
			}
		}
		s := &out[i]
		if e.whole() {
			s.tests = nil
		} else if s.tests != nil {
			s.tests[e.id.Top()] = true
		}
		if _, src := r.testFileOf(e.id); !ecosystem.ByPackage(e.eco) && src == nil {
			continue
		}
		for _, at := range r.sites(e.id, e.eco) {
			if !slices.Contains(s.places, at.at) {
				s.places = append(s.places, at.at)
			}
		}
	}
	return out
}

// firstGroup is what the groups of a match hold that has one of several.
func firstGroup(match []string) string {
	for _, m := range match[1:] {
		if m != "" {
			return m[strings.LastIndexByte(m, '.')+1:]
		}
	}
	return ""
}

// edits says whether the change alters, adds or takes away a line of the sources in
// which a name stands.
func (r *runner) edits(name string) bool {
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
	for file, v := range r.texts {
		if r.sourceText(file) && !slices.Equal(lines(v.Base), lines(v.Head)) {
			return true
		}
	}
	return false
}

// sourceText says whether a changed file is one of the sources.
func (r *runner) sourceText(file string) bool {
	return ecosystem.IsSource(file) && !slices.ContainsFunc(r.touched, func(t touch) bool { return t.path == file && !t.mixed })
}

// rootGone says whether a message names what a project of the base is imported by, and no
// project of the head is.
func (r *runner) rootGone(message string) bool {
	roots := func(side Side) []string {
		var out []string
		for _, p := range r.allProjects(side) {
			if by := ecosystem.PackagesOf(p.Eco.Name); by != nil && by.Root(p) != "" {
				out = append(out, by.Root(p))
			}
		}
		return out
	}
	head := roots(Head)
	return slices.ContainsFunc(roots(Base), func(root string) bool { return !slices.Contains(head, root) && mentions(message, root) })
}

// undeclared says whether a folder of the change's sources has lost the declaration of a
// name, which may still stand there as that of something else.
func (r *runner) undeclared(name string) bool {
	line := regexp.MustCompile(`(?m)\b(?:func|def|function|fn|fun|type|class|var|const|let|struct|enum|trait|interface)\b[ \t*]*(?:\([^)\n]*\)[ \t]*)?` + regexp.QuoteMeta(name) + `(?:[^\pL\pN_]|$)`)
	before, after := map[string]bool{}, map[string]bool{}
	for file, v := range r.texts {
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

// redeclared says whether the change alters the line that declares a name in the
// sources.
func (r *runner) redeclared(name string) bool {
	if name == "" {
		return false
	}
	quoted := regexp.QuoteMeta(name)
	line := regexp.MustCompile(`(?m)^(?:.*\b(?:func|def|function|fn|fun|type|class|record|var|const|let|struct)\b[^\n]*\b` + quoted + `\b.*` +
		`|[ \t]*(?:[\w:<>,\[\]*&]+[ \t*&]+)*` + quoted + `[ \t]*\(.*)$`) // C, Java and C# have no word for it
	for file, v := range r.texts {
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
