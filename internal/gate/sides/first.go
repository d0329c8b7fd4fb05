package sides

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// maxTaken is by how many files in a row one may be taken in before tests.
const maxTaken = 4

// takenFirst recognises sources of the base that nothing takes in but what is loaded before tests, as settings say or
// by its name, and what that takes in so, from its own folder or below, or from one of tools: they are part of it.
func (r *Reader) takenFirst(settings string) func(name string) bool {
	known := map[string]bool{}
	var taken func(name string, most int) bool
	taken = func(name string, most int) bool {
		if is, ok := known[name]; ok || most == 0 {
			return is
		}
		known[name] = false // also while it is looked for
		found := false
		for _, f := range r.sourcesOfBase() {
			text, dir := r.textOf(f), path.Dir(f.name)
			switch {
			case f.name == name, f.apart, !classes.Imports(text, dir, name) && (!strings.Contains(text, path.Base(name)) || !classes.Names(text, dir, name)):
				continue
			case !strings.HasPrefix(name, dir+"/") && !classes.IsOfTools(name):
				return false
			case !classes.IsShared(f.name, nil) && !classes.NamesSetup(settings, f.name) && !taken(f.name, most-1):
				return false
			}
			found = true
		}
		known[name] = found
		return found
	}
	return func(name string) bool {
		return r.Plans[results.Base] != nil && !languages.IsTestFile(name) && r.readBase(name) != nil && len(r.sourcesOfBase()) <= maxRead && taken(name, maxTaken)
	}
}
