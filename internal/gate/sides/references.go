package sides

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/node"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A steeringText is a file that says how tests are run; eco is empty where it is not that
// of one ecosystem alone, such as a Makefile.
type steeringText struct{ dir, text, eco string }

// said is what is said in the trees of files elsewhere.
type said struct {
	called   map[string]bool   // by recipes of tests, by path
	judges   map[string]string // by what declares tests, by path: the ecosystem of that
	settings []string          // of runners
	steering []steeringText
	declared []steeringText // what declares tests says of what these are given
	recipes  []recipe
	compiles map[string]bool // what settings of a compiler are an extension of
}

// said reads what commands of tests, and the files that these run by, say of other files.
func (r *Reader) said() said {
	called, judges, loads := map[string]bool{}, map[string]string{}, map[string]bool{}
	var settings []string
	var steering, declared []steeringText
	var run []recipe
	note := func(dir, text string) {
		for config, eco := range node.CompilerSettings(text) {
			judges[path.Join(dir, config)] = eco
		}
		for _, config := range node.LoaderSettings(text) {
			loads[path.Join(dir, config)] = true
		}
		for _, w := range ecosystem.CalledIn(text) {
			called[path.Join(dir, w)] = true
		}
	}
	for _, side := range []results.Side{results.Base, results.Head} {
		if r.Plans[side] == nil {
			continue
		}
		root := r.dir(side)
		for _, c := range r.Plans[side].Test {
			note(c.Unit, c.Text)
		}
		for _, p := range r.Plans[side].Projects {
			for _, name := range []string{"GNUmakefile", "makefile", "Makefile", "justfile", "Taskfile.yml", "package.json"} {
				src, err := ecosystem.ReadInTree(root, path.Join(p.Dir, name))
				if err != nil {
					continue
				}
				recipes := ecosystem.TestRecipes(name, string(src))
				note(p.Dir, recipes)
				run = append(run, recipe{side, p.Dir, classes.FoldersRead(recipes, string(src))})
				s := steeringText{p.Dir, string(src), ""}
				if name == "package.json" {
					s.text, s.eco = recipes, p.Eco.Name
				}
				steering = append(steering, s)
			}
			for _, text := range classes.RunnerSettings(root, p.Dir) {
				settings = append(settings, text)
				steering = append(steering, steeringText{p.Dir, text, p.Eco.Name})
			}
		}
		for _, name := range r.Plans[side].Files {
			if path.Base(path.Dir(name)) == ".cargo" {
				if src, err := ecosystem.ReadInTree(root, name); err == nil {
					for _, script := range rust.RunnersIn(name, src) {
						judges[script] = "Rust"
					}
				}
			}
			eco := native.DeclaresTests(name)
			if eco == "" || ecosystem.IgnoredDir(path.Dir(name)) {
				continue
			}
			if src, err := ecosystem.ReadInTree(root, name); err == nil {
				declared = append(declared, steeringText{path.Dir(name), native.DeclaredData(name, string(src)), eco})
				for _, script := range native.DeclaredScripts(name, string(src)) {
					judges[path.Join(path.Dir(name), script)], judges[path.Clean(script)] = eco, eco
				}
			}
		}
		for name := range called {
			if src, err := ecosystem.ReadInTree(root, name); err == nil && !languages.IsSource(name) {
				steering = append(steering, steeringText{path.Dir(name), string(src), ""})
				if classes.IsCalledTest(name) {
					run = append(run, recipe{side, path.Dir(name), classes.FoldersRead(string(src), "")})
				}
			}
		}
	}
	return said{called, judges, settings, steering, declared, run, r.extended(judges, loads)}
}

// calledByTests are the files that recipes of tests call, also before the change is classified.
func (r *Reader) calledByTests() map[string]bool {
	if r.called == nil {
		r.called = r.said().called
	}
	return r.called
}

// extended are the files that settings of TypeScript's compiler are extensions of, with those that
// recipes have tests loaded by. What a compiler that is run as a test takes in so is a judge as
// these are.
func (r *Reader) extended(judges map[string]string, loads map[string]bool) map[string]bool {
	out := maps.Clone(loads)
	for _, side := range []results.Side{results.Base, results.Head} {
		if r.Plans[side] == nil {
			continue
		}
		seen := map[string]bool{}
		var follow func(name string)
		follow = func(name string) {
			src, err := ecosystem.ReadInTree(r.dir(side), name)
			if seen[name] || err != nil {
				return
			}
			seen[name] = true
			for _, other := range node.Extended(name, src) {
				out[other] = true
				if eco := judges[name]; eco != "" {
					judges[other] = eco
				}
				follow(other)
			}
		}
		for _, name := range r.Plans[side].Files { // first, as what they extend is a judge
			if judges[name] != "" && path.Ext(name) == ".json" {
				follow(name)
			}
		}
		for _, name := range r.Plans[side].Files {
			if node.IsCompilerSettings(name) && !ecosystem.IgnoredDir(path.Dir(name)) || loads[name] {
				follow(name)
			}
		}
	}
	return out
}

