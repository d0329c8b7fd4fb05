package gate

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// passWithin takes the blame from new tests that fail as one project runs them, and pass as another one around
// it or in it does: each has an environment of its own, and a runner may go through the files of both. So it
// does of a file that is not loaded, old or new.
func (r *runner) passWithin() {
	t := &r.res.Tests
	elsewhere := func(k Case) (passes string, ran bool) {
		file, eco := k.ID.Package, r.sides.EcoOf(k.ID)
		if _, there := slices.BinarySearch(r.sides.Plans[Head].Files, file); !there || k.ID.Command != "" || languages.ByPackage(eco) {
			return "", false
		}
		for _, p := range r.sides.Plans[Head].Projects {
			id := k.ID
			id.Unit = p.Dir
			o := r.sides.Suites[Head][id]
			if p.Dir == k.ID.Unit || p.Eco.Name != eco || o.Status == "" || !ecosystem.Inside(p.Dir, file) {
				continue
			}
			if ran = true; o.Status == Passed {
				passes = p.Dir
			}
		}
		return passes, ran
	}
	unloaded := map[ID]bool{}
	passes := func(k Case) bool {
		unit, _ := elsewhere(k)
		if unit == "" {
			return false
		}
		if k.ID.Test == "" {
			unloaded[k.ID] = true
		}
		r.note("%s fails as the project in %s runs it, and passes by that in %s", k.ID, k.ID.Unit, unit)
		return true
	}
	t.NewFailing = slices.DeleteFunc(t.NewFailing, passes)
	t.Regressed = slices.DeleteFunc(t.Regressed, func(k Case) bool { return k.ID.Test == "" && r.sides.Suites[Head][k.ID].Broken && passes(k) })
	t.NotRun = slices.DeleteFunc(t.NotRun, func(k Case) bool {
		_, ran := elsewhere(k)
		return ran && unloaded[ID{Unit: k.ID.Unit, Package: k.ID.Package}]
	})
}

// wantsAbsent says whether a file of tests is not loaded for want of something that it names.
func (r *runner) wantsAbsent(k Case) bool {
	e := languages.Named(r.sides.EcoOf(k.ID))
	if k.ID.Command != "" || e == nil || e.Absent == nil || languages.ByPackage(e.Name) {
		return false
	}
	name, _ := e.Absent(k.Output)
	return name != ""
}
