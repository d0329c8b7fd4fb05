package sides

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// MayAsk says which names a test of the base can ask for: those that stand in its file, in the files
// of tests that it names or that are compiled with it, and in what tests share. What fails for want of
// another one asks for nothing that is gone: the product does.
func (r *Reader) MayAsk(id results.ID) func(name string) bool {
	file, src := r.TestFileOf(id)
	if src == nil {
		return func(string) bool { return true }
	}
	about, together := classes.Words(src), languages.ByPackage(r.EcoOf(id))
	shared := func(name string) bool {
		return path.Base(name) == "conftest.py" || classes.InTestFolder(name) || classes.MayHelpTests(name) ||
			slices.ContainsFunc(r.Touched, func(t Touch) bool { return t.Path == name && t.Class != compare.Test && !t.Mixed })
	}
	var texts []string
	for _, f := range r.sourcesOfBase() {
		stem := strings.TrimSuffix(path.Base(f.name), path.Ext(f.name))
		switch {
		case len(texts) > maxRead:
			return func(string) bool { return true }
		case f.name == file, !f.test && shared(f.name),
			f.test && (about[stem] || path.Base(f.name) == "conftest.py" || together && path.Dir(f.name) == path.Dir(file)):
			texts = append(texts, r.textOf(f))
		}
	}
	texts = append(texts, string(src))
	return func(name string) bool {
		return slices.ContainsFunc(texts, func(text string) bool {
			return strings.Contains(text, name) && classes.Words([]byte(text))[name]
		})
	}
}