// Referred reads what the trees say of files elsewhere.
func (r *Reader) Referred(both map[string]classes.Versions) classes.Referred {
	in := r.said()
	called, steering := in.called, in.steering
	all := strings.Join(in.settings, "\n")
	r.called, r.recipes, r.settings = called, in.recipes, all
	doctests := strings.Contains(all, "doctest") || slices.ContainsFunc(steering, func(s steeringText) bool { return strings.Contains(s.text, "doctest") })
	for _, side := range []results.Side{results.Base, results.Head} {
		if p := r.Plans[side]; p != nil {
			doctests = doctests || slices.ContainsFunc(p.Test, func(c ecosystem.Command) bool { return strings.Contains(c.Text, "doctest") })
		}
	}
	takenFirst := r.takenFirst(all)
	imports := func(text, dir, name string) bool {
		return classes.Imports(text, dir, name) || classes.UsesClass(text, name) || classes.TakesHeader(text, name)
	}
	return classes.Referred{
		Called:   called,
		Judges:   in.judges,
		Compiles: in.compiles,
		Runs:     r.runsTests(called),
		Product:  r.product(called),
		Doctests: doctests,
		Setup:    func(name string) bool { return classes.NamesSetup(all, name) },
		Data:     r.data(both, slices.Concat(steering, in.declared)),
		Ships:    r.ships,
		Documented: func(name string) string {
			return r.documented(name, all, steering)
		},
		Steered: r.steered(both, steering, r.listsFor(called)),
		Holds: func(name string) bool { // what the head writes into a file makes no test of it
			v := both[name]
			if v.Base == nil || !classes.HoldsTests(name, v.Base) && !native.IsTestProgram(name, v.Base, r.readBase) && !r.Reported(name) {
				return false
			}
			test, source, ok := r.namedIn(name, classes.Imports)
			return ok && !test && !source
		},
		Table: func(name string) bool { return r.tableOfTests(name, both[name].Base, imports) },
		Helper: func(name string) bool {
			return r.scriptChecks(name, both[name].Base, called) || r.checksForTests(name, both[name].Base, imports) || r.packageOfTests(name, both[name].Base, imports) ||
				classes.MayHelpTests(name) && r.onlyTests(both, imports)(name) ||
				classes.IsCalledHelper(name) && r.onlyTests(both, classes.ImportsOrLists)(name) || takenFirst(name)
		},
	}
}

// documented names the ecosystem that runs the examples of a document as tests, as the base has
// it; empty: none does.
func (r *Reader) documented(name, settings string, steering []steeringText) string {
	p := r.Plans[results.Base]
	if p == nil {
		return ""
	}
	texts := []string{settings}
	for _, s := range steering {
		texts = append(texts, s.text)
	}
	for _, c := range p.Test {
		texts = append(texts, c.Text)
	}
	if eco := classes.CollectsDocument(strings.Join(texts, "\n"), name); eco != "" {
		return eco
	}
	for _, f := range r.sourcesOfBase() {
		if f.apart {
			continue
		}
		if eco := classes.RunsDocument(f.name, r.textOf(f), name); eco != "" {
			return eco
		}
	}
	return ""
}

// ships says whether sources beside a folder of data, or below it, name it.
func (r *Reader) ships(name string) bool {
	beside, ok := classes.ShippedBy(name)
	if !ok || r.Plans[results.Base] == nil {
		return false
	}
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		if f.test || f.apart || !strings.HasPrefix(f.name, beside+"/") || classes.InTestFolder(f.name) {
			return false
		}
		text, dir := r.textOf(f), path.Dir(f.name)
		return classes.Names(text, dir, name) || classes.Embeds(text, dir, name)
	})
}

// readBase returns a file of the base, nil where it has none that can be read.
func (r *Reader) readBase(name string) []byte {
	src, err := ecosystem.ReadInTree(r.Base.Dir, name)
	if err != nil {
		return nil
	}
	return src
}

// maxRead bounds how many files are searched for the name of one.
const maxRead = 4000

