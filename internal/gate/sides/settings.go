package sides

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
)

// OwnSettings are settings of a project's own in manifests that the change alters and tests of
// the base read, such as a budget in package.json, each with its file.
func (r *Reader) OwnSettings() []string {
	var out []string
	for _, name := range r.Change.Paths() {
		v, ok := r.Texts[name]
		if !ok || v.Base == nil || v.Head == nil {
			continue
		}
		for _, key := range classes.OwnSettings(name, v.Base, v.Head) {
			word := regexp.MustCompile(`\b` + regexp.QuoteMeta(key) + `\b`)
			if slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
				return f.test && strings.Contains(r.textOf(f), path.Base(name)) && word.MatchString(r.textOf(f))
			}) {
				out = append(out, key+" of "+name)
			}
		}
	}
	return out
}
