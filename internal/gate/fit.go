package gate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

// headShare is the part of the time that is left for what decides which the head's
// tests may take, in percent: what they disagree about is run again after them.
const headShare = 60

// A timedPackage is the tests of one package, as they ran on the base.
type timedPackage struct {
	name string
	took time.Duration
	near bool // the change can affect it, by all that is known
}

// fitting returns a test command of the head so that it fits into the time that is
// left, by how long the same tests took on the base: the packages that the change can
// affect first, then the others, the quickest before the slowest. What does not fit is
// named with its share of the suite's time.
func (r *runner) fitting(c ecosystem.Command) ecosystem.Command {
	if c.Results == nil || r.tests.Limit <= 0 {
		return c
	}
	took, all := r.onBaseTook(c)
	budget := r.tests.Decisive() * headShare / 100
	if took <= budget || len(all) < 2 {
		return c
	}
	if _, ok := c.Results.Narrow(c, ecosystem.Part{Packages: []string{all[0].name}}); !ok {
		return c
	}
	r.markNear(c, all)
	some, left := fit(all, budget)
	if slices.ContainsFunc(left, func(p timedPackage) bool { return p.near }) && r.facts.Incomplete == "" {
		r.facts.Incomplete = fmt.Sprintf("the tests of %q that the change can affect take longer than is left of the time limit", c.Text)
	}
	names := r.onlyOnHead(c)
	var others []string
	for _, p := range some {
		names = append(names, p.name)
	}
	for _, p := range left {
		others = append(others, p.name)
	}
	r.notCovered("for lack of time, %d of %d test packages of %q, which took %d %% of its time on the base: %s",
		len(left), len(all), c.Text, share(left, all), results.Listed(others, 5))
	for id := range r.sides.Suites[Base] {
		if id.Unit == c.Unit && slices.Contains(others, id.Package) {
			delete(r.sides.Suites[Base], id) // there is nothing to compare them with
		}
	}
	less, _ := c.Results.Narrow(c, ecosystem.Part{Packages: names})
	less.Name, less.Whole, less.Packages = c.Label(), cmp.Or(c.Whole, c.Text), names
	return less
}

// onBaseTook is how long a command's tests took on the base, in this run or when they
// were last run, and its packages with their parts of it.
func (r *runner) onBaseTook(c ecosystem.Command) (time.Duration, []timedPackage) {
	var took, sum time.Duration
	for _, s := range r.executor.Steps.Of(StageTest, Base) {
		if s.Unit == c.Unit && (s.Command == c.Text || s.Command == c.Whole) {
			took = s.Duration
		}
	}
	if took == 0 && r.known != nil {
		took = r.known.Took
	}
	var all []timedPackage
	for id, t := range r.sides.Suites[Base] {
		if id.Test == "" && id.Package != "" && id.Unit == c.Unit && t.Eco == c.Eco {
			all = append(all, timedPackage{name: id.Package, took: t.Elapsed})
			sum += t.Elapsed
		}
	}
	sorted.By(all, func(a, b timedPackage) int { return strings.Compare(a.name, b.name) })
	if sum > 0 { // packages can run side by side
		for i := range all {
			all[i].took = time.Duration(float64(all[i].took) / float64(sum) * float64(took))
		}
	}
	return took, all
}

// fit chooses packages that fit into a budget: those that are near come first.
func fit(all []timedPackage, budget time.Duration) (some, left []timedPackage) {
	order := slices.Clone(all)
	sorted.By(order, func(a, b timedPackage) int {
		return cmp.Or(b2i(b.near)-b2i(a.near), cmp.Compare(a.took, b.took), strings.Compare(a.name, b.name))
	})
	for _, p := range order {
		if len(some) > 0 && p.took > budget { // something has to run
			left = append(left, p)
			continue
		}
		budget -= p.took
		some = append(some, p)
	}
	return some, left
}

// share is the part of the time of all that some take, in percent.
func share(some, all []timedPackage) int {
	sum := func(list []timedPackage) (d time.Duration) {
		for _, p := range list {
			d += p.took
		}
		return d
	}
	if total := sum(all); total > 0 {
		return int(100 * sum(some) / total)
	}
	return 0
}

// markNear marks the packages that the change can affect: those that import what
// changed, or the files that name a changed file, or a file that does so.
func (r *runner) markNear(c ecosystem.Command, all []timedPackage) {
	var named map[string]bool
	if !languages.ByPackage(c.Eco) {
		named = naming(r.sources(c.Unit), r.in.Change.Paths())
	}
	for i, p := range all {
		all[i].near = r.sides.Affected[p.name] || named[p.name] || slices.Contains(r.in.Change.Paths(), p.name)
	}
}

// onlyOnHead are the packages of a command's tests that the base does not have.
func (r *runner) onlyOnHead(c ecosystem.Command) []string {
	byPackage := languages.ByPackage(c.Eco)
	var out []string
	for _, p := range r.sides.Packages {
		if byPackage && p.Eco == c.Eco && p.Unit == c.Unit && p.HasTests() && !r.tests.Has(Base, ID{Unit: c.Unit, Package: p.ImportPath}) {
			out = append(out, p.ImportPath)
		}
	}
	for _, f := range r.in.Change.Files {
		if !byPackage && f.Status != change.Deleted && ecosystem.Inside(c.Unit, f.Path) && languages.IsTestSource(f.Path) && languages.IsSource(f.Path) &&
			!r.tests.Has(Base, ID{Unit: c.Unit, Package: f.Path}) {
			out = append(out, f.Path)
		}
	}
	return out
}

// maxSource bounds a file that is looked at for names of others, in bytes.
const maxSource = 1 << 20

// sources are the words of each source in a folder of the head.
func (r *runner) sources(unit string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, p := range r.files {
		if !ecosystem.Inside(unit, p) || ecosystem.IgnoredDir(path.Dir(p)) || !languages.IsSource(p) {
			continue
		}
		src, err := ecosystem.ReadInTree(r.in.Head.Dir, p)
		if err != nil || len(src) > maxSource {
			continue
		}
		out[p] = map[string]bool{}
		for _, w := range sourceWord.FindAllString(string(src), -1) {
			out[p][w] = true
		}
	}
	return out
}

var sourceWord = pattern.New(`[A-Za-z0-9_-]+`)

// naming are the files that name one of the changed files by its name without its
// ending, or a file that does so, however far away. A file that gives its folder its
// name is called like that.
func naming(sources map[string]map[string]bool, changed []string) map[string]bool {
	out := map[string]bool{}
	todo := slices.Clone(changed)
	for len(todo) > 0 {
		stem := stemOf(todo[0])
		todo = todo[1:]
		for name, words := range sources {
			if !out[name] && words[stem] {
				out[name] = true
				todo = append(todo, name)
			}
		}
	}
	return out
}

func stemOf(name string) string {
	stem, _, _ := strings.Cut(path.Base(name), ".")
	if dir := path.Base(path.Dir(name)); dir != "." && slices.Contains([]string{"index", "__init__", "mod", "lib", "main"}, stem) {
		return dir
	}
	return stem
}
