package gate

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A cutFile is a file of an arm without some of its tests.
type cutFile struct {
	rest []byte
	why  map[string]string // by the names of the tests
}

// cutTests leaves the tests of files out of the base's tests that do not compile, where it
// is in tests alone that the compiler's complaints stand. It returns the other files.
func (a *arm) cutTests(ctx context.Context, by *ecosystem.Packages, files []string, places map[string][]int, why string) ([]string, error) {
	var others []string
	for _, f := range files {
		src, err := a.r.Mirror.ReadFile(ctx, a.commit, f)
		was := a.cut[f]
		if was.rest != nil {
			src = was.rest
		}
		rest, tests, ok := []byte(nil), []string(nil), false
		if err == nil && a.stage == StageKept && by.Without != nil {
			rest, tests, ok = by.Without(src, places[f])
		}
		if !ok {
			delete(a.cut, f)
			others = append(others, f)
			continue
		}
		now := cutFile{rest, maps.Clone(was.why)}
		if now.why == nil {
			now.why = map[string]string{}
		}
		for _, t := range tests {
			now.why[t] = why
		}
		a.cut[f] = now
	}
	return others, a.layCut(ctx)
}

// takeOut makes files of the arm the side's own again, and takes others of the side
// away.
func (a *arm) takeOut(ctx context.Context, files []string) error {
	var own, others []string
	var gone []workspace.Put
	for _, f := range files {
		if slices.Contains(a.files, f) {
			own = append(own, f)
		} else {
			others, gone = append(others, f), append(gone, workspace.Put{Path: f})
		}
	}
	tree := a.r.executor.Tree(a.side)
	if err := tree.Overlay(ctx, tree.Commit, own); err != nil || len(others) == 0 {
		return err
	}
	without, err := a.r.Mirror.Compose(ctx, tree.Commit, gone)
	if err != nil {
		return err
	}
	return tree.Overlay(ctx, without, others)
}

// layCut lays files without those of their tests that do not compile.
func (a *arm) layCut(ctx context.Context) error {
	if len(a.cut) == 0 {
		return nil
	}
	var puts []workspace.Put
	files := slices.Sorted(maps.Keys(a.cut))
	for _, f := range files {
		puts = append(puts, workspace.Put{Path: f, Data: a.cut[f].rest})
	}
	commit, err := a.r.Mirror.Compose(ctx, a.commit, puts)
	if err != nil {
		return err
	}
	return a.r.executor.Tree(a.side).Overlay(ctx, commit, files)
}

// uncompilable returns the files of the arm that the errors of a package name, with the
// lines; where they name none, its other test files that they name, which do not go with the
// arm's.
func (a *arm) uncompilable(complaint *pattern.Pattern, output, unit, dir string) ([]string, map[string][]int) {
	var out, others []string
	places := map[string][]int{}
	for _, m := range complaint.FindAllStringSubmatch(output, -1) {
		line, _ := strconv.Atoi(m[2]) // digits, as the pattern says
		// The compiler names files from the folder that it runs in, where that is shorter.
		for _, name := range []string{path.Join(unit, m[1]), m[1], path.Join(dir, m[1])} {
			_, gone := a.left[name]
			if slices.Contains(a.files, name) {
				if !gone && !slices.Contains(out, name) {
					out = append(out, name)
				}
				places[name] = append(places[name], line)
				break
			}
			if languages.IsTestSource(name) && path.Dir(name) == dir && !gone && !slices.Contains(others, name) {
				others = append(others, name)
			}
		}
	}
	if len(out) == 0 {
		return others, nil
	}
	return out, places
}

// unimport runs files of the arm again that are not loaded, as they import a name that is not
// there, without the name, so that those of their tests say something that do not use it.
func (a *arm) unimport(ctx context.Context, c ecosystem.Command, suite Suite) error {
	e := languages.Named(c.Eco)
	if a.stage != StageKept || c.Results == nil || e == nil || e.Unimport == nil {
		return nil
	}
	for range maxDrops {
		var files []string
		for id, t := range suite {
			if id.Test != "" || id.Unit != c.Unit || !t.Broken || !slices.Contains(a.files, id.Package) {
				continue
			}
			src := a.cut[id.Package].rest
			if src == nil {
				var err error
				if src, err = a.r.Mirror.ReadFile(ctx, a.commit, id.Package); err != nil {
					continue // a link that leads nowhere
				}
			}
			if rest, ok := e.Unimport(src, t.Output); ok {
				a.cut[id.Package] = cutFile{rest: rest, why: map[string]string{}}
				if a.unimported[id.Package] == nil {
					a.unimported[id.Package] = map[string]string{}
				}
				a.unimported[id.Package][wanted(c.Eco, t.Output)] = t.Output
				files = append(files, id.Package)
			}
		}
		if len(files) == 0 {
			return nil
		}
		if err := a.layCut(ctx); err != nil {
			return err
		}
		less, ok := c.Results.Narrow(c, ecosystem.Part{Packages: slices.Sorted(slices.Values(files))})
		if !ok {
			less = c
		}
		again, err := a.runOther(ctx, less)
		if err != nil {
			return err
		}
		for id := range suite {
			if slices.Contains(files, id.Package) {
				delete(suite, id)
			}
		}
		suite.Add(again)
	}
	return nil
}

// namedIn returns the files of the arm that an output names and that are not left
// out already.
func (a *arm) namedIn(output, unit string) []string {
	var out []string
	for _, f := range a.files {
		short := f
		if unit != "." {
			short = strings.TrimPrefix(f, unit+"/")
		}
		if _, gone := a.left[f]; gone || !strings.Contains(output, short) {
			continue
		}
		if regexp.MustCompile(`(?m)(^|[\s"'/(])` + regexp.QuoteMeta(short) + `($|[\s"':(),])`).MatchString(output) {
			out = append(out, f)
		}
	}
	return out
}
