package sides

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	// hooks are what lets a conftest.py choose among tests, and reaches does what lets it bring these along.
	hooks   = pattern.New(`pytest_(?:collect|ignore|itemcollected|pycollect|deselected|generate|make|run)|collect_ignore`)
	reaches = pattern.New(`\bpytest_|collect|ignore|deselect|skip|import[ \t]+\*|\b(?:exec|eval|globals|vars|setattr|__import__|import_module)\b|exit|\bsession\.|_pytest\b|\bpytest(?:\.\w+)+\s*=[^=]`)
	// chooses is what chooses among tests in settings of runners, and calls them.
	chooses = pattern.New(`(?i)^\s*-|addopts|collect|ignore|deselect|exclude|include|python_(?:files|classes|functions)|norecurse|roots|projects|plugin|preset|\bonly\b|skip|grep|keyword|bail|maxfail|shard|retr(?:y|ies)|changed|required?|` +
		`tests?["'/]|\btests?\s*[:=]|testpaths|test(?:match|path|regex|name|files|dir|pattern|run)|--test|<groups>|testcasefilter|\s-[kmg]\b|pytest|unittest|\b(?:mocha|jest|vitest|ava|tap|tape|jasmine|karma|rspec|ctest|mvn|gradle|go|cargo|node)\b`)
)

// choosesTests says whether the edit of what steers tests, or of a conftest.py, may choose among them.
func (r *Reader) choosesTests(t Touch) bool {
	v := r.Texts[t.Path]
	if path.Base(t.Path) == "conftest.py" {
		return v.Head == nil || editsHooks(v) || slices.ContainsFunc(added(v.Base, v.Head), reaches.MatchString)
	}
	switch {
	case t.Class != compare.Steering:
		return false
	case v.Base == nil || v.Head == nil:
		return true
	case t.Mixed:
		v.Base = t.Put.Data // as the head has it, but for what steers tests
	}
	if name := path.Base(t.Path); name == "package.json" {
		if ecosystem.TestRecipes(name, string(v.Base)) != ecosystem.TestRecipes(name, string(v.Head)) {
			return true
		}
		v.Base, v.Head = withoutScripts(v.Base), withoutScripts(v.Head) // which no tests are run by
	}
	return slices.ContainsFunc(slices.Concat(added(v.Base, v.Head), added(v.Head, v.Base)), chooses.MatchString)
}

// withoutScripts is a package.json without its scripts, each member in a line of its own.
func withoutScripts(src []byte) []byte {
	var all map[string]any
	if json.Unmarshal(src, &all) != nil {
		return src
	}
	delete(all, "scripts")
	out, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return src
	}
	return out
}

// added are the lines of a text that another one has nowhere.
func added(before, after []byte) []string {
	was := map[string]bool{}
	for line := range strings.Lines(string(before)) {
		was[strings.TrimSpace(line)] = true
	}
	var out []string
	for line := range strings.Lines(string(after)) {
		if !was[strings.TrimSpace(line)] {
			out = append(out, line)
		}
	}
	return out
}

// declaredIn are the touched files of which the base's version declares a test that is reported
// without a file, and whether they are all that can: those of its class, where it has one. name is what
// they have its name by: the whole, else its parts.
func (r *Reader) declaredIn(id results.ID) (files []string, class bool, name testName) {
	if id.Test == "" || id.Command != "" {
		return nil, false, nil
	}
	kind := classNamed(id)
	for _, name = range testNames(id) {
		for _, t := range r.Touched {
			if v := r.Texts[t.Path]; t.Class != compare.Support && name.in(v.Base) {
				files = append(files, t.Path)
				class = class || kind.Match(v.Base)
			}
		}
		if len(files) > 0 {
			break
		}
	}
	if class {
		files = slices.DeleteFunc(files, func(f string) bool { return !kind.Match(r.Texts[f].Base) })
	}
	return files, class, name
}

// classNamed declares the class that a test is reported by.
func classNamed(id results.ID) *regexp.Regexp {
	return regexp.MustCompile(`\b(?:class|object|type|module|record)\s+` + regexp.QuoteMeta(id.Package[strings.LastIndexAny(id.Package, ".$+/")+1:]) + `\b`)
}

// ClassIn are the touched files of which the base's version declares a test that is reported by its
// class and without a file.
func (r *Reader) ClassIn(id results.ID) []string {
	if files, class, _ := r.declaredIn(id); class {
		return files
	}
	return nil
}

