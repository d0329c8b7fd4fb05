package sides

import (
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// exits are the lines of a source that end a process as a success, where tests of the base are scripts that take the
// source in and are nothing but their exit code: what such a script checks after that line is never checked. A runner
// that reports its tests misses those that did not come to an end.
func (r *Reader) exits(name string, added map[int]string) []classes.Mark {
	marks := classes.Exits(name, added)
	if len(marks) > 0 && r.ofScripts()[name] {
		return marks
	}
	return nil
}

// ofScripts are the sources of the base that tests which are scripts take in, also by way of others.
func (r *Reader) ofScripts() map[string]bool {
	if r.taken != nil {
		return r.taken
	}
	r.taken = map[string]bool{}
	if r.Plans[results.Base] == nil {
		return r.taken
	}
	called := r.calledByTests()
	var next []*baseSource
	for _, f := range r.sourcesOfBase() {
		if called[f.name] && (f.test || languages.IsTestFile(f.name) || classes.InTestFolder(f.name) || classes.IsCalledTest(f.name)) && r.exitCodeIn(path.Dir(f.name)) {
			next = append(next, f)
		}
	}
	for len(next) > 0 && len(r.taken) < maxScripts {
		f := next[0]
		next = next[1:]
		for _, to := range r.sourcesOfBase() {
			if to != f && !to.test && !r.taken[to.name] && classes.OfOneLanguage(path.Ext(f.name), path.Ext(to.name)) && classes.Imports(r.textOf(f), path.Dir(f.name), to.name) {
				r.taken[to.name] = true
				next = append(next, to)
			}
		}
	}
	return r.taken
}

// exitCodeIn says whether a test command of the base that covers a folder says nothing but its exit code.
func (r *Reader) exitCodeIn(dir string) bool {
	return slices.ContainsFunc(r.Plans[results.Base].Test, func(c ecosystem.Command) bool { return c.Results == nil && ecosystem.Inside(c.Unit, dir) })
}
