package gate

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
)

// reach is what the kept arm runs: the tests that touched files can influence.
// Go's by their packages, others by file where no more than tests and their data
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
			if e.eco == "Go" && t.file.Status == change.Renamed {
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
	within := inside(unit, t.path)
	mine := t.eco == "" || t.eco == e.eco || t.mixed && inMixed(t.path, e.eco)
	if t.class == compare.Steering {
		concerns := within || inside(path.Dir(t.path), unit)
		runsAny := e.id.Command != "" || r.configured(StageTest)
		switch {
		case !concerns, !runsAny && (!mine || t.eco == "" && !t.mixed):
			return nil, false
		case e.eco == "Go" && e.id.Command == "":
			return r.goSites(e), true
		}
		return nil, true
	}
	switch {
	case e.id.Command != "":
		return nil, within
	case !within || !mine:
		return nil, false
	case e.eco == "Go":
		return r.goSites(e), r.goReaches(t, e)
	}
	return r.filesReach(t, e)
}

// inMixed says whether a file of several uses is one of an ecosystem's.
func inMixed(name, eco string) bool {
	return anyEcosystem(func(e *ecosystem) bool {
		return e.name == eco && e.classes.mixed != nil && e.classes.mixed(name) != nil
	})
}

// goSites are the folders in which the package of a test can stand.
func (r *runner) goSites(e *examined) []string {
	var out []string
	for _, s := range r.sites(ID{Unit: e.id.Unit, Package: e.id.Package, Test: e.id.Test}, e.eco) {
		if !slices.Contains(out, s.at) {
			out = append(out, s.at)
		}
	}
	return out
}

// goReaches says whether a file belongs to the package of a test, or is data that
// its tests name.
func (r *runner) goReaches(t touch, e *examined) bool {
	dir := r.goDir(Base, e.id)
	if slices.Contains(r.goSites(e), path.Dir(t.path)) {
		return true
	}
	if strings.HasSuffix(t.path, "_test.go") && !inFolder(t.path, dataFolders...) {
		return false
	}
	if near := r.nearestGo(t.path); near != "" && near == dir {
		return true
	}
	return r.testsName(dir, t.path)
}