// nameGone says of a test without a file whether the change takes its name out of what declares it,
// and nothing else that declares tests has it.
func (r *Reader) nameGone(id results.ID) bool {
	files, class, name := r.declaredIn(id)
	if len(files) == 0 {
		return false
	}
	declares := r.declaring(id, files, class, name)
	if slices.ContainsFunc(files, func(f string) bool {
		return declares(r.MovedTo(f), r.Texts[r.MovedTo(f)].Head) || declares(f, r.Texts[f].Head)
	}) {
		return false
	}
	if class {
		return true
	}
	for f, v := range r.Texts {
		if !slices.Contains(files, f) && (languages.IsTestFile(f) || declaresTests(f)) && declares(f, v.Head) {
			return false
		}
	}
	for i, f := range r.Plans[results.Base].Files {
		_, changed := r.Texts[f]
		if i > maxRead || !changed && (languages.IsTestFile(f) || declaresTests(f)) && declares(f, r.readBase(f)) {
			return false
		}
	}
	return true
}

// declaring says whether a file declares a test by its name, in the narrowest form in which one of files does
// so on the base: what is called so otherwise, such as the function that it tests, is none of it.
func (r *Reader) declaring(id results.ID, files []string, class bool, name testName) func(file string, src []byte) bool {
	quoted := regexp.QuoteMeta(plainName(id))
	method := regexp.MustCompile(`(?:^|[^\w.])([A-Za-z_][\w<>\[\].?]*)\s+` + quoted + `\s*\(`)
	added := regexp.MustCompile(`(?i)\badd_test\s*\(\s*(?:NAME\s+)?"?` + quoted + `(?:[^\w-]|$)`)
	title := regexp.MustCompile("[\"'`]" + quoted + "[\"'`]")
	forms := []func(string, []byte) bool{
		func(_ string, src []byte) bool {
			return class && slices.ContainsFunc(method.FindAllSubmatch(src, -1), func(m [][]byte) bool { return !slices.Contains(calls, string(m[1])) })
		},
		func(file string, src []byte) bool { return !class && declaresTests(file) && added.Match(src) },
		func(_ string, src []byte) bool { return title.Match(src) },
		func(file string, src []byte) bool { return !class && declaresTests(file) && name.in(src) },
	}
	for _, form := range forms {
		if slices.ContainsFunc(files, func(f string) bool { return form(f, r.Texts[f].Base) }) {
			return form
		}
	}
	return func(_ string, src []byte) bool { return name.in(src) }
}

// calls are words before a call, and not before a declaration.
var calls = strings.Fields("new return throw await yield else do in is as case not and or when then assert")

// declaresTests says whether a file can declare tests of programs that are built.
func declaresTests(name string) bool {
	return slices.Contains([]string{"CMakeLists.txt", "meson.build", "package.json"}, path.Base(name)) || slices.Contains([]string{".cmake", ".am", ".in"}, path.Ext(name))
}

// markedUnfiled says of a test without a file whether the change brings a mark to what declares it:
// to its class, else to a line that names it.
func (r *Reader) markedUnfiled(id results.ID, mark *pattern.Pattern) bool {
	files, class, name := r.declaredIn(id)
	return slices.ContainsFunc(files, func(f string) bool {
		v := r.Texts[f]
		return slices.ContainsFunc(added(v.Base, v.Head), func(line string) bool { return mark.MatchString(line) && (class || name.at(line)) })
	})
}

// skippedAround says whether the change brings a skip to what stands around a test: its class, its
// module, what runs before it, and helpers of its package that it calls.
func (r *Reader) skippedAround(id results.ID) bool {
	file, src := r.TestFileOf(id)
	if src == nil {
		return false
	}
	head := r.headTests(file)
	text := ""
	for _, name := range []string{file, r.MovedTo(file)} {
		if t := classes.ReadTests(name, head[name]).Text(id.Test); t != "" {
			text = t
		}
	}
	for name, after := range head {
		v := r.Texts[name]
		if name != file && name != r.MovedTo(file) && (!languages.ByPackage(r.EcoOf(id)) || path.Dir(name) != path.Dir(file)) {
			continue
		}
		before := v.Base
		if name == r.MovedTo(file) {
			before = src
		}
		lines := added([]byte(classes.Around(name, before, id.Test, text)), []byte(classes.Around(name, after, id.Test, text)))
		if slices.ContainsFunc(lines, skipMark.MatchString) {
			return true
		}
	}
	return false
}
