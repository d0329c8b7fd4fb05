package lines

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// maxWalked bounds how many files of a tree are looked at for what a compiler made.
const maxWalked = 200_000

// Uncompiled are those of the changed sources that the head's build compiles nothing of, such as those
// of an option that is off: no test says what the change does there. Nil: there are none.
func Uncompiled(on arms.Maker, files []ecosystem.ChangedFile) *Executed {
	var mine []ecosystem.ChangedFile
	for _, f := range files {
		if e := languages.Of(f.Path); e != nil && e.Objects != nil && len(e.Objects(f.Path)) > 0 && builds(on.Sides, e, f.Path) {
			mine = append(mine, f)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	objects, joined := built(on.Executor.Prepared(results.Head).Tree.Dir)
	others := map[string]bool{} // what sources make that are called so: net_trace.o is none of trace.c
	for _, f := range on.Sides.Plans[results.Head].Files {
		if e := languages.Of(f); e != nil && e.Objects != nil {
			for _, name := range e.Objects(f) {
				others[name] = true
			}
		}
	}
	out := &Executed{}
	for _, s := range on.Executor.Steps.Of(results.StageBuild, results.Head) {
		out.Evidence = append(out.Evidence, s.Evidence)
	}
	for _, f := range mine {
		ends := languages.Of(f.Path).Objects(f.Path)
		made := func(name string) bool {
			return slices.ContainsFunc(ends, func(end string) bool {
				return name == end || (strings.HasSuffix(name, "_"+end) || strings.HasSuffix(name, "-"+end)) && !others[name]
			})
		}
		if len(objects) == 0 || slices.ContainsFunc(objects, made) || included(on.Sides, f.Path, joined) || on.Sides.CompiledByRule(f.Path) {
			continue
		}
		out.Lines += len(f.Lines)
		out.Unloaded = append(out.Unloaded, Unloaded{Path: f.Path, Line: slices.Min(slices.Collect(maps.Keys(f.Lines))), Why: "the build has no object of it; an option that is off here may be on elsewhere"})
	}
	if len(out.Unloaded) == 0 {
		return nil
	}
	return out
}

// builds says whether commands of the head build the project of a source.
func builds(in *sides.Reader, e *ecosystem.Ecosystem, name string) bool {
	return slices.ContainsFunc(in.Plans[results.Head].Projects, func(p ecosystem.Project) bool {
		return (p.Eco.Name == e.Name || p.Eco.Calls) && len(p.Build) > 0 && p.Missing == "" && ecosystem.Inside(p.Dir, name)
	})
}

// built are the base names of what compilers left in the prepared head, and joined what build systems
// wrote there to compile several sources as one, as under CMAKE_UNITY_BUILD.
func built(dir string) (out, joined []string) {
	n := 0
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error { // what cannot be read has none
		if n++; n > maxWalked {
			return fs.SkipAll
		}
		if err == nil && d.Type().IsRegular() && slices.Contains([]string{".o", ".obj", ".lo"}, path.Ext(name)) {
			out = append(out, d.Name())
		}
		if e := languages.Of(name); err == nil && d.Type().IsRegular() && strings.Contains(d.Name(), "unity") && e != nil && e.Objects != nil && len(e.Objects(name)) > 0 {
			if src, err := ecosystem.ReadInTree(dir, name); err == nil {
				joined = append(joined, string(src))
			}
		}
		return nil
	})
	if n > maxWalked {
		return nil, nil
	}
	return out, joined
}

// included says whether another source of the head, or one that is made, takes a source in by its name.
func included(in *sides.Reader, name string, joined []string) bool {
	include := regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:include|import)[ \t]*["<](?:[^">\n]*/)?` + regexp.QuoteMeta(path.Base(name)) + `[">]`)
	return slices.ContainsFunc(joined, include.MatchString) || slices.ContainsFunc(in.Plans[results.Head].Files, func(f string) bool {
		if e := languages.Of(f); f == name || e == nil || e.Objects == nil {
			return false
		}
		src, err := ecosystem.ReadInTree(in.Head.Dir, f)
		return err == nil && include.Match(src)
	})
}
