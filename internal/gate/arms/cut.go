package arms

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
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A cutFile is a file of an arm without some of its tests.
type cutFile struct {
	rest []byte
	Why  map[string]string // by the names of the tests
}

// cutTests leaves the tests out of files that do not compile, where it is in tests alone that
// the compiler's complaints stand; of the change's tests also in what these call. It returns
// the other files.
func (a *Arm) cutTests(ctx context.Context, by ecosystem.Cutting, files []string, places map[string][]int, why string) ([]string, error) {
	var others []string
	for _, f := range files {
		src, err := a.on.Mirror.ReadFile(ctx, a.commit, f)
		was := a.Cut[f]
		if was.rest != nil {
			src = was.rest
		}
		rest, tests, ok := []byte(nil), []string(nil), false
		if err == nil && (a.Stage == results.StageKept || a.Apart) && by.Without != nil {
			rest, tests, ok = by.Without(src, places[f], a.Apart)
		}
		if !ok {
			delete(a.Cut, f)
			others = append(others, f)
			continue
		}
		now := cutFile{rest, maps.Clone(was.Why)}
		if now.Why == nil {
			now.Why = map[string]string{}
		}
		for _, t := range tests {
			now.Why[t] = why
		}
		a.Cut[f] = now
	}
	return others, a.layCut(ctx)
}

// cutOther does so for a command whose tests belong to files, and says whether any of them has fewer
// tests now.
func (a *Arm) cutOther(ctx context.Context, c ecosystem.Command, output string) (bool, error) {
	e := languages.Named(c.Eco)
	if c.Results == nil || e == nil || e.Cutting == nil {
		return false, nil
	}
	bad, places := a.uncompilable(e.Cutting.Complaint, output, c.Unit, c.Unit)
	if len(places) == 0 {
		return false, nil
	}
	whole, err := a.cutTests(ctx, *e.Cutting, bad, places, output)
	return len(whole) < len(bad), err
}

// takeOut makes files of the arm the side's own again, and takes others of the side
// away.
func (a *Arm) takeOut(ctx context.Context, files []string) error {
	var own, others []string
	var gone []workspace.Put
	for _, f := range files {
		if slices.Contains(a.Files, f) {
			own = append(own, f)
		} else {
			others, gone = append(others, f), append(gone, workspace.Put{Path: f})
		}
	}
	tree := a.on.Executor.Tree(a.Side)
	if err := tree.Overlay(ctx, tree.Commit, own); err != nil || len(others) == 0 {
		return err
	}
	without, err := a.on.Mirror.Compose(ctx, tree.Commit, gone)
	if err != nil {
		return err
	}
	return tree.Overlay(ctx, without, others)
}

// forgetOwn takes out of what ran what the side itself has of files that are left out: of the
// tests that were to be laid there it says nothing.
func (a *Arm) forgetOwn(s results.Suite) {
	for f := range a.Left {
		if !slices.Contains(a.Files, f) {
			continue
		}
		own := map[string]string{}
		if e := languages.Of(f); e != nil && e.Packages != nil {
			if src, err := ecosystem.ReadInTree(a.on.Executor.Tree(a.Side).Dir, f); err == nil {
				own = e.Packages.Tests(src)
			}
		}
		maps.DeleteFunc(s, func(id results.ID, t results.Test) bool {
			if !languages.ByPackage(t.Eco) {
				return id.Package == f || id.Test != "" && slices.Contains(a.on.Sides.ClassIn(id), f)
			}
			_, ok := own[id.Top()]
			return ok && id.Test != "" && a.on.Sides.PackageDir(a.Side, id) == path.Dir(f)
		})
	}
}

// layCut lays files without those of their tests that do not compile.
func (a *Arm) layCut(ctx context.Context) error {
	if len(a.Cut) == 0 {
		return nil
	}
	var puts []workspace.Put
	files := slices.Sorted(maps.Keys(a.Cut))
	for _, f := range files {
		puts = append(puts, workspace.Put{Path: f, Data: a.Cut[f].rest})
	}
	commit, err := a.on.Mirror.Compose(ctx, a.commit, puts)
	if err != nil {
		return err
	}
	return a.on.Executor.Tree(a.Side).Overlay(ctx, commit, files)
}

// uncompilable returns the files of the arm that the errors of a package name, with the
// lines; where they name none, its other test files that they name, which do not go with the
// arm's.
func (a *Arm) uncompilable(complaint *pattern.Pattern, output, unit, dir string) ([]string, map[string][]int) {
	var out, others []string
	places := map[string][]int{}
	for _, m := range complaint.FindAllStringSubmatch(output, -1) {
		line, _ := strconv.Atoi(m[2]) // digits, as the pattern says
		// The compiler names files from the folder that it runs in, where that is shorter.
		for _, name := range []string{path.Join(unit, m[1]), m[1], path.Join(dir, m[1])} {
			_, gone := a.Left[name]
			if slices.Contains(a.Files, name) {
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
func (a *Arm) unimport(ctx context.Context, c ecosystem.Command, suite results.Suite) error {
	e := languages.Named(c.Eco)
	if a.Stage != results.StageKept || c.Results == nil || e == nil || e.Unimport == nil {
		return nil
	}
	for range maxDrops {
		var files []string
		for id, t := range suite {
			if id.Test != "" || id.Unit != c.Unit || !t.Broken || !slices.Contains(a.Files, id.Package) {
				continue
			}
			src := a.Cut[id.Package].rest
			if src == nil {
				var err error
				if src, err = a.on.Mirror.ReadFile(ctx, a.commit, id.Package); err != nil {
					continue // a link that leads nowhere
				}
			}
			if rest, names := e.Unimport(src, t.Output); len(names) > 0 {
				a.Cut[id.Package] = cutFile{rest: rest, Why: map[string]string{}}
				if a.Unimported[id.Package] == nil {
					a.Unimported[id.Package] = map[string]string{}
				}
				for _, name := range names {
					a.Unimported[id.Package][name] = t.Output
				}
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
func (a *Arm) namedIn(output, unit string) []string {
	var out []string
	for _, f := range a.Files {
		short := f
		if unit != "." {
			short = strings.TrimPrefix(f, unit+"/")
		}
		if _, gone := a.Left[f]; gone || !strings.Contains(output, short) {
			continue
		}
		if regexp.MustCompile(`(?m)(^|[\s"'/(])` + regexp.QuoteMeta(short) + `($|[\s"':(),])`).MatchString(output) {
			out = append(out, f)
		}
	}
	return out
}
