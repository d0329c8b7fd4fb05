package gate

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// maxWalked bounds how many files of a tree are looked at for what a compiler made.
const maxWalked = 200_000

// uncompiled finds the changed sources that the head's build compiles nothing of, such as those
// of an option that is off: no test says what the change does there.
func (r *runner) uncompiled(ctx context.Context) error {
	if !r.res.Runnable || r.prep.Unprepared() != "" {
		return nil
	}
	files, err := checks.ChangedSources(ctx, r.subject())
	if err != nil {
		return err
	}
	var mine []ecosystem.ChangedFile
	for _, f := range files {
		if e := languages.Of(f.Path); e != nil && e.Objects != nil && len(e.Objects(f.Path)) > 0 && r.builds(e, f.Path) {
			mine = append(mine, f)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	objects, joined := r.objects()
	others := map[string]bool{} // what sources make that are called so: net_trace.o is none of trace.c
	for _, f := range r.sides.Plans[Head].Files {
		if e := languages.Of(f); e != nil && e.Objects != nil {
			for _, name := range e.Objects(f) {
				others[name] = true
			}
		}
	}
	out := &Executed{}
	for _, s := range r.executor.Steps.Of(StageBuild, Head) {
		out.Evidence = append(out.Evidence, s.Evidence)
	}
	for _, f := range mine {
		ends := languages.Of(f.Path).Objects(f.Path)
		made := func(name string) bool {
			return slices.ContainsFunc(ends, func(end string) bool {
				return name == end || (strings.HasSuffix(name, "_"+end) || strings.HasSuffix(name, "-"+end)) && !others[name]
			})
		}
		if len(objects) == 0 || slices.ContainsFunc(objects, made) || r.included(f.Path, joined) || r.sides.CompiledByRule(f.Path) {
			continue
		}
		out.Lines += len(f.Lines)
		out.Unloaded = append(out.Unloaded, Unloaded{Path: f.Path, Line: slices.Min(slices.Collect(maps.Keys(f.Lines))), Why: "the build has no object of it; an option that is off here may be on elsewhere"})
	}
	if len(out.Unloaded) == 0 {
		return nil
	}
	var names []string
	for _, u := range out.Unloaded {
		names = append(names, u.Path)
	}
	r.notCovered("what the change does in %s: the build compiles nothing of %s here, as where an option is off; \"commands: {build: …}\" in .github/ycbot.yml at the base can set it",
		results.Listed(names, 3), results.Plural(len(names), "it", "them"))
	if len(names) == len(files) {
		r.res.Executed = out
		r.facts.KeptRan = 0 // whatever ran, it does not reach what the change does
	}
	return nil
}

// builds says whether commands of the head build the project of a source.
func (r *runner) builds(e *ecosystem.Ecosystem, name string) bool {
	return slices.ContainsFunc(r.sides.Plans[Head].Projects, func(p ecosystem.Project) bool {
		return (p.Eco.Name == e.Name || p.Eco.Calls) && len(p.Build) > 0 && p.Missing == "" && ecosystem.Inside(p.Dir, name)
	})
}

// objects are the base names of what compilers left in the prepared head, and joined what build systems
// wrote there to compile several sources as one, as under CMAKE_UNITY_BUILD.
func (r *runner) objects() (out, joined []string) {
	n := 0
	_ = fs.WalkDir(os.DirFS(r.executor.Prepared(Head).Tree.Dir), ".", func(name string, d fs.DirEntry, err error) error { // what cannot be read has none
		if n++; n > maxWalked {
			return fs.SkipAll
		}
		if err == nil && d.Type().IsRegular() && slices.Contains([]string{".o", ".obj", ".lo"}, path.Ext(name)) {
			out = append(out, d.Name())
		}
		if e := languages.Of(name); err == nil && d.Type().IsRegular() && strings.Contains(d.Name(), "unity") && e != nil && e.Objects != nil && len(e.Objects(name)) > 0 {
			if src, err := ecosystem.ReadInTree(r.executor.Prepared(Head).Tree.Dir, name); err == nil {
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
func (r *runner) included(name string, joined []string) bool {
	include := regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:include|import)[ \t]*["<](?:[^">\n]*/)?` + regexp.QuoteMeta(path.Base(name)) + `[">]`)
	return slices.ContainsFunc(joined, include.MatchString) || slices.ContainsFunc(r.sides.Plans[Head].Files, func(f string) bool {
		if e := languages.Of(f); f == name || e == nil || e.Objects == nil {
			return false
		}
		src, err := ecosystem.ReadInTree(r.in.Head.Dir, f)
		return err == nil && include.Match(src)
	})
}
