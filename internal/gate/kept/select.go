package kept

import (
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// reach is what the kept arm runs: the tests that touched files can influence.
// By their packages, others by file where no more than tests and their data
// changed, else by command.
func reach(of *sides.Reader, tests []*examined, touches []sides.Touch) []arms.Selection {
	var out []arms.Selection
	whole := map[int]bool{}
	seen := map[reachKey]struct {
		places []string
		ok     bool
	}{}
	for _, e := range tests {
		for _, t := range touches {
			at := reachKey{t.Path, e.eco, e.id.Unit, e.id.Package, e.id.Command, ""}
			if languages.ByPackage(e.eco) && t.File.Status == change.Renamed {
				at.top = e.id.Top()
			}
			found, known := seen[at]
			if !known {
				found.places, found.ok = of.Reaches(t, e.id, e.eco)
				seen[at] = found
			}
			places, ok := found.places, found.ok
			if !ok {
				continue
			}
			key := arms.Selection{Eco: e.eco, Unit: e.id.Unit, Command: e.id.Command}
			i := slices.IndexFunc(out, func(s arms.Selection) bool { return s.Eco == key.Eco && s.Unit == key.Unit && s.Command == key.Command })
			if i < 0 {
				i, out = len(out), append(out, key)
			}
			whole[i] = whole[i] || len(places) == 0
			for _, p := range places {
				if !slices.Contains(out[i].Places, p) {
					out[i].Places = append(out[i].Places, p)
				}
			}
		}
	}
	for i := range out {
		slices.Sort(out[i].Places)
		if whole[i] {
			out[i].Places = nil
		}
	}
	return out
}

// A reachKey is all that reaching depends on.
type reachKey struct{ path, eco, unit, pkg, command, top string }

// narrowTo selects single tests, by package or file where no less can be run.
func narrowTo(of *sides.Reader, tests []*examined) []arms.Selection {
	var out []arms.Selection
	for _, e := range tests {
		key := arms.Selection{Eco: e.eco, Unit: e.id.Unit, Command: e.id.Command}
		i := slices.IndexFunc(out, func(s arms.Selection) bool { return s.Eco == key.Eco && s.Unit == key.Unit && s.Command == key.Command })
		if i < 0 {
			i, out = len(out), append(out, key)
			if languages.ByPackage(e.eco) {
				out[i].Tests = map[string]bool{}
			}
		}
		s := &out[i]
		if e.whole() {
			s.Tests = nil
		} else if s.Tests != nil {
			s.Tests[e.id.Top()] = true
		}
		if _, src := of.TestFileOf(e.id); e.id.Command != "" || !languages.ByPackage(e.eco) && src == nil {
			continue
		}
		for _, at := range of.Sites(e.id, e.eco) {
			if !slices.Contains(s.Places, at.At) {
				s.Places = append(s.Places, at.At)
			}
		}
	}
	return out
}
