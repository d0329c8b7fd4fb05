package sides

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A recipe is which folders a target for tests, or a script that it calls, reads without the name of each
// file, and from where.
type recipe struct {
	side    results.Side
	dir     string
	folders []string
}

// readInPart says whether recipes and scripts of tests read the files of a folder in which one lies
// and name them in part only, and no program that is none of these names the folder. What the base
// has counts as its own recipes read it, and what the change adds as the head's do.
func (r *Reader) readInPart(name string, v classes.Versions) bool {
	side := results.Base
	if v.Base == nil {
		side = results.Head
	}
	if v.Base == nil && v.Head == nil || r.Plans[results.Base] == nil || classes.IsCode(name, v.Base, v.Head) {
		return false
	}
	for _, in := range r.recipes {
		if in.side != side {
			continue
		}
		for _, folder := range in.folders {
			for _, at := range []string{path.Join(in.dir, folder), folder} {
				if strings.HasPrefix(name, at+"/") && !r.programsName(at) {
					return true
				}
			}
		}
	}
	return false
}

// programsName says whether a program of the base that does not run tests has a folder in it.
func (r *Reader) programsName(folder string) bool {
	if known, ok := r.foldersNamed[folder]; ok {
		return known
	}
	if r.foldersNamed == nil {
		r.foldersNamed = map[string]bool{}
	}
	read := 0
	r.foldersNamed[folder] = slices.ContainsFunc(r.Plans[results.Base].Files, func(f string) bool {
		if ecosystem.IgnoredDir(path.Dir(f)) || ecosystem.InFolder(f, "node_modules", "vendor") || read > maxRead {
			return read > maxRead
		}
		src := r.readBase(f)
		if read++; !classes.IsCode(f, src) || r.runsAsTest(f) {
			return false
		}
		return classes.NamesFolder(string(src), folder)
	})
	return r.foldersNamed[folder]
}

// runsAsTest says whether a program is a test, or a script that runs tests.
func (r *Reader) runsAsTest(name string) bool {
	return classes.InTestFolder(name) || r.called[name] && classes.IsCalledTest(name) || slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool { return f.name == name && f.test })
}