// steered recognises files that are a part of what steers tests, and that no source
// names: what a Makefile includes, a file of variables, a plug-in of a configuration, a
// list of tests.
func (r *Reader) steered(both map[string]classes.Versions, steering []steeringText, lists func(name string, base []byte) bool) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v := both[name]
		if classes.IsCode(name, v.Base, v.Head) { // a library that a script of tests loads is what it tests, unless it is called a helper
			if eco, ok := r.onlySteering(name, both, steering, classes.ImportsScript); ok || !classes.IsCalledHelper(name) {
				return eco, ok
			}
			return r.onlySteering(name, both, steering, classes.Reads)
		}
		if eco, ok := r.onlySteering(name, both, steering, classes.Includes); ok {
			return eco, true
		}
		if eco, ok := r.onlySteering(name, both, steering, classes.Reads); ok && r.Plans[results.Base] != nil && classes.ListsTests(string(v.Base), r.Plans[results.Base].Files) {
			return eco, true
		}
		return "", lists(name, v.Base)
	}
}

// listsFor recognises lists of tests that only a script takes in which a test command calls.
func (r *Reader) listsFor(called map[string]bool) func(name string, base []byte) bool {
	var scripts map[string][]string
	return func(name string, base []byte) bool {
		if base == nil || r.Plans[results.Base] == nil || !classes.ListsTests(string(base), r.Plans[results.Base].Files) {
			return false
		}
		if scripts == nil {
			scripts = r.scripts(called)
		}
		takes := func(f string) bool {
			text := string(r.readBase(f))
			return classes.Names(text, path.Dir(f), name) || classes.Imports(text, path.Dir(f), name)
		}
		return slices.ContainsFunc(slices.Collect(maps.Keys(scripts)), takes) && !slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
			_, own := scripts[f.name]
			return !own && !f.test && !f.apart && takes(f.name)
		})
	}
}

// data recognises files that tests, or what steers or declares them, name and no source does. Where the base has no
// source in a language that is known, what tests name outside of their folders is the product.
func (r *Reader) data(both map[string]classes.Versions, steering []steeringText) func(string) bool {
	named := r.onlyTests(both, classes.Names)
	return func(name string) bool {
		if !classes.InTestFolder(name) && !ecosystem.IgnoredDir(path.Dir(name)) && !r.hasSources() {
			return false
		}
		if named(name) || r.readInPart(name, both[name]) {
			return true
		}
		v := both[name]
		_, ok := r.onlySteering(name, both, steering, classes.Reads)
		return ok && !classes.IsCode(name, v.Base, v.Head)
	}
}

// hasSources says whether the base has a source or a script that is none of its tests.
func (r *Reader) hasSources() bool {
	p := r.Plans[results.Base]
	return p == nil || slices.ContainsFunc(p.Files, func(f string) bool {
		return classes.IsCode(f) && !r.runsAsTest(f) && !languages.IsTestFile(f) && !ecosystem.IgnoredDir(path.Dir(f))
	})
}

// onlySteering says whether what steers tests refers to a file and no source does, and of
// which ecosystem that is.
func (r *Reader) onlySteering(name string, both map[string]classes.Versions, steering []steeringText, refers func(text, dir, name string) bool) (eco string, ok bool) {
	i := slices.IndexFunc(steering, func(s steeringText) bool { return refers(s.text, s.dir, name) })
	if _, changed := both[name]; !changed || i < 0 {
		return "", false
	}
	_, source, ok := r.namedIn(name, func(text, dir, name string) bool {
		return classes.Names(text, dir, name) || classes.Imports(text, dir, name)
	})
	return steering[i].eco, ok && !source
}

// onlyTests recognises files that test files refer to and no source does.
func (r *Reader) onlyTests(both map[string]classes.Versions, refers func(text, dir, name string) bool) func(string) bool {
	return func(name string) bool {
		if _, changed := both[name]; !changed {
			return false
		}
		test, source, ok := r.namedIn(name, refers)
		return ok && test && !source
	}
}

// namedIn says whether tests and other sources of the base refer to a file. ok is false
// where there are too many to look at: in doubt a file is source.
func (r *Reader) namedIn(name string, refers func(text, dir, name string) bool) (test, source, ok bool) {
	p := r.Plans[results.Base]
	if p == nil {
		return false, false, true
	}
	read := 0
	for _, f := range r.sourcesOfBase() {
		if f.name == name || f.apart {
			continue
		}
		if read++; read > maxRead {
			return test, source, false
		}
		tests, rest := "", r.textOf(f)
		switch parts := classes.PartsOf(f.name); {
		case f.test:
			tests, rest = rest, ""
		case parts != nil:
			tests, rest = parts(rest)
		}
		if rest != "" && refers(rest, path.Dir(f.name), name) {
			return test, true, true
		}
		test = test || tests != "" && refers(tests, path.Dir(f.name), name)
	}
	return test, false, true
}

// A baseSource is a source of the base. It is read once, as each file of a change is looked
// for in all of them.
type baseSource struct {
	name  string
	test  bool // runners take tests from it
	apart bool // it is settings of a runner, or stands where nothing is built
	read  bool
	text  string // empty where it cannot be read
}