// nearestGo is the folder of the nearest Go package around a file, on the base.
func (r *runner) nearestGo(name string) string {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if hasGo(r.in.Base.Dir, dir) && !ignoredDir(dir) {
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
		if path.Dir(f) != dir || !isTestSource(f) {
			continue
		}
		if src, err := readInTree(r.in.Base.Dir, f); err == nil && names(string(src), dir, file) {
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
	case t.class == compare.Test && !t.mixed:
		return here, t.path == file || t.path == r.movedTo(file)
	case t.class == compare.Data && inFolder(t.path, "__snapshots__"):
		of := path.Join(path.Dir(path.Dir(t.path)), strings.TrimSuffix(path.Base(t.path), ".snap"))
		return here, of == file
	case t.class == compare.Data && names(string(src), path.Dir(file), t.path):
		return here, true
	case t.class == compare.Data && r.namedElsewhere(t.path, e.id.Unit):
		return nil, false
	}
	return nil, true
}

// namedElsewhere says whether some test file of a folder names a file, so that the
// others have nothing to do with it.
func (r *runner) namedElsewhere(file, unit string) bool {
	read := 0
	for _, f := range r.plan[Base].files {
		if !inside(unit, f) || !isSource(f) || !isTestSource(f) {
			continue
		}
		if read++; read > maxRead {
			return false
		}
		if src, err := readInTree(r.in.Base.Dir, f); err == nil && names(string(src), path.Dir(f), file) {
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
			if e.eco == "Go" {
				out[i].tests = map[string]bool{}
			}
		}
		s := &out[i]
		if e.whole() {
			s.tests = nil
		} else if s.tests != nil {
			s.tests[e.id.Top()] = true
		}
		if _, src := r.testFileOf(e.id); e.eco != "Go" && src == nil {
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

// keptTests are the commands of the kept arm: those that are detected in the head
// with the base's steering and tests, where they tell tests apart as the base's do,
// else the base's own.
func (r *runner) keptTests(ctx context.Context) ([]command, error) {
	p := r.plan[Head]
	if !r.configured(StageTest) {
		var err error
		if p, err = r.keptPlan(ctx); err != nil {
			return nil, err
		}
	}
	how := func(c command) string {
		if c.results == nil {
			return c.text
		}
		return c.results.name
	}
	var out []command
	for _, c := range r.plan[Base].test {
		unit, found := r.movedTo(c.unit), false
		for _, h := range p.test {
			if h.eco == c.eco && h.unit == unit && how(h) == how(c) && (h.text == c.text || !r.configured(StageTest)) {
				out, found = append(out, h), true
			}
		}
		if !found {
			c.unit = unit
			out = append(out, c)
		}
	}
	return out, nil
}

// keptPlan is what is detected in the tree of the kept arm.
func (r *runner) keptPlan(ctx context.Context) (*plan, error) {
	over := map[string][]byte{}
	files := slices.Clone(r.plan[Head].files)
	for _, t := range r.touched {
		data := t.put.Data
		if t.put.From != "" {
			var err error
			if data, err = r.Mirror.ReadFile(ctx, t.put.From, cmp.Or(t.put.At, t.path)); err != nil {
				data = nil
			}
		}
		files = slices.DeleteFunc(files, func(f string) bool { return f == t.path })
		if data != nil {
			files = append(files, t.path)
		}
		over[t.path] = data
	}
	slices.Sort(files)
	s := newSurvey(r.in.Head.Dir, files, r.Tools, func(string, ...any) {})
	s.over = over
	return newPlan(findProjects(s), r.in.Commands), nil
}

// labelOf names what runs a selection on the base.
func (r *runner) labelOf(s selection) string {
	for _, c := range r.plan[Base].test {
		if c.unit == s.unit && (s.command == "" && c.eco == s.eco || c.text == s.command) {
			return c.label()
		}
	}
	return s.command
}

// replacedRunner says whether the change runs the tests of a selection by another
// runner or package manager.
func (r *runner) replacedRunner(s selection) bool {
	tools := func(side Side) (out []string) {
		for _, p := range r.plan[side].projects {
			if p.dir != s.unit || p.eco.name != s.eco {
				continue
			}
			for _, c := range slices.Concat(p.setup, p.test) {
				word, _, _ := strings.Cut(strings.TrimPrefix(c.text, "npx "), " ")
				out = append(out, word)
				if c.results != nil {
					out = append(out, c.results.name)
				}
			}
		}
		return out
	}
	return !slices.Equal(tools(Base), tools(Head))
}

// cannotStart are messages of tools that find nothing to run.
var cannotStart = pattern.New(`(?i)no rule to make target|missing script|no such file or directory|command not found|cannot find module|no targets specified|does not contain recipe`)

// otherSignature are messages of compilers that a call does not fit what it calls.
var otherSignature = pattern.New(`(?:not enough|too many) arguments in call to ([\w.]+)|assignment mismatch: .* but ([\w.]+)(?:\(|\s)|` +
	`cannot use .* in argument to ([\w.]+)|([\w.]+)\(\) (?:takes|missing|got an)|missing \d+ required positional arguments? .*'(\w+)'`)

// unmet are messages of compilers that a type lacks what an interface, trait or abstract
// class asks for: a method, by its name.
var unmet = pattern.New(`(?:missing method|wrong type for method) (\w+)|does not override abstract method (\w+)|Property '(\w+)' is missing in type|` +
	"not all trait items implemented, missing: `(\\w+)`|" + `does not implement interface member '[\w.]*?(\w+)[('<]`)

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
		if r.sourceText(file) && !slices.Equal(lines(v.base), lines(v.head)) {
			return true
		}
	}
	return false
}

// sourceText says whether a changed file is one of the sources.
func (r *runner) sourceText(file string) bool {
	return isSource(file) && !slices.ContainsFunc(r.touched, func(t touch) bool { return t.path == file && !t.mixed })
}

// redeclared says whether the change alters the line that declares a name in the
// sources.
func (r *runner) redeclared(name string) bool {
	if name == "" {
		return false
	}
	line := regexp.MustCompile(`(?m)^.*\b(?:func|def|function|fn|fun|type|class|var|const|let|struct)\b[^\n]*\b` + regexp.QuoteMeta(name) + `\b.*$`)
	for file, v := range r.texts {
		if !r.sourceText(file) {
			continue
		}
		for _, was := range line.FindAll(v.base, -1) {
			if !slices.ContainsFunc(line.FindAll(v.head, -1), func(is []byte) bool { return string(is) == string(was) }) {
				return true
			}
		}
	}
	return false
}
