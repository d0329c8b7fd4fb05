package gate

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// reach is what the kept arm runs: the tests that touched files can influence.
// By their packages, others by file where no more than tests and their data
// changed, else by command.
func (r *runner) reach(tests []*examined, touches []sides.Touch) []selection {
	var out []selection
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
				found.places, found.ok = r.sides.Reaches(t, e.id, e.eco)
				seen[at] = found
			}
			places, ok := found.places, found.ok
			if !ok {
				continue
			}
			key := selection{eco: e.eco, unit: e.id.Unit, command: e.id.Command}
			i := slices.IndexFunc(out, func(s selection) bool { return s.eco == key.eco && s.unit == key.unit && s.command == key.command })
			if i < 0 {
				i, out = len(out), append(out, key)
			}
			whole[i] = whole[i] || len(places) == 0
			for _, p := range places {
				if !slices.Contains(out[i].places, p) {
					out[i].places = append(out[i].places, p)
				}
			}
		}
	}
	for i := range out {
		slices.Sort(out[i].places)
		if whole[i] {
			out[i].places = nil
		}
	}
	return out
}

// A reachKey is all that reaching depends on.
type reachKey struct{ path, eco, unit, pkg, command, top string }

// narrowTo selects single tests, by package or file where no less can be run.
func (r *runner) narrowTo(tests []*examined) []selection {
	var out []selection
	for _, e := range tests {
		key := selection{eco: e.eco, unit: e.id.Unit, command: e.id.Command}
		i := slices.IndexFunc(out, func(s selection) bool { return s.eco == key.eco && s.unit == key.unit && s.command == key.command })
		if i < 0 {
			i, out = len(out), append(out, key)
			if languages.ByPackage(e.eco) {
				out[i].tests = map[string]bool{}
			}
		}
		s := &out[i]
		if e.whole() {
			s.tests = nil
		} else if s.tests != nil {
			s.tests[e.id.Top()] = true
		}
		if _, src := r.sides.TestFileOf(e.id); e.id.Command != "" || !languages.ByPackage(e.eco) && src == nil {
			continue
		}
		for _, at := range r.sides.Sites(e.id, e.eco) {
			if !slices.Contains(s.places, at.At) {
				s.places = append(s.places, at.At)
			}
		}
	}
	return out
}

// firstGroup is what the groups of a match hold that has one of several.
func firstGroup(match []string) string {
	for _, m := range match[1:] {
		if m != "" {
			return m[strings.LastIndexByte(m, '.')+1:]
		}
	}
	return ""
}
