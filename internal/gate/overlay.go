package gate

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// overlayCommands are the test commands of a side, other than Go's, that tell
// tests apart and have files of the overlay to run.
func (r *runner) overlayCommands(side Side, files []string) []command {
	var out []command
	for _, c := range r.plan[side].test {
		mine := func(f string) bool { return r.runs(side, c, f) }
		if c.results != nil && c.eco != "Go" && slices.ContainsFunc(files, mine) {
			out = append(out, c)
		}
	}
	return out
}

// runs says whether a test command of a side has to do with a file: it lies in
// the command's folder and in that of no project further in.
func (r *runner) runs(side Side, c command, name string) bool {
	var same []project
	for _, p := range r.plan[side].projects {
		if p.eco.name == c.eco && inside(c.unit, p.dir) {
			same = append(same, p)
		}
	}
	dir, ok := innermost(same, name)
	return inside(c.unit, name) && (!ok || dir == c.unit || !slices.ContainsFunc(r.plan[side].test, func(d command) bool { return d.unit == dir && d.eco == c.eco }))
}

// changedFiles are the test files of the change that a command runs by themselves;
// none where it has to run whole, because their data or what they share changed too.
func (r *runner) changedFiles(c command) []string {
	var out []string
	for _, f := range r.res.FailToPass.Files {
		switch {
		case !r.runs(Base, c, f):
		case isTestSource(f) && hasPackage(r.suites[Head], ID{Unit: c.unit, Package: f}):
			out = append(out, f)
		case !r.goneFromHead(f):
			return nil
		}
	}
	return out
}

// goneFromHead says whether the head has no file of a name.
func (r *runner) goneFromHead(name string) bool {
	_, there := slices.BinarySearch(r.plan[Head].files, name)
	return !there
}

// wanting returns what tells of a failed test whether it wants what only the
// change has: a dependency, or a name that its sources define.
func (r *runner) wanting() func(Test) (deps, api bool) {
	before, after := map[string]bool{}, map[string]bool{}
	steered := false
	for _, f := range r.in.Change.Files {
		if isTestFile(f.Path) {
			continue
		}
		steered = steered || steers(f.Path)
		if b, err := readInTree(r.in.Base.Dir, f.Path); err == nil {
			maps.Copy(before, words(b))
		}
		if a, err := readInTree(r.in.Head.Dir, f.Path); err == nil {
			maps.Copy(after, words(a))
			after[strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))] = true
		}
	}
	return func(t Test) (deps, api bool) {
		for _, e := range ecosystems() {
			if e.name != t.Eco || e.absent == nil {
				continue
			}
			name, dep := e.absent(t.Output)
			if name == "" {
				continue
			}
			for w := range words([]byte(name)) {
				api = api || after[w] && !before[w]
			}
			deps = dep && steered && !api
		}
		return deps, api
	}
}

func wantsAbsent(wants func(Test) (deps, api bool), t Test) bool {
	deps, api := wants(t)
	return deps || api
}

var word = pattern.New(`[\pL_$][\pL\pN_$]*`)

// words are the names in a source.
func words(src []byte) map[string]bool {
	out := map[string]bool{}
	for _, w := range word.FindAll(src, -1) {
		out[string(w)] = true
	}
	return out
}

// needsAPI words that the change's tests want what only the change has.
func (r *runner) needsAPI(over Suite) string {
	for _, o := range over {
		if o.Eco != "" && o.Eco != "Go" && o.Status == Failed {
			return "the change's tests cannot be run without the change, whose API they need: no reproduction claimed"
		}
	}
	return "the change's tests do not compile without the change, whose API they need: no reproduction claimed"
}