// sourcesOfBase are the sources of the base.
func (r *Reader) sourcesOfBase() []*baseSource {
	if r.baseSources == nil {
		r.baseSources = []*baseSource{}
		for _, f := range r.Plans[results.Base].Files {
			if languages.IsSource(f) {
				test := languages.IsTestSource(f)
				r.baseSources = append(r.baseSources, &baseSource{
					name: f, test: test, // conftest.py is both, and what it imports is there for tests
					apart: classes.IsRunnerSettings(f) && !test || ecosystem.IgnoredDir(path.Dir(f)),
				})
			}
		}
	}
	return r.baseSources
}

func (r *Reader) textOf(f *baseSource) string {
	if !f.read {
		f.read, f.text = true, string(r.readBase(f.name))
	}
	return f.text
}

// runsTests recognises what a test command of the base calls, or what that takes as a part of
// itself, and what decides which tests run: it names files of tests, or sets variables, and
// neither the tests nor other sources have to do with it, whose product it would be.
func (r *Reader) runsTests(called map[string]bool) func(string) bool {
	var scripts map[string][]string // what a test command gets to, with the parts of each
	return func(name string) bool {
		if r.Plans[results.Base] == nil || !r.maySteer(name) {
			return false
		}
		if scripts == nil {
			scripts = r.scripts(called)
		}
		parts, ok := scripts[name]
		if !ok || r.usedElsewhere(name, scripts) {
			return false
		}
		names := func(f string) bool {
			return classes.NamesTests(string(r.readBase(f)), f, r.Plans[results.Base].Files)
		}
		return names(name) || classes.SetsVariables(string(r.readBase(name))) ||
			called[name] && slices.ContainsFunc(parts, func(f string) bool { return names(f) && !r.usedElsewhere(f, scripts) })
	}
}

// maySteer says whether a file is code of the base that is no test itself.
func (r *Reader) maySteer(name string) bool {
	_, there := slices.BinarySearch(r.Plans[results.Base].Files, name)
	return there && !languages.IsTestFile(name) && (path.Ext(name) == "" || classes.IsCode(name))
}

// maxScripts bounds how many scripts are followed from test commands.
const maxScripts = 200

// scripts are the scripts of the base that test commands call, and what these include, import
// or call.
func (r *Reader) scripts(called map[string]bool) map[string][]string {
	var code, next []string
	for _, f := range r.Plans[results.Base].Files {
		if r.maySteer(f) && !ecosystem.IgnoredDir(path.Dir(f)) && len(code) < maxRead {
			code = append(code, f)
			if called[f] {
				next = append(next, f)
			}
		}
	}
	out := map[string][]string{}
	for len(next) > 0 && len(out) < maxScripts {
		f := next[0]
		next = next[1:]
		if _, done := out[f]; done {
			continue
		}
		text := string(r.readBase(f))
		out[f] = nil
		for _, to := range code {
			if to != f && (classes.Imports(text, path.Dir(f), to) || classes.TakesIn(text, path.Dir(f), to)) {
				out[f] = append(out[f], to)
			}
		}
		next = append(next, out[f]...)
	}
	return out
}

// usedElsewhere says whether tests or sources of the base that are no scripts of these refer to
// a file.
func (r *Reader) usedElsewhere(name string, scripts map[string][]string) bool {
	for _, f := range r.Plans[results.Base].Files {
		if _, own := scripts[f]; own || f == name || !classes.IsCode(f) || ecosystem.IgnoredDir(path.Dir(f)) {
			continue
		}
		text := string(r.readBase(f))
		if classes.Imports(text, path.Dir(f), name) || classes.Names(text, path.Dir(f), name) && strings.Contains(text, path.Base(name)) || !languages.IsSource(f) && classes.Reads(text, path.Dir(f), name) {
			return true
		}
	}
	return false
}

// product recognises code of the base whose name or folder is one of tests, and which has none
// and checks nothing: what is no test imports it.
func (r *Reader) product(called map[string]bool) func(string) bool {
	var scripts map[string][]string
	return func(name string) bool {
		src := r.readBase(name)
		if src == nil || !languages.IsSource(name) || !languages.IsTestSource(name) || ecosystem.InFolder(name, classes.DataFolders...) || classes.MayTest(src) {
			return false
		}
		if scripts == nil {
			scripts = r.scripts(called)
		}
		for _, f := range r.sourcesOfBase() {
			if _, runs := scripts[f.name]; runs || f.test || f.apart || f.name == name || languages.IsTestFile(f.name) || classes.IsCalledHelper(f.name) || classes.MayTest([]byte(r.textOf(f))) {
				continue
			}
			if classes.Imports(r.textOf(f), path.Dir(f.name), name) {
				return true
			}
		}
		return false
	}
}
