package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// A site is a test by where it stands in a tree, so that results of both sides
// compare although a module or a folder is called otherwise.
type site struct{ at, test string }

// packageDir is the folder of a package of a side.
func (r *runner) packageDir(side Side, id ID) string {
	best, dir := "", id.Package
	for _, p := range r.allProjects(side) {
		if p.Eco.Packages == nil {
			continue
		}
		root := p.Eco.Packages.Root(p)
		if rest, ok := strings.CutPrefix(id.Package, root); ok && len(root) >= len(best) && (rest == "" || rest[0] == '/') {
			best, dir = root, path.Join(p.Dir, rest)
		}
	}
	return dir
}

func (r *runner) allProjects(side Side) []ecosystem.Project {
	if p := r.plan[side]; p != nil {
		return slices.Concat(p.projects, p.left)
	}
	return nil
}

// placeOf is where a test of a side stands.
func (r *runner) placeOf(side Side, id ID, eco string) site {
	switch {
	case id.Command != "":
		return site{id.Unit + "$" + id.Command, ""}
	case ecosystem.ByPackage(eco):
		return site{r.packageDir(side, id), id.Test}
	}
	// Runners of one language name the groups around a test each in its own way.
	return site{id.Package, groups.Replace(id.Test)}
}

var groups = strings.NewReplacer("::", " ", ecosystem.NameSep, " ")

// byPlace finds the tests of a suite by where they stand.
func (r *runner) byPlace(side Side, s Suite) map[site]ID {
	out := make(map[site]ID, len(s))
	for id, t := range s {
		eco := t.Eco
		if eco == "" {
			eco = r.ecoOf(id)
		}
		out[r.placeOf(side, id, eco)] = id
	}
	return out
}

// movedTo is where the head has a file or folder of the base: what git shows as
// renamed is the same, of folders where nothing is left in the old one. It is the
// same place where nothing moved.
func (r *runner) movedTo(name string) string {
	to := map[string]int{}
	for _, f := range r.in.Change.Files {
		if f.Status != change.Renamed {
			continue
		}
		if f.OldPath == name {
			return f.Path
		}
		if rest, ok := strings.CutPrefix(f.OldPath, name+"/"); ok {
			if dir, ok := strings.CutSuffix(f.Path, "/"+rest); ok {
				to[dir]++
			}
		}
	}
	best := name
	for dir, n := range to {
		if n > to[best] || n == to[best] && dir < best {
			best = dir
		}
	}
	if p := r.plan[Head]; best != name && p != nil && slices.ContainsFunc(p.files, func(f string) bool { return ecosystem.Inside(name, f) }) {
		return name
	}
	return best
}
