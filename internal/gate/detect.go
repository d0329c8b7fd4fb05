package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// detect finds out what can be run. The commands of the configuration come from
// the base; what it does not name is found in each side's own files, because a
// change may bring a project.
func (r *runner) detect(ctx context.Context) error {
	for _, side := range []Side{Base, Head} {
		p, err := r.planFor(ctx, side)
		if err != nil {
			return fmt.Errorf("%s: %w", side, err)
		}
		r.sides.Plans[side] = p
	}
	r.sameProjects()
	r.keepCommands()
	if !r.nothing() {
		if err := r.lay(ctx); err != nil {
			return err
		}
	}
	if err := r.findServices(ctx); err != nil {
		return err
	}
	r.describe()
	if r.nothing() {
		r.facts.Nothing = cmp.Or(ecosystem.Lacking(r.sides.Plans[Head].Projects), nothingKnown)
		r.res.FailToPass = Reproduction{State: ReproNotRun, Note: "there were no tests to run"}
		r.notCovered("build, tests and probes: %s", r.facts.Nothing)
		return nil
	}
	sandbox.Announce(r.Sandbox)
	return nil
}

// nothing says whether there is nothing to build or test.
func (r *runner) nothing() bool {
	p := r.sides.Plans[Head]
	return len(p.Build)+len(p.Test)+len(r.restUnits()) == 0
}

// lay has both trees laid out, which may wait until the first of their files is read.
func (r *runner) lay(ctx context.Context) error {
	r.in.Head.Ahead(ctx)
	return errors.Join(r.in.Base.Lay(ctx), r.in.Head.Lay(ctx))
}

// read reads a file of a tree. What kept the trees from being laid out is in failed: it
// says nothing of the file.
func (r *runner) read(ctx context.Context, tree *workspace.Tree, failed *error) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if *failed = r.lay(ctx); *failed != nil {
			return nil, *failed
		}
		return ecosystem.ReadInTree(tree.Dir, name)
	}
}

// nothingKnown is the reason where there is nothing to run.
const nothingKnown = `no build and no tests were found; "commands:" in .github/ycbot.yml of the base can name some`

func (r *runner) planFor(ctx context.Context, side Side) (*sides.Plan, error) {
	tree := r.executor.Tree(side)
	entries, err := r.Mirror.Files(ctx, tree.Commit)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		files = append(files, e.Path)
	}
	var failed error
	s := ecosystem.NewSurvey(r.read(ctx, tree, &failed), files, r.Tools, func(format string, args ...any) {
		if failed == nil {
			r.note("%s: %s", side, fmt.Sprintf(format, args...))
		}
	})
	chosen, left := ecosystem.Choose(languages.FindProjects(s), r.in.Change.Paths())
	if failed != nil {
		return nil, failed
	}
	if side == Head {
		r.files = files
		r.leave(chosen, left)
	}
	p := newPlan(chosen, r.in.Commands)
	p.Left, p.Survey, p.Files = left, s, files
	return p, nil
}

// newPlan joins the commands of projects, and puts those of the configuration
// in their place.
func newPlan(projects []ecosystem.Project, c Commands) *sides.Plan {
	p := &sides.Plan{Projects: projects}
	for _, q := range projects {
		p.Setup = append(p.Setup, q.Setup...)
		p.Build = append(p.Build, q.Build...)
		p.Lint = append(p.Lint, q.Lint...)
		p.Test = append(p.Test, q.Test...)
	}
	override(p, c)
	for _, q := range projects {
		if c.Test == nil || q.Eco.Packages == nil {
			p.Warm = append(p.Warm, q.Warm...)
		} else {
			p.Warm = append(p.Warm, q.Eco.Packages.WarmFor(q, p.Test)...)
		}
	}
	return p
}

// leave reports which projects are not run, and why.
func (r *runner) leave(chosen, left []ecosystem.Project) {
	for _, eco := range languages.All() {
		var names []string
		for _, p := range left {
			if p.Eco.Name == eco.Name && (p.Missing != "" || r.in.Commands.Test != nil) {
				names = append(names, p.Dir)
			}
		}
		if len(names) > 0 {
			r.notCovered("%s that the change does not touch: %s", eco.Units, results.Listed(names, 5))
		}
	}
	runs := slices.ContainsFunc(chosen, func(p ecosystem.Project) bool { return p.Missing == "" })
	for _, p := range chosen {
		if p.Missing != "" && (runs || !r.in.Commands.none()) {
			r.notCovered("%s: %s", p.What, p.Missing)
		}
		for _, n := range p.Notes {
			r.notCovered("%s: %s", p.What, n)
		}
		if n := p.NotRun(); n != "" && !slices.ContainsFunc(r.sides.Plans[Base].Test, func(c ecosystem.Command) bool { return c.Text == p.Target }) {
			r.notCovered("%s: %s", p.What, n)
		}
	}
}

// override puts the commands of the configuration in place of the detected
// ones, kind by kind.
func override(p *sides.Plan, c Commands) {
	set := func(list *[]ecosystem.Command, stage Stage, texts []string) {
		if texts == nil {
			return
		}
		was := *list
		*list = nil
		for _, t := range texts {
			c := languages.ShellCommand(stage, t)
			for _, d := range was {
				c.Go = cmp.Or(c.Go, d.Go) // there is one go command
			}
			*list = append(*list, c)
		}
	}
	if len(c.Setup) > 0 {
		p.Fetches = ecosystem.FetchOnly(p.Setup)
	}
	modules := slices.DeleteFunc(slices.Clone(p.Setup), func(c ecosystem.Command) bool { return !c.Needed })
	set(&p.Setup, StageSetup, c.Setup)
	if len(c.Setup) > 0 { // which may fetch modules, but not for the builds that follow
		p.Setup = append(p.Setup, modules...)
	}
	set(&p.Build, StageBuild, c.Build)
	set(&p.Lint, StageLint, c.Lint)
	set(&p.Test, StageTest, c.Test)
}

// describe lists for people what was detected and why.
func (r *runner) describe() {
	add := func(format string, args ...any) {
		r.res.Detected = append(r.res.Detected, fmt.Sprintf(format, args...))
	}
	maps.Copy(r.res.Toolchains, r.Tools.Versions())
	if r.Sandbox.Status().Tier == sandbox.TierNone && os.Geteuid() == 0 {
		r.note("commands run as root, without a sandbox that gives them another user: tests that expect to be refused something may fail on both sides")
	}
	if r.Tools != nil && len(r.Tools.Own) > 0 {
		r.note("PATH has folders of the repository (%s): commands of each side find their own side's programs there, behind those of the machine", results.Listed(r.Tools.Own, 3))
	}
	for _, n := range r.in.Head.Notes {
		r.notCovered("what lies outside of the repository: %s", n)
	}
	for _, p := range r.sides.Plans[Head].Projects {
		add("%s (%s)", p.What, strings.Join(p.Why, ", "))
	}
	for _, kind := range []struct {
		name  string
		texts []string
	}{{"setup", r.in.Commands.Setup}, {"build", r.in.Commands.Build}, {"lint", r.in.Commands.Lint}, {"test", r.in.Commands.Test}} {
		if len(kind.texts) > 0 {
			add("%s commands of .github/ycbot.yml: %s", kind.name, strings.Join(kind.texts, "; "))
		}
	}
}
