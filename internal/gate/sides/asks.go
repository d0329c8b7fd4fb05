package sides

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// MayAsk says which names a test of the base can ask for: those that stand in its file, in the files
// of tests that it names or that are compiled with it, and in what tests share. What fails for want of
// another one asks for nothing that is gone: the product does.
func (r *Reader) MayAsk(id results.ID) func(name string) bool {
	file, src := r.TestFileOf(id)
	if src == nil {
		return func(string) bool { return true }
	}
	texts, known := r.helped[file]
	if !known {
		if r.helped == nil {
			r.helped = map[string][]string{}
		}
		texts = r.helping(file, string(src), languages.ByPackage(r.EcoOf(id)))
		r.helped[file] = texts
	}
	return func(name string) bool {
		return len(texts) > maxRead || slices.ContainsFunc(texts, func(text string) bool {
			return strings.Contains(text, name) && classes.Words([]byte(text))[name]
		})
	}
}

// helping are the texts of a file of tests and of what helps its tests: what is loaded before them or
// compiled with them, what these and the file name of tests, and so on, and code that is there for tests.
func (r *Reader) helping(file, src string, together bool) []string {
	shared := func(name string) bool {
		return classes.InTestFolder(name) || classes.MayHelpTests(name) ||
			slices.ContainsFunc(r.Touched, func(t Touch) bool { return t.Path == name && t.Class != compare.Test && !t.Mixed })
	}
	texts, taken := []string{src}, map[string]bool{file: true}
	var next []*baseSource
	take := func(f *baseSource) {
		texts, taken[f.name] = append(texts, r.textOf(f)), true
		if f.test {
			next = append(next, f)
		}
	}
	for _, f := range r.sourcesOfBase() {
		if taken[f.name] || len(texts) > maxRead {
			continue
		}
		dir, loaded := r.loadedBefore(f.name)
		if loaded && ecosystem.Inside(dir, file) || !f.test && shared(f.name) || f.test && together && path.Dir(f.name) == path.Dir(file) {
			take(f)
		}
	}
	for next = append([]*baseSource{{name: file, read: true, text: src}}, next...); len(next) > 0; {
		text, dir := r.textOf(next[0]), path.Dir(next[0].name)
		about := classes.Words([]byte(text))
		next = next[1:]
		for _, f := range r.sourcesOfBase() {
			if f.test && !taken[f.name] && len(texts) <= maxRead && (about[stemOf(f.name)] || isIndex(f.name) && classes.Imports(text, dir, f.name)) {
				take(f)
			}
		}
	}
	return texts
}

// frames are the places that a failure comes from: of Python the last one is the innermost, of others
// the first.
var frames = pattern.New(`(?m)^\s*File "([^"\n]+\.py)", line \d+|^([^\s"':]+\.py):\d+: |^\s*(?:at |❯ |# )?[^"'\n]*?([^\s"'()]+\.(?:[cm]?[jt]sx?|rb|php)):\d+`)

// ProductAsks says whether a failure for want of a name comes from a source of the head that is no test
// and has the name: whatever the test asks for, the product lacks what it asks for itself.
func (r *Reader) ProductAsks(id results.ID, name, output string) bool {
	if name == "" {
		return false
	}
	innermost := ""
	for _, m := range frames.FindAllStringSubmatch(output, -1) {
		at := r.sourceAt(id.Unit, m[1]+m[2]+m[3])
		if at == "" || innermost != "" && m[3] != "" {
			continue
		}
		innermost = at
	}
	if innermost == "" || languages.IsTestSource(innermost) || classes.IsCalledHelper(innermost) || classes.MayHelpTests(innermost) ||
		slices.ContainsFunc(r.Touched, func(t Touch) bool { return t.Path == innermost && !t.Mixed }) {
		return false
	}
	return classes.Words(r.readHead(innermost))[name]
}

// sourceAt is the source of the head that a frame names, from the folder of a project or from the top of
// the machine; empty: it is none of the head's.
func (r *Reader) sourceAt(unit, name string) string {
	name = strings.TrimPrefix(name, "file://")
	if strings.Contains(name, "/node_modules/") || strings.Contains(name, "/site-packages/") || strings.Contains(name, "/lib/python") || strings.Contains(name, "/lib/ruby/") || strings.Contains(name, "/gems/") {
		return ""
	}
	has := func(name string) bool {
		_, ok := slices.BinarySearch(r.Plans[results.Head].Files, name)
		return ok
	}
	if !path.IsAbs(name) {
		if in := path.Join(unit, name); has(in) {
			return in
		}
	}
	for rest, ok := strings.TrimPrefix(name, "/"), true; ok; _, rest, ok = strings.Cut(rest, "/") { // the longest
		if has(rest) {
			return rest
		}
	}
	return ""
}
